"""Store imported conversations: each completely or not at all, and none twice."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from jitchat.errors import ImportFailed
from jitchat.store import search_index
from jitchat.store.attachments import AttachmentStore, whole
from jitchat.store.dependents import Dependents
from jitchat.store.imported import (
    ImportWriter,
    Provenance,
    all_turns,
    list_newest_first,
    was_deleted,
)
from jitchat.store.pins import OwnInstructions
from jitchat.store.store import ColdStore
from jitchat.transfer.census import Census, Place, Texts
from jitchat.transfer.format import Format
from jitchat.transfer.formats import expected, listed, note_failure
from jitchat.transfer.incoming import IncomingConversation, Tally, texts_of
from jitchat.transfer.json_text import NotJson
from jitchat.transfer.source import Source
from jitchat.values import Instructions

DELETED = "conversation that was deleted here (import with --again)"
_BATCH = 2_000
"""Turns per transaction: each commit waits for the disk."""
_A_FILE = 100
"""Turns that an attachment counts as, since pending turns may hold its bytes in memory."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The outcome of importing one conversation."""

    wanted_id: str
    id: str
    """The stored conversation's id; empty if there was nothing to import."""
    title: str
    added: int
    """Turns that this import stored."""
    changed: int
    """Stored turns that got their source's last form, or more files."""
    is_new: bool
    tally: Tally
    census: Census
    """Where each string of its source is."""


def require_turns(
    conversations: Iterator[IncomingConversation], source: Source, wanted: Format | None = None
) -> Iterator[IncomingConversation]:
    """Read up to the first turn of any conversation, and return all conversations.

    Raises:
        ImportFailed: There are no turns; the error names the `wanted` format, if one is given.

    """
    empty = list[IncomingConversation]()
    for found in conversations:
        try:
            turns = iter(found.turns)
            first = next(turns, None)
        except (NotJson, ImportFailed) as error:
            note_failure(source, error)
            continue
        if first is not None:
            if not isinstance(found.turns, list):
                found.turns = chain([first], turns)
            return chain(empty, [found], conversations)
        empty.append(found)
    tally = Tally()
    for each in (source.tally, *(found.tally for found in empty)):
        tally.add(each)
    reasons = listed(tally.skipped)
    left = f" (left out: {reasons})" if reasons else ""
    if wanted is None:
        raise ImportFailed(f"{source.path} has no turns{left}.", expected(source))
    raise nothing_of(wanted, f"was found in {source.path}{left}")


def nothing_of(wanted: Format, where: str) -> ImportFailed:
    """Return the error for a format without conversations: what was looked for and what to do."""
    remedy = "Name another file or folder."
    if wanted.usual_place is not None:
        remedy = f"Looked for {wanted.kept_as}; give the path as FILE, or set ${wanted.variable}."
    return ImportFailed(f"No {wanted.name} conversation {where}.", remedy)


def without_deleted(
    store: ColdStore, conversations: Iterator[IncomingConversation], source: Source
) -> Iterator[IncomingConversation]:
    """Leave out and count conversations that were imported before and then deleted here."""
    for found in conversations:
        if was_deleted(store, found.origin):
            source.tally.skip(DELETED)
        else:
            yield found


def take_all(
    store: ColdStore, conversations: Iterator[IncomingConversation], source: Source
) -> Iterator[Taken]:
    """Store conversations as they are read; yield the outcome of each once it is durable."""
    waiting, changed = list[IncomingConversation](), list[str]()
    try:
        for taken in _taken(store, conversations, source, waiting):
            if taken.added or taken.changed:
                changed.append(taken.id)
            yield taken
    finally:
        list_newest_first(store, changed)
        search_index.finish(store.database)
    with store.database.write():
        for store_memory in source.afterwards:
            store_memory(store)


def _taken(
    store: ColdStore,
    conversations: Iterator[IncomingConversation],
    source: Source,
    waiting: list[IncomingConversation],
) -> Iterator[Taken]:
    size = 0
    try:
        for found in conversations:
            is_read = isinstance(found.turns, list)
            if isinstance(found.turns, list):
                waiting.append(found)
                size += sum(1 + _A_FILE * len(turn.files) for turn in found.turns)
            if is_read and size < _BATCH:
                continue
            yield from _stored(store, waiting)
            size = 0
            if not is_read:  # read while it is stored: if that fails, only this one is rolled back
                try:
                    yield from _stored(store, [found])
                except (NotJson, ImportFailed) as error:
                    note_failure(source, error)
    except ImportFailed:
        yield from _stored(store, waiting)
        raise
    yield from _stored(store, waiting)


def _stored(store: ColdStore, waiting: list[IncomingConversation]) -> list[Taken]:
    """Store all waiting conversations in one transaction, and empty the list."""
    if not waiting:
        return []
    with store.database.write():
        dependents = Dependents(store)
        taken = [_store(store, found, dependents) for found in waiting]
    waiting.clear()
    return taken


def _store(store: ColdStore, found: IncomingConversation, dependents: Dependents) -> Taken:
    provenance = Provenance(found.origin, found.id, found.twin, found.updated_at)
    writer = ImportWriter(store, provenance, dependents)
    writer.take(found.read())
    heading = found.heading()
    writer.finish(heading)
    system = found.system_prompt()
    if system and writer.is_new and writer.id:
        OwnInstructions(store.database).put(writer.id, Instructions(system))
    if found.restore is not None and writer.id:
        found.restore(store, writer)
    stored = chain([(Place.FIELDS, heading.title)], stored_texts(store, writer.id))
    found.tally.skipped.update(found.census.compare(stored, found.tally.texts))
    counts = writer.added, writer.changed, writer.is_new
    outcome = *counts, found.tally, found.census
    return Taken(found.id, writer.id, heading.title, *outcome)


def stored_texts(store: ColdStore, conversation: str) -> Texts:
    """Read everything that is stored of a conversation: turns, files and fields."""
    for incoming in all_turns(store, conversation):
        yield from texts_of(incoming)
    for listed_file in AttachmentStore(store.database, conversation).listed():
        file = whole(store.database, listed_file)
        yield from ((Place.FILES, text) for text in (file.name, file.text, file.digest))
    query = "SELECT id, title, project, system FROM conversations WHERE id = ?"
    fields = store.database.fetch_one(query, (conversation,)) or ()
    yield from ((Place.FIELDS, value) for value in fields if value)
