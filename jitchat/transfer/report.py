"""What an import took from a file, and what it did not, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from jitchat.turn import Turn


@dataclass(slots=True)
class Found:
    """One conversation of a file, ready to be stored."""

    id: str
    title: str
    turns: list[Turn] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    """How many items were left out, by reason."""
