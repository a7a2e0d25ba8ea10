"""Versions of a memory document, and the three operations of a session on them."""

from __future__ import annotations

import logging
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import StaleDocument, UnknownVersion
from jitchat.statements import DocumentLine, MemoryDocument, Replaced, Section, Source
from jitchat.store.database import Database
from jitchat.store.documents import BY_UNDO, ContextStore, DocumentStore, Operation
from jitchat.store.store import ColdStore
from tests.examples import examples

PORT = DocumentLine(Section.FACTS, "The port is 9641.", Source(3, 3, "chat-1"), date(2026, 3, 2))
LOGO = DocumentLine(Section.NOTES, "The logo stays green.", Source(4, 4, "chat-1"))
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SOURCES = st.none() | st.builds(
    Source, st.integers(1, 9), st.integers(9, 99), st.sampled_from(["chat-1", "Gespräch-2"])
)
DAYS = st.none() | st.dates(date(1990, 1, 1), date(2100, 1, 1))
LINES = st.builds(
    DocumentLine,
    st.sampled_from(Section),
    st.text(max_size=40),
    SOURCES,
    DAYS,
    st.sampled_from(["", "Ana"]),
    st.tuples() | st.just(("2026-03-02", "week of 2026-03-02")),
    st.none() | st.builds(Replaced, st.text(max_size=20), SOURCES, DAYS),
    st.integers(0, 9),
    st.booleans(),
    st.booleans(),
)


@pytest.fixture
def documents(store: ColdStore) -> DocumentStore:
    return DocumentStore(store.database, "default", store.now)


def document(*lines: DocumentLine, version: int = 0, **through: int) -> MemoryDocument:
    return MemoryDocument(lines, version, through)


def test_versions_are_added_and_each_can_be_read(documents: DocumentStore, store: ColdStore):
    first = documents.put(document(PORT, **{"chat-1": 4}), "built in")
    second = documents.put(document(PORT, LOGO, version=1, **{"chat-1": 6}), "small-1")
    assert (first.version, second.version) == (1, 2)
    anew = DocumentStore(store.database, "default", store.now)
    assert documents.latest() == anew.latest() == second
    assert documents.at(1) == anew.at(1) == first
    assert documents.at(0) == MemoryDocument()
    assert [(each.number, each.made_by, each.lines) for each in documents.versions()] == [
        (1, "built in", 1),
        (2, "small-1", 2),
    ]


def test_a_version_takes_less_room_than_its_text(documents: DocumentStore):
    many = tuple(replace(LOGO, text=f"Statement {at * 7919} of the talk.") for at in range(200))
    documents.put(document(*many), "built in")
    assert documents.bytes_stored() < sum(len(line.text) for line in many) / 2


@examples(30)
@given(st.lists(st.lists(LINES, max_size=6), max_size=6))
def test_every_version_is_read_as_it_was_written(versions: list[list[DocumentLine]]):
    with TemporaryDirectory() as folder, closing(Database(Path(folder) / "j.db")) as database:
        documents = DocumentStore(database, "default", lambda: NOON)
        stored = [MemoryDocument()]
        for lines in versions:
            through = {"chat-1": stored[-1].through.get("chat-1", 0) + 1}
            made = replace(stored[-1], lines=tuple(lines), through=through)
            stored.append(documents.put(made, "built in"))
        anew = DocumentStore(database, "default", lambda: NOON)
        assert [anew.at(each.version) for each in stored] == stored


def test_an_undone_version_is_never_read(documents: DocumentStore, store: ColdStore):
    documents.put(document(PORT), "built in")
    with suppress(KeyboardInterrupt), store.database.write():
        documents.put(document(LOGO, version=1), "built in")
        assert documents.latest().lines == (LOGO,)
        raise KeyboardInterrupt
    assert documents.latest().lines == (PORT,)
    made = documents.put(document(PORT, LOGO, version=1), "built in")
    assert documents.latest() == made


