"""Tool calls and results: matching results to calls, and checking calls. Pure."""

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
"""The result of a call that has none, as sent to the model."""
NOT_RUN = "No result: the call was not run, for the turn ended before it could be."
DECLINED = "Declined"
"""The first word of the result of a call that the settings or the user did not allow."""
_SHOWN_NAMES = 10
_DEEPEST = 64
"""Maximum nesting of arguments."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Messages in which every call is followed by its result, and every result has its call."""

    messages: tuple[Message, ...]
    interrupted: tuple[ToolCall, ...] = ()
    """Calls whose result was missing; they have `INTERRUPTED` as their result."""
    dropped: tuple[Message, ...] = ()
    """Results whose call was missing; they are omitted."""

    @property
    def sentence(self) -> str:
        """A sentence on the omitted results; empty if there are none."""
        if not self.dropped:
            return ""
        calls = (message.use.answers for message in self.dropped)
        named = ", ".join(dict.fromkeys(call.name or "a tool" for call in calls if call))
        count = len(self.dropped)
        what, why = f"{count} tool results were", "their calls are"
        if count == 1:
            what, why = "1 tool result was", "its call is"
        return f"{what} left out because {why} not in the window: {shorten(named, 200)}."


def paired(messages: Iterable[Message]) -> Paired:
    """Put each result after its call, in the order of the calls.

    A call without a result gets `INTERRUPTED`: the app may have ended while it ran. A result
    without a call is omitted. Ids can repeat in later answers, because some servers restart their
    numbering: a result belongs to the last call with its id before it.
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
    """Return each call's result, by (index of its message, index of the call in it)."""
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
    """Return a result as a message to send back; `turn` is its position, if it is stored."""
    use = ToolUse(answers=result.call, is_error=result.is_error)
    return Message(Role.TOOL, result.content, turn, use)


def is_declined(result: Turn) -> bool:
    """Whether the call was not allowed. The result of a call that ran can begin with any word."""
    use = result.use
    return use.is_error and use.seconds is None and result.content.startswith(DECLINED)


def arguments_of(call: ToolCall) -> dict[str, Any] | None:
    """Parse a call's arguments; empty if the model wrote none, None if they are invalid."""
    return _read(call.arguments)[0]


def _read(text: str) -> tuple[dict[str, Any] | None, str]:
    """Parse arguments: return the object, or None and the reason as a clause."""
    if text.strip() in ("", "null"):
        return {}, ""
    try:
        value = json.loads(text, strict=False)
        if not is_nested_within(value, _DEEPEST):
            return None, "nested too deep"
        json.dumps(value, allow_nan=False)  # 1e999 can be parsed but not sent
    except RecursionError:
        return None, "nested too deep"
    except ValueError as error:
        return None, shorten(str(error), 120)
    return (value, "") if isinstance(value, dict) else (None, f"type {type(value).__name__}")


def problem_with(
    call: ToolCall, tools: Iterable[Tool], *, is_cut: bool = False
) -> ToolResult | None:
    """Return a result that explains to the model why a call cannot be run; None if it can.

    A call can be run if its tool is offered and its arguments are an object. `is_cut` means that
    the answer reached its maximum length in this call, so that missing arguments may have been
    cut.
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
        what = f"The arguments are not a JSON object ({why}). Nothing was run. Call again."
        return _failed(call, what)
    return None


_CUT = (
    "The answer was as long as it may be and ended within this call. Nothing was run. Call again,"
    " with shorter arguments."
)


def _failed(call: ToolCall, sentence: str) -> ToolResult:
    return ToolResult(call, sentence, is_error=True)


_BROKEN = "INVALID_JSON"
"""The field in which Anthropic documents sending back invalid arguments."""


def arguments_object(call: ToolCall) -> dict[str, Any]:
    """Return the arguments as an object, for protocols that require one."""
    known = arguments_of(call)
    return {_BROKEN: call.arguments} if known is None else known


def arguments_text(call: ToolCall) -> str:
    """Return the arguments as the model wrote them if they are JSON, since servers parse them."""
    is_whole = call.arguments.strip() not in ("", "null") and arguments_of(call) is not None
    return call.arguments if is_whole else json.dumps(arguments_object(call), ensure_ascii=False)


@lru_cache(maxsize=256)
def _schema(text: str) -> str:
    """Complete a schema: OpenAI refuses an object schema without properties."""
    read = json.loads(text) if text.strip() else {}
    return json.dumps({"type": "object", "properties": {}} | read)


def schema_of(tool: Tool) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = json.loads(_schema(tool.schema))
    return schema
