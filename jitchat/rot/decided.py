"""From what came of a question to the result of its cell."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jitchat.errors import ContextOverflow, JitchatError, ProviderError, WindowOverflow
from jitchat.rot.cells import Cell, Result, Verdict
from jitchat.rot.fact import Fact
from jitchat.rot.judge import Judge
from jitchat.rot.judging import ruled
from jitchat.rot.opened_talk import Asked
from jitchat.turn import Status

_CUT = "The answer was cut where it was to end at the latest."
_OVERFLOWS = (WindowOverflow, ContextOverflow)


@dataclass(frozen=True, slots=True)
class Decision:
    """What came of a cell."""

    result: Result
    failure: ProviderError | None = None
    """Why nothing is decided: of who answers, or of the judge; None where all is well."""


async def decided(cell: Cell, fact: Fact, asked: Asked, judge: Judge | None) -> Decision:
    """Judge an answer by rule, and where that finds it wrong, by the judge that there is.

    An answer that the judge could not be asked about is not decided.
    """
    error = asked.answer.error
    if error is not None:
        return Decision(_unanswered(cell, fact, asked, error), asked.failure)
    ruling = ruled(fact, asked.answer.text)
    if judge is not None and not ruling.is_right:
        try:
            ruling = await judge.ruling(fact, asked.answer.text, ruling)
        except ProviderError as failed:
            note = f"The judge could not be asked: {failed}"
            undecided = replace(_asked(cell, fact, asked), rule="not judged", note=note)
            return Decision(undecided, failed)
    verdict = Verdict.RIGHT if ruling.is_right else Verdict.WRONG
    reply = asked.answer.reply
    is_cut = reply is not None and reply.status is Status.CUT
    note = _CUT if is_cut and not ruling.is_right else ""
    return Decision(
        replace(_asked(cell, fact, asked), verdict=verdict, rule=ruling.rule, note=note)
    )


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
