"""The search index agrees with the texts after every write, and is built for older databases."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime

import pytest

from jitchat.attachments import Attachment, Part, digest_of_bytes
from jitchat.store import search_index
from jitchat.store.attachments import AttachmentStore
from jitchat.store.database import Database, migrate
from jitchat.store.deletion import delete_conversation, erase
from jitchat.store.imported import Heading, ImportWriter, IncomingTurn, Origin, Provenance
from jitchat.store.pins import OwnInstructions
from jitchat.store.replies import ReplyWriter, close_interrupted
from jitchat.store.reply_notes import ReplyNote
from jitchat.store.store import ColdStore
from jitchat.values import Instructions, Role, Shortened, Status, ToolCall, ToolUse, Turn
from tests.store.support import claim, dead_process, indexed_tokens, require_complete_index
from tests.support import conversation_of, talk

DAY = "2026-03-13T10:00:00+00:00"
VOICES = [
    "alpha",
    "beta",
    "gamma",
    "Größe",
    "東京都",
    "도서관",
    "naïve",
    "C++",
    "3.11",
    "/etc/hosts",
    "running",
]


class Walker:
    """Writes to a store in every way that changes what is searched, at random."""

    def __init__(self, store: ColdStore, seed: int) -> None:
        self.store, self.luck = store, random.Random(seed)
        self.number = 0

    def words(self) -> str:
        return " ".join(self.luck.choices(VOICES, k=self.luck.randint(0, 6)))

    def step(self) -> str:
        ways = [name for name in dir(self) if name.startswith("do_")]
        known = [each.id for each in self.store.conversations()]
        way = self.luck.choice(ways) if known else "do_create"
        getattr(self, way)(self.luck.choice(known) if known else "")
        return way

    def turn_of(self, conversation: str) -> Turn | None:
        turns = self.store.turns(conversation)
        return self.luck.choice(turns) if turns else None

    def do_create(self, _: str) -> None:
        self.store.create(f"Talk {self.words()}", temporary=self.luck.random() < 0.2)

    def do_append(self, conversation: str) -> None:
        self.store.append(conversation, talk(self.words(), self.words()))

    def do_reply(self, conversation: str) -> None:
        writer = ReplyWriter(self.store, conversation)
        writer.add_reasoning(self.words())
        writer.add(self.words())
        writer.save()
        writer.add(f" {self.words()}")
        if self.luck.random() < 0.5:
            writer.set_use(ToolUse(calls=(ToolCall("1", "read", '{"path": "délta"}'),)))
        if self.luck.random() < 0.7:
            writer.finish(Status.COMPLETE)

    def do_interrupt(self, _: str) -> None:
        claim(self.store, DEAD)
        close_interrupted(self.store)

    def do_use(self, conversation: str) -> None:
        if turn := self.turn_of(conversation):
            call = ToolCall("1", self.luck.choice(VOICES), f'["{self.words()}"]')
            self.store.set_uses({turn: ToolUse(answers=call, form=Shortened(self.words()))})

    def do_status(self, conversation: str) -> None:
        if turn := self.turn_of(conversation):
            status = self.luck.choice((Status.UNANSWERED, Status.COMPLETE))
            if turn.status is not Status.STREAMING:
                self.store.set_status(turn, status)

    def do_attach(self, conversation: str) -> None:
        if turn := self.turn_of(conversation):
            files = AttachmentStore(self.store.database, conversation)
            text = self.words()
            data = text.encode()
            file = Attachment(
                f"{self.luck.choice(VOICES[:6])}.md", digest_of_bytes(data), "text/markdown",
                len(data), parts=(Part("§", text, "Head"),), data=data,
            )  # fmt: skip
            files.put(turn, (file,))
            if self.luck.random() < 0.5:
                files.add(turn, 1, file)

    def do_rename(self, conversation: str) -> None:
        self.store.rename(conversation, f"Title {self.words()}")
        self.store.suggest_title(conversation, "unwanted")

    def do_tag(self, conversation: str) -> None:
        self.store.tag(conversation, [self.luck.choice(VOICES[:4])], [self.luck.choice(VOICES[:4])])

    def do_instruct(self, conversation: str) -> None:
        own = Instructions(system=self.luck.choice((None, self.words())))
        OwnInstructions(self.store.database).put(conversation, own)

    def do_import(self, _: str) -> None:
        self.number += self.luck.randint(0, 1)
        origin = Origin("walk", str(self.number))
        writer = ImportWriter(self.store, Provenance(origin, f"w{self.number}"))
        form = bytes([self.luck.randint(0, 1)])  # a source that is imported again may have changed
        turns = [
            IncomingTurn(
                Turn(number, Role.USER, self.words()),
                bytes([number]),
                form,
                ReplyNote(reasoning=self.words()),
            )
            for number in range(1, self.luck.randint(2, 5))
        ]
        with self.store.database.write():
            writer.take(turns)
            if writer.id:
                writer.finish(Heading(f"Imported {self.words()}", tags=("gamma",)))

    def do_write_as_older(self, conversation: str) -> None:
        write_as_older(self.store, conversation, self.words())
        if self.luck.random() < 0.2:
            search_index.finish(self.store.database)

    def do_delete(self, conversation: str) -> None:
        if self.luck.random() < 0.3:
            delete_conversation(self.store, conversation)


DEAD = dead_process()
OLDER_TURN = (
    "INSERT INTO turns"
    " (id, conversation, position, role, name, content, created_at, status, parent, tools)"
    " SELECT NULL, ?, COALESCE(MAX(position), 0) + 1, ?, NULL, ?, NULL, ?, NULL, NULL"
    " FROM turns WHERE conversation = ?"
)


def write_as_older(store: ColdStore, conversation: str, text: str) -> None:
    """Write a message and a reply by the statements of a version without this index."""
    with store.database.write() as connection:
        for role, status in (("user", "complete"), ("assistant", "streaming")):
            row = (conversation, role, text, status, conversation)
            reply = connection.execute(OLDER_TURN, row).lastrowid
        for status in ("streaming", "complete"):
            connection.execute(
                "UPDATE turns SET content = content || ?, status = ?, tools = ? WHERE id = ?",
                (f" {status}", status, None, reply),
            )


def backlog(store: ColdStore) -> set[int]:
    ranges = store.database.fetch_all("SELECT first, last FROM search_backlog")
    return {number for first, last in ranges for number in range(first, last + 1)}


def test_the_index_agrees_with_the_texts_after_every_write(store, rounds):
    for seed in range(rounds(3, 60)):
        walker = Walker(store, seed)
        for _ in range(60):
            waiting = backlog(store)
            way = walker.step()
            require_complete_index(store.database, backlog(store)), way
            assert way == "do_write_as_older" or backlog(store) <= waiting, way
    search_index.finish(store.database)
    assert backlog(store) == set()
    require_complete_index(store.database)
    for conversation in store.conversations():
        erase(store, conversation.id)
    assert indexed_tokens(store.database) == {}
    content = store.database.path.read_bytes()
    assert [word for word in VOICES if word.lower().encode() in content and word.isalpha()] == []


def older_database(path, turns: int) -> None:
    """A database as the version before the search index left it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        migrate(connection, stop_before="030_search_index")
        connection.executemany(
            "INSERT INTO conversations (id, title, touched, created_at, updated_at)"
            " VALUES (?, ?, 1, ?, ?)",
            [(f"old-{number}", f"Heading {number}", DAY, DAY) for number in range(turns // 10 + 1)],
        )
        connection.executemany(
            "INSERT INTO turns (conversation, position, role, content, created_at)"
            " VALUES (?, ?, 'user', ?, ?)",
            [
                (f"old-{number // 10}", number % 10 + 1, f"unique{number} 東京{number} walrus", DAY)
                for number in range(turns)
            ],
        )


@pytest.fixture
def older(tmp_path):
    older_database(tmp_path / "old.db", 200)
    database = Database(tmp_path / "old.db")
    yield ColdStore(database, lambda: datetime(2026, 3, 14, tzinfo=UTC))
    database.close()


def tables(store: ColdStore) -> set[str]:
    query = "SELECT name FROM sqlite_master WHERE name GLOB 'turns_fts*' OR name = 'bulk_inserts'"
    return {row[0] for row in store.database.fetch_all(query)}


def test_an_older_index_serves_until_the_new_one_is_built_and_is_then_dropped(older, monkeypatch):
    ticks = iter(range(1_000_000))
    monkeypatch.setattr(search_index.time, "monotonic", lambda: next(ticks) / 100)
    rounds = 0
    more = True
    while more:
        for number in (0, 97, 199):
            for query in (f"unique{number}", f"東京{number}"):
                assert ("old-" + str(number // 10), number % 10 + 1) in {
                    match[:2] for match in older.search(query)
                }, (rounds, query)
        if rounds == 1:
            assert "still to come" in older.search("walrus").notice
            older.append("old-3", talk("a new turn"))
            assert len(older.search("new turn")) == 1
            erase(older, "old-5")
            assert b"unique57" not in older.database.path.read_bytes()
        more = search_index._work(older.database)
        rounds += 1
    assert rounds > 5
    assert tables(older) == set()
    assert older.search("walrus", 1).notice == ""
    assert len(older.search("walrus", 1_000)) == 190
    require_complete_index(older.database)


def test_a_new_database_has_only_the_new_index_after_its_first_start(store, monkeypatch):
    monkeypatch.setattr(search_index, "_HOLD_SECONDS", 60.0)
    search_index.finish_in_background(store.database)
    assert tables(store) == set()
    made = conversation_of(store, talk("a harbour"))
    assert store.search("harbour")[0][:2] == (made.id, 1)
    assert threading.active_count() == 1


def test_building_goes_on_in_the_background_until_the_database_is_closed(older):
    search_index.finish_in_background(older.database)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.daemon:
            thread.join(30)
    require_complete_index(older.database)


def test_a_text_changed_behind_the_stores_back_is_still_erased(store):
    made = conversation_of(store, talk("alpha"))
    words = " ".join(f"walrus{number}" for number in range(50))
    store.database.execute("UPDATE turns SET content = ?", (words,))
    assert erase(store, made.id)
    search_index.finish(store.database)
    require_complete_index(store.database)
    assert b"alpha" not in store.database.path.read_bytes()


def test_what_an_older_process_writes_is_found_at_once_and_indexed_later(store):
    search_index.finish(store.database)
    with closing(sqlite3.connect(store.database.path, isolation_level=None)) as older:
        older.execute(
            "INSERT INTO conversations (id, title, touched, created_at, updated_at, project,"
            " temporary, title_given) VALUES ('older', 'Moorings', 1, ?, ?, 'default', 0, 0)",
            (DAY, DAY),
        )
        older.execute(OLDER_TURN, ("older", "user", "Where is the harbour?", "complete", "older"))
        older.execute(OLDER_TURN, ("older", "assistant", "Near", "streaming", "older"))
        search_index.finish(store.database)  # while the reply streams
        older.execute(
            "UPDATE turns SET content = ?, status = ? WHERE position = 2",
            ("Near the lighthouse.", "complete"),
        )
    assert store.search("lighthouse")[0][:2] == ("older", 2)
    search_index.finish_in_background(store.database)
    assert store.search("light").notice == ""
    assert store.search("harbours")[0][:2] == ("older", 1)
    assert store.search("lighthouses")[0][:2] == ("older", 2)
    assert store.search("moorings")[0][:2] == ("older", 0)
    require_complete_index(store.database)


FINISH = """
import sys, pathlib
from jitchat.store import search_index
from jitchat.store.database import Database
database = Database(pathlib.Path(sys.argv[1]))
while search_index._work(database):
    print("some", flush=True)
"""


def test_building_survives_being_killed_at_any_moment(tmp_path, rounds):
    path = tmp_path / "old.db"
    older_database(path, rounds(3_000, 20_000))
    luck, kills, most = random.Random(1), 0, rounds(12, 2)
    while True:
        with subprocess.Popen([sys.executable, "-c", FINISH, str(path)], stdout=-1) as child:
            lines = [child.stdout.readline() for _ in range(luck.randint(1, most))]
            if not all(lines):
                break
            child.kill()
            kills += 1
    assert kills >= 2
    with closing(Database(path)) as database:
        require_complete_index(database)
        assert tables(ColdStore(database)) == set()
