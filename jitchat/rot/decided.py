"""From what came of a question to the result of its cell."""

from __future__ import annotations

from dataclasses import replace

from jitchat.errors import ContextOverflow, JitchatError, ProviderError, WindowOverflow
from jitchat.rot.cells import Cell, Result, Verdict
from jitchat.rot.fact import Fact
from jitchat.rot.judge import Judge
from jitchat.rot.judging import ruled
from jitchat.rot.opened_talk import Asked

_OVERFLOWS = (WindowOverflow, ContextOverflow)


async def decided(cell: Cell, fact: Fact, asked: Asked, judge: Judge | None) -> Result:
    """Judge an answer by rule, and where that finds it wrong, by the judge that there is."""
    error = asked.answer.error
    if error is not None:
        return _unanswered(cell, fact, asked, error)
    ruling, note = ruled(fact, asked.answer.text), ""
    if judge is not None and not ruling.is_right:
        try:
            ruling = await judge.ruling(fact, asked.answer.text, ruling)
        except ProviderError as failed:
            note = f"The judge could not be asked: {failed}"
    verdict = Verdict.RIGHT if ruling.is_right else Verdict.WRONG
    return replace(_asked(cell, fact, asked), verdict=verdict, rule=ruling.rule, note=note)


def _unanswered(cell: Cell, fact: Fact, asked: Asked, error: JitchatError) -> Result:
    found = replace(_asked(cell, fact, asked), note=str(error))
    if isinstance(error, _OVERFLOWS):
        return replace(found, verdict=Verdict.UNFIT, rule="the window does not fit")
    return found


def _asked(cell: Cell, fact: Fact, asked: Asked) -> Result:
    """Say what was asked and what came, without any verdict on it yet."""
    answer, window = asked.answer, asked.answer.window
    return Result(
        cell=cell,
        verdict=Verdict.FAILED,
        rule="no whole answer came",
        question=fact.question,
        expected=fact.expected,
        answer=answer.text,
        conversation=asked.conversation,
        said=asked.said.position,
        needed=asked.needed,
        held=asked.held,
        window_id=asked.window_id,
        tokens=window.used if window is not None else None,
        usage=answer.usage,
        to_first=answer.to_first,
        seconds=answer.took,
        cost=answer.cost,
    )
