"""What a model can request from the store mid-turn: the tool's definition and its arguments.

Argument names that models guess are accepted as aliases; for arguments that cannot be understood,
an error states what to write instead.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any

from jitchat.errors import JitchatError
from jitchat.text.sanitize import shorten
from jitchat.text.sentences import turn_references
from jitchat.text.time_range import TimeRange, time_range
from jitchat.values import REQUEST_CONTEXT, Tool


class Scope(StrEnum):
    SEMANTIC = "semantic"
    """By words and meaning, the best first."""
    TEMPORAL = "temporal"
    """The turns that were found, in chronological order."""
    KNOWLEDGE = "knowledge"
    """Only pins, decisions, stored facts and notes, and the turns that these come from."""


def _field(description: str, **more: object) -> dict[str, object]:
    return {"type": "string", "description": description, **more}


TOOL = Tool(
    REQUEST_CONTEXT,
    "Earlier turns of this conversation that the window does not show, word for word, with ids and"
    " dates. Give query, time_range or turn.",
    json.dumps(
        {
            "type": "object",
            "properties": {
                "query": _field("what it is about, in content words"),
                "scope": _field(
                    "order: semantic by fit, temporal by date; knowledge: only pins, decisions,"
                    " kept facts and notes",
                    enum=[scope.value for scope in Scope],
                ),
                "time_range": _field("2026-02-16, 2026-02-16..2026-02-22, last week, 2 days ago"),
                "turn": _field("one turn with its neighbours: #12"),
                "offset": {"type": "integer", "description": "to go on, as the last result says"},
            },
        }
    ),
)
_ALIASES = {
    "query": ("q", "text", "search", "question"),
    "time_range": ("time", "date", "dates", "when", "timeframe", "range", "day"),
    "start": ("since", "from", "after", "start_date", "start_time", "begin"),
    "end": ("until", "to", "before", "end_date", "end_time"),
    "turn": ("turn_id", "id", "around"),
    "scope": ("mode",),
    "offset": ("cursor",),
}
_ELSEWHERE = re.compile(r"([a-z0-9._-]+)#([1-9][0-9]{0,8})", re.ASCII)
"""A turn of another conversation."""
_LONGEST = 400
"""Maximum characters of a query when it is repeated."""


@dataclass(frozen=True, slots=True)
class Asked:
    query: str = ""
    scope: Scope = Scope.SEMANTIC
    days: TimeRange | None = None
    turn: int | None = None
    offset: int = 0
    conversation: str = ""
    """The id of the other conversation that the turn belongs to; empty for the open one."""

    def __str__(self) -> str:
        """`“billing”, 2026-02-16 to 2026-02-22`; `#12`."""
        parts = (
            f"{self.conversation}#{self.turn}" if self.turn is not None else "",
            f"“{shorten(self.query, _LONGEST)}”" if self.query else "",
            str(self.days) if self.days is not None else "",
            self.scope.value if self.scope is not Scope.SEMANTIC else "",
            f"from {self.offset}" if self.offset else "",
        )
        return ", ".join(filter(None, parts))


class NotUnderstood(JitchatError):
    """Arguments without a usable request; the message tells the model what to write."""


def read_asked(arguments: Mapping[str, Any], today: date) -> Asked:
    """Read the arguments of a call.

    Raises:
        NotUnderstood: They request nothing, or a part of them cannot be understood.

    """
    given = {name: _given(arguments, name) for name in _ALIASES}
    asked = Asked(
        given["query"],
        _scope(given["scope"]),
        _days(given["time_range"] or _interval(given["start"], given["end"]), today),
        _turn(given["turn"]),
        _offset(given["offset"]),
        _conversation(given["turn"]),
    )
    if not asked.query and asked.days is None and asked.turn is None:
        if asked.scope is Scope.KNOWLEDGE:
            return asked
        raise NotUnderstood(
            "Nothing was asked for. Give at least one of query, time_range and turn:"
            ' {"query": "the words to look for"}.'
        )
    return asked


def _given(arguments: Mapping[str, Any], name: str) -> str:
    for each in (name, *_ALIASES[name]):
        value = arguments.get(each)
        if isinstance(value, bool) or value is None or isinstance(value, (dict, list)):
            continue
        if text := str(value).strip():
            return text
    return ""


def _scope(written: str) -> Scope:
    if not written:
        return Scope.SEMANTIC
    try:
        return Scope(written.lower())
    except ValueError:
        scopes = ", ".join(Scope)
        raise NotUnderstood(
            f"There is no scope {shorten(written, 40)!r}; there are {scopes}."
        ) from None


def _interval(start: str, end: str) -> str:
    """Join the two ends of an interval, given separately; either can be empty."""
    return f"{start}..{end}" if start or end else ""


def _days(written: str, today: date) -> TimeRange | None:
    if not written:
        return None
    if (found := time_range(written, today)) is None:
        raise NotUnderstood(
            f"The time range {shorten(written, 80)!r} is not clear. Write a date (2026-02-16), an"
            " interval (2026-02-16..2026-02-22), or words such as last week; today is"
            f" {today:%a} {today}."
        )
    return found


def _turn(written: str) -> int | None:
    if not written:
        return None
    if (elsewhere := _ELSEWHERE.fullmatch(written)) is not None:
        return int(elsewhere[2])
    named = sorted(turn_references(written))
    digits = written.lstrip("#").strip()
    if named or (digits.isascii() and digits.isdigit() and len(digits) < 10):
        return named[0] if named else int(digits)
    raise NotUnderstood(f"The turn {shorten(written, 40)!r} is no id. Write it as #12.")


def _conversation(written: str) -> str:
    """Read the conversation's id from the name of a turn: `chat-3` from `chat-3#12`."""
    named = _ELSEWHERE.fullmatch(written)
    return named[1] if named else ""


def _offset(written: str) -> int:
    digits = written.split(".", maxsplit=1)[0]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0
