"""The hot index of one conversation, loaded: its rows are added in the order of the turns.

Not locked: its owner is.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from jitchat.index.embedder import Embedder
from jitchat.store.store import ColdStore
from jitchat.store.turn_cache import FinishedTurns, behind
from jitchat.values import Status, Turn

if TYPE_CHECKING:
    from jitchat.index.indexer import Indexer
    from jitchat.index.search import HotIndex

_AT_ONCE = 2_048
"""Rows; what they were read from is gone before the next ones are."""


class LoadedIndex:
    """What can be searched at once; empty until `load`."""

    def __init__(self, store: ColdStore, conversation: str) -> None:
        self._store, self._conversation = store, conversation
        self.index: HotIndex | None = None
        self.seen = 0
        """The position up to which `index` has what there is."""

    def forget(self) -> None:
        """Load everything anew the next time."""
        self.index, self.seen = None, 0

    def take_back(self, behind: int) -> None:
        """Take back what lies behind a position: other turns are there now, or none."""
        if self.index is not None and behind < self.seen:
            self.index.take_back(behind)
            self.seen = behind

    def load(self, embedder: Embedder, known: FinishedTurns) -> HotIndex:
        """Add all rows that can be added in order: up to a reply under way, or a missing row."""
        from jitchat.index.search import HotIndex  # noqa: PLC0415  loads numpy

        if self.index is None:
            self.index = HotIndex(embedder)
        if fresh := behind(known.turns, self.seen):
            from jitchat.index.indexer import Indexer  # noqa: PLC0415  loads numpy

            indexer = Indexer(self._store, self._conversation, embedder)
            self._add(self.index, indexer, self._ready(indexer, known, fresh))
        return self.index

    def _ready(self, indexer: Indexer, known: FinishedTurns, fresh: list[Turn]) -> list[Turn]:
        gaps = (indexer.first_gap(stretch) for stretch in known.path.behind(self.seen))
        gap = next((position for position in gaps if position is not None), None)
        reached = takewhile(known.is_reached, fresh)
        return [turn for turn in reached if gap is None or turn.position < gap]

    def _add(self, index: HotIndex, indexer: Indexer, ready: list[Turn]) -> None:
        said = [turn for turn in ready if _is_recalled(turn)]
        for start in range(0, len(said), _AT_ONCE):
            index.add(indexer.rows(said[start : start + _AT_ONCE]))
        if ready:
            self.seen = ready[-1].position


def _is_recalled(turn: Turn) -> bool:
    """Whether it says anything that a window may show: a reply may be reasoning alone."""
    return turn.status is not Status.UNANSWERED and bool(turn.content.strip())
