"""Indexing: stored turns without an entry or a vector get theirs, a batch at a time.

So do those whose stems an earlier version made; their vectors stay.

The turns of every branch do: who goes back to one finds it indexed.

Each part of a batch is one transaction, so a crash costs at most the part at hand, and the next
start goes on from there. Turns differ a thousandfold in length, and so do the hours of work in a
hundred of them: a part, which may be lost or waited for, is bounded by letters. Where the
embedder fails, entries are written without vectors, which stay missing until a later try.

Threads of Python take turns. A key press waits for indexing at each of the many steps to the
screen, so while somebody types or reads a growing reply, indexing rests between two turns: it goes
as hard as it can while nobody is there, a fifth as hard otherwise. What needs a small model's time
waits until nobody is there.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TypeVar

from jitchat.errors import EmbedderUnavailable
from jitchat.index.embedder import Embedder
from jitchat.index.tables import IndexTables
from jitchat.index.tool_results import searched_text
from jitchat.store.store import ColdStore
from jitchat.text.negation import stems_and_negations
from jitchat.values import IndexEntry, Turn

BATCH = 128
"""Turns that are looked for at once."""
_PART_LETTERS = 32_768
_SLICE, _SLICE_LETTERS = 16, 4_096
_Piece = TypeVar("_Piece")
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the indexing of a conversation is.

    By position: to count what is missing, every row would have to be looked at.
    """

    done: int
    """Up to this position every finished turn has its entry, and a vector if one can be had."""
    of: int
    """The last position there is."""
    loads: bool = False
    """Whether all of that is stored, and is only loaded to be searched."""


OnProgress = Callable[[Progress], None]


class Indexer:
    """Writes the hot index of one conversation."""

    def __init__(
        self,
        store: ColdStore,
        conversation: str,
        embedder: Embedder,
        throttle: "BackgroundThrottle | None" = None,
        before_write: Callable[[int], object] = lambda _: None,
    ) -> None:
        """`before_write` is told the first position of what is about to be written."""
        self._tables = IndexTables(store.database, conversation)
        self._embedder = embedder
        self._throttle, self._before_write = throttle or BackgroundThrottle(), before_write
        self.failure: EmbedderUnavailable | None = None
        """Why some of what was written has no vectors."""
        self.is_through = False
        """Whether no entry and no vector is missing any more, as far as was looked."""

    def catch_up(
        self,
        one_at_a_time: AbstractContextManager[object] | None = None,
        batches: int = sys.maxsize,
        on_progress: OnProgress = lambda _: None,
        after: int = 0,
    ) -> Iterator[list[IndexEntry]]:
        """Index what is missing behind position `after`, in so many `batches` at most.

        Yields the entries of each batch. `one_at_a_time` is entered for a batch, so that two
        threads share the work. `on_progress` is told where each part of one begins, and must not
        wait. A throttle that is halted ends it; what was not written then is missing still.
        """
        for _ in range(batches):
            with one_at_a_time or nullcontext():
                turns = self._tables.missing(
                    self._embedder, after, BATCH, wants_vectors=self.failure is None
                )
                entries = self._write(turns, on_progress)
                is_all = len(turns) < BATCH and len(entries) == len(turns)
                self.is_through = is_all and self.failure is None
            if entries:
                yield entries
            if not turns or len(entries) < len(turns):
                return
            after = turns[-1].position

    def _write(self, turns: Sequence[Turn], on_progress: OnProgress) -> list[IndexEntry]:
        """Index `turns`, a part in one transaction, until the throttle is halted."""
        written: list[IndexEntry] = []
        last = self._tables.last_position() if turns else 0
        for part in parts_of(turns):
            on_progress(Progress(part[0].position - 1, last))
            entries = list(self._paced(part, _entry_and_stems))
            done = self._tables.embedded(part, self._embedder)
            bare = [turn for turn in part if turn.id not in done]
            slices = self._paced(slices_of(bare), self._vectors)
            vectors = [vector for piece in slices for vector in piece]
            if self._throttle.halted:
                break
            self._before_write(part[0].position)
            self._tables.write(entries, vectors, self._embedder)
            written += [entry for _, entry, _ in entries]
        return written

    def _paced(self, pieces: Iterable[_Piece], work: Callable[[_Piece], _Made]) -> Iterator[_Made]:
        """Do the `work` on each piece, and rest after it while somebody uses the app."""
        begun = self._throttle.now()
        for piece in pieces:
            if self._throttle.halted:
                return
            yield work(piece)
            begun = self._throttle.rest_after(begun)

    def _vectors(self, turns: Sequence[Turn]) -> list[tuple[Turn, bytes]]:
        """Each turn with its vector; empty bytes where there is nothing to embed."""
        if not self._embedder.dimension or self.failure:
            return []
        from jitchat.index.vectors import vectors_of  # noqa: PLC0415  loads numpy

        try:
            made = vectors_of(self._embedder, [searched_text(turn) for turn in turns])
        except EmbedderUnavailable as error:
            self.failure = error
            return []
        return [
            (turn, row.astype("<f4").tobytes() if row.any() else b"")
            for turn, row in zip(turns, made, strict=True)
        ]


