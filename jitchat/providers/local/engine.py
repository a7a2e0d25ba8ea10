"""llama.cpp in a child process of ours: what it is given of this machine, its start and its end.

The child listens on the loopback interface only, on a port and with a key that are drawn anew at
each start. It ends with this process, however that ends.
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
from jitchat.text.figures import megabytes
from jitchat.text.sanitize import shorten

_CHILD = own_python("-m", "jitchat.providers.local.server")
_PACKAGES = ("xllamacpp", "psutil")
MOST_CONTEXT, LEAST_CONTEXT = 32_768, 2_048
"""Tokens of the context where nobody says how many."""
_SHARE = 2
"""A model and its context take one part in so many of the memory that is free, at the most."""
_CACHED_SHARE, _MOST_CACHED = 8, 1_024
"""Likewise of the prompts that are kept in memory; and MiB of them."""
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Machine:
    free_memory: int
    """In bytes."""
    cores: int


@cache
def this_machine() -> Machine:
    """Look at the machine once, for a plan that changed would start a second engine.

    Raises:
        SettingsError: The packages of the extra `local` are not installed.

    """
    if is_missing():
        raise SettingsError(
            "The engine for models that run here is not installed.",
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
    """MiB of earlier prompts that are kept, so that their tokens are not read again."""
    memory: int
    """Bytes that the model and its context take, about."""

    def __str__(self) -> str:
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        return f"{self.context:,} tokens, {threads}, ~{megabytes(self.memory)} of memory"


def plan_engine(file: ModelFile, machine: Machine, context: int | None = None) -> EnginePlan:
    """Choose what an engine takes; `context` is what the user wants, in tokens. Pure."""
    if context is None:
        room = (machine.free_memory // _SHARE - file.size) // max(1, file.token_bytes)
        context = min(file.trained_context, MOST_CONTEXT, max(room, LEAST_CONTEXT))
    memory = file.size + context * file.token_bytes
    cached = min(_MOST_CACHED, machine.free_memory // _CACHED_SHARE // _MIB)
    return EnginePlan(file.path, context, machine.cores, cached, memory)


class Engine:
    """One server process; threads may share it."""

    def __init__(self, plan: EnginePlan, command: Sequence[str] = _CHILD) -> None:
        self.plan, self._command = plan, command
        self._lock = threading.Lock()
        self._child: Piped | None = None
        self._server = ("", "")

    def server(self) -> tuple[str, str]:
        """Give its base URL and its key; where it does not run, it is started. Slow.

        Raises:
            Unreachable: It does not start.

        """
        with self._lock:
            if self._child is None or self._child.poll() is not None:
                self._server = self._start()
            return self._server

    def ended_by(self, patience: float = 0.0) -> str:
        """Say by what it ended, as a clause; empty where it runs, or never did.

        Its connections break a moment before it has ended: `patience` is for that, in seconds.
        """
        code = wait_piped(self._child, patience) if self._child is not None else None
        if code is None:
            return ""
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def close(self) -> None:
        """End it; may be called at any time, also while it starts, and more than once."""
        if self._child is not None:
            end_piped(self._child)

    def _start(self) -> tuple[str, str]:
        plan, key = self.plan, secrets.token_urlsafe(24)
        figures = map(str, (plan.context, plan.threads, plan.cached_mib))
        command = (*self._command, str(plan.model), *figures)
        if self._child is None:
            atexit.register(self.close)
        self.close()  # one that ended by itself has its pipes still
        try:
            self._child = start_piped(command, Path(tempfile.gettempdir()))
            told = _first_words(self._child, key)
            if "error" not in told:
                return f"{told['address']}/v1", key
            why = str(told["error"])
        except OSError as error:
            why = error.strerror or str(error)
        except (ValueError, LookupError, TypeError):
            why = "its process ended"
        self.close()
        raise _not_started(plan, why)


def _first_words(child: Piped, key: str) -> dict[str, object]:
    """Hand the key over, and read where it listens, or why it does not.

    OSError, ValueError, LookupError or TypeError where it says nothing that is understood.
    """
    assert child.stdin is not None and child.stdout is not None  # noqa: S101, PT018  for mypy
    child.stdin.write(f"{key}\n".encode())
    child.stdin.flush()
    told: dict[str, object] = json.loads(child.stdout.readline())
    return told


def _not_started(plan: EnginePlan, why: str) -> Unreachable:
    return Unreachable(
        f"llama.cpp does not run {plan.model.name}: {shorten(why, 200).rstrip('.')}.",
        f"The file may be damaged, of a kind that is too new, or too large with {plan}.",
    )


@cache
def engine_for(plan: EnginePlan) -> Engine:
    """Give the one engine of a plan: sessions of this process share it."""
    return Engine(plan)
