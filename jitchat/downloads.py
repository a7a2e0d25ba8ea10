"""Downloads in a child process: they cannot hang, and leave no process behind.

A download that hangs inside a library or a program can only be ended from outside. The size of a
folder is watched, and the child and its process group are killed when it stops growing or when the
caller is cancelled.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_Process = asyncio.subprocess.Process  # noqa: TID251  its type
Progress = Callable[[int], None]
"""Called with the number of bytes received so far."""


@dataclass(frozen=True, slots=True)
class Patience:
    """The timeouts of a download, in seconds, and how it is run."""

    silence: float = 15.0
    """Maximum time without new bytes."""
    total: float = 3_600.0
    look_every: float = 0.5
    command: Sequence[str] = ()
    """A program to run instead of the default one, with the same last arguments."""
    monotonic: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class Outcome:
    fetched: bool
    """Whether the files are on this machine."""
    sentence: str


async def watched(
    start: Callable[[], Awaitable[_Process]],
    folder: Path,
    on_progress: Progress,
    patience: Patience,
) -> bytes | None:
    """Run a child and return its output, or None if a timeout expired.

    The child has always ended when this returns, raises or is cancelled.

    Raises:
        OSError: The child cannot be started.

    """
    # before the start: a later measurement could miss all that a fast child writes
    before = await asyncio.to_thread(_tree_size, folder)
    child = await start()
    try:
        return await _output(child, folder, before, on_progress, patience)
    finally:
        await _end(child)


async def _output(
    child: _Process, folder: Path, before: int, on_progress: Progress, patience: Patience
) -> bytes | None:
    talk = asyncio.ensure_future(child.communicate())
    size = before
    started = grown_at = patience.monotonic()
    try:
        while True:
            is_over = talk.done()  # checked first, so that the last bytes are reported too
            now, last = patience.monotonic(), size
            size = await asyncio.to_thread(_tree_size, folder)
            if size != last:
                grown_at = now
                on_progress(max(0, size - before))
            if is_over:
                return talk.result()[0]
            if now - grown_at > patience.silence or now - started > patience.total:
                return talk.result()[0] if talk.done() else None
            await asyncio.wait({talk}, timeout=patience.look_every)
    finally:
        talk.cancel()


async def _end(child: _Process) -> None:
    if child.returncode is None:
        with suppress(ProcessLookupError):
            if sys.platform == "win32":
                child.kill()
            else:
                os.killpg(child.pid, signal.SIGKILL)
    await child.wait()


def _tree_size(folder: Path) -> int:
    """Return the bytes of all files in `folder`; links are not followed."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += Path(parent, name).lstat().st_size
    return total
