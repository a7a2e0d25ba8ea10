"""One open conversation: its turns, its hot index, and what is retrieved for a draft.

The turns are in the cold store first and in memory second. Another instance may write to the
same conversation, or go to another branch of it: `refresh` takes that in. Safe to use from
several threads; locks are taken in the order indexing, index, memory, database. To load the index
takes seconds, and no message waits for that: who stores a turn does not take its lock.
"""

import sys
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date

from jitchat.errors import EmbedderUnavailable, StoreError
from jitchat.index.embedder import Embedder, NoEmbedder
from jitchat.index.entry import ModelLines
from jitchat.index.indexer import OnProgress
from jitchat.index.loaded import LoadedIndex
from jitchat.index.pace import BATCH, Pace
from jitchat.index.retrieve import Asked, found_in, placed_in
from jitchat.index.search import HotIndex
from jitchat.store.pins import HeldTurns
from jitchat.store.replies import Place, ReplyWriter, begin_reply
from jitchat.store.store import ColdStore
from jitchat.store.turn_cache import FinishedTurns, behind
from jitchat.store.windows import WindowArchive
from jitchat.text.sanitize import repair
from jitchat.text.sentences import without_references
from jitchat.values import Conversation, IndexEntry, Placed, Retrieval, Role, Status, Turn


