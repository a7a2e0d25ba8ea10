"""Tool calls in a request: their results, ids, arguments and quotes.

Each answer's calls are followed by one result per call, in the order of the calls; every protocol
refuses anything else. If no tools are offered, several servers refuse calls. A call is then quoted
in the message of its result, never written as the assistant's own words: models imitate the format
that they see.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, count

from jitchat.text.fences import free_tag
from jitchat.text.json_values import is_nested_within, parsed
from jitchat.text.sanitize import one_line, repair, shorten
from jitchat.values import EPHEMERAL, NO_TOOL_USE, Role, Tool, ToolCall, ToolUse, Turn
from jitchat.writing.pieces import BETWEEN, Unwritten, WritingRules, constant

INTERRUPTED = (
    "No result: the call was interrupted before it returned, and whether it did anything is not"
    " known."
)
"""The result of a call that has none, as sent to the model."""


def with_results(messages: Iterable[Unwritten]) -> list[Unwritten]:
    """Put each result after its call, in the order of the calls.

    A call without a result gets `INTERRUPTED`: the app may have ended while it ran. A result
    without a call is sent as a user message. Ids can repeat in later answers, because some servers
    restart their numbering: a result belongs to the last call with its id before it.
    """
    given = list(messages)
    if all(message.is_plain for message in given):
        return given
    results = _results_by_call(given)
    paired = set(results.values())
    ordered: list[Unwritten] = []
    for index, message in enumerate(given):
        if index in paired:
            continue
        if message.use.answers:
            ordered.append(_as_quote(message, message.use.answers, message))
            continue
        ordered.append(message)
        for number, call in enumerate(message.use.calls):
            result = results.get((index, number))
            ordered.append(_interrupted(message, call) if result is None else given[result])
    return ordered


def _interrupted(message: Unwritten, call: ToolCall) -> Unwritten:
    use = ToolUse(answers=call, is_error=True)
    return replace(constant(Role.TOOL, INTERRUPTED, message), use=use, is_native=message.is_native)


def _results_by_call(messages: Sequence[Unwritten]) -> dict[tuple[int, int], int]:
    """Map (index of a message, index of a call in it) to the index of the call's result."""
    open_calls: dict[str, list[tuple[int, int]]] = {}
    results: dict[tuple[int, int], int] = {}
    for index, message in enumerate(messages):
        answered = message.use.answers
        if message.use.calls:
            of_message: dict[str, list[tuple[int, int]]] = {}
            for number, call in enumerate(message.use.calls):
                of_message.setdefault(call.id, []).append((index, number))
            open_calls |= of_message
        elif answered and (waiting := open_calls.get(answered.id)):
            results[waiting.pop(0)] = index
    return results


def with_ids(messages: Iterable[Unwritten]) -> Iterator[Unwritten]:
    """Give calls and their results ids and names that every server accepts."""
    unique = UniqueCalls()
    waiting: list[ToolCall] = []
    for message in messages:
        use = message.use
        if use.calls:
            waiting = [unique.written(call) for call in use.calls]
            yield replace(message, use=_renamed(use, waiting))
        elif use.answers and waiting:
            yield replace(message, use=replace(use, answers=waiting.pop(0)))
        else:
            yield message


def _renamed(use: ToolUse, calls: Sequence[ToolCall]) -> ToolUse:
    """Replace the calls of an answer; drop an echo that contains the previous ones."""
    if tuple(calls) == use.calls:
        return use
    has_calls = use.echo is not None and isinstance(parsed(use.echo.value), list)
    return replace(use, calls=tuple(calls), echo=None if has_calls else use.echo)


