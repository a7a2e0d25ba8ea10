"""Cheap embedders, and helpers to index and search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from jitchat.index.tables import IndexTables
from jitchat.index.vectors import unit_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest

    from jitchat.index.embedder import Embedder
    from jitchat.index.tables import IndexRow
    from jitchat.memory import Memory
    from jitchat.values import Turn


@dataclass
class FakeEmbedder:
    """A vector a text, the same each time; `spoil` is applied to what is made."""

    id: str = "fake-8"
    dimension: int = 8
    spoil: Callable[[np.ndarray], np.ndarray] = lambda made: made
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked.append(tuple(texts))
        rows = [
            np.random.default_rng(crc32(text.encode())).normal(size=self.dimension)
            for text in texts
        ]
        return self.spoil(unit_rows(np.array(rows, dtype=np.float32).reshape(-1, self.dimension)))


@dataclass
class FailingEmbedder(FakeEmbedder):
    """Fails as ONNX does: with a class of its own."""

    fails: bool = True

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if self.fails:
            self.asked.append(tuple(texts))
            raise RuntimeError("[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION")
        return super().embed(texts)


def positions(memory: Memory) -> list[int]:
    """The positions of all turns."""
    return [turn.position for turn in memory.turns]


def found(memory: Memory, word: str) -> list[int]:
    """The positions where `word` is found; the draft is long enough not to borrow words."""
    draft = f"{word} quux xyzzy"
    retrieval = memory.retrieve(draft, memory.turns[-1].position + 1)
    return sorted(row.turn for row in retrieval.candidates if word in row.matched)


def index(memory: Memory) -> int:
    """Index everything. Returns the number of entries written."""
    return sum(len(batch) for batch in memory.index.catch_up())


def rows_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The positions of the turns whose rows are read from now on."""
    positions, read = list[int](), IndexTables.rows

    def noted(self: IndexTables, turns: Sequence[Turn], embedder: Embedder) -> list[IndexRow]:
        positions.extend(turn.position for turn in turns)
        return read(self, turns, embedder)

    monkeypatch.setattr(IndexTables, "rows", noted)
    return positions
