"""The hot index of an open conversation: updated in the background, loaded for searching.

Safe to use from several threads; locks are taken in the order indexing, loading, turns, database.
Loading the index can take seconds, and no message waits for it: storing a turn takes none of these
locks, and a search uses the rows that are loaded when its patience runs out.
"""

import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, takewhile
from math import inf
from typing import TYPE_CHECKING

from jitchat.errors import EmbedderUnavailable, StoreError
from jitchat.index.abstain import NOTHING_SAID_THEN, needless
from jitchat.index.embedder import Embedder, NoEmbedder
from jitchat.index.indexer import BATCH, BackgroundThrottle, Indexer, OnProgress, Progress
from jitchat.index.retrieve import LATE_DECISIONS, SearchRequest, beyond, floor_of, pick, standing
from jitchat.index.tables import IndexTables
from jitchat.index.tool_results import searched_text
from jitchat.store.store import ColdStore
from jitchat.store.turn_cache import Snapshot, TurnCache, behind
from jitchat.text.dates import Span
from jitchat.turn_list import common_start, up_to
from jitchat.values import IndexEntry, Placed, Retrieval, Status, Turn

if TYPE_CHECKING:
    from jitchat.index.search import HotIndex  # loads numpy
    from jitchat.index.segments import SegmentTable

WORTH_PACKING = 4_096
"""Rows. Reading this many one by one takes a tenth of a second."""
_MOST_UNPACKED = 32_768
"""Rows. Unpacked rows take four times the memory of packed ones."""
_AT_ONCE = 2_048
"""Rows read at a time; the source of each part is freed before the next part is read."""
_ONE_PART = 1e-9
"""Seconds: a time limit short enough to load one part only."""
_GIVE_WAY = 0.001
"""Seconds. A thread that takes a lock again immediately gets it before all waiting threads."""


