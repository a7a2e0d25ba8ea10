"""How turns are written into messages: the exact characters a model reads.

Recalled text is data that somebody wrote: it stands in a fence whose tag occurs in none of
the texts that it holds, so no turn can close it and pose as the user or as the system.
Every piece of the tail starts with `<` or `#` and ends with a line feed: at such a border
tokenizers split, so the pieces' tokens add up to the message's.

A protocol puts messages into the texts of its request in their order. It may leave out a blank
one, join several with a blank line, put the system's text elsewhere ahead of them, and add texts
of its own; it changes no character, and JSON writes each character by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from jitchat.text.sanitize import one_line, skeleton
from jitchat.values import IndexEntry, Role, Turn

if TYPE_CHECKING:
    from jitchat.window.window import ContextWindow, Segment


_DAY_IN_NAME = re.compile(r"(?<=\d)-(?=\d\d-\d\d)")
_NO_MARKUP = str.maketrans("<>＜＞﹤﹥", "‹›‹›‹›")
_OPENS = re.compile("[<＜﹤]")


def spoken_as(role: Role) -> Role:
    """Choose the role under which a turn is sent.

    A stored turn never gets the system's authority, and what a tool said is no longer the
    answer to a call that the request contains: both go out as the user's.
    """
    return Role.ASSISTANT if role is Role.ASSISTANT else Role.USER


def verbatim(turn: Turn, previous: Turn | None) -> str:
    """Write a turn as its own message: after its day where that is news, and its speaker."""
    day = f"[{_day(turn)}]\n" if _starts_a_day(turn, previous) else ""
    is_plain = turn.role is Role.USER or turn.role is Role.ASSISTANT
    label = turn.name or ("" if is_plain else turn.role.value)
    if label and (label := one_line(label)):
        return f"{day}{label}: {turn.content}"
    return day + turn.content


def index_line(entry: IndexEntry, turn: Turn) -> str:
    """Write one line that says that a turn exists and what it is about."""
    when = f" {turn.created_at:%Y-%m-%d}" if turn.created_at else ""
    mark = " (decision)" if entry.decision else ""
    return f"#{turn.position}{when} {_speaker(turn)}{mark}: {one_line(entry.summary)}\n"


def quote(turn: Turn, tag: str) -> str:
    """Write a recalled turn at full text, with who said it and on what day."""
    when = f" {_day(turn)}" if turn.created_at else ""
    speaker = _speaker(turn).translate(_NO_MARKUP)
    return f"<{tag} #{turn.position}{when} {speaker}>\n{turn.content}\n</{tag}>\n"


def fence(tag: str, pieces: Sequence[str]) -> list[str]:
    """Put the opening tag on the first piece and the closing tag on the last."""
    if not pieces:
        return []
    marked = list(pieces)
    marked[0] = f"<{tag}>\n{marked[0]}"
    marked[-1] = f"{marked[-1]}</{tag}>\n"
    return marked


def free_tag(tag: str, texts: Iterable[str]) -> str:
    """Choose `tag`, or the first of tag-1, tag-2 … that opens or closes in none of the texts.

    What a model may read as the tag is taken for it: `<U+200B/Turn>` and `＜／ｔｕｒｎ＞` are.
    """
    written = re.compile(rf"<\s*+/?+\s*+{tag}(-\d+)?", re.IGNORECASE)
    suspects = "\n".join(text for text in texts if _OPENS.search(text))
    taken = set(written.findall(skeleton(suspects)))
    if not taken:
        return tag
    return next(f"{tag}-{number}" for number in count(1) if f"-{number}" not in taken)


def _speaker(turn: Turn) -> str:
    """Name who spoke; no name can pose as the day that stands before it."""
    return _DAY_IN_NAME.sub("‐", one_line(turn.speaker)) or turn.role.value


def _starts_a_day(turn: Turn, previous: Turn | None) -> bool:
    if turn.created_at is None:
        return False
    known = previous.created_at if previous else None
    return known is None or known.date() != turn.created_at.date()


def _day(turn: Turn) -> str:
    return f"{turn.created_at:%a %Y-%m-%d}" if turn.created_at else ""


_TEXT = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)(?:"(\s*:)?|\\?\Z)')
"""A string of a document, and what tells that it is a name."""
_HOLDERS = frozenset({"content", "text"})
"""Names of what holds the text of a message."""
_BETWEEN = r"\n\n"
"""What stands between two messages that share a text, as JSON writes it."""


@dataclass(frozen=True, slots=True)
class SegmentPlace:
    """A segment in a body."""

    start: int
    """Of its first character."""
    end: int
    """Behind its last one."""
    segment: Segment


@dataclass(frozen=True, slots=True)
class FoundSegments:
    """A window in a body."""

    places: tuple[SegmentPlace, ...]
    """In the order of the body."""
    missing: tuple[Segment, ...]
    """Of blank messages, which no protocol sends, or empty."""


def find_segments(window: ContextWindow, body: str) -> FoundSegments:
    """Find every segment in the JSON of the request that the window left in."""
    texts = _Texts(body)
    found: list[SegmentPlace] = []
    missing: list[Segment] = []
    for segments in window.by_message():
        written = [(segment, _written(segment.text)) for segment in segments]
        start = texts.take("".join(text for _, text in written)) if _is_sent(segments) else None
        for segment, text in written:
            if start is None or not text:
                missing.append(segment)
            else:
                found.append(SegmentPlace(start, start + len(text), segment))
                start += len(text)
    return FoundSegments(tuple(found), tuple(missing))


class _Texts:
    """The texts of a body, of which messages are taken one by one."""

    def __init__(self, body: str) -> None:
        self._body, self._spans = body, list(_spans(body))
        self._at = self._behind = 0
        """The text that is read, and where what is taken of it ends; 0 where nothing is."""

    def take(self, message: str) -> int | None:
        """Find the next message; None where it is not there."""
        for at in range(self._at, len(self._spans)):
            start, end = self._spans[at]
            if at == self._at and self._behind:
                start = self._behind + len(_BETWEEN)
            behind = start + len(message)
            if self._is_at(message, start, end) and self._is_over(behind, end):
                self._at, self._behind = at, behind
                return start
        return None

    def _is_at(self, message: str, start: int, end: int) -> bool:
        return start + len(message) <= end and self._body.startswith(message, start)

    def _is_over(self, behind: int, end: int) -> bool:
        return behind == end or self._body.startswith(_BETWEEN, behind)


def _spans(body: str) -> Iterator[tuple[int, int]]:
    """Go through the values of `content` and `text`."""
    name = ""
    for match in _TEXT.finditer(body):
        if match[2] is not None:
            name = match[1]
        elif name in _HOLDERS:
            yield match.start(1), match.end(1)
            name = ""


def _is_sent(segments: Sequence[Segment]) -> bool:
    return any(segment.text.strip() for segment in segments)


def _written(text: str) -> str:
    return json.dumps(text)[1:-1]
