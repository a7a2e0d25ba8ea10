"""Deletion: first hidden, then deleted; an erasure leaves none of the text in the file."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest

from jitchat.attachments import Attachment, Part, digest_of_bytes
from jitchat.draft import Draft
from jitchat.errors import ConversationDeleted, ConversationInUse, ErasureIncomplete
from jitchat.index.embedder import NoEmbedder
from jitchat.index.indexer import Indexer
from jitchat.statements import (
    DELETED,
    DocumentLine,
    Fact,
    FactKind,
    MemoryDocument,
    Section,
    Source,
)
from jitchat.store.attachments import AttachmentStore
from jitchat.store.deletion import (
    delete_conversation,
    delete_left,
    erase,
    hide,
    restore_last,
    vacuum,
)
from jitchat.store.documents import DocumentStore
from jitchat.store.drafts import Drafts, sent_drafts
from jitchat.store.facts import FactStore
from jitchat.store.replies import ReplyWriter
from jitchat.store.requests import Asked, Purpose, RequestLog, Taken
from jitchat.store.windows import Ending, WindowArchive, WindowRecord
from jitchat.values import Role, Turn, Usage
from tests.store.segments import record_of
from tests.store.support import claim, dead_process, indexed_tokens
from tests.support import talk

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore

DAY = datetime(2026, 3, 1, 9, tzinfo=UTC)
ANSWERED = Usage(100, 10), None, 0.25
"""The usage and cost of a request, as in `Ending`."""
SECRET = "The heliotrope walrus never sleeps in Ouagadougou."
WORDS = ("heliotrope", "walrus", "ouagadougou")


def bytes_of(store: ColdStore) -> str:
    """Return the contents of the database, its log and related files, in lower case."""
    files = store.database.path.parent.glob(f"{store.database.path.name}*")
    return b"".join(file.read_bytes() for file in files).decode("latin-1").lower()


def window(text: str, turn_id: int) -> WindowRecord:
    shared = record_of("system", "You are kind.")
    own = record_of("draft", f"Quoted: {text}", 9, turn_id=turn_id)
    return WindowRecord(
        "digest", {"mode": "jit", "model": "m"}, [shared, own], [{"reason": text}], DAY
    )


def with_all_that_there_is(store: ColdStore) -> str:
    """Make a conversation with the secret in every row, forks and memory too, and another one."""
    other = store.create("Other")
    archive, log = WindowArchive(store.database), RequestLog(store.database)
    (said,) = store.append(other.id, talk("Something else."))
    archive.put(said.id, window("Something else.", said.id))
    made = store.create(SECRET, "walrus")
    for text in ("", "Again: "):  # the second is a fork
        asked, answered = store.append(made.id, talk(f"{text}{SECRET}", SECRET), under=0)
        archive.close(archive.put(asked.id, window(SECRET, asked.id)), Ending(None, *ANSWERED))
    titled = Asked(Purpose.TITLE, "work", "small", made.id, DAY)
    log.end(log.begin(titled, Taken()), Taken(Usage(50, 5), None, 0.125))
    with store.database.write() as connection:
        connection.execute("INSERT INTO reasoning VALUES (?, ?)", (answered.id, SECRET))
        connection.execute("INSERT INTO held_turns VALUES (?, 'pinned')", (asked.id,))
        connection.execute(
            "INSERT INTO cases (said, wanted, kind, noted_at) VALUES (?, ?, 'miss', '')",
            (asked.id, answered.id),
        )
        pass_id = connection.execute(
            "INSERT INTO observation_passes"
            " (conversation, kind, first, last, made_by, made_at, note)"
            " VALUES (?, 'observe', 1, 2, 'x', '', '{}')",
            (made.id,),
        ).lastrowid
        connection.execute("INSERT INTO observations VALUES (?, 1, ?)", (pass_id, SECRET))
    data = SECRET.encode()
    file = Attachment(
        *("walrus.md", digest_of_bytes(data), "text/markdown", len(data)),
        parts=(Part("§ Walrus", SECRET),),
        path="/walrus.md",
        data=data,
    )
    AttachmentStore(store.database, made.id).put(asked, (file,))
    Drafts(store.database).put(made.id, Draft.by_user(SECRET))
    store.tag(made.id, ["walrus"])
    list(Indexer(store, made.id, NoEmbedder()).catch_up())
    source = Source(1, 2, made.id)
    FactStore(store.database, "default", store.now).keep(
        Fact(0, SECRET, FactKind.STANDING, source, date(2026, 3, 1))
    )
    documents = DocumentStore(store.database, "default", store.now)
    lines = (
        DocumentLine(Section.FACTS, SECRET, source),
        DocumentLine(Section.FACTS, "Kept.", Source(1, 1, other.id)),
    )
    first = documents.put(MemoryDocument(lines, through={made.id: 4, other.id: 1}), "x")
    documents.put(MemoryDocument((*lines, lines[1]), first.version, first.through), "x")
    return made.id


def test_an_erasure_leaves_no_text_in_the_file_or_its_log(store: ColdStore):
    made = with_all_that_there_is(store)
    assert all(word in bytes_of(store) for word in WORDS)

    spent = RequestLog(store.database).spent_on(DAY.date())
    assert (spent.amount, spent.sends) == (0.625, 4)
    assert erase(store, made)

    assert RequestLog(store.database).spent_on(DAY.date()) == spent
    assert [word for word in WORDS if word in bytes_of(store)] == []
    assert [known.title for known in store.conversations()] == ["Other"]
    archive = WindowArchive(store.database)
    assert [each["pieces"][0]["text"] for each in archive.by_id(1).segments] == [
        "You are kind.",
        "Quoted: Something else.",
    ]
    document = DocumentStore(store.database, "default", store.now).latest()
    assert [line.text for line in document.lines] == ["Kept.", "Kept."]
    assert made not in document.through
    with store.database.read() as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)


def test_an_erasure_reports_that_another_process_keeps_the_log(
    store: ColdStore,
):
    made = with_all_that_there_is(store)
    with closing(sqlite3.connect(store.database.path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM turns").fetchone()
        assert not erase(store, made)
    other = store.create("Another")
    assert erase(store, other.id)
    assert [word for word in WORDS if word in bytes_of(store)] == []


def test_an_erasure_without_disk_space_is_finished_later(store: ColdStore):
    made = with_all_that_there_is(store)

    def no_other_file(action: int, *_: object) -> int:
        return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK

    with store.database.writing() as connection:
        connection.set_authorizer(no_other_file)  # the database that VACUUM copies into is one
    with pytest.raises(
        ErasureIncomplete, match=r"is deleted, but .* `jitchat conversations vacuum`"
    ):
        erase(store, made)
    assert made not in [known.id for known in store.conversations()]

    with store.database.writing() as connection:
        connection.set_authorizer(None)
    assert vacuum(store)
    assert [word for word in WORDS if word in bytes_of(store)] == []


def test_distilled_memory_outlives_a_deletion_and_states_that_its_source_is_gone(store: ColdStore):
    made = with_all_that_there_is(store)
    documents = DocumentStore(store.database, "default", store.now)
    before = documents.latest()

    delete_conversation(store, made)

    (fact,) = FactStore(store.database, "default", store.now).holding()
    assert (fact.text, fact.source) == (SECRET, Source(1, 2, DELETED))
    after = documents.latest()
    assert [line.source.conversation for line in after.lines if line.source] == [
        DELETED,
        "chat-1",
        "chat-1",
    ]
    assert after.version == before.version + 1  # nobody writes on from the one before
    assert store.search("walrus") == []


def test_a_deletion_can_be_undone_until_its_process_ends(store: ColdStore):
    made = with_all_that_there_is(store)
    spent = RequestLog(store.database).spent_on(DAY.date())
    hide(store, made)
    assert RequestLog(store.database).spent_on(DAY.date()) == spent
    assert [known.id for known in store.conversations()] == ["chat-1"]
    assert store.search("walrus") == sent_drafts(store.database, 5)[1:] == []
    with pytest.raises(ConversationDeleted):
        store.append(made, talk("Still there?"))

    assert restore_last(store) == made
    assert RequestLog(store.database).spent_on(DAY.date()) == spent
    assert RequestLog(store.database).spent(made).amount == 0.625
    assert {found.position for found in store.search("walrus")} == {0, 1, 2, 3, 4}
    assert restore_last(store) is None

    hide(store, made)
    claim_deletion(store, os.getppid())
    assert restore_last(store) is None
    assert delete_left(store) == 0
    claim_deletion(store, os.getpid())
    assert restore_last(store) == made  # the process that deleted it is there yet
    hide(store, made)
    claim_deletion(store, dead_process())
    assert delete_left(store) == 0  # of temporary ones
    with store.database.read() as connection:
        assert connection.execute("SELECT id FROM conversations").fetchall() == [("chat-1",)]


def claim_deletion(store: ColdStore, process: int) -> None:
    """Record another process as having deleted the conversation."""
    with store.database.write() as connection:
        connection.execute("UPDATE conversations SET deleted_by = ? WHERE deleted_by", (process,))


def test_a_conversation_with_a_reply_in_progress_elsewhere_is_not_deleted(store: ColdStore):
    made = store.create("Talk")
    store.append(made.id, talk("Well?"))
    writer = ReplyWriter(store, made.id)
    writer.add("Let me")
    writer.save()
    claim(store, os.getppid())
    with pytest.raises(ConversationInUse):
        erase(store, made.id)
    assert store.conversation(made.id).turns == 2

    claim(store, dead_process())
    erase(store, made.id)
    assert store.conversations() == []


def test_a_deleted_conversation_open_elsewhere_refuses_turns_with_the_reason(store: ColdStore):
    made = store.create("Talk")
    store.append(made.id, talk("Well?"))
    deleting = (
        "import sys, pathlib; from jitchat.store.database import Database;"
        "from jitchat.store.store import ColdStore; from jitchat.store.deletion import erase;"
        "erase(ColdStore(Database(pathlib.Path(sys.argv[1]))), sys.argv[2])"
    )
    command = [sys.executable, "-c", deleting, str(store.database.path), made.id]
    subprocess.run(command, check=True)

    assert (made.id, store.create("Another").id) == ("chat-1", "chat-2")
    with pytest.raises(ConversationDeleted):
        store.append(made.id, [Turn(0, Role.USER, "And now?")])


def test_a_temporary_conversation_is_in_no_full_text_index(store: ColdStore):
    made = store.create("T", temporary=True)
    store.append(made.id, talk(SECRET))
    assert store.search("walrus") == []
    assert indexed_tokens(store.database) == {}
    delete_conversation(store, made.id)


def test_a_conversation_cannot_have_the_placeholder_id_of_deleted_ones(store: ColdStore):
    assert store.create("x", DELETED).id == f"{DELETED}-2"
