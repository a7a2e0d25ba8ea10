"""Tool results in the hot index: their searchable text and their index line."""

import json

from jitchat.providers.tools import arguments_of, is_declined
from jitchat.text.figures import plural
from jitchat.text.json_values import parsed
from jitchat.text.sanitize import both_ends, one_line, shorten
from jitchat.values import ToolCall, Turn
from jitchat.window.exchange import is_requested
from jitchat.writing.calls import call_head, full_text

_READ = 200_000
"""Maximum characters of a result that is parsed as JSON to count its rows."""
_CALL, _ARGUMENT = 72, 40
"""Maximum characters of a call's arguments, and of one argument."""
_EACH_END = 400


def searched_text(turn: Turn) -> str:
    """Return the text by which a turn is found; for a tool result, its call and the result.

    Empty for results of `request_context`: the turns that they quote are found by themselves.
    """
    if is_requested(turn):
        return ""
    call = turn.use.answers
    return full_text(turn) if call is None else f"{call_head(call)}\n{turn.content}"


def result_line(result: Turn) -> str:
    """Describe a result in one line: `search_issues(query="login") → 14 rows, first {"id": …`."""
    call = result.use.answers
    if call is None:
        return _outline(result.content)
    outline = _outline(result.content)
    if is_declined(result):
        reason = outline.partition(". ")[0].removesuffix(".")
        return f"{call_line(call)} → {reason[:1].lower()}{reason[1:]}"
    return f"{call_line(call)} → {'failed: ' if result.use.is_error else ''}{outline}"


def call_line(call: ToolCall) -> str:
    """Describe a call in one line: `search_issues(query="login")`."""
    arguments = arguments_of(call) or {}
    listed = ", ".join(f"{name}={_argument(value)}" for name, value in arguments.items())
    return f"{one_line(call.name)}({shorten(one_line(listed), _CALL)})"


def _argument(value: object) -> str:
    return shorten(json.dumps(value, ensure_ascii=False), _ARGUMENT)


def _outline(content: str) -> str:
    text = content.strip()
    value = parsed(text) if text[:1] in ("[", "{") and len(text) <= _READ else None
    if isinstance(value, dict):
        lists = [each for each in value.values() if isinstance(each, list)]
        value = max(lists, key=len, default=None) or value
    if isinstance(value, list) and value:
        first = json.dumps(value[0], ensure_ascii=False)
        return f"{plural(len(value), 'row')}, first {_start(first)}"
    if isinstance(value, dict):
        return _start(json.dumps(value, ensure_ascii=False))
    lines = text.count("\n") + 1
    start = _start(text.partition("\n")[0])
    return f"{plural(lines, 'line')}, first {start}" if lines > 1 else start or "nothing"


def _start(text: str) -> str:
    return one_line(both_ends(text, _EACH_END))
