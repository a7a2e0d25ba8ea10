"""Results of tools in the hot index: what is searched of one, and the line that names it."""

import json

from jitchat.providers.tools import arguments_of, is_declined
from jitchat.text.figures import plural
from jitchat.text.sanitize import both_ends, one_line, shorten
from jitchat.values import ToolCall, Turn
from jitchat.window.exchange import is_requested
from jitchat.window.render import called

_READ = 200_000
"""Characters of a result that are parsed as JSON, to count what is in it."""
_CALL, _ARGUMENT = 72, 40
"""Characters of the line for the call, and for one of its arguments."""
_REACH = 400


def searched_text(turn: Turn) -> str:
    """Give the text by which a turn is found: a result's with its call.

    Nothing of what `request_context` gave: it quotes turns that are found themselves.
    """
    if is_requested(turn):
        return ""
    call = turn.use.answers
    return turn.content if call is None else f"{called(call)}\n{turn.content}"


def result_line(result: Turn) -> str:
    """Write a result in a line: `search_issues(query="login") → 14 rows, first {"id": 3, …`."""
    call = result.use.answers
    if call is None:
        return _told(result.content)
    if is_declined(result):
        told = _told(result.content).partition(". ")[0].removesuffix(".")
        return f"{call_line(call)} → {told[:1].lower()}{told[1:]}"
    return f"{call_line(call)} → {'failed: ' if result.use.is_error else ''}{_told(result.content)}"


def call_line(call: ToolCall) -> str:
    """Write a call in a line: `search_issues(query="login")`."""
    arguments = arguments_of(call) or {}
    given = ", ".join(f"{name}={_argument(value)}" for name, value in arguments.items())
    return f"{one_line(call.name)}({shorten(one_line(given), _CALL)})"


def _argument(value: object) -> str:
    return shorten(json.dumps(value, ensure_ascii=False), _ARGUMENT)


def _told(content: str) -> str:
    text = content.strip()
    value = _parsed(text)
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


def _parsed(text: str) -> object:
    """Read a result as JSON; None where it is none, or too long to look."""
    if text[:1] not in ("[", "{") or len(text) > _READ:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _start(text: str) -> str:
    return one_line(both_ends(text, _REACH))
