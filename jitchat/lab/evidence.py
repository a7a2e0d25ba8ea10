"""Whether the window held the evidence for an answer, against whether the answer is right.

A wrong answer has one of two causes: its evidence was not in the window (not retrieved, or cut
off), or it was in the window and was not used. The evidence is every turn that the answer needs,
at full text or in statements: one turn for most kinds, the newest if a fact changed, all four for
`counting`, and none for `absent`, so that every window holds it.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from jitchat.lab.change import is_answered, is_right
from jitchat.lab.colours import SCALE
from jitchat.lab.experiment import Result
from jitchat.lab.stats import Tallies, percent
from jitchat.values import Mode


class Outcome(StrEnum):
    """Whether the evidence was in the window, and whether the answer is right."""

    USED = "in the window, right"
    UNUSED = "in the window, wrong"
    GUESSED = "not in the window, right"
    MISSED = "not in the window, wrong"


TITLE = "Evidence in the window, and answers"
SIGNS = dict(zip(Outcome, "✓✗?○", strict=True))
"""Signs that distinguish the outcomes without colours."""
COLOURS = dict(zip(Outcome, (SCALE[4], SCALE[1], SCALE[3], SCALE[0]), strict=True))


@dataclass(frozen=True, slots=True)
class Evidence:
    """The number of a mode's answers with each outcome; cells without an answer are left out."""

    counts: Mapping[Outcome, int]

    @property
    def of(self) -> int:
        return sum(self.counts.values())

    def text(self, outcome: Outcome) -> str:
        """Format the number of an outcome, with its share: `54 · 51 %`."""
        count = self.counts[outcome]
        return f"{count:,} · {percent(count / self.of if self.of else None)}"

    def bar(self, width: int) -> list[tuple[Outcome, int]]:
        """Divide a width among the outcomes, in their order; together they fill it."""
        ends, so_far = [0], 0
        for outcome in Outcome:
            so_far += self.counts[outcome]
            ends.append(round(width * so_far / self.of) if self.of else 0)
        return [(each, ends[at + 1] - ends[at]) for at, each in enumerate(Outcome)]


def evidence_by_mode(tallies: Tallies) -> Mapping[Mode, Evidence]:
    """Count the outcomes of all answers; a mode without an answer has no entry."""
    counts: dict[Mode, Counter[Outcome]] = defaultdict(Counter)
    for result in tallies.results.values():
        outcome = outcome_of(result)
        if outcome is not None:
            counts[result.cell.mode][outcome] += 1
    return {mode: Evidence(counts[mode]) for mode in Mode if mode in counts}


def outcome_of(result: Result) -> Outcome | None:
    """Return the outcome of a result; None if there was no answer."""
    if not is_answered(result) or result.has_evidence is None:
        return None
    if result.has_evidence:
        return Outcome.USED if is_right(result) else Outcome.UNUSED
    return Outcome.GUESSED if is_right(result) else Outcome.MISSED
