"""What jitchat's own JSON has of projects: their facts, and the memory document as it stands.

Both name conversations and turns, so they are imported only if all conversations of the file are.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from jitchat.errors import UsageError
from jitchat.statements import DELETED, DocumentLine, Fact, MemoryDocument, Source
from jitchat.store.documents import DocumentStore
from jitchat.store.facts import FactStore
from jitchat.store.store import ColdStore, project_name
from jitchat.text.sanitize import one_line, repair
from jitchat.transfer.incoming import Tally
from jitchat.typed_data import INVALID, read
from jitchat.values import Conversation


@dataclass(frozen=True, slots=True)
class _Memory:
    """A project's memory, as it is written."""

    project: str
    facts: tuple[Fact, ...]
    """Each has its number in the list as its id, from 1."""
    document: tuple[DocumentLine, ...] = ()
    through: Mapping[str, int] = field(default_factory=dict)
    made_by: str = ""
    made_at: datetime | None = None
    """None if there is no document."""


def project_fields(store: ColdStore, exported: Sequence[Conversation]) -> Iterator[dict[str, Any]]:
    """Yield each project's facts from the exported conversations.

    Of a project whose conversations are all exported, yield every fact and the memory document.
    """
    names = {conversation.id for conversation in exported}
    listed = (known for known in store.conversations() if known.turns)
    in_part = {known.project for known in listed if known.id not in names}
    for project in sorted({conversation.project for conversation in exported}):
        facts = FactStore(store.database, project, store.now).all()
        if project in in_part:
            facts = [fact for fact in facts if fact.source and fact.source.conversation in names]
        numbers = {fact.id: number for number, fact in enumerate(facts, start=1)}
        numbered = (
            replace(fact, id=numbers[fact.id], superseded_by=numbers.get(fact.superseded_by or 0))
            for fact in facts
        )
        memory = _Memory(project, tuple(numbered))
        documents = DocumentStore(store.database, project, store.now)
        if project not in in_part and (versions := documents.versions()):
            document, latest = documents.latest(), versions[-1]
            made = latest.made_by, latest.made_at
            memory = _Memory(project, memory.facts, document.lines, dict(document.through), *made)
        yield asdict(memory)


class ProjectReader:
    """Reads the projects of a file, and stores them after its conversations."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self.items: Sequence[object] = ()
        self._expected = set[str]()
        """The ids of the conversations in the file."""
        self._stored: dict[str, tuple[str, Callable[[int], int]]] = {}
        """By id in the file: the id here, and the position here of each position there."""

    def expect(self, conversation: str) -> None:
        self._expected.add(conversation)

    def add(self, conversation: str, stored_id: str, place: Callable[[int], int]) -> None:
        """Note under which id, and at which positions, a conversation of the file is stored."""
        self._stored[conversation] = stored_id, place

    def store_all(self, store: ColdStore) -> None:
        is_whole = self._expected <= self._stored.keys()
        for item in self.items:
            if not is_whole:
                self._tally.skip("memory about conversations that were not imported", item)
                continue
            try:
                memory = read(_Memory, item)
                self._store(store, replace(memory, project=project_name(memory.project)))
            except (*INVALID, UsageError):
                self._tally.skip("project that cannot be read", item)

    def _store(self, store: ColdStore, memory: _Memory) -> None:
        """Store the facts, and the document if the project has none here."""
        facts = {
            fact.id: replace(
                fact, text=one_line(repair(fact.text)), source=self._placed(fact.source)
            )
            for fact in memory.facts
        }
        FactStore(store.database, memory.project, store.now).restore(facts)
        made_at = memory.made_at or store.now()
        documents = DocumentStore(store.database, memory.project, lambda: made_at)
        if memory.made_at is None or documents.versions():
            return
        through = {
            self._stored[name][0]: self._stored[name][1](position)
            for name, position in memory.through.items()
            if name in self._stored
        }
        lines = tuple(map(self._line, memory.document))
        document = MemoryDocument(lines, 0, MappingProxyType(through))
        documents.put(document, one_line(repair(memory.made_by)))

    def _line(self, line: DocumentLine) -> DocumentLine:
        old = line.replaced
        if old is not None:
            old = replace(old, source=self._placed(old.source))
        text, source = one_line(repair(line.text)), self._placed(line.source)
        return replace(line, text=text, source=source, replaced=old)

    def _placed(self, source: Source | None) -> Source | None:
        """Return a source as it is stored here; of a conversation that is not, as a deleted one."""
        if source is None or source.conversation not in self._stored:
            return source and replace(source, conversation=DELETED)
        conversation, place = self._stored[source.conversation]
        return Source(place(source.first), place(source.last), conversation)
