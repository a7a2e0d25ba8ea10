"""Killed at any moment: what was acknowledged is there, and nothing is half there.

SIGKILL takes the process and not the power: what a power cut would do is left to SQLite's
synchronous=FULL, which no test here can show.
"""

from __future__ import annotations

import random
import sqlite3
from typing import TYPE_CHECKING

import pytest

from jitchat.index.tables import IndexTables
from jitchat.memory import Memory
from jitchat.providers.protocols.protocol import protocol_names
from jitchat.store.copies import upgrade_copies
from jitchat.store.database import Database, migration_names
from jitchat.store.observations import PassKind
from jitchat.store.store import ColdStore
from jitchat.values import NO_TOOL_USE, Message, Status
from jitchat.window.exchange import carried_use, spoken_as
from jitchat.window.history import History
from jitchat.writing.pieces import PLAIN
from jitchat.writing.write import write_messages
from tests.faults.nursery import PIECE_SECONDS
from tests.index.support import FakeEmbedder
from tests.providers.test_fuzzed_calls import ids_of
from tests.providers.tool_windows import sent_messages
from tests.session.test_earlier_windows import CONTENT, KNOWN, windows_of
from tests.store.support import require_complete_index
from tests.store.test_schema import database_at
from tests.support import talk

if TYPE_CHECKING:
    from pathlib import Path


def require_sound(database: Database) -> None:
    with database.write() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    require_complete_index(database)


def require_kept(memory: Memory, told: list[list[str]]) -> None:
    """Every acknowledged turn, whole pairs, and a partial reply that is hardly behind."""
    turns = {turn.id: turn for turn in memory.turns}
    acknowledged = {int(words[1]) for words in told if words[0] == "stored"}
    assert acknowledged <= set(turns)
    assert all(turn.status is not Status.STREAMING for turn in turns.values())
    assert sum(turn.content.startswith("pair") for turn in turns.values()) % 2 == 0
    answering = [place for place, words in enumerate(told) if words[0] == "answering"]
    finished = [place for place, words in enumerate(told) if words[0] == "answered"]
    if len(answering) > len(finished):
        shown = [words for words in told[answering[-1] :] if words[0] == "shown"]
        require_partial(memory, writer=told[answering[-1]][1], shown=len(shown))


def require_partial(memory: Memory, writer: str, shown: int) -> None:
    last = memory.turns[-1]
    kept = last.content.split() if last.content.startswith(f"{writer}-") else []
    assert kept == [f"{writer}-{number}" for number in range(len(kept))]
    assert (shown - len(kept)) * PIECE_SECONDS <= 1.0
    if kept and len(kept) < 30:
        assert last.status is Status.INTERRUPTED


def test_a_chat_killed_at_any_moment_keeps_what_was_acknowledged(nursery, tmp_path, rounds):
    chance = random.Random(1)
    for number in range(rounds(8, 1_000)):
        path = tmp_path / f"{number // 50}.db"
        if number % 50 == 0:
            database = Database(path)
            ColdStore(database).create("Talk", "talk")
            database.close()
        told = nursery.run_and_kill(
            "chat", chance.randrange(1, 80), path=str(path), conversation="talk"
        )
        database = Database(path)
        store = ColdStore(database)
        require_kept(Memory(store, store.conversation("talk")), told)
        require_sound(database)
        database.close()


def require_tree(store: ColdStore, told: list[list[str]]) -> None:
    """Every acknowledged turn, whole; each behind one that is there; a head that one can go on."""
    with store.database.read() as connection:
        rows = connection.execute(
            "SELECT id, position, content, status, parent FROM turns ORDER BY position"
        ).fetchall()
    found = {identity: (content, status) for identity, _, content, status, _ in rows}
    for words in (words for words in told if words[0] == "stored"):
        content, status = found[int(words[1])]
        assert content
        assert status == "complete"
    assert [row[1] for row in rows] == list(range(1, len(rows) + 1))
    assert all(
        0 <= (place - 1 if parent is None else parent) < place for _, place, *_, parent in rows
    )
    tree = store.tree("talk")
    assert 0 <= tree.head <= tree.last == len(rows)
    assert [turn.position for turn in store.turns("talk")] == [
        place for first, last in tree.path().stretches for place in range(first, last + 1)
    ]


