"""llama.cpp in a child process: planning its memory and threads, starting and ending it.

The child listens on the loopback interface only, on a new random port and with a new random key at
each start. It ends when this process ends, even if that is killed.
"""

import atexit
import importlib.util
import json
import secrets
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jitchat.children import Piped, end_piped, own_python, start_piped, wait_piped
from jitchat.errors import SettingsError, Unreachable
from jitchat.providers.local.gguf import ModelFile
from jitchat.text.figures import megabytes, plural
from jitchat.text.sanitize import shorten

_CHILD = own_python("-m", "jitchat.providers.local.server")
_PACKAGES = ("xllamacpp", "psutil")
MOST_CONTEXT, LEAST_CONTEXT = 32_768, 2_048
"""Maximum and minimum context size in tokens if the user sets none."""
_SHARE = 2
"""A model and its context may take at most 1/2 of the free memory."""
_CACHED_SHARE, _MOST_CACHED = 8, 1_024
"""Cached prompts may take at most 1/8 of the free memory, and at most this many MiB."""
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Machine:
    free_memory: int
    """In bytes."""
    cores: int


@cache
def this_machine() -> Machine:
    """Measure the machine, once per process: a changed plan would start a second engine.

    Raises:
        SettingsError: The packages of the extra `local` are not installed.

    """
    if is_missing():
        raise SettingsError(
            "The engine for local models is not installed.",
            "Install it: pip install 'jitchat[local]'.",
        )
    import psutil  # noqa: PLC0415  an extra

    cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    usable: list[int] = getattr(psutil.Process(), "cpu_affinity", list)()  # not on macOS
    return Machine(psutil.virtual_memory().available, min(cores, len(usable) or cores))


def is_missing() -> bool:
    return any(importlib.util.find_spec(package) is None for package in _PACKAGES)


@dataclass(frozen=True, slots=True)
class EnginePlan:
    model: Path
    context: int
    """In tokens."""
    threads: int
    cached_mib: int
    """Maximum MiB of cached prompts, whose tokens need not be processed again."""
    memory: int
    """Approximate bytes that the model and its context take."""

    def __str__(self) -> str:
        threads = plural(self.threads, "thread")
        return f"{self.context:,} tokens, {threads}, ~{megabytes(self.memory)} of memory"


def plan_engine(file: ModelFile, machine: Machine, context: int | None = None) -> EnginePlan:
    """Choose the resources of an engine; `context` is the user's context size in tokens. Pure."""
    if context is None:
        room = (machine.free_memory // _SHARE - file.size) // max(1, file.token_bytes)
        context = min(file.trained_context, MOST_CONTEXT, max(room, LEAST_CONTEXT))
    memory = file.size + context * file.token_bytes
    cached = min(_MOST_CACHED, machine.free_memory // _CACHED_SHARE // _MIB)
    return EnginePlan(file.path, context, machine.cores, cached, memory)


class Engine:
    """One server process. Thread-safe."""

    def __init__(self, plan: EnginePlan, command: Sequence[str] = _CHILD) -> None:
        self.plan, self._command = plan, command
        self._lock = threading.Lock()
        self._child: Piped | None = None
        self._server = ("", "")

    def server(self) -> tuple[str, str]:
        """Return the server's base URL and key, starting it if it is not running. Slow.

        Raises:
            Unreachable: The server does not start.

        """
        with self._lock:
            if self._child is None or self._child.poll() is not None:
                self._server = self._start()
            return self._server

    def ended_by(self, patience: float = 0.0) -> str:
        """Return how the process ended, as a clause; empty if it is running or never ran.

        Connections break a moment before the process has ended: wait up to `patience` seconds.
        """
        code = wait_piped(self._child, patience) if self._child is not None else None
        if code is None:
            return ""
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def close(self) -> None:
        """End the process. Can be called at any time, even while it starts, and repeatedly."""
        if self._child is not None:
            end_piped(self._child)

    def _start(self) -> tuple[str, str]:
        plan, key = self.plan, secrets.token_urlsafe(24)
        figures = map(str, (plan.context, plan.threads, plan.cached_mib))
        command = (*self._command, str(plan.model), *figures)
        if self._child is None:
            atexit.register(self.close)
        self.close()  # a process that ended by itself still has its pipes
        try:
            self._child = start_piped(command, Path(tempfile.gettempdir()))
            reply = _handshake(self._child, key)
            if "error" not in reply:
                return f"{reply['address']}/v1", key
            why = str(reply["error"])
        except OSError as error:
            why = error.strerror or str(error)
        except (ValueError, LookupError, TypeError):
            why = "its process ended"
        self.close()
        raise _not_started(plan, why)


def _handshake(child: Piped, key: str) -> dict[str, object]:
    """Send the key, and read the `address` or the `error`.

    Raises OSError, ValueError, LookupError or TypeError if the reply is not understood.
    """
    assert child.stdin is not None and child.stdout is not None  # noqa: S101, PT018  for mypy
    child.stdin.write(f"{key}\n".encode())
    child.stdin.flush()
    reply: dict[str, object] = json.loads(child.stdout.readline())
    return reply


def _not_started(plan: EnginePlan, why: str) -> Unreachable:
    return Unreachable(
        f"llama.cpp could not load {plan.model.name}: {shorten(why, 200).rstrip('.')}.",
        f"The file may be damaged or too new, or the model too large ({plan}).",
    )


@cache
def engine_for(plan: EnginePlan) -> Engine:
    """Return the engine of a plan, which all sessions of this process share."""
    return Engine(plan)
