"""Downloading an embedding model: never blocks, never hangs, leaves no process behind.

The work is done by a child process, for a download that hangs inside the library can only be ended
from outside: this module, run with the model and the folder, prints JSON as its last line,
{"ok": bool, "detail": str}. The parent watches the bytes arrive, and ends the child when they stop
coming or when it is cancelled. What arrived stays, so that the next try goes on from there.
"""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from jitchat.children import own_python, start_watched
from jitchat.index.embedding_models import model_cached
from jitchat.paths import make_private
from jitchat.text.sanitize import shorten

_Process = asyncio.subprocess.Process  # noqa: TID251  its type
Progress = Callable[[int], None]
"""Is told the bytes that arrived so far."""

_CHILD = own_python("-m", "jitchat.index.download")


@dataclass(frozen=True, slots=True)
class Patience:
    """How a download is run and how long it may take, in seconds."""

    silence: float = 15.0
    """Without a new byte."""
    total: float = 3_600.0
    look_every: float = 0.5
    command: Sequence[str] = _CHILD
    """Is given the model and the folder."""
    monotonic: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class Outcome:
    fetched: bool
    sentence: str


async def fetch_model(
    model: str, cache: Path, on_progress: Progress, patience: Patience | None = None
) -> Outcome:
    """Download `model` into `cache`. Raises nothing; cancelling it ends the child."""
    patience = patience or Patience()
    try:
        await asyncio.to_thread(make_private, cache)
        before = await asyncio.to_thread(_tree_size, cache)
        child = await start_watched((*patience.command, model, str(cache)), cache)
    except OSError as error:
        return _failed(model, error.strerror or str(error))
    try:
        answer = await _watched(child, cache, before, on_progress, patience)
    finally:
        await _end(child)
    if answer is None:
        return _failed(model, "no bytes came any more")
    detail = _detail(answer)
    if detail is None and model_cached(model, cache):
        return Outcome(True, f"The embedding model {model} is downloaded.")
    return _failed(model, detail or "a part of it is missing")


async def _watched(
    child: _Process, cache: Path, before: int, on_progress: Progress, patience: Patience
) -> bytes | None:
    """What the child printed, or None if it has to be given up.

    `before` is the size of the folder ahead of the child's start: a first look that came later
    could miss a child that has already written all it will.
    """
    talk = asyncio.ensure_future(child.communicate())
    size = before
    started = grown_at = patience.monotonic()
    try:
        while True:
            is_over = talk.done()  # asked first: what it wrote last is reported, too
            now, last = patience.monotonic(), size
            size = await asyncio.to_thread(_tree_size, cache)
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


def _detail(answer: bytes) -> str | None:
    """Why the child failed; None if it did not."""
    try:
        told = json.loads(answer.splitlines()[-1])
        return None if told["ok"] is True else str(told["detail"])
    except (ValueError, LookupError, TypeError):
        return "the download ended without a word"


def _failed(model: str, reason: str) -> Outcome:
    reason = shorten(reason, 160).rstrip(".")
    return Outcome(False, f"The embedding model {model} could not be downloaded: {reason}.")


def _tree_size(folder: Path) -> int:
    """Bytes of the files below `folder`; a link counts as itself."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += Path(parent, name).lstat().st_size
    return total


_QUIET = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_HUB_DISABLE_XET": "1",
    "HF_HUB_ETAG_TIMEOUT": "5",
    "HF_HUB_DOWNLOAD_TIMEOUT": "10",
}


def main(arguments: list[str]) -> int:
    """Download, and print how it went; returns the exit code."""
    os.environ.update(_QUIET)
    try:
        # here, for huggingface_hub reads the environment when it is imported
        from jitchat.index.fast_embedder import download  # noqa: PLC0415

        answer = {"ok": True, "detail": download(*arguments)}
    except Exception as error:  # noqa: BLE001  it fails in classes of four libraries
        first_line = str(error).strip().partition("\n")[0] or type(error).__name__
        answer = {"ok": False, "detail": first_line[:300]}
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0 if answer["ok"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
