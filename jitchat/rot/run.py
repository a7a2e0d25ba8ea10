"""A run of the lab, and the file that holds it: a cold store of its own, with its results.

Invariant: a result is durable before it is reported, so a run that was ended at whatever
moment is resumed with the cells that have none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jitchat.rot.experiment import Experiment
from jitchat.text.ages import local
from jitchat.turn import Turn


@dataclass(frozen=True, slots=True)
class Run:
    """What is known of a run beside its results."""

    id: str
    """Short, and unique in its folder."""
    experiment: Experiment
    provider: str
    model: str
    embedder: str
    """The id of the embedder that retrieval used."""
    limit: int
    """The model's context size, in tokens."""
    reserve: int
    """Tokens that were kept free for the reply."""
    counter: str
    """What counted tokens, by name."""
    version: str
    """Of jitchat."""
    begun_at: datetime
    """Aware."""
    ended_at: datetime | None = None
    """Aware; None while cells have no result."""
    judge: str = ""
    """The model that judged; empty where rules alone did."""
    settings: tuple[tuple[str, str], ...] = ()
    """Every setting and its value as TOML writes it, without what only its owner may know."""
    seconds: float = 0.0
    """Spent on asking, in all of its legs together."""
    source: str = ""
    """What the user's conversation was when the run was begun, by `source_of`; empty for made-up
    talk."""

    @property
    def is_reader(self) -> bool:
        """Whether the embedded reader answered, which is no language model."""
        return self.provider == "reader"

    @property
    def title(self) -> str:
        """Name it: `qwen3-8b, 2k to 32k, Tue 24 Nov 15:40`."""
        lengths = self.experiment.lengths
        spread = " to ".join(dict.fromkeys(map(short, (lengths[0], lengths[-1]))))
        return f"{self.model}, {spread}, {local(self.begun_at):%a %d %b %H:%M}"


def source_of(own: Sequence[Turn]) -> str:
    """Tell what a conversation says, as a SHA-256 in hexadecimal; empty where it has no turns."""
    said = [(turn.role, turn.content) for turn in own]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest() if said else ""


def short(tokens: int) -> str:
    """Write a length in few columns: `500`, `2k`, `1.5k`, `128k`."""
    return f"{tokens / 1000:g}k" if tokens >= 1000 else str(tokens)
