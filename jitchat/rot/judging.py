"""Whether an answer is right, by a rule that can be told."""

from __future__ import annotations

from dataclasses import dataclass

from jitchat.rot.fact import Fact


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a rule decided."""

    is_right: bool
    rule: str
    """Why, as a short phrase: `says 7443`, `names no count`, `says it is not known`."""


def ruled(fact: Fact, answer: str) -> Ruling:
    """Decide by rule: exact answers by normalised match, counts by number, absence by a refusal."""
    raise NotImplementedError
