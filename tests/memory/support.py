"""Embedders that cost nothing, processes that are gone, disks that refuse, and what is found."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from jitchat.index.vectors import unit_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jitchat.memory import Memory
    from jitchat.store.store import ColdStore

TALK = (
    "Which port does the gateway use?",
    "We agreed on port 8443 for the gateway.",
    "And the colour of the logo?",
    "The logo stays green.",
)


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


def claim(store: ColdStore, process: int, seen_at: float | None = None) -> None:
    """Say that another process writes the reply."""
    with store.database.write() as connection:
        connection.execute(
            "UPDATE streaming SET process = ?, seen_at = ?",
            (process, seen_at if seen_at is not None else store.now().timestamp()),
        )


def dead_process() -> int:
    """The id of a process that is gone."""
    done = subprocess.Popen([sys.executable, "-S", "-c", ""])
    done.wait()
    return done.pid


def make_full(store: ColdStore, *, on: bool) -> None:
    """Let the database grow no further, or again."""
    with store.database.read() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages if on else 1_000_000}")


def make_read_only(store: ColdStore, *, on: bool) -> None:
    """Refuse every write as SQLite does for a read-only file, or no longer."""
    with store.database.read() as connection:
        connection.execute(f"PRAGMA query_only = {int(on)}")


def positions(memory: Memory) -> list[int]:
    """Of the turns that it knows."""
    return [turn.position for turn in memory.turns]


def found(memory: Memory, word: str) -> list[int]:
    """Where `word` is found, in a draft that has words enough to borrow none."""
    draft = f"{word} quux xyzzy"
    retrieval = memory.retrieve(draft, memory.turns[-1].position + 1)
    return sorted(row.turn for row in retrieval.candidates if word in row.matched)


def index(memory: Memory) -> int:
    """Index everything; how many entries were written."""
    return sum(len(batch) for batch in memory.index.catch_up())
