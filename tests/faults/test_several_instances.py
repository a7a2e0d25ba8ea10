"""Several instances write at once: nothing is lost, and nobody is told that it is locked."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from jitchat.memory import Memory
from jitchat.store.copies import upgrade_copies
from jitchat.store.database import Database, migration_names
from jitchat.store.store import ColdStore
from jitchat.values import Role, Status
from tests.faults.test_killed import require_observed
from tests.store.test_schema import database_at


def test_processes_that_write_to_one_conversation_lose_nothing(nursery, tmp_path, rounds):
    store = ColdStore(Database(tmp_path / "cold.db"))
    made = store.create("Talk", "talk")
    copies, turns = 4, rounds(60, 1_000)
    told = list(
        nursery.run(
            "say", path=str(tmp_path / "cold.db"), conversation="talk", turns=turns, copies=copies
        )
    )
    assert [words for words in told if words[0] == "failed"] == []
    assert told.count(["done"]) == copies
    stored = store.turns(made.id)
    assert [turn.position for turn in stored] == list(range(1, copies * turns + 1))
    assert len({turn.content for turn in stored if turn.role is Role.USER}) == copies * turns * 0.9
    answers = [turn.content.split() for turn in stored if turn.role is Role.ASSISTANT]
    assert {len(pieces) for pieces in answers} == {30}
    assert all(len({piece.partition("-")[0] for piece in pieces}) == 1 for pieces in answers)
    assert {turn.status for turn in stored} == {Status.COMPLETE}
    by_writer: dict[str, list[int]] = {}
    for turn in stored:
        writer, _, number = turn.content.partition(" ")
        if number.isdecimal():
            by_writer.setdefault(writer, []).append(int(number))
    assert len(by_writer) == copies
    assert all(numbers == sorted(numbers) for numbers in by_writer.values())
    store.database.close()


def test_processes_that_open_a_new_database_at_once_all_succeed(nursery, tmp_path, rounds):
    for number in range(rounds(4, 200)):
        path = str(tmp_path / f"{number}.db")
        told = list(nursery.run("open_only", path=path, copies=4))
        assert [words for words in told if words[0] == "failed"] == []
        assert told.count(["done"]) == 4


def test_processes_that_migrate_one_database_at_once_keep_one_copy_from_before(
    nursery, tmp_path, rounds
):
    for number in range(rounds(2, 40)):
        path = tmp_path / f"{number}.db"
        database_at(path, migration_names()[20])
        told = list(nursery.run("open_only", path=str(path), copies=6))
        assert [words for words in told if words[0] == "failed"] == []
        (copy,) = upgrade_copies(path)
        with closing(sqlite3.connect(copy)) as connection:
            applied = connection.execute("SELECT name FROM _sqlite_migrations ORDER BY id")
            assert [row[0] for row in applied] == migration_names()[:20]


def test_processes_that_observe_one_conversation_at_once_keep_one_chain(nursery, tmp_path, rounds):
    path = tmp_path / "cold.db"
    store = ColdStore(Database(path))
    store.create("Talk", "talk")
    exchanges = rounds(25, 200)
    told = list(
        nursery.run("observe", path=str(path), conversation="talk", exchanges=exchanges, copies=2)
    )
    assert [words for words in told if words[0] == "failed"] == []
    require_observed(Memory(store, store.conversation("talk")), told)
    store.database.close()
