"""Calls and results of earlier turns, as a later window carries them.

A call and its results are one unit: a window has all of it or nothing. Calls of jitchat's own
tools are not carried, because their results quote turns that are in the store anyway. A result that
the gate held back is carried in the form that was chosen then.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from jitchat.turn_list import up_to
from jitchat.values import (
    EPHEMERAL,
    NO_TOOL_USE,
    Form,
    Role,
    Shortened,
    Status,
    ToolCall,
    ToolUse,
    Turn,
)
from jitchat.window import reasons


def carried_use(use: ToolUse) -> ToolUse:
    """Return a turn's tool use as a later window carries it: without calls of jitchat's own tools.

    The echo repeats the calls, so it is dropped together with any of them.
    """
    if not use.calls:
        return answering(use) if use.answers is not None else NO_TOOL_USE
    calls = tuple(call for call in use.calls if call.name not in EPHEMERAL)
    if len(calls) == len(use.calls):
        return use
    return replace(use, calls=calls, echo=None) if calls else NO_TOOL_USE


def compacted_as(form: str | None) -> ToolUse:
    """Return the tool use of a message that windows carry as a compacted text, if it has one."""
    return ToolUse(form=None if form is None else Shortened(form, Form.COMPACTED))


def answering(use: ToolUse) -> ToolUse:
    """Return the tool use of the message that carries a result."""
    return ToolUse(answers=use.answers, is_error=use.is_error)


def is_requested(turn: Turn) -> bool:
    """Whether a turn is the result of one of jitchat's own tools."""
    return turn.use.answers is not None and turn.use.answers.name in EPHEMERAL


def is_shown(turn: Turn) -> bool:
    """Whether a window can show a turn: not if it is unanswered, blank or requested."""
    return not why_unshown(turn)


def why_unshown(turn: Turn) -> str:
    """Return why no window can show a turn; empty if one can."""
    if turn.status is Status.UNANSWERED:
        return reasons.UNANSWERED
    if is_requested(turn):
        return reasons.OWN_TOOLS
    if turn.use.answers is not None or carried_use(turn.use).calls:
        return ""
    if turn.content and not turn.content.isspace():
        return ""
    if turn.use.calls:
        return reasons.OWN_TOOLS
    return reasons.BLANK_REPLY if turn.role is Role.ASSISTANT else reasons.BLANK


def spoken_as(turn: Turn) -> Role:
    """Choose the role under which a turn is sent.

    A stored turn never gets the system's authority. A tool's turn that answers no known call is
    sent as the user's.
    """
    if turn.role is Role.ASSISTANT:
        return Role.ASSISTANT
    return Role.TOOL if turn.use.answers is not None else Role.USER


def unit_at(turns: Sequence[Turn], index: int) -> range:
    """Find the unit of the turn at `index`: a call with its results, or the turn alone."""
    start = end = index
    while start and turns[start].use.answers is not None:
        start -= 1
    if not turns[start].use.calls:
        return range(index, index + 1)
    while end + 1 < len(turns) and turns[end + 1].use.answers is not None:
        end += 1
    return range(start, end + 1)


def question_at(turns: Sequence[Turn], index: int) -> Turn | None:
    """Return the message that the turn at an index is, or answers; None if it answers none."""
    place = unit_at(turns, index).start
    wanted = turns[place].question
    for earlier in range(place, -1, -1):
        turn = turns[earlier]
        if turn.role is Role.USER and wanted in (None, turn.position):
            return turn
    return None


def replies_to(turns: Sequence[Turn], question: int) -> Iterator[Turn]:
    """Yield the answers on a path to the message at a position, those that call tools, too.

    Messages of other programs can be before the first of them.
    """
    last, is_answered = question, False
    for index in range(up_to(turns, question), len(turns)):
        turn = turns[index]
        if turn.role is Role.USER and is_answered:
            return
        if turn.role is Role.USER:
            last = turn.position
        elif turn.role is Role.ASSISTANT and (turn.question or last) == question:
            is_answered = True
            yield turn


def open_calls(turns: Sequence[Turn]) -> list[ToolCall]:
    """List the calls at the end of a path that have no result yet, in order."""
    if not turns:
        return []
    unit = unit_at(turns, len(turns) - 1)
    calls = list(turns[unit.start].use.calls)
    for turn in turns[unit.start + 1 :]:
        same = (call for call in calls if turn.use.answers and call.id == turn.use.answers.id)
        if (answered := next(same, None)) is not None:
            calls.remove(answered)
    return calls
