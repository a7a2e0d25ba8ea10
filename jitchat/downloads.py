"""A download that a child does, watched: it never hangs, and leaves no process behind.

A download that hangs inside a library or a program can only be ended from outside. The bytes are
watched as they arrive in a folder, and the child, with all of its group, is ended when they stop
coming or when whoever waits is cancelled.
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
"""Is told the bytes that arrived so far."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How a download is run and how long it may take, in seconds."""

    silence: float = 15.0
    """Without a new byte."""
    total: float = 3_600.0
    look_every: float = 0.5
    command: Sequence[str] = ()
    """The program to run in place of the usual one; it is given the same last arguments."""
    monotonic: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class Outcome:
    fetched: bool
    """Whether it is here."""
    sentence: str


async def watched(
    start: Callable[[], Awaitable[_Process]],
    folder: Path,
    on_progress: Progress,
    patience: Patience,
) -> bytes | None:
    """What the child printed, or None if it had to be given up. OSError where it cannot start.

    It has ended when this does, also when this is cancelled.
    """
    # ahead of its start: a first look that came later could miss a child that has already written
    # all it will
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
            is_over = talk.done()  # asked first: what it wrote last is reported, too
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
    """Bytes of the files below `folder`; a link counts as itself."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += Path(parent, name).lstat().st_size
    return total
