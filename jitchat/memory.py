"""One open conversation: its turns, the user's pins, and retrieval for a draft.

Turns are written to the cold store first and kept in memory second. Another instance may write to
the same conversation or switch its branch: `refresh` picks that up. Thread-safe.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from jitchat.attachments import Attachment, PartHit
from jitchat.draft import Draft
from jitchat.index.conversation_index import ConversationIndex
from jitchat.index.embedder import Embedder
from jitchat.index.file_parts import FileParts
from jitchat.index.other_conversations import OtherConversations
from jitchat.index.retrieve import SearchRequest, borrowed_from
from jitchat.statements import Distilled, Fact, MemoryDocument, Observations
from jitchat.store.attachments import AttachmentStore
from jitchat.store.documents import ContextStore, DocumentStore
from jitchat.store.facts import FactStore
from jitchat.store.observations import ObservationStore
from jitchat.store.path import Path, parent_of
from jitchat.store.pins import Pins
from jitchat.store.replies import (
    Place,
    ReplyWriter,
    begin_answering,
    end_answering,
    open_questions,
)
from jitchat.store.store import ColdStore
from jitchat.store.turn_cache import Snapshot, TurnCache
from jitchat.store.windows import WindowArchive
from jitchat.text.sanitize import repair
from jitchat.text.sentences import without_references
from jitchat.turn_list import TurnList, position_at, up_to
from jitchat.values import (
    Conversation,
    Placed,
    Reach,
    Retrieval,
    Role,
    Shortened,
    Status,
    ToolResult,
    ToolUse,
    Turn,
)
from jitchat.window.exchange import compacted_as, open_calls, replies_to
from jitchat.writing.calls import INTERRUPTED


class Memory:
    """The memory of one conversation."""

    def __init__(
        self, store: ColdStore, conversation: Conversation, embedder: Embedder | None = None
    ) -> None:
        self.store = store
        self.conversation = conversation
        self.archive = WindowArchive(store.database)
        self._cache = TurnCache(store, conversation.id)
        self.index = ConversationIndex(store, conversation.id, self._cache, embedder)
        self.pins: Mapping[int, str] = {}
        """Pins and exclusions on the path, by position: `pinned` or `excluded`."""
        self._unreplied: int | None = None
        """The position of a user turn stored here that has no reply yet."""
        self.observed = ObservationStore(store.database, conversation.id, store.now)
        self._standing: tuple[object, Observations] = (None, Observations())
        """The observations read last, with the key that they were read for."""
        self.attachments = AttachmentStore(store.database, conversation.id)
        self.file_parts = FileParts(store.database, self.index)
        self.others: OtherConversations | None = None
        """The index of all conversations that recall includes; None if only this one."""
        self._known_facts: tuple[object, tuple[Fact, ...]] = (None, ())
        """The facts read last, with the key that they were read for."""
        self.context: ContextStore | None = None
        """The memory document as of this session; None in a temporary conversation."""
        self.begin_session()
        self.refresh()

    @property
    def turns(self) -> Sequence[Turn]:
        """The current turns of the path, in order."""
        turns = self._cache.snapshot.turns
        return turns if isinstance(turns, TurnList) else list(turns)

    @property
    def snapshot(self) -> Snapshot:
        return self._cache.snapshot

    def turn_at(self, position: int) -> Turn | None:
        """Return the turn of the path at a position; None if there is none or it is unfinished."""
        turns = self._cache.snapshot.turns
        place = up_to(turns, position) - 1
        is_there = place >= 0 and position_at(turns, place) == position
        return turns[place] if is_there else None

    def refresh(self) -> None:
        """Pick up new turns and the current branch, whichever instance changed them."""
        with self._cache.lock:
            self._cache.refresh()
            pins = Pins(self.store.database)
            self.pins = pins.of(self.conversation.id, self._cache.snapshot.path)

    def distilled(self, before: int) -> Distilled:
        """Return the distilled memory of the turns before a position and of other conversations."""
        conversation = self.conversation.id
        if self.conversation.is_temporary:
            return Distilled(conversation=conversation)
        path = self._cache.snapshot.path
        document, in_document = self._document(path, before)
        observations, facts = self._observations(path, before), self._facts_ahead(before)
        return Distilled(observations, document, in_document, facts, conversation)

    @property
    def facts(self) -> FactStore:
        """The facts of the conversation's current project."""
        store = self.store
        return FactStore(store.database, store.project_of(self.conversation.id), store.now)

    def _facts_ahead(self, before: int) -> tuple[Fact, ...]:
        """Return the valid facts, except those from later turns of this conversation."""
        facts = self.facts
        wanted = facts.project, facts.stamp()
        if self._known_facts[0] != wanted:
            self._known_facts = wanted, tuple(facts.holding())
        return tuple(fact for fact in self._known_facts[1] if not self._is_later(fact, before))

    def _is_later(self, fact: Fact, before: int) -> bool:
        source = fact.source
        is_own = source is not None and source.conversation == self.conversation.id
        return is_own and source is not None and source.first >= before

    def begin_session(self) -> None:
        """Read the current memory document; a temporary conversation has none."""
        store, conversation = self.store, self.conversation
        documents = DocumentStore(store.database, store.project_of(conversation.id), store.now)
        is_temporary = conversation.is_temporary
        self.context = None if is_temporary else ContextStore(documents, conversation.id)

    def _document(self, path: Path, before: int) -> tuple[MemoryDocument, int]:
        """Return the document, and the last turn before a position that it covers.

        Lines from other branches, or from turns at or after the position, are left out.
        """
        if self.context is None:
            return MemoryDocument(), 0
        document, conversation = self.context.document, self.conversation.id
        through = document.through.get(conversation, 0)
        if not through or (through < before and through in path):
            return document, through
        written = replace(self.store.tree(conversation), head=through).path()
        ahead = Path(tuple(path.between(0, before - 1)))
        elsewhere = {turn for turn in range(1, through + 1) if turn not in ahead}
        return document.without(conversation, elsewhere), ahead.shared(written)

    def _observations(self, path: Path, before: int) -> Observations:
        """Read the observations, unless they are the ones read last."""
        wanted = (path, before, self.observed.stamp())
        known, standing = self._standing
        if known != wanted:
            standing = self.observed.standing(path, before)
            self._standing = wanted, standing
        return standing

    def add_user_turn(
        self,
        content: str,
        after: int | None = None,
        form: str | None = None,
        files: Sequence[Attachment] = (),
    ) -> Turn:
        """Commit the user's message; an unanswered one that is sent again keeps its turn.

        It follows the last turn or, as a fork, the turn at position `after`. Interrupted calls
        there get a result that says so. Windows carry the shortened text `form`, if given. The
        files are stored in the same transaction. Other programs leave the message out of their
        windows until `end_answering`.
        """
        said = Turn(0, Role.USER, content, self.store.now(), use=compacted_as(form))
        with self._cache.lock:
            with self.store.database.write():
                self.refresh()
                unanswered = self._unanswered(repair(content), after)
                if unanswered is not None:
                    self.store.set_status(unanswered, Status.COMPLETE)
                    self.store.switch_to(self.conversation.id, unanswered.position)
                    use = compacted_as(form)
                    if use != unanswered.use:
                        self.store.set_uses({unanswered: use})
                    said = replace(unanswered, status=Status.COMPLETE, use=use)
                else:
                    ahead = self._without_open_calls(after)
                    said = self.store.append(self.conversation.id, [said], ahead)[0]
                self.attachments.put(said, files)
                begin_answering(self.store, self.conversation.id, said)
            self._unreplied = said.position
            self.refresh()
        return said

    def _without_open_calls(self, after: int | None) -> int | None:
        """Store a result for each call without one. Return the last position, or `after`."""
        turns = self._cache.snapshot.turns
        ahead = turns if after is None else turns[: up_to(turns, after)]
        if after is not None and not (ahead and ahead[-1].position == after):
            return after
        results = [
            result_turn(ToolResult(call, INTERRUPTED, is_error=True), self.store.now())
            for call in open_calls(ahead)
        ]
        if not results:
            return after
        return self.store.append(self.conversation.id, results, after)[-1].position

    def add_results(self, results: Iterable[ToolResult], behind: Turn) -> list[Turn]:
        """Commit the results of calls, each as a whole turn; `refresh` picks them up."""
        now = self.store.now()
        turns = [result_turn(result, now) for result in results]
        return self.store.append(self.conversation.id, turns, behind.position)

    def keep_forms(self, forms: Mapping[int, Shortened | None]) -> None:
        """Store the texts that windows carry instead of results, by position."""
        with self._cache.lock:
            self.refresh()
            found = (self.turn_at(position) for position in forms)
            turns = [turn for turn in found if turn is not None]
            self.store.set_uses(
                {turn: replace(turn.use, form=forms[turn.position]) for turn in turns}
            )
            for turn in turns:
                self._cache.unsettle(turn)
            self.refresh()

    def _unanswered(self, content: str, after: int | None) -> Turn | None:
        """Find an unanswered message with this text that no turn follows."""
        ends = self._cache.snapshot.turns[-1:] if after is None else self._leaves(after)
        same = (turn for turn in reversed(ends) if turn.content == content)
        return next((turn for turn in same if turn.status is Status.UNANSWERED), None)

    def _leaves(self, after: int) -> tuple[Turn, ...]:
        """List the turns that follow a position on any branch and have no turn after them."""
        tree = self.store.tree(self.conversation.id)
        beside = tree.children({after})[after]
        followers = tree.children(set(beside))
        leaves = (place for place in beside if not followers[place])
        turns = (self.store.turn(self.conversation.id, place) for place in leaves)
        return tuple(turn for turn in turns if turn is not None)

    def begin_reply(
        self, said: Turn | None = None, question: Turn | None = None, *, beside: bool = False
    ) -> ReplyWriter:
        """Return a writer for the reply to `said`, or to the last turn.

        A turn that has a reply gets an alternative one; `beside` makes it an alternative if several
        replies are written at once. A finished reply becomes the head of the path. `question` is
        the message that is answered, if `said` is the last turn of an earlier step.
        """
        place = None
        if said is not None:
            question = question or said
            again = beside or said.position != self._unreplied
            follows = said.position
            if again and said == question:
                earlier = next(replies_to(self.snapshot.turns, said.position), None)
                follows = parent_of(earlier) if earlier is not None else follows
            place = Place(follows, again, question.position)
            self._unreplied = None
        return ReplyWriter(self.store, self.conversation.id, place)

    def open_questions(self, before: int) -> frozenset[int]:
        """Return the messages before a position whose replies are not before it."""
        return open_questions(self.store, self.conversation.id, before)

    def switch_to(self, position: int) -> None:
        """Switch to the branch of the turn at `position`, up to its latest turn."""
        self.store.switch_to(self.conversation.id, position)
        self.refresh()

    def mark_unanswered(self, turn: Turn) -> None:
        """Mark a user's turn whose request failed: it is kept, but not sent in later windows."""
        with self._cache.lock:
            self.store.set_status(turn, Status.UNANSWERED)
            end_answering(self.store, turn)
            self._cache.unsettle(turn)
            self.refresh()

    def retrieve(
        self,
        draft: str,
        position: int,
        without: Collection[int] = (),
        within: Collection[int] | None = None,
        *,
        is_message: bool = True,
    ) -> Retrieval:
        """Search the hot index for a draft that will be the turn at `position`.

        Turns at the positions `without` are not picked and add no context to the query. If `within`
        is given, only turns at those positions are searched. A model's query is not a message:
        `is_message` is False, and retrieval is never skipped.
        """
        request = replace(self._request(draft, position, without), is_message=is_message)
        if not request.draft.strip():
            return Retrieval()
        found = self.index.retrieve(request, without, within)
        self._cache.read_ahead([row.turn for row in found.candidates])
        if self.others is None:
            return found
        return replace(found, elsewhere=self.others.search(request))

    @property
    def files(self) -> tuple[Attachment, ...]:
        """The files attached to turns of the path, in order."""
        return self.attachments.of(self._cache.snapshot.path)

    def draft_of(self, turn: Turn) -> Draft:
        """Return a message as a draft to be changed and sent again, with its files."""
        listed = self.attachments.listed()
        return Draft.foreign(turn.content, (f for f in listed if f.turn == turn.position))

    def part_hits(
        self,
        draft: str,
        position: int,
        files: Sequence[Attachment],
        without: Collection[int] = (),
        turns: float | None = None,
    ) -> tuple[PartHit, ...]:
        """Search files for a draft that will be the turn at `position`.

        `turns` is the score of the best turn, with which the parts are compared; None if the draft
        is a search by a model, for which parts are not compared with turns.
        """
        if not files:
            return ()
        request = self._request(draft, position, without)
        request = replace(request, is_message=turns is not None)
        return self.file_parts.search(request, files, turns or 0.0)

    def reach_to(self, reach: Reach) -> None:
        """Include other conversations in recall; a temporary conversation never does."""
        if reach is not Reach.CONVERSATION and not self.conversation.is_temporary:
            name = self.conversation.id
            self.others = OtherConversations(self.store, name, reach, self.index, self._cache)
        else:
            self.others = None

    def placed(
        self, draft: str, position: int, turn: int, without: Collection[int] = ()
    ) -> Placed | None:
        """Rank a turn among all turns that `retrieve` searches; None if it is not one of them."""
        return self.index.placed(self._request(draft, position, without), turn)

    def _request(self, draft: str, position: int, without: Collection[int]) -> SearchRequest:
        turns = self._cache.snapshot.turns
        query = without_references(draft, lambda turn: self.turn_at(turn) is not None)
        ahead = (turn for turn in reversed(turns) if turn.position < position)
        said = (turn for turn in ahead if turn.position not in without)
        context = ""
        answer = ""
        for turn in said:
            if turn.role is Role.USER:
                context = borrowed_from(turn.content, answer)
                break
            answer = answer or turn.content
        itself = self.turn_at(position)
        moment = itself.created_at if itself is not None else None
        return SearchRequest(query, context, position, (moment or self.store.now()).date())


def result_turn(result: ToolResult, moment: datetime) -> Turn:
    """Make the turn of a result; storing it assigns the position."""
    use = ToolUse(answers=result.call, is_error=result.is_error, seconds=result.seconds)
    return Turn(0, Role.TOOL, result.content, moment, result.call.name, use=use)
