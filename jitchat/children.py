"""The one place that starts other processes.

A child of ours runs Python without the current folder on its path, in a folder that is named for
it, and with the variables that it needs: none that may hold a key. pip or uv are handed their own
settings besides, which may hold the password of a package index. A command of the user's own has
the user's environment and runs in the home folder, wherever jitchat was started.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio.subprocess import Process

Completed = subprocess.CompletedProcess[bytes]
Piped = subprocess.Popen[bytes]

_NEEDED = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "TZ", "LANG", "LANGUAGE", "TMPDIR", "TEMP", "TMP",
    "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR",
    "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "HF_ENDPOINT", "HF_HUB_OFFLINE", "TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR",
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
})  # fmt: skip
"""In upper case; proxies are mostly written in lower case."""
_FAMILIES = ("LC_", "XDG_")
_INSTALLERS_FAMILIES = ("PIP_", "UV_", "NETRC")


def own_python(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-P", *arguments)


def own_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Choose what a child of ours is handed; it finds its modules where this process does."""
    try:
        here = os.path.realpath(os.getcwd())  # noqa: PTH109  as sys.path has it
    except OSError:  # the current folder was deleted
        here = ""
    path = [entry for entry in sys.path if entry and os.path.realpath(entry) != here]
    needed = {
        name: value
        for name, value in environ.items()
        if name.upper() in _NEEDED or name.startswith(_FAMILIES)
    }
    return needed | {"PYTHONPATH": os.pathsep.join(path)}


async def start_watched(command: Sequence[str], folder: Path) -> "Process":
    """Start a child of ours whose output is read in the event loop; OSError where it cannot be.

    It leads a group of its own.
    """
    return await _start(command, folder, DEVNULL, own_environment(os.environ))


async def start_installer(command: Sequence[str], folder: Path) -> "Process":
    """Start pip or uv likewise: what it writes meanwhile is in `folder`, its errors in its output.

    A download of pip's that breaks off goes on where it was, by versions of pip that can do so.
    """
    given = {
        name: value
        for name, value in os.environ.items()
        if name.upper().startswith(_INSTALLERS_FAMILIES)
    }
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    environ = {"PIP_RESUME_RETRIES": "5"} | own_environment(os.environ) | given | places
    return await _start(command, folder, STDOUT, environ)


async def _start(
    command: Sequence[str], folder: Path, errors: int, environ: Mapping[str, str]
) -> "Process":
    import asyncio  # noqa: PLC0415  30 ms, loaded where there is an event loop

    return await asyncio.create_subprocess_exec(
        *command, stdin=DEVNULL, stdout=PIPE, stderr=errors, start_new_session=True,
        cwd=folder, env=environ,
    )  # fmt: skip


def start_piped(command: Sequence[str], folder: Path) -> Piped:
    """Start a child of ours that is written to and read from; OSError where it cannot be.

    Ctrl+C does not reach it.
    """
    return subprocess.Popen(  # noqa: S603  a command of ours
        command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True,
        cwd=folder, env=own_environment(os.environ),
    )  # fmt: skip


def wait_piped(child: Piped, seconds: float) -> int | None:
    """Wait for a child to end: its exit code; None where it still runs."""
    with suppress(subprocess.TimeoutExpired):
        return child.wait(seconds)
    return None


def end_piped(child: Piped) -> int:
    """End a child at once, whatever it does, and give its pipes back; its exit code."""
    child.kill()
    code = child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):  # what was not written yet
                pipe.close()
    return code


async def run_in_terminal(command: Sequence[str]) -> int:
    """Run a command of the user's own that has the terminal, such as an editor; its exit code.

    OSError where it cannot be run, ValueError where it holds a NUL.
    """
    import asyncio  # noqa: PLC0415  as above

    child = await asyncio.create_subprocess_exec(*command)
    return await child.wait()


def run_users_command(words: Sequence[str], seconds: float) -> Completed | None:
    """Run a command that the user configured, without a shell; None if it takes too long.

    OSError where it cannot be run, ValueError where it holds a NUL.
    """
    home = os.path.expanduser("~")  # noqa: PTH111  never fails, unlike Path.home
    folder = home if os.path.isdir(home) else os.path.abspath(os.sep)  # noqa: PTH100, PTH112
    try:
        return subprocess.run(  # noqa: S603  the user's own command
            words, stdin=DEVNULL, capture_output=True, timeout=seconds, check=False, cwd=folder
        )
    except subprocess.TimeoutExpired:
        return None
