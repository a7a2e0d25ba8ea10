"""Calls and results of earlier turns, as a later window carries them.

A call and its results are one unit: a window has all of it or nothing. What a model asked of
jitchat itself is not carried along: it quotes turns that are in the store anyway. Of a result that
was held at the gate, only the chosen form is.
"""

from collections.abc import Sequence
from dataclasses import replace

from jitchat.values import EPHEMERAL, NO_TOOL_USE, Role, Status, ToolCall, ToolUse, Turn


def carried_use(use: ToolUse) -> ToolUse:
    """Give what a later window has of a turn's tools: without calls of jitchat's own.

    An echo says again what was called: where one of its calls goes, so does the echo.
    """
    if not use.calls:
        return answering(use) if use.answers is not None else NO_TOOL_USE
    calls = tuple(call for call in use.calls if call.name not in EPHEMERAL)
    if len(calls) == len(use.calls):
        return use
    return replace(use, calls=calls, echo=None) if calls else NO_TOOL_USE


def answering(use: ToolUse) -> ToolUse:
    """Give what the message of a result has of tools."""
    return ToolUse(answers=use.answers, is_error=use.is_error)


def is_requested(turn: Turn) -> bool:
    """Whether a turn is what a tool of jitchat's own gave back."""
    return turn.use.answers is not None and turn.use.answers.name in EPHEMERAL


def is_shown(turn: Turn) -> bool:
    """Whether a window may show a turn: not one that is unanswered, blank or only requested."""
    if turn.status is Status.UNANSWERED or is_requested(turn):
        return False
    has_tools = turn.use.answers is not None or bool(carried_use(turn.use).calls)
    return has_tools or bool(turn.content and not turn.content.isspace())


def spoken_as(turn: Turn) -> Role:
    """Choose the role under which a turn is sent.

    A stored turn never gets the system's authority; what a tool said in answer to no call that
    is known goes out as the user's.
    """
    if turn.role is Role.ASSISTANT:
        return Role.ASSISTANT
    return Role.TOOL if turn.use.answers is not None else Role.USER


def unit_at(turns: Sequence[Turn], index: int) -> range:
    """Find the unit that the turn at `index` is part of: a call with its results, or one turn."""
    start = end = index
    while start and turns[start].use.answers is not None:
        start -= 1
    if not turns[start].use.calls:
        return range(index, index + 1)
    while end + 1 < len(turns) and turns[end + 1].use.answers is not None:
        end += 1
    return range(start, end + 1)


def open_calls(turns: Sequence[Turn]) -> list[ToolCall]:
    """List the calls at the end of a path that have no result yet, in their order."""
    if not turns:
        return []
    unit = unit_at(turns, len(turns) - 1)
    calls = list(turns[unit.start].use.calls)
    for turn in turns[unit.start + 1 :]:
        same = (call for call in calls if turn.use.answers and call.id == turn.use.answers.id)
        if (answered := next(same, None)) is not None:
            calls.remove(answered)
    return calls
