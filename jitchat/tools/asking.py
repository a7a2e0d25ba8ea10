"""What a model may ask the store for in mid-turn: the tool's definition, and reading its arguments.

Names that models guess are taken for what they mean; what cannot be understood becomes a sentence
that says what to write in its place.
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
    """What was found, in order of time."""
    KNOWLEDGE = "knowledge"
    """Only what is pinned, decisions, kept facts and notes, and the turns that these stem from."""


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
"""Characters of a query that are echoed."""


@dataclass(frozen=True, slots=True)
class Asked:
    query: str = ""
    scope: Scope = Scope.SEMANTIC
    days: TimeRange | None = None
    turn: int | None = None
    offset: int = 0
    conversation: str = ""
    """The id of another conversation that the turn is of; empty for the open one."""

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
    """Arguments that say nothing that can be looked for; its text tells the model what to write."""


def read_asked(arguments: Mapping[str, Any], today: date) -> Asked:
    """Read the arguments of a call.

    Raises:
        NotUnderstood: They ask for nothing, or a part of them cannot be told.

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


def _scope(told: str) -> Scope:
    if not told:
        return Scope.SEMANTIC
    try:
        return Scope(told.lower())
    except ValueError:
        scopes = ", ".join(Scope)
        raise NotUnderstood(
            f"There is no scope {shorten(told, 40)!r}; there are {scopes}."
        ) from None


def _interval(start: str, end: str) -> str:
    """Write the two ends of an interval, given apart, as one; either may be empty."""
    return f"{start}..{end}" if start or end else ""


def _days(told: str, today: date) -> TimeRange | None:
    if not told:
        return None
    if (found := time_range(told, today)) is None:
        raise NotUnderstood(
            f"The time range {shorten(told, 80)!r} is not clear. Write a date (2026-02-16), an"
            " interval (2026-02-16..2026-02-22), or words such as last week; today is"
            f" {today:%a} {today}."
        )
    return found


def _turn(told: str) -> int | None:
    if not told:
        return None
    if (elsewhere := _ELSEWHERE.fullmatch(told)) is not None:
        return int(elsewhere[2])
    named = sorted(turn_references(told))
    digits = told.lstrip("#").strip()
    if named or (digits.isascii() and digits.isdigit() and len(digits) < 10):
        return named[0] if named else int(digits)
    raise NotUnderstood(f"The turn {shorten(told, 40)!r} is no id. Write it as #12.")


def _conversation(told: str) -> str:
    """Read whose a turn is off its name: `chat-3` of `chat-3#12`."""
    named = _ELSEWHERE.fullmatch(told)
    return named[1] if named else ""


def _offset(told: str) -> int:
    digits = told.split(".", maxsplit=1)[0]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0