class ConversationIndex:
    """Indexes the turns of a `TurnCache` and searches them."""

    def __init__(
        self, store: ColdStore, conversation: str, turns: TurnCache, embedder: Embedder | None
    ) -> None:
        self._store, self._conversation, self._cache = store, conversation, turns
        self._tables = IndexTables(store.database, conversation)
        self.embedder: Embedder = embedder or NoEmbedder()
        self.throttle = BackgroundThrottle()
        self.failure: EmbedderUnavailable | None = None
        """Why the turns that were indexed last have no vectors; None if they have them."""
        self.lacks_vectors = False
        """Whether some turns lack vectors of the current embedder and are found by words alone."""
        self.patience = inf
        """Seconds that a search waits for rows to be loaded; `catch_up` loads the rest."""
        self.is_partial = False
        """Whether some rows were not loaded in that time."""
        self._loads_rest = False
        """Whether the remaining rows are being loaded in the background."""
        self._indexing = threading.Lock()
        self._loading = threading.RLock()
        """Guards the fields below."""
        self._indexed = 0
        """Up to this position, every turn of `_indexed_turns` and of the other branches has an
        entry and a vector of `embedder`."""
        self._indexed_turns: Sequence[Turn] = ()
        self._loaded: HotIndex | None = None
        self._loaded_turns: Sequence[Turn] = ()
        """The turns that `_loaded` was last updated with."""
        self._searched = 0
        """The position up to which `_loaded` is complete."""
        self._is_outdated = False
        """Whether rows of `_loaded` have been rewritten since they were loaded."""

    def catch_up(
        self,
        embedder: Embedder | None = None,
        batches: int = sys.maxsize,
        on_progress: OnProgress = lambda _: None,
    ) -> Iterator[list[IndexEntry]]:
        """Index every finished turn that is not indexed yet. Yields the entries of each batch.

        `on_progress` is called in this thread and must not block. With a different `embedder`, the
        current index is used until the new one is complete; if the new embedder fails, the current
        index stays in use, and `failure` says why.
        """
        wanted, known = embedder or self.embedder, self._cache.snapshot
        after = 0
        if wanted is self.embedder:
            same = common_start(self._indexed_turns, known.turns)
            fresh = known.turns[same : same + 1]
            after = min([self._indexed, *(turn.position - 1 for turn in fresh)])
        indexer = Indexer(
            self._store, self._conversation, wanted, self.throttle, self._before_write
        )
        yield from indexer.catch_up(self._indexing, batches, on_progress, after)
        with self._loading:
            self.failure = indexer.failure
            chosen = embedder if embedder and indexer.is_complete else self.embedder
            if wanted is chosen and (indexer.failure or indexer.is_complete):
                self.lacks_vectors = indexer.failure is not None
            if wanted is chosen and indexer.is_complete:
                self._indexed, self._indexed_turns = known.settled, known.turns
            if self._is_outdated or chosen is not self.embedder:
                self.embedder, self._is_outdated = chosen, False
                self._loaded, self._searched = None, 0
        if indexer.is_complete and len(known.turns) > WORTH_PACKING:
            with suppress(StoreError):
                self._load_rest(on_progress)
            if not self.throttle.halted:
                self.pack()

    def is_behind(self) -> bool:
        return bool(self._tables.missing(NoEmbedder(), limit=1))

    def _before_write(self, position: int) -> None:
        """Note whether rows that are already loaded are about to be rewritten."""
        with self._loading:
            self._is_outdated |= position <= self._searched

    def index_little(self, before: int) -> None:
        """Index the missing turns before position `before`, if one batch is enough.

        This lets the first message in a conversation that was just opened find all of its turns.
        """
        with self._loading:
            self._load_patiently()
            fresh = behind(self._loaded_turns, self._searched)
            missing = len(fresh) - len(behind(fresh, before - 1))
        if 0 < missing <= BATCH:
            with self.throttle.awaited(), suppress(StoreError):
                for _ in self.catch_up(batches=1):
                    pass

    def without_line(self, after: int, limit: int) -> list[Turn]:
        return self._tables.without_model_line(self._cache.snapshot.path.behind(after), limit)

    def count_without_line(self, after: int) -> int:
        return self._tables.count_without_model_line(self._cache.snapshot.path.behind(after))

    def write_lines(self, model: str, lines: Mapping[Turn, str]) -> None:
        with self._loading:
            self._tables.write_model_lines(model, lines)
            if self._loaded is not None:
                self._loaded.rewrite({turn.position: line for turn, line in lines.items()})

    def retrieve(
        self,
        request: SearchRequest,
        without: Collection[int] = (),
        within: Collection[int] | None = None,
    ) -> Retrieval:
        """Search for a draft.

        Turns at the positions `without` can be listed but not picked. If `within` is given, only
        turns at these positions are listed, and a time named in the draft is not used as a filter.
        """
        with self._loading:
            index, searched = self._load_patiently(), self._searched
        query = request.query(index.speakers)
        if query.need is not None and query.need.is_certain:
            return Retrieval(searched=searched, needless=query.need.kind)
        if query.time_filter is not None and within is None:
            said = index.said(query, request.position)
            allowed = [row for row in said if row.turn not in without]
            if said:
                return Retrieval(
                    said,
                    pick(allowed),
                    floor=floor_of(allowed),
                    beyond=beyond(allowed),
                    searched=searched,
                )
            if not query.time_filter.is_event:
                return Retrieval(searched=searched, needless=NOTHING_SAID_THEN)
        candidates, terms = index.search(query, request.position, within=within), index.terms(query)
        if why := needless(index.spelled(query), candidates, terms, len(index)):
            return Retrieval(searched=searched, needless=why)
        listed = {row.turn for row in candidates}.union(without)
        late = index.decisions(LATE_DECISIONS, request.position) if within is None else ()
        unlisted = tuple(entry for entry in standing(late) if entry.turn not in listed)
        allowed = [row for row in candidates if row.turn not in without]
        return Retrieval(
            candidates,
            pick(allowed),
            unlisted,
            floor_of(allowed),
            beyond(allowed),
            searched=searched,
            terms=terms,
        )

    def said_on(self, days: Span, before: int) -> tuple[int, ...]:
        """List the positions of the turns said on these days, before position `before`."""
        return self._load_patiently().said_on(days, before)

    def decided(self, before: int) -> tuple[int, ...]:
        """List the positions of the turns with a decision, before position `before`."""
        return self._load_patiently().decided(before)

    def placed(self, request: SearchRequest, turn: int) -> Placed | None:
        """Rank a turn among all turns that `retrieve` searches, or return None if it is not one."""
        index = self._load_patiently()
        return index.placed(request.query(index.speakers), request.position, turn)

    def entries(self, turns: Collection[int]) -> tuple[IndexEntry, ...]:
        return self._load_patiently().entries(turns)

    def _load_segments(self, index: "HotIndex", known: Snapshot) -> None:
        for segment in self._segments().read(known.path):
            if segment.last > known.settled:
                break
            index.add_segment(segment)
            self._searched = segment.last
        self._loaded_turns = known.turns[: up_to(known.turns, self._searched)]

    def _segments(self) -> "SegmentTable":
        from jitchat.index.segments import SegmentTable  # noqa: PLC0415  loads numpy

        return SegmentTable(self._store.database, self._conversation, self.embedder)

    def _load_patiently(self) -> "HotIndex":
        """Load rows for a search; load none while the rest is being loaded in the background."""
        return self._load(0.0 if self._loads_rest else self.patience)

    def _load_rest(self, on_progress: OnProgress) -> None:
        """Load all rows, one part at a time, so that a search never waits for all of them."""
        begun = self.throttle.now()
        try:
            while not self.throttle.halted:
                with self._loading:
                    self._loads_rest = True
                    self._load(_ONE_PART)
                    if not self.is_partial:
                        return
                    progress = Progress(self._searched, self._loaded_turns[-1].position, loads=True)
                on_progress(progress)
                time.sleep(_GIVE_WAY)
                begun = self.throttle.rest_after(begun)
        finally:
            self._loads_rest = False

    def pack(self, least: int = WORTH_PACKING) -> None:
        """Pack the unpacked rows and store the segments, if there are more than `least` rows."""
        with self._loading, suppress(StoreError):
            self._pack(self._load(), least)

    def _pack(self, index: "HotIndex", least: int) -> None:
        known = self._cache.snapshot
        if index.unpacked > least and not self._store.is_view(self._conversation):
            made = index.pack(min(self._searched, known.settled))
            with suppress(StoreError):  # it is packed the next time the conversation is opened
                self._segments().write(known.path, made)

    def _load(self, seconds: float = inf) -> "HotIndex":
        """Add the rows that can be added in order: up to an unfinished reply or a missing row.

        Stops after `seconds`, and sets `is_partial` if rows are left.
        """
        from jitchat.index.search import HotIndex  # noqa: PLC0415  loads numpy

        with self._loading:
            known = self._cache.snapshot
            if self._loaded is None:
                self._loaded = HotIndex(self.embedder, entries_of=self._tables.entries)
                self._load_segments(self._loaded, known)
            same = common_start(self._loaded_turns, known.turns)
            same_to = known.turns[same - 1].position if same else 0
            if same_to < self._searched:
                self._loaded.truncate(same_to)
                self._searched = same_to
            self._loaded_turns = known.turns
            self._add_rows(self._loaded, known, seconds)
            return self._loaded

    def _add_rows(self, index: "HotIndex", known: Snapshot, seconds: float) -> None:
        """Add rows that are not in a segment until the time is up, but at least one part."""
        reached = takewhile(known.is_reached, behind(known.turns, self._searched))
        until, may_stop = time.monotonic() + seconds, not seconds
        while part := list(islice(reached, _AT_ONCE)):
            self.is_partial = may_stop and time.monotonic() >= until
            if self.is_partial:
                return
            gap = self._tables.first_gap(known.path.between(self._searched, part[-1].position))
            ready = [turn for turn in part if gap is None or turn.position < gap]
            said = (turn for turn in ready if turn.status is not Status.UNANSWERED)
            # skip turns with nothing but reasoning, and results of `request_context`
            recalled = [turn for turn in said if searched_text(turn).strip()]
            index.add(self._tables.rows(recalled, self.embedder))
            if ready:
                self._searched = ready[-1].position
            self._pack(index, _MOST_UNPACKED)
            if gap is not None:
                break
            may_stop = True
        self.is_partial = False
