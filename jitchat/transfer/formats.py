"""Reading a file: which format it is in, and its conversations.

Nothing is stored here, so a file that turns out to be broken leaves nothing behind.
"""

from __future__ import annotations

import json
from pathlib import Path

from jitchat.errors import ImportFailed
from jitchat.transfer.locomo import is_locomo, read_locomo
from jitchat.transfer.plain import read_plain
from jitchat.transfer.report import Found

MAX_BYTES = 200 << 20


def read_file(path: Path, pick: str | None = None) -> list[Found]:
    """The conversations in `path`; only the one called `pick`, if given.

    Raises:
        ImportFailed: The file cannot be read, is not a known format, or lacks `pick`.
    """
    value = _parsed(_text(path), path)
    found = read_locomo(value) if is_locomo(value) else read_plain(value, path.stem)
    if pick is not None:
        names = ", ".join(each.id for each in found)
        found = [each for each in found if each.id == pick]
        if not found:
            raise ImportFailed(f"{path} has no conversation {pick!r}.", f"It has: {names}.")
    if not any(each.turns for each in found):
        raise ImportFailed(f"{path} holds no turns.", _EXPECTED)
    return found


_EXPECTED = (
    "Known are LoCoMo's JSON, and a JSON or JSONL list of objects with role and content"
    " (created_at and name are optional)."
)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ImportFailed(f"{path} is larger than 200 MB.", "Split it.")
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except FileNotFoundError:
        raise ImportFailed(f"There is no file {path}.", "Check the name.") from None
    except OSError as error:
        raise ImportFailed(
            f"{path} cannot be read: {error.strerror}.", "Check its permissions."
        ) from None


def _parsed(text: str, path: Path) -> object:
    try:
        return json.loads(text, strict=False)
    except RecursionError:
        raise ImportFailed(f"{path} is nested too deeply.", _EXPECTED) from None
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and lines[0].lstrip().startswith("{"):
            return [_line(line) for line in lines]
        raise ImportFailed(f"{path} is not JSON: {error}.", _EXPECTED) from None


def _line(line: str) -> object:
    """A line of JSONL, or None, which the reader counts as skipped."""
    try:
        return json.loads(line, strict=False)
    except (ValueError, RecursionError):
        return None
