"""Store imported conversations: each completely or not at all, and none twice."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from jitchat.errors import ImportFailed
from jitchat.store import search_index
from jitchat.store.imported import ImportWriter, list_newest_first, was_deleted
from jitchat.store.store import ColdStore
from jitchat.transfer.format import Format
from jitchat.transfer.formats import expected, listed, note_failure
from jitchat.transfer.incoming import IncomingConversation, Tally
from jitchat.transfer.json_text import NotJson
from jitchat.transfer.source import Source

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
    is_new: bool
    tally: Tally


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
            if taken.added:
                changed.append(taken.id)
            yield taken
    finally:
        list_newest_first(store, changed)
        search_index.finish(store.database)


def _taken(
    store: ColdStore,
    conversations: Iterator[IncomingConversation],
    source: Source,
    waiting: list[IncomingConversation],
) -> Iterator[Taken]:
    size = 0
    try:
        for found in conversations:
            if isinstance(found.turns, list):
                waiting.append(found)
                size += sum(1 + _A_FILE * len(each.files) for each in found.turns)
                if size < _BATCH:
                    continue
                yield from _stored(store, waiting)
                size = 0
            else:  # read while it is stored: if that fails, only this one is rolled back
                yield from _stored(store, waiting)
                size = 0
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
        taken = [_store(store, found) for found in waiting]
    waiting.clear()
    return taken


def _store(store: ColdStore, found: IncomingConversation) -> Taken:
    writer = ImportWriter(store, found.origin, found.id, found.twin)
    writer.take(found.read())
    heading = found.heading()
    writer.finish(heading)
    if found.restore is not None and writer.added:
        found.restore(store, writer)
    return Taken(found.id, writer.id, heading.title, writer.added, writer.is_new, found.tally)