def test_a_forking_chat_killed_at_any_moment_keeps_its_tree(nursery, tmp_path, rounds):
    chance = random.Random(2)
    for number in range(rounds(6, 500)):
        path = tmp_path / f"{number // 25}.db"
        if number % 25 == 0:
            database = Database(path)
            ColdStore(database).create("Talk", "talk")
            database.close()
        told = nursery.run_and_kill(
            "fork_often", chance.randrange(1, 230), path=str(path), conversation="talk"
        )
        assert "failed" not in [words[0] for words in told]
        store = ColdStore(Database(path))
        memory = Memory(store, store.conversation("talk"))
        require_tree(store, told)
        assert all(turn.status is not Status.STREAMING for turn in memory.turns)
        said = memory.add_user_turn("after the kill")
        assert memory.turns[-1] == said
        require_sound(store.database)
        store.database.close()


def require_valid(memory: Memory) -> None:
    """The next request has a result for each call, and a call for each result, everywhere."""
    memory.add_user_turn("after the kill")
    history = History().extended(memory.turns, lambda text, use=NO_TOOL_USE: 1)
    messages = [
        Message(spoken_as(turn), turn.content, turn.position, carried_use(turn.use))
        for turn in history.turns
    ]
    assert len(write_messages(messages, PLAIN)) == len(messages)
    for name in protocol_names:
        called, returned = ids_of(sent_messages(name, messages))
        assert called == returned
        assert len(called) == sum(len(message.use.calls) for message in messages)


def test_a_turn_killed_during_its_calls_loses_none_and_goes_on(nursery, tmp_path, rounds):
    chance = random.Random(3)
    for number in range(rounds(4, 1_000)):
        path = tmp_path / f"{number // 20}.db"
        if number % 20 == 0:
            database = Database(path)
            ColdStore(database).create("Talk", "talk")
            database.close()
        told = nursery.run_and_kill(
            "call_tools", chance.randrange(1, 70), path=str(path), conversation="talk"
        )
        store = ColdStore(Database(path))
        memory = Memory(store, store.conversation("talk"))
        acknowledged = {int(words[1]) for words in told if words[0] == "stored"}
        assert acknowledged
        assert acknowledged <= {turn.id for turn in memory.turns}
        assert all(turn.status is not Status.STREAMING for turn in memory.turns)
        require_valid(memory)
        require_sound(store.database)
        store.database.close()


def schema(path: Path) -> tuple[set[str], list[str]]:
    connection = sqlite3.connect(path)
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    applied = [row[0] for row in connection.execute("SELECT name FROM _sqlite_migrations")]
    connection.close()
    return tables, applied


STEPS = range(1, len(migration_names()))


@pytest.mark.parametrize(
    "step",
    [
        *(pytest.param(step, marks=pytest.mark.long("whole")) for step in STEPS[:-2]),
        *STEPS[-2:],  # no earlier one is ever changed
    ],
)
def test_a_migration_killed_at_any_statement_leaves_the_old_schema_or_the_new(
    nursery, tmp_path, step, rounds
):
    database_at(tmp_path / "old.db", migration_names()[step])
    database_at(tmp_path / "new.db", None)
    before, old, new = (
        (tmp_path / "old.db").read_bytes(), schema(tmp_path / "old.db"), schema(tmp_path / "new.db")
    )  # fmt: skip
    done, statement, outcomes = False, 1, set()
    while not done:
        path = tmp_path / f"{statement}.db"
        path.write_bytes(before)
        told = list(nursery.run("open_and_die", path=str(path), statement=statement))
        done = ["done"] in told
        found = schema(path)
        assert found in (old, new)
        outcomes.add(found == new)
        copies = [copy for copy in upgrade_copies(path) if copy.suffix != ".jitchat-part"]
        assert [schema(copy) for copy in copies] == [old] * len(copies)
        assert copies or found == old
        Database(path).close()
        assert schema(path) == new
        (copy,) = upgrade_copies(path)
        assert schema(copy) == old
        statement += rounds(31, 1)
    assert outcomes == {False, True}


