"""A question put to an open talk in every mode, each stage of it timed; milliseconds."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.bench.talk import OpenTalk, held
from jitchat.errors import WindowOverflow
from jitchat.turn import Mode, Retrieval

if TYPE_CHECKING:
    from jitchat.memory.embedding.embedder import Embedder, Vectors


@dataclass(frozen=True, slots=True)
class Planned:
    """What one mode sends."""

    ms: float
    tokens: int
    full_tokens: int
    """What `full` would send."""
    saved: float
    """The share of `full`'s tokens that is not sent, 0 to 1."""
    held: frozenset[int]
    """Positions of the turns that are in the window at full text."""


@dataclass(frozen=True, slots=True)
class Timed:
    """What came of one question."""

    embed_ms: float
    retrieve_ms: float
    """Without the embedding."""
    jit: Planned
    modes: Mapping[Mode, Planned | None]
    """None where the mode refuses."""


class TimedEmbedder:
    """Another embedder, and the seconds that it took so far."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.id, self.dimension = embedder.id, embedder.dimension
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As the other does."""
        begun = time.perf_counter()
        try:
            return self._embedder.embed(texts)
        finally:
            self.seconds += time.perf_counter() - begun


def timed(talk: OpenTalk, embedder: TimedEmbedder, question: str, modes: Collection[Mode]) -> Timed:
    """Retrieve once and plan for each mode; `embedder` is the talk's.

    Raises:
        WindowOverflow: Not even the question fits.

    """
    embedded, begun = embedder.seconds, time.perf_counter()
    retrieval = talk.retrieve(question)
    took, embed_ms = _ms_since(begun), (embedder.seconds - embedded) * 1000
    jit = _planned(talk, Mode.JIT, question, retrieval)
    planned: dict[Mode, Planned | None] = {}
    for mode in modes:
        try:
            planned[mode] = jit if mode is Mode.JIT else _planned(talk, mode, question, retrieval)
        except WindowOverflow:
            planned[mode] = None
    return Timed(embed_ms, took - embed_ms, jit, planned)


def _planned(talk: OpenTalk, mode: Mode, question: str, retrieval: Retrieval) -> Planned:
    begun = time.perf_counter()
    window = talk.window(mode, question, retrieval)
    took = _ms_since(begun)
    return Planned(took, window.used, window.full_tokens, window.saving, held(window))


def _ms_since(begun: float) -> float:
    return (time.perf_counter() - begun) * 1000
