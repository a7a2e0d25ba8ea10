"""Memory documents under kills, and of several processes: nothing that was said is lost."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from jitchat.store.database import Database
from jitchat.store.documents import DocumentStore
from jitchat.store.store import ColdStore
from jitchat.values import Role
from tests.faults.test_killed import require_sound

if TYPE_CHECKING:
    from pathlib import Path


def require_remembered(path: Path) -> None:
    """Each message is in the document, or is still a session; each version can be read."""
    database = Database(path)
    store = ColdStore(database)
    documents = DocumentStore(database, "default", store.now)
    document = documents.latest()
    known = {line.text for line in document.lines}
    for conversation in store.conversations():
        through = document.through.get(conversation.id, 0)
        said = [turn for turn in store.turns(conversation.id) if turn.role is Role.USER]
        for turn in said:
            assert turn.position > through or turn.content in known
    numbers = [version.number for version in documents.versions()]
    assert numbers == list(range(1, len(numbers) + 1))
    for number in numbers:
        documents.at(number)
    require_sound(database)
    database.close()


def test_a_session_killed_at_any_moment_is_in_the_document_or_still_a_session(
    nursery, tmp_path, rounds
):
    chance, path = random.Random(1), tmp_path / "cold.db"
    for _ in range(rounds(8, 300)):
        nursery.run_and_kill("end_sessions", chance.randrange(1, 12), path=str(path), sessions=9)
        require_remembered(path)


def test_processes_that_end_sessions_at_once_lose_none_of_them(nursery, tmp_path, rounds):
    path, copies, sessions = tmp_path / "cold.db", 3, rounds(4, 40)
    told = list(nursery.run("end_sessions", path=str(path), sessions=sessions, copies=copies))
    assert [words for words in told if words[0] == "failed"] == []
    assert told.count(["done"]) == copies
    require_remembered(path)
    database = Database(path)
    document = DocumentStore(database, "default", ColdStore(database).now).latest()
    assert document.version == copies * sessions
    assert sum("Lisbon" in line.text for line in document.lines) > copies * sessions
    database.close()
