"""Believable talk about everyday work and life, the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the user says and what the assistant replies: two turns."""

    text: str
    reply: str


def exchanges(seed: str, avoided: Set[str]) -> Iterator[Exchange]:
    """Talk for ever; no word's stem is among those `avoided` (`jitchat.text.words.stems`).

    It never ends and never repeats an exchange word for word in its first 10,000.
    """
    raise NotImplementedError
