"""Starting child processes; besides the guard of an MCP server, no other module does.

jitchat's own children run Python without the current folder on its path, in a folder that the
caller names, with only the environment variables that they need and none that may hold a key. pip
and uv also get their own variables, which may hold the password of a package index. A command of
the user's has the user's environment and runs in the home folder, wherever jitchat was started.
"""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio.subprocess import Process

Completed = subprocess.CompletedProcess[bytes]
Piped = subprocess.Popen[bytes]

NO_REPORTS = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}
"""Variables that keep dependencies from reporting to their makers.

onnxruntime 1.32 and later stores a device id and reports when it is imported; huggingface_hub tells
the hub which libraries use it. The third is a convention that further libraries follow."""

_NEEDED = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "TZ", "LANG", "LANGUAGE", "TMPDIR", "TEMP", "TMP",
    "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR",
    "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR",
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
})  # fmt: skip
"""Matched regardless of case, because proxy variables are usually in lower case."""
_FAMILIES = ("LC_", "XDG_")
_INSTALLERS_FAMILIES = ("PIP_", "UV_", "NETRC")
_LOOK_SECONDS = 0.05
"""Seconds after which it is noticed that nobody waits for a child's answer any more."""


def own_python(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-P", *arguments)


def disable_reports() -> None:
    """Keep dependencies that this process imports from reporting, unless the user decided."""
    for name, value in NO_REPORTS.items():
        os.environ.setdefault(name, value)


def own_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of jitchat's own child, with this process's module search path."""
    try:
        here = os.path.realpath(os.getcwd())  # noqa: PTH109  as sys.path has it
    except OSError:  # the current folder was deleted
        here = ""
    path = [entry for entry in sys.path if entry and os.path.realpath(entry) != here]
    needed = {
        name: value
        for name, value in environ.items()
        if name.upper() in _NEEDED or name in NO_REPORTS or name.startswith(_FAMILIES)
    }
    return NO_REPORTS | needed | {"PYTHONPATH": os.pathsep.join(path)}


async def start_installer(command: Sequence[str], folder: Path) -> "Process":
    """Start pip or uv, with temporary files in `folder` and errors in the output.

    It is in a new process group, and its output is read in the event loop. Versions of pip that
    support it resume an interrupted download.

    Raises:
        OSError: It cannot be started.

    """
    import asyncio  # noqa: PLC0415  30 ms; loaded anyway if there is an event loop

    given = {
        name: value
        for name, value in os.environ.items()
        if name.upper().startswith(_INSTALLERS_FAMILIES)
    }
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    environ = {"PIP_RESUME_RETRIES": "5"} | own_environment(os.environ) | given | places
    return await asyncio.create_subprocess_exec(
        *command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, start_new_session=True,
        cwd=folder, env=environ,
    )  # fmt: skip


def start_piped(command: Sequence[str], folder: Path) -> Piped:
    """Start a child of jitchat with pipes for its input and output. Ctrl+C does not reach it.

    Raises:
        OSError: It cannot be started.

    """
    return subprocess.Popen(  # noqa: S603  jitchat's own command
        command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True,
        cwd=folder, env=own_environment(os.environ),
    )  # fmt: skip


def wait_piped(child: Piped, seconds: float) -> int | None:
    """Wait for a child to end; return its exit code, or None if it is still running."""
    with suppress(subprocess.TimeoutExpired):
        return child.wait(seconds)
    return None


def end_piped(child: Piped) -> int:
    """Kill a child and close its pipes; return its exit code."""
    child.kill()
    code = child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):  # unwritten data cannot be flushed
                pipe.close()
    return code


def answer_of(
    command: Sequence[str], folder: Path, data: bytes, seconds: float, given_up: threading.Event
) -> bytes:
    """Give a child its input, and return its output; empty if it failed, took longer or was killed.

    It is killed when `given_up` is set.

    Raises:
        OSError: It cannot be started.

    """
    child = start_piped(command, folder)
    until = time.monotonic() + seconds

    def watch() -> None:
        while child.returncode is None and time.monotonic() < until:
            if given_up.wait(_LOOK_SECONDS):
                break
        child.kill()

    threading.Thread(target=watch, daemon=True).start()
    try:
        answer, _ = child.communicate(data)
    finally:
        code = end_piped(child)
    return answer if code == 0 else b""


async def run_in_terminal(command: Sequence[str]) -> int:
    """Run a command of the user's in the terminal, such as an editor; return its exit code.

    Raises:
        OSError: It cannot be run.
        ValueError: It contains a NUL.

    """
    import asyncio  # noqa: PLC0415  as above

    child = await asyncio.create_subprocess_exec(*command)
    return await child.wait()


def users_home() -> str:
    """Return the user's home, or the root folder if it does not exist."""
    home = os.path.expanduser("~")  # noqa: PTH111  never fails, unlike Path.home
    return home if os.path.isdir(home) else os.path.abspath(os.sep)  # noqa: PTH100, PTH112


def is_command(command: str, folder: str, path: str | None = None) -> bool:
    """Whether `command` can be run in `folder`; `path` is that of its environment."""
    is_name = Path(command).name == command
    return shutil.which(command if is_name else Path(folder, command), path=path) is not None


def run_users_command(words: Sequence[str], seconds: float) -> Completed | None:
    """Run a command that the user configured, without a shell; None if it times out.

    Raises:
        OSError: It cannot be run.
        ValueError: It contains a NUL.

    """
    try:
        return subprocess.run(  # noqa: S603  the user's own command
            words,
            stdin=DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
            cwd=users_home(),
        )
    except subprocess.TimeoutExpired:
        return None
