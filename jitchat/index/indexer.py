"""Index stored turns that lack an entry or a vector, in batches.

Turns whose stems were made by an earlier version are indexed again; their vectors are kept. The
turns of all branches are indexed, so a branch that the user returns to is searchable at once.

Each part of a batch is one transaction, so a crash loses at most the current part, and the next
start resumes after it. Turns differ a thousandfold in length, so a part is bounded by characters,
not by turns. If the embedder fails, entries are written without vectors, and the vectors stay
missing until a later attempt.

Python threads share one interpreter lock, and a key press can wait for indexing at each of the many
steps to the screen. So indexing pauses between turns while the user types or reads a streaming
reply, and uses a fifth of the time then; otherwise it runs at full speed. Work that needs a small
model waits until the user is idle.
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
"""Turns read at a time."""
_PART_LETTERS = 32_768
_SLICE, _SLICE_LETTERS = 16, 4_096
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of indexing a conversation.

    Measured by position, because counting the missing turns would mean reading every row.
    """

    done: int
    """Up to this position, every finished turn has its entry, and a vector if one can be made."""
    of: int
    """The conversation's last position."""
    loads: bool = False
    """Whether all turns are indexed and the index is only being loaded for searching."""


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
        """`before_write` is called with the first position of each part, before it is written."""
        self._tables = IndexTables(store.database, conversation)
        self._embedder = embedder
        self._throttle, self._before_write = throttle or BackgroundThrottle(), before_write
        self.failure: EmbedderUnavailable | None = None
        """Why some entries were written without vectors; None if none were."""
        self.is_complete = False
        """Whether no entry or vector was missing at the end of the last batch."""

    def catch_up(
        self,
        one_at_a_time: AbstractContextManager[object] | None = None,
        batches: int = sys.maxsize,
        on_progress: OnProgress = lambda _: None,
        after: int = 0,
    ) -> Iterator[list[IndexEntry]]:
        """Index the missing turns after position `after`, in at most `batches` batches.

        Yields the entries of each batch. `one_at_a_time` is held during a batch, so two threads can
        share the work. `on_progress` is called before each part and must not block. Halting the
        throttle ends the work; turns not yet written stay missing.
        """
        for _ in range(batches):
            with one_at_a_time or nullcontext():
                turns = self._tables.missing(
                    self._embedder, after, BATCH, wants_vectors=self.failure is None
                )
                entries = self._write(turns, on_progress)
                is_all = len(turns) < BATCH and len(entries) == len(turns)
                self.is_complete = is_all and self.failure is None
            if entries:
                yield entries
            if not turns or len(entries) < len(turns):
                return
            after = turns[-1].position

    def _write(self, turns: Sequence[Turn], on_progress: OnProgress) -> list[IndexEntry]:
        """Index `turns`, one transaction per part, until the throttle is halted."""
        written: list[IndexEntry] = []
        last = self._tables.last_position() if turns else 0
        for part in parts_of(turns):
            on_progress(Progress(part[0].position - 1, last))
            entries = list(self._paced(part, _entry_and_stems))
            done = self._tables.embedded(part, self._embedder)
            lacking = [turn for turn in part if turn.id not in done]
            slices = self._paced(slices_of(lacking), self._vectors)
            vectors = [vector for made in slices for vector in made]
            if self._throttle.halted:
                break
            self._before_write(part[0].position)
            self._tables.write(entries, vectors, self._embedder)
            written += [entry for _, entry, _ in entries]
        return written

    def _paced(self, items: Iterable[_Item], work: Callable[[_Item], _Result]) -> Iterator[_Result]:
        """Do the `work` on each item, and pause after it while the app is in use."""
        begun = self._throttle.now()
        for item in items:
            if self._throttle.halted:
                return
            yield work(item)
            begun = self._throttle.rest_after(begun)

    def _vectors(self, turns: Sequence[Turn]) -> list[tuple[Turn, bytes]]:
        """Return each turn with its vector, or with empty bytes if there is nothing to embed."""
        if not self._embedder.dimension or self.failure:
            return []
        from jitchat.index.vectors import stored_vector, vectors_of  # noqa: PLC0415  loads numpy

        try:
            made = vectors_of(self._embedder, [searched_text(turn) for turn in turns])
        except EmbedderUnavailable as error:
            self.failure = error
            return []
        return [(turn, stored_vector(row)) for turn, row in zip(turns, made, strict=True)]


def _entry_and_stems(turn: Turn) -> tuple[Turn, IndexEntry, str]:
    from jitchat.index.entry import index_entry  # noqa: PLC0415  not before the first frame

    return turn, index_entry(turn), " ".join(stems_and_negations(searched_text(turn)))


def parts_of(turns: Sequence[Turn]) -> Iterator[Sequence[Turn]]:
    """Split turns into parts to be written in one transaction each, in the order given."""
    start = letters = 0
    for place, turn in enumerate(turns):
        letters += len(searched_text(turn))
        if letters > _PART_LETTERS and place > start:
            yield turns[start:place]
            start, letters = place, len(searched_text(turn))
    if turns[start:]:
        yield turns[start:]


def slices_of(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Split turns into slices to embed, the shortest turns first.

    A model pads every text to the longest in its slice and cannot be interrupted. So texts of
    similar length are put together, fewer per slice the longer they are.
    """
    batch: list[Turn] = []
    for turn in sorted(turns, key=lambda turn: len(searched_text(turn))):
        padded = (len(batch) + 1) * len(searched_text(turn))
        if batch and (len(batch) == _SLICE or padded > _SLICE_LETTERS):
            yield batch
            batch = []
        batch.append(turn)
    if batch:
        yield batch


ATTENDED_SECONDS = 1.0
_REST, _LONGEST_REST = 4.0, 0.25
"""Seconds of rest per second of work while the user is active, and the longest single rest."""


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
        """Stop indexing permanently, because the conversation is being closed."""
        self._halted.set()

    def attend(self) -> None:
        """Note that the user is active, now and for the next second."""
        self._attended_until = self._clock() + ATTENDED_SECONDS

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Defer work that can wait while a message is being answered."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def quiet_in(self) -> float:
        """Return the seconds until the user can be idle with no message being answered; 0 if so."""
        if self._under_way:
            return ATTENDED_SECONDS
        return max(0.0, self._attended_until - self._clock())

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """Take no rests while the user is waiting for the index itself."""
        self._awaited += 1
        try:
            yield
        finally:
            self._awaited -= 1

    def rest_after(self, started: float) -> float:
        """Rest after work that began at `started`, a time from `now`. Returns the time then."""
        ended = self._clock()
        if self._awaited or ended >= self._attended_until:
            return ended
        self._sleep(min((ended - started) * _REST, _LONGEST_REST))
        return self._clock()

    def now(self) -> float:
        return self._clock()
