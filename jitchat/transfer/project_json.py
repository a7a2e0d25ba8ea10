"""What jitchat's own JSON has of projects: their facts, and the memory document as it stands.

Both name conversations and turns. A statement from a conversation that is not imported is left out,
and so is the document, unless all conversations of the file are imported.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from types import MappingProxyType
from typing import Any

from jitchat.errors import UsageError
from jitchat.statements import (
    DELETED,
    DocumentLine,
    Fact,
    FactKind,
    FactState,
    MemoryDocument,
    Source,
)
from jitchat.store.documents import DocumentStore, line_from, line_json
from jitchat.store.facts import FactStore
from jitchat.store.store import ColdStore, project_name
from jitchat.text.sanitize import one_line, repair
from jitchat.transfer.fields import as_json, mapping, moment_of, sequence, text
from jitchat.transfer.incoming import Tally
from jitchat.transfer.typed import is_typed
from jitchat.values import Conversation

Fields = Mapping[str, Any]


class _NotImportedError(Exception):
    """A statement names a conversation that was not imported."""


_INVALID = (KeyError, TypeError, ValueError, AttributeError, RecursionError, UsageError)


def project_fields(store: ColdStore, exported: Sequence[Conversation]) -> Iterator[Fields]:
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
        described = {"project": project, "facts": [_fact_fields(fact, numbers) for fact in facts]}
        versions = DocumentStore(store.database, project, store.now).versions()
        if versions and project not in in_part:
            described |= _document_fields(store, project)
        yield described


def _fact_fields(fact: Fact, numbers: Mapping[int, int]) -> Fields:
    """Describe a fact; `superseded_by` is a number in the list of facts, from 1."""
    source = fact.source
    optional = {
        "by": [source.conversation, source.first, source.last] if source is not None else None,
        "stated_on": fact.stated_on.isoformat() if fact.stated_on else None,
        "valid_until": fact.valid_until.isoformat() if fact.valid_until else None,
        "superseded_by": numbers.get(fact.superseded_by or 0),
    }
    written = {name: value for name, value in optional.items() if value is not None}
    return {"text": fact.text, "kind": fact.kind.value, "state": fact.state.value, **written}


def _document_fields(store: ColdStore, project: str) -> Fields:
    documents = DocumentStore(store.database, project, store.now)
    document, latest = documents.latest(), documents.versions()[-1]
    return {
        "document": [json.loads(line_json(line)) for line in document.lines],
        "through": dict(document.through),
        "made_by": latest.made_by,
        "made_at": latest.made_at.isoformat(),
    }


class ProjectReader:
    """Reads the projects of a file, and stores them after its conversations."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self.items: Sequence[object] = ()
        self._expected = set[str]()
        """The ids of the conversations in the file."""
        self._stored: dict[str, tuple[str, Callable[[int], int]]] = {
            DELETED: (DELETED, lambda position: position)
        }
        """By id in the file: the id here, and the position here of each position there."""

    def expect(self, conversation: str) -> None:
        self._expected.add(conversation)

    def add(self, conversation: str, stored_id: str, place: Callable[[int], int]) -> None:
        """Note under which id, and at which positions, a conversation of the file is stored."""
        self._stored[conversation] = stored_id, place

    def store_all(self, store: ColdStore) -> None:
        for item in map(mapping, self.items):
            try:
                project = project_name(text(item.get("project")))
            except UsageError:
                self._tally.skip("project without a valid name")
                continue
            self._store_facts(FactStore(store.database, project, store.now), item)
            if "document" in item:
                self._store_document(store, project, item)

    def _store_facts(self, facts: FactStore, item: Mapping[str, object]) -> None:
        numbered: dict[int, Fact] = {}
        for number, fields in enumerate(sequence(item.get("facts")), start=1):
            try:
                fact = self._fact(mapping(fields))
            except _NotImportedError:
                self._tally.skip("fact of a conversation that was not imported")
            except _INVALID:
                self._tally.skip("fact that cannot be read")
            else:
                numbered[number] = fact
        facts.restore(numbered)

    def _fact(self, fields: Mapping[str, Any]) -> Fact:
        fact = Fact(
            0,
            one_line(repair(text(fields.get("text")))),
            FactKind(text(fields.get("kind"))),
            self._source(fields.get("by")),
            _day(fields.get("stated_on")),
            _day(fields.get("valid_until")),
            FactState(text(fields.get("state"))),
            fields.get("superseded_by"),
        )
        if not is_typed(fact, Fact):
            raise TypeError("not a fact")
        return fact

    def _source(self, given: object) -> Source | None:
        """Read a source; raise an error if its conversation was not imported."""
        if given is None:
            self._require_all()
            return None
        conversation, first, last = sequence(given)
        source = Source(first, last, text(conversation))  # type: ignore[arg-type]
        if not is_typed(source, Source):
            raise TypeError("not a source")
        return self._stored_source(source)

    def _require_all(self) -> None:
        """Raise an error unless all conversations of the file were imported."""
        if not self._expected <= self._stored.keys():
            raise _NotImportedError

    def _stored_source(self, source: Source) -> Source:
        if source.conversation not in self._stored:
            raise _NotImportedError
        conversation, place = self._stored[source.conversation]
        first, last = place(source.first), place(source.last)
        if not 0 < first <= last:
            return replace(source, conversation=DELETED)
        return Source(first, last, conversation)

    def _store_document(self, store: ColdStore, project: str, item: Mapping[str, object]) -> None:
        made_at = moment_of(item.get("made_at")) or store.now()
        documents = DocumentStore(store.database, project, lambda: made_at)
        if documents.versions():
            return
        try:
            self._require_all()
            document = self._document(item)
        except _NotImportedError:
            self._tally.skip("memory document about conversations that were not imported")
        except _INVALID:
            self._tally.skip("memory document that cannot be read")
        else:
            documents.put(document, one_line(repair(text(item.get("made_by")))))

    def _document(self, item: Mapping[str, Any]) -> MemoryDocument:
        lines = tuple(self._line(mapping(fields)) for fields in sequence(item["document"]))
        through = dict[str, int]()
        for name, position in mapping(item.get("through")).items():
            last = self._source([name, position, position])
            through |= {last.conversation: last.last} if last is not None else {}
        document = MemoryDocument(lines, 0, MappingProxyType(through))
        if not is_typed(document, MemoryDocument):
            raise TypeError("not a document")
        return document

    def _line(self, fields: Mapping[str, object]) -> DocumentLine:
        line = line_from(as_json(fields))
        if line.source is not None:
            line = replace(line, source=self._stored_source(line.source))
        old = line.replaced
        if old is not None and old.source is not None:
            old = replace(old, source=self._stored_source(old.source))
        return replace(line, replaced=old, text=one_line(repair(line.text)))


def _day(value: object) -> date | None:
    return None if value is None else date.fromisoformat(text(value))