def _entry_and_stems(turn: Turn) -> tuple[Turn, IndexEntry, str]:
    from jitchat.index.entry import index_entry  # noqa: PLC0415  not before the first frame

    return turn, index_entry(turn), " ".join(stems_and_negations(searched_text(turn)))


def parts_of(turns: Sequence[Turn]) -> Iterator[Sequence[Turn]]:
    """Cut into parts that are written in one transaction each, in the order given."""
    start = letters = 0
    for place, turn in enumerate(turns):
        letters += len(turn.content)
        if letters > _PART_LETTERS and place > start:
            yield turns[start:place]
            start, letters = place, len(turn.content)
    if turns[start:]:
        yield turns[start:]


def slices_of(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Cut into slices to embed, the shortest turns first.

    A model pads every text to the longest beside it, and cannot be interrupted: so texts of one
    length stay together, and few of them where they are long.
    """
    piece: list[Turn] = []
    for turn in sorted(turns, key=lambda turn: len(turn.content)):
        padded = (len(piece) + 1) * len(turn.content)
        if piece and (len(piece) == _SLICE or padded > _SLICE_LETTERS):
            yield piece
            piece = []
        piece.append(turn)
    if piece:
        yield piece


ATTENDED_SECONDS = 1.0
_REST, _LONGEST_REST = 4.0, 0.25
"""Rest for each second of work while attended, and the most of it at once, in seconds."""


class BackgroundThrottle:
    """Shared by the indexing thread and the screen; safe to use from several threads."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self._halted = threading.Event()
        self._clock, self._sleep = clock, sleep or self._halted.wait
        self._attended_until = float("-inf")
        self._awaited = self._under_way = 0

    @property
    def halted(self) -> bool:
        return self._halted.is_set()

    def halt(self) -> None:
        """Break indexing off, for good: the conversation is left."""
        self._halted.set()

    def attend(self) -> None:
        """Note that the user is there, now and for a second."""
        self._attended_until = self._clock() + ATTENDED_SECONDS

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Hold up what can wait: a message is on its way, and its reply comes first."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def quiet_in(self) -> float:
        """Seconds until nobody may be there any more, and no message under way; 0: now."""
        if self._under_way:
            return ATTENDED_SECONDS
        return max(0.0, self._attended_until - self._clock())

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """Take no rest meanwhile: the user waits for the index itself."""
        self._awaited += 1
        try:
            yield
        finally:
            self._awaited -= 1

    def rest_after(self, started: float) -> float:
        """End a piece of work begun at `started` of `now`; gives when the next one begins."""
        ended = self._clock()
        if self._awaited or ended >= self._attended_until:
            return ended
        self._sleep(min((ended - started) * _REST, _LONGEST_REST))
        return self._clock()

    def now(self) -> float:
        return self._clock()