def test_windows_outlive_a_kill_while_they_are_packed_and_the_file_shrinks(
    nursery, tmp_path, rounds
):
    done, statement = False, 1
    while not done:
        path = tmp_path / f"{statement}.db"
        path.write_bytes(CONTENT)
        told = list(nursery.run("open_and_die", path=str(path), statement=statement))
        done = ["done"] in told
        database = Database(path)
        require_sound(database)
        assert windows_of(ColdStore(database)) == KNOWN
        database.close()
        assert path.stat().st_size < 0.75 * len(CONTENT)
        statement += rounds(149, 1)


def test_a_new_database_killed_while_it_is_made_can_be_made_again(nursery, tmp_path, rounds):
    done, statement = False, 1
    while not done:
        path = tmp_path / f"{statement}.db"
        told = list(nursery.run("open_and_die", path=str(path), statement=statement))
        done = ["done"] in told
        database = Database(path)
        require_sound(database)
        database.close()
        statement += rounds(61, 1)


def test_an_indexing_killed_at_any_batch_is_caught_up(nursery, tmp_path, rounds):
    """With a second embedder half way: the index of the first serves, the second is completed."""
    for number in range(rounds(2, 40)):
        path = tmp_path / f"{number}.db"
        store = ColdStore(Database(path))
        made = store.create("Talk", "talk")
        store.append(made.id, talk(*(f"turn number {each}" for each in range(600))))
        first, second = FakeEmbedder("first", 4), FakeEmbedder("second", 6)
        memory = Memory(store, store.conversation("talk"), first)
        list(memory.index.catch_up())
        told = nursery.run_and_kill("index", 1 + number % 5, path=str(path), conversation="talk")
        assert ["failed"] not in [words[:1] for words in told]
        assert memory.retrieve("number 77", 601).candidates[0].turn == 78
        again = Memory(store, store.conversation("talk"), second)
        list(again.index.catch_up())
        rows = IndexTables(store.database, "talk").rows(again.turns, second)
        assert [len(row.vector or b"") for row in rows] == [12] * 600
        require_sound(store.database)
        store.database.close()


def require_observed(memory: Memory, told: list[list[str]]) -> None:
    """Every acknowledged pass stands, whole; turns are observed from the first on without a gap."""
    passes = memory.observed.passes(memory.snapshot.path, memory.snapshot.path.head + 1)
    acknowledged = {int(words[1]) for words in told if words[0] == "observed"}
    assert acknowledged <= {each.id for each in passes}
    through = 0
    for each in passes:
        # what the other process left of a batch can be one turn that says nothing; that is noted
        assert each.lines or "wrote no lines" in str(each.note)
        if each.kind is PassKind.OBSERVE:
            assert each.first == through + 1
            through = each.last
        assert each.last == through
    assert memory.distilled(memory.snapshot.path.head + 1).observations.through == through


def test_killed_during_a_pass_what_was_observed_stands_and_the_rest_is_raw(
    nursery, tmp_path, rounds
):
    chance = random.Random(5)
    for number in range(rounds(4, 500)):
        path = tmp_path / f"{number // 10}.db"
        if number % 10 == 0:
            database = Database(path)
            ColdStore(database).create("Talk", "talk")
            database.close()
        told = nursery.run_and_kill(
            "observe", chance.randrange(1, 25), path=str(path), conversation="talk"
        )
        assert "failed" not in [words[0] for words in told]
        store = ColdStore(Database(path))
        require_observed(Memory(store, store.conversation("talk")), told)
        require_sound(store.database)
        store.database.close()
