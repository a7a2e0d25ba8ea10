"""What is measured of a synthetic talk of one size. Times are in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass

QUESTIONS = 40
"""Asked of every talk; the ways to ask for the needle are the first of them."""


def embedder_name(embedder: str) -> str:
    """Name an embedder by its id, as `--embedder` does: without one, words alone are compared."""
    return "lexical" if embedder == "none" else embedder


@dataclass(frozen=True, slots=True)
class Built:
    """How long a turn took to be stored and indexed, on average over the talk."""

    store_turn_ms: float
    index_turn_ms: float
    """Without embedding."""
    embed_turn_ms: float
    embedder: str


@dataclass(frozen=True, slots=True)
class Sent:
    """What one mode made of the questions."""

    tokens: int
    """Of the window for a question about the needle, the mean over its phrasings."""
    saved: float
    """The share of `full`'s tokens that is not sent, 0 to 1; the mean likewise."""
    least_saved: float
    """The least of any question."""
    found: int
    """For how many of the phrasings the needle's turn is in the window at full text."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the questions took, in milliseconds, and what came of them."""

    counter: str
    full_tokens: int
    """What `full` would send, whether it fits or not; the mean over the phrasings."""
    modes: dict[str, Sent | None]
    """None for one that refuses a question, for it does not fit."""
    open_ms: float
    """Until a question can be asked: turns read and counted, the index loaded."""
    embed_ms: dict[str, float]
    """Of one question."""
    retrieve_ms: dict[str, float]
    """Without embedding the question."""
    plan_ms: dict[str, float]
    """In `jit`."""
    both_ms: dict[str, float]
    """Retrieving so and planning."""
    matrix_ms: float
    """A bound: numpy reads the matrix of the turns' vectors once."""
    fts5_ms: float
    """A bound: SQLite's full-text search for the same words."""
    times_bounds: float
    """`both_ms` by the sum of the bounds, by medians."""
    resident_mb: float | None
    """After the last question."""
    peak_mb: float | None


@dataclass(frozen=True, slots=True)
class Measured:
    """One size."""

    turns: int
    needle: int
    """The position of the turn that states the fact."""
    built: Built
    asked: Asked
