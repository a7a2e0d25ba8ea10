"""One open conversation: its turns, its hot index, and what is retrieved for a draft.

The turns are in the cold store first and in memory second. Another instance may write to the
same conversation, or go to another branch of it: `refresh` takes that in. Safe to use from
several threads; locks are taken in the order indexing, memory, database.
"""

from __future__ import annotations

import sys
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from jitchat.errors import EmbedderUnavailable, StoreError
from jitchat.memory.cold.archive import WindowArchive
from jitchat.memory.cold.path import Path
from jitchat.memory.cold.replies import Place, ReplyWriter, begin_reply, close_interrupted
from jitchat.memory.cold.store import ColdStore
from jitchat.memory.embedding.embedder import Embedder, NoEmbedder
from jitchat.memory.index.batches import BATCH
from jitchat.memory.index.model_lines import ModelLines
from jitchat.memory.index.pace import Pace
from jitchat.memory.index.picker import floor_of, pick
from jitchat.memory.index.query import make_query
from jitchat.text.safe import repaired
from jitchat.turn import Conversation, IndexEntry, Retrieval, Role, Status, Turn

if TYPE_CHECKING:
    from jitchat.memory.index.backlog import OnProgress
    from jitchat.memory.index.search import HotIndex

LATE_DECISIONS = 2
_LOADED_AT_ONCE = 2_048
"""Index rows; what they were read from is gone before the next ones are."""


