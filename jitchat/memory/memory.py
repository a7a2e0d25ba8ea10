"""One open conversation: its turns, its hot index, and what is retrieved for a draft.

The turns are in the cold store first and in memory second. Another instance may write to the
same conversation: `refresh` takes in what it stored. Safe to use from several threads.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from jitchat.memory.archive import WindowArchive
from jitchat.memory.embedder import Embedder, NoEmbedder
from jitchat.memory.picker import FLOOR, pick
from jitchat.memory.query import make_query
from jitchat.memory.replies import ReplyWriter, begin_reply, close_interrupted
from jitchat.memory.store import ColdStore
from jitchat.text.safe import repaired
from jitchat.turn import Conversation, IndexEntry, Retrieval, Role, Status, Turn

if TYPE_CHECKING:
    from jitchat.memory.search import HotIndex

LATE_DECISIONS = 3


class Memory:
    """The memory of one conversation."""

    def __init__(
        self, store: ColdStore, conversation: Conversation, embedder: Embedder | None = None
    ) -> None:
        self.store = store
        self.conversation = conversation
        self.archive = WindowArchive(store.database)
        self.embedder: Embedder = embedder or NoEmbedder()
        self._lock = threading.RLock()
        self._turns = _finished(store, conversation.id, 0)
        self._index: HotIndex | None = None
        self._seen = 0
        self._outdated = False

    @property
    def turns(self) -> list[Turn]:
        """Every turn, in order. A copy."""
        return list(self._turns)

    def add_user_turn(self, content: str) -> Turn:
        """Commit what the user says; a message that went unanswered, sent again, is the same."""
        said = Turn(0, Role.USER, content, self.store.now())
        with self._lock:
            self.refresh()
            if self._turns and _sent_again(self._turns[-1], content):
                self._index, self._seen = None, 0
                return self._set_status(self._turns[-1], Status.COMPLETE)
            stored = self.store.append(self.conversation.id, [said])
            self._turns += stored
        return stored[0]

    def begin_reply(self) -> ReplyWriter:
        """A writer for the answer to the last turn."""
        return begin_reply(self.store, self.conversation.id, self.store.now())

    def mark_unanswered(self, turn: Turn) -> None:
        """The request for a user's turn failed: keep it, and leave it out of later windows."""
        with self._lock:
            self._set_status(turn, Status.UNANSWERED)

    def refresh(self) -> None:
        """Take in the turns that were finished since, by whichever instance."""
        with self._lock:
            known = self._turns[-1].position if self._turns else 0
            self._turns += _finished(self.store, self.conversation.id, known)

    def catch_up(self, embedder: Embedder | None = None) -> Iterator[list[IndexEntry]]:
        """Index every finished turn that is not yet; yields the entries of each batch.

        With another `embedder`, the present index serves until the new one is complete.
        """
        from jitchat.memory.backlog import Indexer  # noqa: PLC0415  loads numpy

        chosen = embedder or self.embedder
        for entries in Indexer(self.store, self.conversation.id, chosen).catch_up(self.turns):
            if self._index is not None and entries[0].turn <= self._seen:
                self._outdated = True
            yield entries
        if self._outdated or chosen is not self.embedder:
            with self._lock:
                self.embedder, self._index, self._seen = chosen, None, 0
                self._outdated = False

    def retrieve(self, draft: str, position: int) -> Retrieval:
        """What the hot index has for a draft that will be the turn at `position`."""
        index = self._loaded()
        earlier = (t for t in reversed(self._turns) if t.position < position)
        context = next((t.content for t in earlier if t.role is Role.USER), "")
        query = make_query(draft, context, index.speakers)
        candidates = index.search(query, position)
        listed = {row.turn for row in candidates}
        late = tuple(e for e in index.decisions(LATE_DECISIONS) if e.turn not in listed)
        return Retrieval(candidates, pick(candidates), late, FLOOR)

    def _set_status(self, turn: Turn, status: Status) -> Turn:
        self.store.set_status(turn, status)
        changed = replace(turn, status=status)
        self._turns = [changed if known.id == turn.id else known for known in self._turns]
        return changed

    def _loaded(self) -> HotIndex:
        """The index with all rows that can be added in order."""
        from jitchat.memory.backlog import Indexer  # noqa: PLC0415  loads numpy
        from jitchat.memory.search import HotIndex  # noqa: PLC0415  loads numpy

        with self._lock:
            if self._index is None:
                self._index = HotIndex(self.embedder)
            fresh = [turn for turn in self._turns if turn.position > self._seen]
            rows = Indexer(self.store, self.conversation.id, self.embedder).rows(fresh)
            indexed = {row.position for row in rows}
            for turn in takewhile(lambda t: _settled(t, indexed), fresh):
                self._seen = turn.position
            self._index.add([row for row in rows if row.position <= self._seen])
            return self._index


def _sent_again(last: Turn, content: str) -> bool:
    return last.status is Status.UNANSWERED and last.content == repaired(content)


def _settled(turn: Turn, indexed: set[int]) -> bool:
    return turn.position in indexed or turn.status is Status.UNANSWERED


def _finished(store: ColdStore, conversation: str, after: int) -> list[Turn]:
    """The turns behind `after`, up to one that somebody is still writing."""
    found = store.turns(conversation, after)
    if any(turn.status is Status.STREAMING for turn in found) and close_interrupted(store):
        found = store.turns(conversation, after)
    return list(takewhile(lambda turn: turn.status is not Status.STREAMING, found))
