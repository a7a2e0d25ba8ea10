"""Reading a window back: from the messages of a request to who said what, and the question.

The reader gets what any model gets, so this parses the very text that was sent: turns as
messages, quoted turns and index lines in the last one, the question at its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jitchat.turn import Message, Role

_DAY = re.compile(r"\A\[([A-Z][a-z]{2} \d{4}-\d\d-\d\d)\]\n")
_BLOCK = re.compile(
    r"^<(?P<tag>(?:index|recalled|pinned)(?:-\d+)?)>\n(?P<body>.*?)^</(?P=tag)>\n",
    re.MULTILINE | re.DOTALL,
)
_QUOTED = re.compile(
    r"^<(?P<tag>turn(?:-\d+)?) #(?P<turn>\d+)(?: (?P<day>\w{3} \d+-\d\d-\d\d))?"
    r" (?P<who>[^<>\n]*)>\n(?P<text>.*?)\n</(?P=tag)>$",
    re.MULTILINE | re.DOTALL,
)
_LINE = re.compile(
    r"^#(?P<turn>\d+)(?: (?P<day>\d{4}-\d\d-\d\d))? (?P<who>[^:]*?)(?: \(decision\))?:"
    r" (?P<text>.*)$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """What one speaker says in the window."""

    turn: int | None
    who: str
    day: str
    """As the window gives it; empty if it does not."""
    text: str
    whole: bool
    """False for an index line, which only sums the turn up."""


def read_window(messages: Sequence[Message]) -> tuple[list[Passage], str]:
    """Read the passages, in order of the conversation, and the question."""
    passages: list[Passage] = []
    day = ""
    for message in messages[:-1]:
        if message.role is Role.SYSTEM:
            continue
        pins = _BLOCK.fullmatch(message.content) if message.turn is None else None
        if pins:
            passages += _quoted([pins])
            continue
        day, text = _dated(message.content, day)
        passages.append(Passage(message.turn, message.role.value, day, text, whole=True))
    tail = messages[-1] if messages else Message(Role.USER, "")
    # a draft that is a message of its own has no blocks ahead of it: what looks so, was typed
    blocks = list(_leading_blocks(tail.content)) if tail.turn is None else []
    question = tail.content[blocks[-1].end() :] if blocks else tail.content
    passages += _quoted(blocks)
    passages.sort(key=lambda passage: passage.turn or 0)
    return passages, _dated(question.removeprefix("\n"), day)[1].strip()


def _leading_blocks(tail: str) -> Iterator[re.Match[str]]:
    """Find the blocks that open the last message; what comes later is the user's own text."""
    end = 0
    while block := _BLOCK.match(tail, end):
        yield block
        end = block.end()


def _dated(text: str, day: str) -> tuple[str, str]:
    marker = _DAY.match(text)
    return (marker[1], text[marker.end() :]) if marker else (day, text)


def _quoted(blocks: Sequence[re.Match[str]]) -> list[Passage]:
    found: list[Passage] = []
    for block in blocks:
        is_index = block["tag"].startswith("index")
        for match in (_LINE if is_index else _QUOTED).finditer(block["body"]):
            place, day = int(match["turn"]), match["day"] or ""
            found.append(Passage(place, match["who"], day, match["text"], whole=not is_index))
    return found
