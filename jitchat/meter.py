"""What is learnt of the model that answers: how its server counts, and how much it takes.

What cannot be kept is passed over: it is a help, and no reason to refuse a message or a reply.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from jitchat.errors import ContextOverflow, StoreError
from jitchat.providers.provider import forgetting
from jitchat.turn import LEARNT, Mode, Usage
from jitchat.window.budget import Budget
from jitchat.window.calibration import NO_CALIBRATION, Calibration
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.memory.cold.learnt import LearntModel


class Meter:
    """A counter, and how far it is off for one model."""

    def __init__(self, counter: TokenCounter, learnt: LearntModel | None) -> None:
        self._counter, self._learnt = counter, learnt
        self.calibration = self._learnt_calibration()

    def take(self, sent: ContextWindow | None, usage: Usage | None) -> None:
        """Learn from what the provider made of a window that was counted here."""
        if self._learnt is None or sent is None or usage is None or not usage.input_tokens:
            return
        with suppress(StoreError):
            self._learnt.add_sample(self._counter.name, sent.counted, usage.input_tokens)
            now = self._learnt_calibration()
            self.calibration = now if now.samples else self.calibration

    def refused(self, window: ContextWindow, refusal: ContextOverflow, known: Budget) -> Budget:
        """Learn from a refusal; the budget that fits what it tells.

        Half of the window is what fits where it names no limit.
        """
        limit = refusal.limit
        half = replace(known, limit=window.used // 2 + known.reserve, limit_source=LEARNT)
        budget = known.limited(limit, LEARNT) if limit else half
        needed = refusal.needed or (limit + 1 if limit else 0)
        if needed > window.used:
            self.calibration = Calibration.of_refusal(window.counted, needed)
        if limit and self._learnt is not None:
            with suppress(StoreError):
                self._learnt.learn_limit(limit)
        answer = min(refusal.answer or 0, budget.limit // 2)
        return replace(budget, reserve=max(budget.reserve, answer))

    def _learnt_calibration(self) -> Calibration:
        learnt = self._learnt
        return Calibration.of(learnt.samples(self._counter.name)) if learnt else NO_CALIBRATION


def told_of_refusal(
    provider: str, model: str, window: ContextWindow, refusal: ContextOverflow
) -> str:
    """Say what a model's server told when it refused a window, and what follows."""
    limit = refusal.limit
    told = "does not say how much it takes"
    if limit:
        told = f"takes {limit:,} tokens (until {forgetting(provider, model)})"
    size = f"{'' if window.is_sure else '~'}{window.used:,}"
    after = "" if window.mode is Mode.FULL else " A smaller one is sent."
    return f"{model} {told}; a window of {size} was sent and refused.{after}"
