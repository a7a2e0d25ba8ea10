"""Download an embedding model from its hub.

A child process does the work: this module, run with the model and the folder as arguments, prints
JSON as its last line, {"ok": bool, "detail": str}. A partial download is kept, and the next attempt
resumes it.
"""

import asyncio
import json
import os
import sys
from functools import partial
from pathlib import Path

from jitchat.children import own_python, start_watched
from jitchat.downloads import Outcome, Patience, Progress, watched
from jitchat.index.embedding_models import model_cached
from jitchat.paths import make_private
from jitchat.text.sanitize import shorten

_CHILD = own_python("-m", "jitchat.index.download")


async def fetch_model(
    model: str, cache: Path, on_progress: Progress, patience: Patience | None = None
) -> Outcome:
    """Download `model` into `cache`. Raises nothing; cancelling it ends the child process."""
    patience = patience or Patience()
    try:
        await asyncio.to_thread(make_private, cache)
        command = (*(patience.command or _CHILD), model, str(cache))
        start = partial(start_watched, command, cache)
        answer = await watched(start, cache, on_progress, patience)
    except OSError as error:
        return _failed(model, error.strerror or str(error))
    if answer is None:
        return _failed(model, "no more data was received")
    detail = _detail(answer)
    if detail is None and model_cached(model, cache):
        return Outcome(True, f"The embedding model {model} is downloaded.")
    return _failed(model, detail or "a file is missing")


def _detail(answer: bytes) -> str | None:
    """Return why the child process failed, or None if it did not."""
    try:
        report = json.loads(answer.splitlines()[-1])
        return None if report["ok"] is True else str(report["detail"])
    except (ValueError, LookupError, TypeError):
        return "the download ended without a report"


def _failed(model: str, reason: str) -> Outcome:
    reason = shorten(reason, 160).rstrip(".")
    return Outcome(False, f"The embedding model {model} could not be downloaded: {reason}.")


_QUIET = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_HUB_DISABLE_XET": "1",
    "HF_HUB_ETAG_TIMEOUT": "5",
    "HF_HUB_DOWNLOAD_TIMEOUT": "10",
}


def main(arguments: list[str]) -> int:
    """Download, print the report, and return the exit code."""
    os.environ.update(_QUIET)
    try:
        # imported here because huggingface_hub reads the environment when it is imported
        from jitchat.index.fast_embedder import download  # noqa: PLC0415

        answer = {"ok": True, "detail": download(*arguments)}
    except Exception as error:  # noqa: BLE001  four libraries raise their own classes
        first_line = str(error).strip().partition("\n")[0] or type(error).__name__
        answer = {"ok": False, "detail": first_line[:300]}
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0 if answer["ok"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
