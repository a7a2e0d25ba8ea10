"""An answer as far as it came, made of what a session reports: its text, its times, its figures."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jitchat.errors import JitchatError
from jitchat.events import (
    Event,
    LimitLearnt,
    ReasoningDelta,
    ReasoningFound,
    ReplyDelta,
    RequestAdapted,
    RetryScheduled,
    SendFailed,
    TurnStored,
    UsageReported,
    WindowBuilt,
)
from jitchat.turn import Mode, Role, Turn, Usage
from jitchat.window.window import ContextWindow


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. Moments are seconds of whichever clock it is made with."""

    mode: Mode
    window: ContextWindow | None = None
    """What was sent for it last; None before it left."""
    text: str = ""
    left_at: float | None = None
    """When that window left, or leaves once more after a pause; None before."""
    first_at: float | None = None
    """When its first piece came, text or reasoning; None before."""
    ended_at: float | None = None
    """When it was over, one way or another; None before."""
    usage: Usage | None = None
    """What the provider reported; None where it did not."""
    cost: float | None = None
    """In US dollars, once it is over; None where that is not known."""
    counted: int = 0
    """Tokens of the text by the own counter, once it is over."""
    reply: Turn | None = None
    """As it was stored; None before that, and where it was stopped."""
    error: JitchatError | None = None
    """Why it failed, or was cut."""
    told: str = ""
    """What is to be known of the request, as a sentence; mostly empty."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.ended_at is not None

    @property
    def was_stopped(self) -> bool:
        """Whether it ended before anybody said how."""
        return self.is_over and self.reply is None and self.error is None

    @property
    def to_first(self) -> float | None:
        """Seconds from its window's leaving to its first token; None where none came."""
        return _between(self.left_at, self.first_at)

    @property
    def took(self) -> float | None:
        """Seconds from its window's leaving to its end; None before, and where none left."""
        return _between(self.left_at, self.ended_at)

    def ended(self, moment: float, cost: float | None, counted: int) -> Answer:
        """Close it: nothing more comes."""
        return replace(self, ended_at=moment, cost=cost, counted=counted)


def answer_after(answer: Answer, event: Event, moment: float) -> Answer:
    """Take in an event that was reported for it at that moment."""
    match event:
        case WindowBuilt(window, _):
            return replace(answer, window=window, left_at=moment)
        case ReplyDelta(text):
            first = moment if answer.first_at is None else answer.first_at
            return replace(answer, text=answer.text + text, first_at=first, told="")
        case ReasoningDelta():
            first = moment if answer.first_at is None else answer.first_at
            return replace(answer, first_at=first, told="")
        case ReasoningFound():
            return replace(answer, text="")
        case _:
            return _after_report(answer, event, moment)


def _after_report(answer: Answer, event: Event, moment: float) -> Answer:
    """Take in what is told beside the text."""
    match event:
        case UsageReported(usage, _):
            return replace(answer, usage=usage)
        case TurnStored(turn) if turn.role is Role.ASSISTANT:
            return replace(answer, reply=turn)
        case SendFailed(error, _):
            return replace(answer, error=error)
        case RetryScheduled(seconds, why):
            told = f"{why}; sent again in {seconds:.0f} s"
            return replace(answer, left_at=moment + seconds, told=told)
        case RequestAdapted(sentence) | LimitLearnt(_, sentence):
            return replace(answer, told=sentence)
        case _:
            return answer


def _between(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else end - start
