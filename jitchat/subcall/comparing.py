"""How much one answer differs from another, 0 to 1, and by what that is measured."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from jitchat.memory.embedding.embedder import Embedder, vectors_of
from jitchat.text.words import folded, words


@dataclass(frozen=True, slots=True)
class Measure:
    """A way to compare two answers."""

    name: str
    """As a few words for the screen: `by shared words`."""
    change: Callable[[str, str], float]
    """0 for the same, 1 for nothing in common; slow. An embedder that fails raises
    EmbedderUnavailable."""


def measure_of(embedder: Embedder, *, exact: bool) -> Measure:
    """Choose one: line by line for `exact` answers, else by meaning where that can be had."""
    if exact:
        return Measure("by their sentences", lambda one, other: _apart(_lines(one), _lines(other)))
    if not embedder.dimension:
        return Measure("by shared words", lambda one, other: _apart(_words(one), _words(other)))
    return Measure(f"by meaning ({embedder.id})", lambda one, other: _far(embedder, one, other))


def gone(reply: str, other: str) -> tuple[str, ...]:
    """List the lines of a reply that another answer lacks."""
    kept = _lines(other)
    return tuple(line for line in map(_bare, reply.splitlines()) if line and line not in kept)


def _far(embedder: Embedder, one: str, other: str) -> float:
    """One less the cosine of both; texts that are the same are at 0 whatever the embedder says."""
    if one.strip() == other.strip():
        return 0.0
    first, second = vectors_of(embedder, [one, other])
    return min(1.0, max(0.0, 1.0 - float(first @ second)))


def _apart(one: Collection[str], other: Collection[str]) -> float:
    """The share of all that only one of them has."""
    every = {*one, *other}
    return len({*one} ^ {*other}) / len(every) if every else 0.0


def _lines(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(_bare, text.splitlines())))


def _bare(line: str) -> str:
    return line.strip().removeprefix("- ")


def _words(text: str) -> frozenset[str]:
    return frozenset(words(folded(text)))
