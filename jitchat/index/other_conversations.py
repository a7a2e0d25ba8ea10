"""Recall from other conversations, searched as one hot index so that scores are comparable.

Scores from the indexes of two conversations are not comparable, because a word can be rare in one
and common in the other. So all conversations in reach are searched together, with the open one
last. The open conversation's turns are still found by its own index; their scores in the joint
index decide which of them give way to turns of other conversations. Each conversation is a separate
stretch of talk, and lends nothing to the next.

The index is loaded when it is first searched, is extended by new turns of the open conversation,
and is reloaded when another conversation changes. Temporary and deleted conversations and excluded
turns are never in reach.
"""

import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING

from jitchat.errors import StoreError
from jitchat.index.abstain import needless
from jitchat.index.conversation_index import ConversationIndex
from jitchat.index.embedder import Embedder
from jitchat.index.indexer import Indexer
from jitchat.index.retrieve import Query, SearchRequest, pick
from jitchat.index.tables import IndexRow, IndexTables
from jitchat.store.pins import Pins
from jitchat.store.store import ColdStore
from jitchat.store.turn_cache import TurnCache
from jitchat.turn_list import common_start
from jitchat.values import (
    Candidate,
    Elsewhere,
    ElsewhereHit,
    IndexEntry,
    Reach,
    Status,
    Turn,
)
from jitchat.writing.calls import full_text

if TYPE_CHECKING:
    from jitchat.index.search import HotIndex  # loads numpy

MOST_TURNS = 50_000
"""Maximum turns in reach; the most recently used conversations take precedence."""
_HITS = 8
"""Maximum turns of other conversations in a result."""
_IN_REACH = """
    SELECT c.id, c.title, c.touched, c.head FROM conversations c
    WHERE NOT (c.temporary OR c.deleted_by) AND c.id <> :id AND (:reach = 'all'
        OR c.project = (SELECT project FROM conversations WHERE id = :id))
    ORDER BY c.touched DESC
"""
_HELD = "SELECT COUNT(*), TOTAL(turn), TOTAL(turn * (hold = 'excluded')) FROM held_turns"
_Reached = tuple[str, str, int, int | None]
"""A row of `_IN_REACH`."""


@dataclass(frozen=True, slots=True)
class _Other:
    """A conversation in the index."""

    id: str
    title: str
    base: int
    """Added to a turn's position to get its position in the index."""


