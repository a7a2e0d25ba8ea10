"""Calls and results around a request: what matches what, and what is wrong with a call. Pure."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jitchat.providers.protocols.json_values import is_nested_within
from jitchat.text.sanitize import shorten
from jitchat.values import Message, Role, Tool, ToolCall, ToolResult, ToolUse, Turn

INTERRUPTED = (
    "No result: the call was interrupted before it returned, and whether it did anything is not"
    " known."
)
"""The result of a call that has none, as the model reads it."""
NOT_RUN = "No result: the call was not run, for the turn ended before it could be."
DECLINED = "Declined"
"""How the result of a call begins that the settings or the user did not allow."""
_SHOWN_NAMES = 10
_DEEPEST = 64
"""Levels of arguments."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Messages in which each call has its result behind it, and each result its call."""

    messages: tuple[Message, ...]
    interrupted: tuple[ToolCall, ...] = ()
    """Calls whose result is missing; they got one that says so."""
    dropped: tuple[Message, ...] = ()
    """Results whose call is missing; they are left out."""

    @property
    def sentence(self) -> str:
        """Say what was left out; empty for nothing."""
        if not self.dropped:
            return ""
        calls = (message.use.answers for message in self.dropped)
        named = ", ".join(dict.fromkeys(call.name or "a tool" for call in calls if call))
        count = len(self.dropped)
        what = "1 tool result was" if count == 1 else f"{count} tool results were"
        return f"{what} left out, for the call is not in the window: {shorten(named, 200)}."


def paired(messages: Iterable[Message]) -> Paired:
    """Put each result behind its call, in the order of the calls.

    A call without a result gets one that says so: the app may have ended while it ran. A result
    without a call is left out. A call's id may come again in a later answer, as some servers
    number theirs anew: a result belongs to the last call of its id before it.
    """
    given = tuple(messages)
    if not any(message.use.calls or message.use.answers for message in given):
        return Paired(given)
    results = _by_call(given)
    kept: list[Message] = []
    interrupted: list[ToolCall] = []
    for place, message in enumerate(given):
        if message.use.answers:
            continue
        kept.append(message)
        for number, call in enumerate(message.use.calls):
            result = results.pop((place, number), None)
            if result is None:
                interrupted.append(call)
                result = result_message(ToolResult(call, INTERRUPTED, is_error=True))
            kept.append(result)
    used = {id(message) for message in kept}
    dropped = tuple(m for m in given if m.use.answers and id(m) not in used)
    return Paired(tuple(kept), tuple(interrupted), dropped)


def _by_call(messages: tuple[Message, ...]) -> dict[tuple[int, int], Message]:
    """Find each call's result, by the place of its message and its number there."""
    open_calls: dict[str, list[tuple[int, int]]] = {}
    found: dict[tuple[int, int], Message] = {}
    for place, message in enumerate(messages):
        answered = message.use.answers
        if message.use.calls:
            fresh: dict[str, list[tuple[int, int]]] = {}
            for number, call in enumerate(message.use.calls):
                fresh.setdefault(call.id, []).append((place, number))
            open_calls |= fresh
        elif answered and (waiting := open_calls.get(answered.id)):
            found[waiting.pop(0)] = message
    return found


def result_message(result: ToolResult, turn: int | None = None) -> Message:
    """Make the message that hands a result back; `turn` is its position, where it is stored."""
    use = ToolUse(answers=result.call, is_error=result.is_error)
    return Message(Role.TOOL, result.content, turn, use)


def is_declined(result: Turn) -> bool:
    """Whether a call was not allowed; the result of one that ran may begin with any word."""
    use = result.use
    return use.is_error and use.seconds is None and result.content.startswith(DECLINED)


def arguments_of(call: ToolCall) -> dict[str, Any] | None:
    """Parse a call's arguments; empty where the model wrote none, None where they are broken."""
    return _read(call.arguments)[0]


def _read(text: str) -> tuple[dict[str, Any] | None, str]:
    """Parse arguments: the object, or None and why there is none, as a clause."""
    if text.strip() in ("", "null"):
        return {}, ""
    try:
        value = json.loads(text, strict=False)
        if not is_nested_within(value, _DEEPEST):
            return None, "nested too deep"
        json.dumps(value, allow_nan=False)  # 1e999 is read, and cannot be sent
    except RecursionError:
        return None, "nested too deep"
    except ValueError as error:
        return None, shorten(str(error), 120)
    return (value, "") if isinstance(value, dict) else (None, f"type {type(value).__name__}")


def problem_with(
    call: ToolCall, tools: Iterable[Tool], *, is_cut: bool = False
) -> ToolResult | None:
    """Make the result of a call that cannot be run, told so that the model can correct it.

    None where it can: its tool is offered, and its arguments are an object. `is_cut` says that the
    answer was as long as it may be and ended with this call: what it has no arguments of may be
    what was cut.
    """
    names = sorted(tool.name for tool in tools)
    if call.name not in names:
        few = ", ".join(names[:_SHOWN_NAMES]) + (", …" if len(names) > _SHOWN_NAMES else "")
        there = f"There are: {few}." if names else "There are none."
        return _failed(call, f"There is no tool {shorten(call.name, 80)!r}. {there}")
    arguments, why = _read(call.arguments)
    if is_cut and not arguments and call.arguments.strip() != "{}":
        return _failed(call, _CUT)
    if arguments is None:
        said = f"The arguments are not a JSON object ({why}). Nothing was run. Call again."
        return _failed(call, said)
    return None


_CUT = (
    "The answer was as long as it may be and ended within this call. Nothing was run. Call again,"
    " with shorter arguments."
)


def _failed(call: ToolCall, sentence: str) -> ToolResult:
    return ToolResult(call, sentence, is_error=True)


_BROKEN = "INVALID_JSON"
"""Under which Anthropic's manual hands broken arguments back."""


def arguments_object(call: ToolCall) -> dict[str, Any]:
    """Give the arguments as protocols want them that take objects only."""
    known = arguments_of(call)
    return {_BROKEN: call.arguments} if known is None else known


def arguments_text(call: ToolCall) -> str:
    """Give the arguments as the model wrote them, where they are JSON: servers parse them."""
    is_whole = call.arguments.strip() not in ("", "null") and arguments_of(call) is not None
    return call.arguments if is_whole else json.dumps(arguments_object(call), ensure_ascii=False)


@lru_cache(maxsize=256)
def _schema(text: str) -> str:
    """Complete a schema: OpenAI refuses an object's without properties."""
    read = json.loads(text) if text.strip() else {}
    return json.dumps({"type": "object", "properties": {}} | read)


def schema_of(tool: Tool) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = json.loads(_schema(tool.schema))
    return schema
