"""Reading a file: which format it is in, and its conversations.

Nothing is stored here, so a file that turns out to be broken leaves nothing behind.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import count, islice
from pathlib import Path

from jitchat.errors import ImportFailed
from jitchat.store.store import ColdStore
from jitchat.transfer.locomo import LOCOMO
from jitchat.transfer.plain import PLAIN, BrokenLine, read_plain
from jitchat.transfer.report import FileConversation
from jitchat.values import Conversation

MAX_BYTES = 200 << 20
MAX_OBJECTS = 1_000_000
"""Messages, or other objects, of a file: a million small ones take some 400 MB to read."""
MAX_VALUES = 8_000_000
"""Commas and opening brackets, each: prose of 200 MB has a third as many."""
FORMATS = (LOCOMO, PLAIN)
"""In the order in which they are tried; the last one takes what no other does."""
_EXPECTED = f"Known are {', and '.join(each.description for each in FORMATS)}."
_NAMED = 20
_LINE = re.compile(r"[^\n]*+\n|[^\n]++")
DEMO_ID, DEMO_TITLE = "demo", "Release planning (demo)"


def read_file(path: Path, pick: str | None = None) -> list[FileConversation]:
    """Read the conversations in `path`; only the one called `pick`, if given.

    Raises:
        ImportFailed: The file cannot be read, is not a known format, or lacks `pick`.

    """
    value = read_value(path, MAX_BYTES)
    found = next(each for each in FORMATS if each.matches(value)).read(value, path.stem)
    if pick is not None:
        found = _picked(found, pick, path)
    if not any(each.turns for each in found):
        told = left_out(found)
        raise ImportFailed(
            f"{path} holds no turns{f' (left out: {told})' if told else ''}.", _EXPECTED
        )
    return found


def read_value(path: Path, max_bytes: int) -> object:
    """Read what a file of JSON or JSONL holds, in whichever encoding of Unicode.

    Raises:
        ImportFailed: It cannot be read, or is neither.

    """
    text = _text(path, max_bytes)
    try:
        return _decoder(path).decode(text)
    except (ValueError, RecursionError) as error:
        items = list(_lines(text, path))
        if any(isinstance(item, dict) and "role" in item for item in items):
            return items
        fault = "is nested too deeply" if isinstance(error, RecursionError) else "is not JSON"
        detail = f": {error}" if isinstance(error, json.JSONDecodeError) else ""
        raise ImportFailed(f"{path} {fault}{detail}.", _EXPECTED) from None


def left_out(found: Sequence[FileConversation]) -> str:
    """Say what was left out of all conversations, and why; empty where nothing was."""
    counts: Counter[str] = sum((Counter(each.skipped) for each in found), Counter())
    return ", ".join(f"{number:,} {reason}" for reason, number in sorted(counts.items()))


def _picked(found: Sequence[FileConversation], pick: str, path: Path) -> list[FileConversation]:
    chosen = [each for each in found if each.id == pick]
    if not chosen:
        names = ", ".join(each.id for each in islice(found, _NAMED))
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        raise ImportFailed(f"{path} has no conversation {pick!r}.", f"It has {names}{more}.")
    return chosen


def _text(path: Path, max_bytes: int) -> str:
    """Read the whole file, in whichever encoding of Unicode.

    Bytes that are no UTF-8 become lone surrogates, which are repaired, and counted, turn by turn.
    """
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise ImportFailed(f"There is no file {path}.", "Check the name.") from None
    except OSError as error:
        raise ImportFailed(
            f"{path} cannot be read: {error.strerror}.", "Name a file that can."
        ) from None
    if len(data) > max_bytes:
        raise ImportFailed(f"{path} is larger than {max_bytes >> 20} MB.", "Split it.")
    if not data.strip():
        raise ImportFailed(f"{path} is empty.", _EXPECTED)
    if max(data.count(b","), data.count(b"[")) > MAX_VALUES:
        raise ImportFailed(f"{path} holds more than {MAX_VALUES:,} values.", "Split it.")
    encoding = json.detect_encoding(data)
    lenient = "surrogateescape" if encoding.startswith("utf-8") else "replace"
    return data.decode(encoding, lenient)


def _decoder(path: Path) -> json.JSONDecoder:
    """Make what reads a file as far as it holds no more objects than there is room for."""
    numbers = count(1)

    def counted(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if next(numbers) > MAX_OBJECTS:
            raise _too_many(path)
        return {sys.intern(name): value for name, value in pairs}

    return json.JSONDecoder(strict=False, parse_int=_whole, object_pairs_hook=counted)


def _too_many(path: Path) -> ImportFailed:
    return ImportFailed(f"{path} holds more than {MAX_OBJECTS:,} messages.", "Split it.")


def _lines(text: str, path: Path) -> Iterator[object]:
    """Read JSONL. A text that opens a list is none: half of it would pass for all of it."""
    if text.lstrip().startswith("["):
        return
    decoder, broken = _decoder(path), 0
    for number, match in enumerate(_LINE.finditer(text), start=1):
        line = match[0]
        if line.strip():
            try:
                yield decoder.decode(line)
            except (ValueError, RecursionError):
                if (broken := broken + 1) > MAX_OBJECTS:
                    raise _too_many(path) from None
                yield BrokenLine(number)


def _whole(digits: str) -> int | float:
    """Let a number of thousands of digits be infinite, where `int` raises."""
    return int(digits) if len(digits) < 20 else float(digits)


def store_all(
    store: ColdStore, found: Sequence[FileConversation]
) -> list[tuple[FileConversation, Conversation | None]]:
    """Store every conversation that has turns, or nothing at all; None for those without."""
    with store.database.write():
        return [(each, store_found(store, each) if each.turns else None) for each in found]


def store_found(store: ColdStore, found: FileConversation) -> Conversation:
    with store.database.write():
        made = store.create(found.title, found.id)
        store.append(made.id, found.turns)
        return store.conversation(made.id)


def store_demo(store: ColdStore) -> Conversation:
    text = (files("jitchat.transfer") / "demo.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    return store_found(store, replace(read_plain(lines, DEMO_ID)[0], title=DEMO_TITLE))
