"""A subject that people talk about, as it is written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topic:
    """Templates and word lists, as `jitchat.rot.templates.reading` reads them.

    Every case names `it`, what the talk is about, without an article; the word lists hold
    `tip`, advice that is right at any time, a sentence each.
    """

    name: str
    cases: str
    """Word lists that go together; a stretch of talk keeps to one case."""
    words: str
    """Word lists for all cases."""
    openings: str
    """Scenes that begin the talk; it begins with one of them."""
    asked: str
    """Scenes of before anything was tried, in any order."""
    told: str
    """Scenes of after it was tried, in any order."""
    closings: str = ""