_MADE = "call{:05}"
"""Nine letters and digits, as Mistral requires."""
_NO_NAME = re.compile("[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64
_NAMELESS = "unnamed"


def made_id(number: int) -> str:
    """Make an id for a call that the server sent without one."""
    return _MADE.format(number)


def given_id(call_id: str) -> str | None:
    """Return the id if the server gave it; None if it was made by `made_id`."""
    return None if re.fullmatch(r"call\d{5,}", call_id) else call_id


class UniqueCalls:
    """Makes ids and names of calls valid for every server, unique within one request.

    Ids can repeat in a conversation, if a server numbers the calls of each answer from the start
    or another server answered before; Anthropic refuses that. A name that a model invents may be
    invalid: most servers refuse anything but letters, digits, `_` and `-`.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def written(self, call: ToolCall) -> ToolCall:
        name = _NO_NAME.sub("_", call.name)[:_LONGEST_NAME] or _NAMELESS
        call_id = next(made for made in self._ids(call.id) if made not in self._taken)
        self._taken.add(call_id)
        return replace(call, id=call_id, name=name)

    def _ids(self, call_id: str) -> Iterator[str]:
        if given_id(call_id):
            yield call_id
            yield from (f"{call_id}_{number}" for number in count(2))
        else:
            yield call_id or made_id(1)
            yield from (made_id(number) for number in count(1))


def with_quotes(messages: Iterable[Unwritten], rules: WritingRules) -> Iterator[Unwritten]:
    """Quote calls that are not sent as such in the messages of their results."""
    caller: Unwritten | None = None
    for message in messages:
        if message.is_plain or (message.is_native and rules.takes_tools):
            yield message
        elif message.use.calls:
            caller = message
            yield replace(message, use=NO_TOOL_USE)
        elif message.use.answers:
            yield _as_quote(message, message.use.answers, caller or message)


def _as_quote(result: Unwritten, call: ToolCall, caller: Unwritten) -> Unwritten:
    """Make a user message of a result and, before it, the quote of its call.

    The quote belongs to the segment of the caller.
    """
    outcome = "It failed:\n" if result.use.is_error else "It returned:\n"
    quote = replace(caller.head, text=call_quote(call) + outcome)
    return Unwritten(Role.USER, (quote, *result.pieces))


_SHORT = 80
"""Characters of a string that is written within the arguments; a longer one has lines of its
own."""


def texts_of(turn: Turn) -> tuple[str, ...]:
    """Return what can be read of a turn: its content, then a text for each of its calls.

    The text of a call of jitchat's own tools is empty.
    """
    return turn.content, *(call_text(call) for call in turn.use.calls)


def full_text(turn: Turn) -> str:
    """Join the texts of a turn that are not blank."""
    if not turn.use.calls:
        return turn.content
    return BETWEEN.join(text for text in texts_of(turn) if text.strip())


def flattened(turn: Turn) -> Turn:
    """Return a turn that has the text of its calls as a part of its content."""
    if not turn.use.calls:
        return turn
    use = replace(turn.use, calls=(), echo=None)
    return replace(turn, content=full_text(turn), use=use)


def starts_of(turn: Turn) -> list[int]:
    """Return the offset of each of a turn's texts in its full text."""
    texts = texts_of(turn)
    steps = (len(text) + len(BETWEEN) if text.strip() else 0 for text in texts)
    return list(accumulate(steps, initial=0))[: len(texts)]


@lru_cache(maxsize=256)
def call_text(call: ToolCall) -> str:
    """Write a call for reading: the name, its arguments as JSON, and each long string in full.

    `Write {"path": "a.py", "content": "(below)"}`, then the content as it was before it became
    JSON. Empty for a call of jitchat's own tools: what it returned is in the store anyway.
    """
    if call.name in EPHEMERAL:
        return ""
    arguments = parsed(call.arguments)
    if not isinstance(arguments, dict):
        return repair(f"{one_line(call.name)} {call.arguments or {}}")
    below: list[tuple[str, str]] = []
    shown = json.dumps(_shortened(arguments, "", below), ensure_ascii=False)
    lines = [f"{one_line(call.name)} {shown}"]
    lines += [f"{path}:\n{text}" for path, text in below]
    return repair("\n".join(lines))


def call_head(call: ToolCall) -> str:
    """Write a call on one line, without arguments that are not short: `search {"query": "port"}`.

    All of the arguments are in the text of the call's own turn.
    """
    arguments = parsed(call.arguments)
    named = arguments if isinstance(arguments, dict) else {}
    written = {name: json.dumps(value, ensure_ascii=False) for name, value in named.items()}
    short = {name: named[name] for name, text in written.items() if len(text) <= _SHORT}
    shown = f" {json.dumps(short, ensure_ascii=False)}" if short else ""
    return one_line(f"{call.name}{shown}")


def _shortened(value: object, path: str, below: list[tuple[str, str]]) -> object:
    """Replace the long strings in a value, and add them with their paths to `below`."""
    if isinstance(value, dict):
        names = {name: f"{path}.{name}".removeprefix(".") for name in value}
        return {name: _shortened(value[name], names[name], below) for name in value}
    if isinstance(value, list):
        return [_shortened(item, f"{path}[{index}]", below) for index, item in enumerate(value)]
    if not isinstance(value, str) or (len(value) <= _SHORT and "\n" not in value):
        return value
    below.append((path, value))
    return "(below)"


def call_quote(call: ToolCall) -> str:
    """Quote a call in a tag that does not occur in it."""
    text = call_text(call)
    tag = free_tag("call", (text,))
    return f"<{tag}>\n{text}\n</{tag}>\n"


def tool_text(tool: Tool) -> str:
    """Return a tool's definition as JSON: name, description, and the schema of its arguments."""
    fields = {"name": tool.name, "description": tool.description, "parameters": schema_of(tool)}
    return json.dumps(fields, ensure_ascii=False)


def schema_of(tool: Tool) -> Mapping[str, object]:
    schema: Mapping[str, object] = json.loads(_schema(tool.schema))
    return schema


@lru_cache(maxsize=256)
def _schema(text: str) -> str:
    """Complete a schema: OpenAI refuses an object schema without properties."""
    read = json.loads(text) if text.strip() else {}
    return json.dumps({"type": "object", "properties": {}} | read, ensure_ascii=False)


_BROKEN = "INVALID_JSON"
"""The field in which Anthropic documents sending back invalid arguments."""
_DEEPEST = 64
"""Maximum nesting of arguments."""


def arguments_text(call: ToolCall) -> str:
    """Return the arguments as the model wrote them if they are a JSON object; else one with them.

    Servers parse arguments and refuse anything but an object.
    """
    if call.arguments.strip() in ("", "null"):
        return "{}"
    arguments, _ = read_arguments(call.arguments)
    if arguments is None:
        return json.dumps({_BROKEN: call.arguments}, ensure_ascii=False)
    return call.arguments


def arguments_object(call: ToolCall) -> dict[str, object]:
    """Return the arguments as an object, for protocols that require one."""
    value: dict[str, object] = json.loads(arguments_text(call), strict=False)
    return value


def read_arguments(text: str) -> tuple[dict[str, object] | None, str]:
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
