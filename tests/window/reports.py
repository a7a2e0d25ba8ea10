"""Servers that count in ways of their own, for tests of what is learnt from them."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from jitchat.values import Mode, Sample
from jitchat.window.budget import Budget
from jitchat.window.calibration import Calibration
from jitchat.window.history import History
from jitchat.window.parts import Sources
from jitchat.window.plan import plan
from jitchat.window.tokens import message_tokens
from tests.support import talk, turn
from tests.window.cases import shortlist
from tests.window.counters import Characters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitchat.window.window import ContextWindow

GROSS = (0.02, 0.1, 0.3, 0.5, 0.7, 1.5, 2.0, 3.0)
"""What an odd report is off by, as a factor."""


@dataclass
class Server:
    """Reports `slope × count + offset`, with noise."""

    slope: float = 1.13
    offset: float = 11.0
    noise: float = 0.01
    """Standard deviation, as a share."""
    seed: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def count(self, low: int = 100, high: int = 20_000) -> int:
        """A request's size, small ones as often as large ones."""
        return round(low * (high / low) ** self.chance.random())

    def expected(self, counted: int) -> float:
        return self.slope * counted + self.offset

    def report(self, counted: int) -> Sample:
        share = 1 + self.chance.gauss(0, self.noise)
        return Sample(counted, max(0, round(self.expected(counted) * share)))

    def samples(self, size: int, *, odd: int = 0, counts: Sequence[int] = ()) -> list[Sample]:
        """`size` reports, `odd` of them of something else, at random places."""
        sizes = counts or [self.count() for _ in range(size)]
        made = [self.report(counted) for counted in sizes]
        for place in self.chance.sample(range(size), odd):
            factor = self.chance.choice(GROSS)
            made[place] = Sample(made[place].counted, round(made[place].reported * factor))
        return made


NUMBERS = st.one_of(
    st.sampled_from((0, 1, 1, 2, 3, 2**63 - 1)), st.integers(0, 300), st.integers(0, 40_000)
)
ANY_SAMPLES = st.lists(st.builds(Sample, NUMBERS, NUMBERS), max_size=40)


@st.composite
def calibrations(draw: st.DrawFn) -> Calibration:
    """What any samples at all teach, or a server that is like one."""
    if draw(st.booleans()):
        return Calibration.of(draw(ANY_SAMPLES))
    slope, offset = draw(st.floats(0.3, 4)), draw(st.floats(-20, 600))
    server = Server(slope, offset, draw(st.floats(0, 0.1)), draw(st.integers(0, 99)))
    return Calibration.of(server.samples(draw(st.integers(3, 20))))


KNOWN = Calibration.of(Server().samples(20))


def long_talk(
    mode: Mode, learnt: Calibration, size: int = 60, limit: int = 20_000
) -> ContextWindow:
    """The window of the message that follows `size` turns; the reserve is 500."""
    counter = Characters()
    spoken = talk(*(f"turn {number:02} " + "words " * 20 for number in range(1, size + 1)))
    history = History().extended(spoken, lambda text: message_tokens(counter, text))
    draft = turn(size + 1, "what was it?")
    found = replace(shortlist(20, 9, 33, 7, *range(11, 31, 2), hits=4), floor=4.0)
    sources = Sources(history, draft, "model", retrieval=found)
    budget = Budget(limit=limit, reserve=500, size=1_200)
    return plan(mode, sources, budget, counter, learnt)