def test_an_unchanged_document_is_not_a_new_version(documents: DocumentStore):
    first = documents.put(document(PORT, **{"chat-1": 4}), "built in")
    assert documents.put(first, "built in") == first
    assert len(documents.versions()) == 1


def test_a_version_that_does_not_follow_the_current_one_is_refused(documents: DocumentStore):
    documents.put(document(PORT), "built in")
    with pytest.raises(StaleDocument):
        documents.put(document(LOGO), "built in")
    assert documents.latest().lines == (PORT,)


def test_projects_have_documents_of_their_own(documents: DocumentStore, store: ColdStore):
    documents.put(document(PORT), "built in")
    other = DocumentStore(store.database, "other", store.now)
    assert other.latest() == MemoryDocument()


def test_undo_stores_the_previous_version_once_more_and_goes_further_each_time(
    documents: DocumentStore,
):
    for version, lines in enumerate([(PORT,), (PORT, LOGO), (LOGO,)]):
        documents.put(document(*lines, version=version, **{"chat-1": version + 1}), "built in")
    undone = documents.undo()
    assert (undone.version, undone.lines, undone.through) == (4, (PORT, LOGO), {"chat-1": 2})
    assert documents.undo().lines == (PORT,)
    assert documents.undo().lines == ()
    made = documents.put(document(LOGO, version=6), "built in")
    assert documents.undo().lines == ()
    assert [each.made_by for each in documents.versions()].count(BY_UNDO) == 4
    assert made.version == 7


def test_without_versions_there_is_nothing_to_undo_or_read(documents: DocumentStore):
    with pytest.raises(UnknownVersion):
        documents.undo()
    with pytest.raises(UnknownVersion):
        documents.at(1)


def test_a_session_is_three_operations_in_their_order(documents: DocumentStore):
    context = ContextStore(documents, "chat-1")
    assert context.document == MemoryDocument()
    assert context.document is context.document
    context.put_context(document(PORT), "built in")
    assert context.operations == tuple(Operation)
    assert context.is_over
    with pytest.raises(RuntimeError):
        context.put_context(document(PORT), "built in")
    with pytest.raises(RuntimeError):
        ContextStore(documents, "chat-1").put_context(document(LOGO), "built in")


def test_a_session_is_one_log_line_without_its_text(
    documents: DocumentStore, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.INFO, "jitchat.document"):
        context = ContextStore(documents, "chat-1")
        context.put_context(replace(context.document, lines=(PORT,)), "built in")
    (line,) = caplog.messages
    assert "context_only=true" in line
    assert "store_operations=3 (await_consistency get_context put_context)" in line
    assert "9641" not in line


def test_of_two_sessions_that_read_one_version_the_second_is_refused_and_logged(
    documents: DocumentStore, caplog: pytest.LogCaptureFixture
):
    one, other = (ContextStore(documents, name) for name in ("chat-1", "chat-2"))
    read, also_read = one.document, other.document
    one.put_context(replace(read, lines=(PORT,)), "built in")
    with caplog.at_level(logging.INFO, "jitchat.document"), pytest.raises(StaleDocument):
        other.put_context(replace(also_read, lines=(LOGO,)), "built in")
    assert "outcome=refused" in caplog.messages[0]
    assert documents.latest().lines == (PORT,)


def test_two_processes_read_and_write_one_document(store: ColdStore):
    with_other = Database(store.database.path)
    try:
        here = DocumentStore(store.database, "default", store.now)
        there = DocumentStore(with_other, "default", store.now)
        read = there.latest()
        here.put(document(PORT), "built in")
        with pytest.raises(StaleDocument):
            there.put(replace(read, lines=(LOGO,)), "built in")
        again = there.latest()
        there.put(replace(again, lines=(*again.lines, LOGO)), "built in")
        assert here.latest().lines == (PORT, LOGO)
    finally:
        with_other.close()