class Memory:
    """The memory of one conversation."""

    def __init__(
        self, store: ColdStore, conversation: Conversation, embedder: Embedder | None = None
    ) -> None:
        self.store = store
        self.conversation = conversation
        self.archive = WindowArchive(store.database)
        self._model_lines = ModelLines(store.database)
        self.holding = HeldTurns(store.database)
        self.embedder: Embedder = embedder or NoEmbedder()
        self.pace = Pace()
        self.held: Mapping[int, str] = {}
        """How the user holds turns of the path, by position: `pinned` or `excluded`."""
        self.failure: EmbedderUnavailable | None = None
        """Why turns that were indexed last have no vectors of the embedder that was wanted."""
        self.lacks_vectors = False
        """Whether turns have no vectors of the embedder in use: they are found by words alone."""
        self._lock = threading.RLock()
        self._indexing = threading.Lock()
        self._loading = threading.RLock()
        """Held while what `_loaded` has is looked at or changed."""
        self._known = FinishedTurns(store, conversation.id)
        self._unreplied: int | None = None
        """The position of what was said here and has no reply yet."""
        self._loaded = LoadedIndex(store, conversation.id)
        self._left_at = sys.maxsize
        """Behind this position `_loaded` may have turns that are no longer on the path."""
        self._outdated = False
        """Whether rows of `_loaded` were written since they were loaded."""
        self._indexed = 0
        """Up to this position no turn lacks an entry, or a vector of `embedder`."""
        self.refresh()

    @property
    def turns(self) -> list[Turn]:
        """The turns of the path, in order. A copy."""
        return list(self._known.turns)

    def turn_at(self, position: int) -> Turn | None:
        """Find the turn of the path at a position; None where none is, or it is unfinished."""
        found = next(iter(behind(self._known.turns, position - 1)), None)
        return found if found is not None and found.position == position else None

    def add_user_turn(self, content: str, after: int | None = None) -> Turn:
        """Commit what the user says; a message that went unanswered, sent again, is the same.

        It is said behind the last turn, or as a fork `after` the turn at that position.
        """
        said = Turn(0, Role.USER, content, self.store.now())
        with self._lock:
            with self.store.database.write():
                self.refresh()
                unanswered = self._unanswered(repair(content), after)
                if unanswered is not None:
                    self.store.set_status(unanswered, Status.COMPLETE)
                    self.store.switch_to(self.conversation.id, unanswered.position)
                    said = replace(unanswered, status=Status.COMPLETE)
                else:
                    said = self.store.append(self.conversation.id, [said], after)[0]
            self._unreplied = said.position
            self.refresh()
        return said

    def _unanswered(self, content: str, after: int | None) -> Turn | None:
        """Find the message with this text that nobody answered; nothing may follow it."""
        ends = self._known.turns[-1:] if after is None else self._leaves(after)
        same = (turn for turn in reversed(ends) if turn.content == content)
        return next((turn for turn in same if turn.status is Status.UNANSWERED), None)

    def _leaves(self, after: int) -> list[Turn]:
        """List what follows the turn at a position, of whichever branch, and has no turn behind."""
        tree = self.store.tree(self.conversation.id)
        beside = tree.children({after})[after]
        behind_them = tree.children(set(beside))
        ends = (place for place in beside if not behind_them[place])
        found = (self.store.turn(self.conversation.id, place) for place in ends)
        return [turn for turn in found if turn is not None]

    def begin_reply(self, said: Turn | None = None, *, beside: bool = False) -> ReplyWriter:
        """Make a writer for the answer to `said`, or to whatever was said last.

        A turn that has a reply gets another one beside it, and so does one that is getting
        several at once: each of them is `beside` the others. Finished, the reply is the head.
        """
        place = None
        if said is not None:
            place = Place(said.position, again=beside or said.position != self._unreplied)
            self._unreplied = None
        return begin_reply(self.store, self.conversation.id, self.store.now(), place)

    def switch_to(self, position: int) -> None:
        """Go on with the branch of the turn at `position`, at the latest turn that came of it."""
        self.store.switch_to(self.conversation.id, position)
        self.refresh()

    def branches(self) -> dict[int, tuple[int, ...]]:
        """List the versions in the place of each turn of the path that has several, itself too.

        By its position; they are turns of one role that follow the same one.
        """
        return self.store.branches(self.conversation.id)

    def mark_unanswered(self, turn: Turn) -> None:
        """Keep a user's turn whose request failed, and leave it out of later windows."""
        with self._lock:
            self.store.set_status(turn, Status.UNANSWERED)
            self._known.unsettle(turn)
            self.refresh()

    def refresh(self) -> None:
        """Take in the turns that were finished since, and the branch, by whichever instance."""
        with self._lock:
            change = self._known.take_in()
            self.held = self.holding.of(self.conversation.id, self._known.path)
            if change is not None:
                self._left_at = min(self._left_at, change.place - 1)
                if change.turn is not None:
                    self._indexed = min(self._indexed, change.turn - 1)

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
        from jitchat.index.indexer import Indexer  # noqa: PLC0415  loads numpy

        with self._lock:
            wanted, settled = embedder or self.embedder, self._known.settled
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
        with self._loading:
            if self._outdated or chosen is not self.embedder:
                self.embedder, self._outdated = chosen, False
                self._loaded.forget()

    def is_behind(self) -> bool:
        """Whether a finished turn is not indexed yet."""
        from jitchat.index.indexer import Indexer  # noqa: PLC0415  loads numpy

        return bool(Indexer(self.store, self.conversation.id, NoEmbedder()).missing(limit=1))

    def _before_index_grows(self, position: int) -> None:
        """Rows that were loaded before they were whole have to be loaded again."""
        with self._loading:
            self._outdated |= position <= self._loaded.seen

    def index_little(self, before: int) -> None:
        """Index what is missing ahead of position `before`, if one batch does it.

        So the first message to a conversation that was just opened finds all of it.
        """
        self._load()
        with self._loading:
            fresh = behind(self._known.turns, self._loaded.seen)
            missing = len(fresh) - len(behind(fresh, before - 1))
        if 0 < missing <= BATCH:
            with self.pace.awaited(), suppress(StoreError):
                for _ in self.catch_up(batches=1):
                    pass

    def unwritten(self, after: int, limit: int) -> list[Turn]:
        """List the indexed turns behind position `after` whose index line no model wrote."""
        found: list[Turn] = []
        for stretch in self._known.path.behind(after):
            found += self._model_lines.missing(self.conversation.id, stretch, limit - len(found))
        return found

    def count_unwritten(self, after: int) -> int:
        """Count them."""
        count, conversation = self._model_lines.count_missing, self.conversation.id
        return sum(count(conversation, stretch) for stretch in self._known.path.behind(after))

    def take_lines(self, model: str, lines: Mapping[Turn, str]) -> None:
        """Put index lines that `model` wrote in place of the heuristic ones."""
        with self._loading:
            self._model_lines.put(model, lines)
            if self._loaded.index is not None:
                self._loaded.index.rewrite({turn.position: line for turn, line in lines.items()})

    def retrieve(self, draft: str, position: int, without: Collection[int] = ()) -> Retrieval:
        """Search the hot index for a draft that will be the turn at `position`.

        Nothing at the positions `without` is picked, nor lends the draft its words.
        """
        asked = self._asked(draft, position, without)
        if not asked.draft.strip():
            return Retrieval()
        return found_in(self._load(), asked, self._loaded.seen, without)

    def placed(
        self, draft: str, position: int, turn: int, without: Collection[int] = ()
    ) -> Placed | None:
        """Rank a turn among all that `retrieve` searches; None where it is not among them."""
        return placed_in(self._load(), self._asked(draft, position, without), turn)

    def entries(self, turns: Collection[int]) -> tuple[IndexEntry, ...]:
        """List what the hot index knows of turns, by position; nothing of those not indexed."""
        return self._load().entries(turns)

    def _asked(self, draft: str, position: int, without: Collection[int]) -> Asked:
        said = (turn for turn in reversed(self._known.turns) if turn.position not in without)
        query = without_references(draft, lambda turn: self.turn_at(turn) is not None)
        return Asked.behind(said, query, position, self._day_of(position))

    def _day_of(self, position: int) -> date:
        """Tell on which day a turn was said; one that is yet to be is said today."""
        turn = next(iter(behind(self._known.turns, position - 1)), None)
        if turn is not None and turn.position == position and turn.created_at is not None:
            return turn.created_at.date()
        return self.store.now().date()

    def _load(self) -> HotIndex:
        with self._loading:
            with self._lock:
                known, left_at = self._known.as_now(), self._left_at
                self._left_at = sys.maxsize
            self._loaded.take_back(left_at)
            return self._loaded.load(self.embedder, known)