class OtherConversations:
    """Searches the conversations in reach of one. Safe to use from several threads."""

    def __init__(
        self,
        store: ColdStore,
        conversation: str,
        reach: Reach,
        own: ConversationIndex,
        turns: TurnCache,
    ) -> None:
        self.reach = reach
        self._store, self._conversation = store, conversation
        self._own_index, self._cache = own, turns
        self._lock = threading.Lock()
        self._index: HotIndex | None = None
        self._loaded_for: object = None
        """The conversations in reach and the embedder when the index was loaded."""
        self._others: list[_Other] = []
        self._bases: list[int] = []
        self._base = 0
        """The base of the open conversation."""
        self._own: Sequence[Turn] = ()
        """The open conversation's turns in the index; none if it has more than `MOST_TURNS`."""
        self._not_searched = 0

    def search(self, request: SearchRequest) -> Elsewhere:
        """Find turns of other conversations, and the scores of the open one's turns among them."""
        with self._lock:
            index = self._load()
            query = request.query(index.speakers)
            rows = self._rows(index, query, self._base + request.position)
            terms = index.terms(query) if rows else ()
            own = tuple((row.turn - self._base, row.score) for row in rows if row.turn > self._base)
            places = {row.turn: self._place(row.turn) for row in rows if row.turn <= self._base}
        hits = [hit for hit in pick(rows) if hit.turn in places]
        found: list[ElsewhereHit] = []
        for hit in hits[:_HITS]:
            other, position = places[hit.turn]
            turn = self._store.turn(other.id, position)
            if turn is not None:
                found.append(ElsewhereHit(other.id, other.title, turn, hit.score, hit.reason))
        is_known = len(self._cache.snapshot.turns) <= MOST_TURNS
        return Elsewhere(tuple(found), own if is_known else None, terms, self._not_searched)

    def index_missing(self) -> None:
        """Index the missing turns of the conversations in reach; skip those that cannot be."""
        throttle, embedder = self._own_index.throttle, self._own_index.embedder
        for identity, *_ in self._in_reach():
            if throttle.halted:
                return
            with suppress(StoreError):
                for _ in Indexer(self._store, identity, embedder, throttle).catch_up():
                    pass
        with self._lock:
            self._loaded_for = None

    def turn(self, conversation: str, position: int) -> ElsewhereHit | None:
        """Read a turn of a conversation in reach, or return None if there is no such turn."""
        known = {identity: title for identity, title, *_ in self._in_reach()}
        turn = self._store.turn(conversation, position) if conversation in known else None
        if turn is None or self._is_excluded(conversation, position):
            return None
        return ElsewhereHit(conversation, known[conversation], turn, 0.0, "asked for")

    def _rows(self, index: "HotIndex", query: Query, before: int) -> tuple[Candidate, ...]:
        if query.need is not None and query.need.is_certain:
            return ()
        if query.time_filter is not None and (said := index.said(query, before)):
            return said
        if query.time_filter is not None and not query.time_filter.is_event:
            return ()
        rows = index.search(query, before)
        return () if needless(query, rows, index.terms(query), len(index)) else rows

    def _place(self, turn: int) -> tuple[_Other, int]:
        """Return the conversation and the position in it of the turn at an index position."""
        other = self._others[bisect_right(self._bases, turn - 1) - 1]
        return other, turn - other.base

    def _in_reach(self) -> list[_Reached]:
        wanted = {"id": self._conversation, "reach": self.reach.value}
        return self._store.database.fetch_all(_IN_REACH, wanted)

    def _is_excluded(self, conversation: str, position: int) -> bool:
        path = self._store.path(conversation)
        return Pins(self._store.database).of(conversation, path).get(position) == "excluded"

    def _load(self) -> "HotIndex":
        """Update the index to the conversations that are in reach now."""
        reached, embedder = self._in_reach(), self._own_index.embedder
        wanted = tuple(reached), self._store.database.fetch_one(_HELD), embedder.id
        if self._index is None or self._loaded_for != wanted:
            self._index = self._loaded(reached, embedder)
            self._loaded_for, self._own = wanted, ()
        self._take_own(self._index, embedder)
        return self._index

    def _loaded(self, reached: Sequence[_Reached], embedder: Embedder) -> "HotIndex":
        """Load the other conversations, the most recently used one last."""
        from jitchat.index.search import HotIndex  # noqa: PLC0415  loads numpy

        chosen = list(self._chosen(reached))
        self._not_searched = len(reached) - len(chosen)
        entries: dict[int, IndexEntry] = {}
        index = HotIndex(embedder, entries_of=lambda places: [entries[at] for at in places])
        self._others, self._base = [], 0
        for identity, title, turns in reversed(chosen):
            self._others.append(_Other(identity, title, self._base))
            tables = IndexTables(self._store.database, identity)
            rows = [self._moved(row) for row in tables.rows(turns, embedder)]
            entries |= {row.position: row.entry for row in rows}
            index.add(rows, begins=True)
            self._base += (turns[-1].position if turns else 0) + 1
        index.pack(self._base)  # searched in two thirds of the time
        self._bases = [other.base for other in self._others]
        return index

    def _chosen(self, reached: Sequence[_Reached]) -> Iterator[tuple[str, str, list[Turn]]]:
        """Read the turns of the most recently used conversations, up to `MOST_TURNS`."""
        left = MOST_TURNS
        for identity, title, *_ in reached:
            path = self._store.path(identity)
            holds = Pins(self._store.database).of(identity, path)
            turns = self._store.turns_of(identity, path)
            left -= len(turns)
            if left < 0:
                return
            found = [turn for turn in turns if holds.get(turn.position) != "excluded"]
            yield identity, title, list(filter(_is_found, found))

    def _moved(self, row: IndexRow) -> IndexRow:
        entry = replace(row.entry, turn=self._base + row.position)
        return replace(row, entry=entry)

    def _take_own(self, index: "HotIndex", embedder: Embedder) -> None:
        """Add the open conversation's new turns, up to the first that is not indexed yet."""
        turns = self._cache.snapshot.turns
        if len(turns) > MOST_TURNS:
            return
        same = common_start(self._own, turns)
        if same < len(self._own):
            index.truncate(self._base + (turns[same - 1].position if same else 0))
        fresh = turns[same:]
        tables = IndexTables(self._store.database, self._conversation)
        rows = {row.position: row for row in tables.rows(fresh, embedder)}
        ready = list(takewhile(lambda turn: not _is_found(turn) or turn.position in rows, fresh))
        known = [rows[turn.position] for turn in ready if _is_found(turn)]
        index.add([self._moved(row) for row in known], begins=not same)
        self._own = turns[: same + len(ready)]


def _is_found(turn: Turn) -> bool:
    is_settled = turn.status not in (Status.STREAMING, Status.UNANSWERED)
    return is_settled and bool(full_text(turn).strip())