class Memory:
    """The memory of one conversation."""

    def __init__(
        self, store: ColdStore, conversation: Conversation, embedder: Embedder | None = None
    ) -> None:
        self.store = store
        self.conversation = conversation
        self.archive = WindowArchive(store.database)
        self._model_lines = ModelLines(store.database)
        self.embedder: Embedder = embedder or NoEmbedder()
        self.pace = Pace()
        self.failure: EmbedderUnavailable | None = None
        """Why turns that were indexed last have no vectors of the embedder that was wanted."""
        self.lacks_vectors = False
        """Whether turns have no vectors of the embedder in use: they are found by words alone."""
        self._lock = threading.RLock()
        self._indexing = threading.Lock()
        self._path = Path()
        self._turns: list[Turn] = []
        """Those of `_path`, as far as they are finished."""
        self._unreplied: int | None = None
        """The position of what was said here and has no reply yet."""
        self._settled = 0
        """No turn up to this position changes any more. The last one may: it can turn out to be
        unanswered, and an unanswered one can be sent again."""
        self._unfinished: int | None = None
        """The first position at which somebody is still writing."""
        self._index: HotIndex | None = None
        self._seen = 0
        """The position up to which `_index` has what there is."""
        self._outdated = False
        self._indexed = 0
        """Up to this position no turn lacks an entry, or a vector of `embedder`."""
        self.refresh()

    @property
    def turns(self) -> list[Turn]:
        """The turns of the path, in order. A copy."""
        return list(self._turns)

    def add_user_turn(self, content: str, after: int | None = None) -> Turn:
        """Commit what the user says; a message that went unanswered, sent again, is the same.

        It is said behind the last turn, or as a fork `after` the turn at that position.
        """
        said = Turn(0, Role.USER, content, self.store.now())
        with self._lock:
            with self.store.database.write():
                self.refresh()
                last = self._turns[-1] if self._turns and after is None else None
                if last and last.status is Status.UNANSWERED and last.content == repaired(content):
                    self.store.set_status(last, Status.COMPLETE)
                    said = replace(last, status=Status.COMPLETE)
                else:
                    said = self.store.append(self.conversation.id, [said], after)[0]
            self._unreplied = said.position
            self.refresh()
        return said

    def begin_reply(self, said: Turn | None = None) -> ReplyWriter:
        """Make a writer for the answer to `said`, or to whatever was said last.

        A turn that has a reply gets another one beside it. Finished, the reply is the head.
        """
        place = None
        if said is not None:
            place = Place(said.position, again=said.position != self._unreplied)
            self._unreplied = None
        return begin_reply(self.store, self.conversation.id, self.store.now(), place)

    def fork(self, position: int) -> None:
        """Let what is said next follow the turn at `position`, or none for 0."""
        self.store.fork(self.conversation.id, position)
        self.refresh()

    def switch_to(self, position: int) -> None:
        """Go on with the branch of the turn at `position`, at the latest turn that came of it."""
        self.store.switch_to(self.conversation.id, position)
        self.refresh()

    def alternatives(self, position: int) -> tuple[int, ...]:
        """List the turns that stand in one place: this one, and those of its role beside it."""
        return self.store.alternatives(self.conversation.id, position)

    def branches(self) -> dict[int, tuple[int, ...]]:
        """Tell the alternatives of every turn of the path that has any, by its position."""
        return self.store.branches(self.conversation.id)

    def mark_unanswered(self, turn: Turn) -> None:
        """Keep a user's turn whose request failed, and leave it out of later windows."""
        with self._lock:
            self.store.set_status(turn, Status.UNANSWERED)
            self._settled = min(self._settled, turn.position - 1)
            self.refresh()

    def refresh(self) -> None:
        """Take in the turns that were finished since, and the branch, by whichever instance.

        The reply of a writer that is gone is taken in as interrupted; that of one still
        writing is not, and no later turn is indexed before it is.
        """
        with self._lock:
            self._follow(self.store.path(self.conversation.id))
            found = self._stored_after(self._settled)
            finished = [turn for turn in found if turn.status is not Status.STREAMING]
            unfinished = (turn.position for turn in found if turn.status is Status.STREAMING)
            self._unfinished = min(unfinished, default=None)
            size = bisect_right(self._turns, self._settled, key=_position)
            known = self._turns[size:]
            if finished != known:
                if any(turn.position <= self._seen and turn not in known for turn in finished):
                    self._forget_index()
                self._turns = [*self._turns[:size], *finished]
            for turn in takewhile(self._is_reached, finished[:-1]):
                self._settled = turn.position

    def _follow(self, path: Path) -> None:
        """Forget what is known behind the last turn that the path shares with the one before."""
        if (same := self._path.shared(path)) < self._path.head:
            self._settled = min(self._settled, same)
            self._indexed = min(self._indexed, same)
            if self._seen > same:
                self._forget_index()
        self._path = path

    def catch_up(
        self,
        embedder: Embedder | None = None,
        batches: int = sys.maxsize,
        on_progress: OnProgress = lambda _: None,
    ) -> Iterator[list[IndexEntry]]:
        """Index every finished turn that is not yet; yields the entries of each batch.

        `on_progress` is told how far it is, in this thread; it must not wait. With another
        `embedder`, the present index serves until the new one is complete; if that one fails, the
        present one stays, and `failure` says why.
        """
        from jitchat.memory.index.backlog import Indexer  # noqa: PLC0415  loads numpy

        with self._lock:
            wanted, settled = embedder or self.embedder, self._settled
            after = self._indexed if wanted is self.embedder else 0
        indexer = Indexer(
            self.store, self.conversation.id, wanted, self.pace, self._before_index_grows
        )
        yield from indexer.catch_up(self._indexing, batches, on_progress, after)
        with self._lock:
            self.failure = indexer.failure
            chosen = embedder if embedder and indexer.is_through else self.embedder
            if wanted is chosen and (indexer.failure or indexer.is_through):
                self.lacks_vectors = indexer.failure is not None
            if wanted is chosen and indexer.is_through:
                self._indexed = settled
            if self._outdated or chosen is not self.embedder:
                self.embedder, self._outdated = chosen, False
                self._forget_index()

    def _before_index_grows(self, position: int) -> None:
        """Rows that were loaded before they were whole have to be loaded again."""
        with self._lock:
            self._outdated |= position <= self._seen

    def index_little(self, before: int) -> None:
        """Index what is missing ahead of position `before`, if one batch does it.

        So the first message to a conversation that was just opened finds all of it.
        """
        self._loaded()
        with self._lock:
            missing = bisect_left(self._turns, before, key=_position) - bisect_right(
                self._turns, self._seen, key=_position
            )
        if 0 < missing <= BATCH:
            with self.pace.awaited(), suppress(StoreError):
                for _ in self.catch_up(batches=1):
                    pass

    def unwritten(self, after: int, limit: int) -> list[Turn]:
        """List the indexed turns behind position `after` whose index line no model wrote."""
        found: list[Turn] = []
        for stretch in self._path.behind(after):
            found += self._model_lines.missing(self.conversation.id, stretch, limit - len(found))
        return found

    def count_unwritten(self, after: int) -> int:
        """Count them."""
        count, conversation = self._model_lines.count_missing, self.conversation.id
        return sum(count(conversation, stretch) for stretch in self._path.behind(after))

    def take_lines(self, model: str, lines: Mapping[Turn, str]) -> None:
        """Put index lines that `model` wrote in place of the heuristic ones."""
        with self._lock:
            self._model_lines.put(model, lines)
            if self._index is not None:
                self._index.rewrite({turn.position: line for turn, line in lines.items()})

    def retrieve(self, draft: str, position: int) -> Retrieval:
        """Search the hot index for a draft that will be the turn at `position`."""
        index = self._loaded()
        earlier = (turn for turn in reversed(self._turns) if turn.position < position)
        context = next((turn.content for turn in earlier if turn.role is Role.USER), "")
        query = make_query(draft, context, index.speakers, self.store.now().date())
        candidates = index.search(query, position)
        listed = {row.turn for row in candidates}
        late = index.decisions(LATE_DECISIONS, position)
        unlisted = tuple(entry for entry in late if entry.turn not in listed)
        hits, spared = pick(candidates)
        return Retrieval(
            candidates, hits, unlisted, floor_of(candidates), spared, searched=self._seen
        )

    def _stored_after(self, position: int) -> list[Turn]:
        conversation, path = self.conversation.id, self._path
        found = self.store.turns_of(conversation, path, position)
        if any(turn.status is Status.STREAMING for turn in found) and close_interrupted(self.store):
            found = self.store.turns_of(conversation, path, position)
        return found

    def _loaded(self) -> HotIndex:
        """The index, with all rows that can be added in order."""
        from jitchat.memory.index.backlog import Indexer  # noqa: PLC0415  loads numpy
        from jitchat.memory.index.search import HotIndex  # noqa: PLC0415  loads numpy

        with self._lock:
            if self._index is None:
                self._index = HotIndex(self.embedder)
            fresh = self._turns[bisect_right(self._turns, self._seen, key=_position) :]
            if not fresh:
                return self._index
            indexer = Indexer(self.store, self.conversation.id, self.embedder)
            gaps = (indexer.first_gap(stretch) for stretch in self._path.behind(self._seen))
            gap = next((position for position in gaps if position is not None), None)
            reached = takewhile(self._is_reached, fresh)
            ready = [turn for turn in reached if gap is None or turn.position < gap]
            if ready:
                said = [turn for turn in ready if _is_recalled(turn)]
                for start in range(0, len(said), _LOADED_AT_ONCE):
                    part = said[start : start + _LOADED_AT_ONCE]
                    self._index.add(indexer.rows(part))
                self._seen = ready[-1].position
            return self._index

    def _is_reached(self, turn: Turn) -> bool:
        """Whether everything ahead of the turn is finished."""
        return self._unfinished is None or turn.position < self._unfinished

    def _forget_index(self) -> None:
        self._index, self._seen = None, 0


def _is_recalled(turn: Turn) -> bool:
    """Whether it says anything that a window may show: a reply may be reasoning alone."""
    return turn.status is not Status.UNANSWERED and bool(turn.content.strip())


def _position(turn: Turn) -> int:
    return turn.position
