"""JSON exports: imported into an empty home and exported again, they are equal byte for byte."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import JitchatError
from jitchat.files.load import attachment_of
from jitchat.statements import DocumentLine, Fact, FactKind, MemoryDocument, Section, Source
from jitchat.store.database import Database
from jitchat.store.deletion import delete_conversation
from jitchat.store.documents import DocumentStore
from jitchat.store.facts import FactStore
from jitchat.store.pins import OwnInstructions
from jitchat.store.regression_cases import Case, CaseKind, Cases
from jitchat.store.reply_notes import notes_of
from jitchat.store.store import ColdStore
from jitchat.text.sanitize import one_line
from jitchat.transfer.exports import EXPORTS
from jitchat.transfer.formats import conversations_of, picked
from jitchat.transfer.import_run import require_turns, take_all
from jitchat.transfer.source import open_source
from jitchat.values import Instructions, Mode, Role, Usage
from jitchat.window.steering import Hold, Once
from tests.support import ScriptedProvider, session_on, turn
from tests.transfer import exports
from tests.transfer.claude_code import SESSION, claude_code_session
from tests.transfer.files import jsonl, take, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from jitchat.session import Session
    from jitchat.values import Conversation, Turn

NOW = datetime(2026, 3, 13, 10, tzinfo=UTC)
WORDS = ("harbour", "crane", "tide", "\u202epfä", "crew 🦀", "<b>", "deploy", "#3", "\u3000")
ANSWERS: list[tuple[object, ...]] = [
    ("Noted.",),
    ("We agreed ", "on 8443.", Usage(120, 8, 40, 7, 3, 0.002)),
    ("The tide is", JitchatError("The line is cut.", "Send again.")),
    (JitchatError("Refused.", "Send again."),),
]
FILES = [attachment_of("notes.md", b"# Tides\nHigh at six."), attachment_of("a.png", exports.PNG)]


class Clock:
    def __init__(self) -> None:
        self.moment = NOW

    def __call__(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


@pytest.fixture
def make_home(tmp_path: Path, empty_database: Path) -> Iterator[Callable[[], ColdStore]]:
    """Makes an empty home."""
    opened = list[Database]()

    def make() -> ColdStore:
        path = tmp_path / f"home-{len(opened)}.db"
        database = Database(shutil.copy(empty_database, path) and path)
        with database.writing() as connection:
            connection.execute("PRAGMA synchronous = OFF")
        opened.append(database)
        return ColdStore(database, Clock())

    yield make
    for database in opened:
        database.close()


def exported(store: ColdStore, conversations: list[Conversation] | None = None) -> str:
    text = StringIO()
    listed = store.conversations() if conversations is None else conversations
    EXPORTS["json"].write(store, listed, text.write)
    return text.getvalue()


class Walk:
    """Does what users do, in a random order, through a session without a screen."""

    def __init__(self, store: ColdStore, folder: Path, seed: int) -> None:
        self.store, self._folder, self._random = store, folder, random.Random(seed)
        self._sessions: dict[str, Session] = {}
        self.steps = [
            self.send, self.send, self.send, self.attach, self.regenerate, self.edit, self.start,
            self.switch, self.hold, self.tag, self.rename, self.archive, self.instruct,
            self.report, self.learn, self.correct, self.forget, self.write_document, self.move,
            self.import_chats, self.delete,
        ]  # fmt: skip

    def step(self) -> str:
        step = self._random.choice(self.steps)
        if self.store.conversations() or step in (self.start, self.import_chats):
            step()
        return step.__name__

    def _words(self) -> str:
        return " ".join(self._random.choices(WORDS, k=self._random.randint(1, 6)))

    def _title(self) -> str:
        return self._words().strip() or "x"  # a title of blanks is refused

    def _one(self) -> str:
        return self._random.choice(self.store.conversations()).id

    def _session(self) -> Session:
        conversation = self.store.conversation(self._one())
        session = session_on(self.store, conversation, ScriptedProvider())
        session.provider.script = self._random.choice(ANSWERS)
        return session

    def _spoken(self, session: Session, role: Role) -> list[Turn]:
        return [turn for turn in session.memory.turns if turn.role is role]

    def _send(self, session: Session, draft: str, once: Once) -> None:
        async def sent() -> None:
            async for _ in session.send(draft, self._random.choice(list(Mode)), once):
                pass

        asyncio.run(sent())

    def send(self) -> None:
        self._send(self._session(), self._words(), Once())

    def attach(self) -> None:
        files = tuple(self._random.sample(FILES, self._random.randint(1, 2)))
        self._send(self._session(), self._words(), Once(files=files))

    def regenerate(self) -> None:
        session = self._session()
        if said := self._spoken(session, Role.USER):
            turn = self._random.choice(said)
            self._send(session, turn.content, Once(again=turn))

    def edit(self) -> None:
        session = self._session()
        if said := self._spoken(session, Role.USER):
            before = self._random.choice(said).position - 1
            self._send(session, self._words(), Once(after=before))

    def start(self) -> None:
        project = self._random.choice(["default", "Sea"])
        self.store.create(self._title(), project=project)

    def switch(self) -> None:
        name = self._one()
        if last := self.store.tree(name).last:
            self.store.switch_to(name, self._random.randint(1, last))

    def hold(self) -> None:
        session = self._session()
        if turns := list(session.memory.turns):
            hold = self._random.choice([Hold.PINNED, Hold.EXCLUDED, None])
            session.hold(self._random.choice(turns).position, hold)

    def tag(self) -> None:
        self.store.tag(self._one(), {self._random.choice(["work", "später", "三"])})

    def rename(self) -> None:
        self.store.rename(self._one(), self._title() + "x" * self._random.choice([0, 150, 400]))

    def archive(self) -> None:
        self.store.archive(self._one(), archived=self._random.random() < 0.5)

    def instruct(self) -> None:
        own = Instructions(self._words(), self._random.choice([None, "", "reviewer"]))
        OwnInstructions(self.store.database).put(self._one(), own)

    def report(self) -> None:
        turns = self.store.turns(self._one())
        said = [turn for turn in turns if turn.role is Role.USER]
        if said:
            case = Case(
                self._random.choice(said), self._random.choice(turns),
                self._random.choice(list(CaseKind)), None, self.store.now(),
            )  # fmt: skip
            Cases(self.store.database).put(case)

    def _facts(self) -> FactStore:
        project = self._random.choice(sorted(self.store.projects()))
        return FactStore(self.store.database, project, self.store.now)

    def learn(self) -> None:
        facts, source = self._facts(), None
        mine = [
            known
            for known in self.store.conversations()
            if known.turns and known.project == facts.project
        ]
        if mine and self._random.random() < 0.7:
            chosen = self._random.choice(mine)
            first = self._random.randint(1, self.store.tree(chosen.id).last)
            source = Source(first, first, chosen.id)
        kind = self._random.choice(list(FactKind))
        port = self._random.randint(1, 3)
        day = self._random.choice([None, NOW.date()])
        fact = Fact(0, f"The port is {port}.", kind, source, day)
        keep = self._random.random() < 0.5
        _ = facts.keep(fact) if keep else facts.propose([fact])

    def correct(self) -> None:
        facts = self._facts()
        if known := facts.all():
            facts.edit(self._random.choice(known), f"Port {self._random.randint(1, 99)}")

    def forget(self) -> None:
        facts = self._facts()
        if known := facts.all():
            facts.forget(self._random.choice(known))

    def write_document(self) -> None:
        project = self._random.choice(sorted(self.store.projects()))
        documents = DocumentStore(self.store.database, project, self.store.now)
        names = [known.id for known in self.store.conversations() if known.turns]
        source = Source(1, 1, self._random.choice(names)) if names else None
        text = one_line(self._words()) or "x"
        line = DocumentLine(Section.FACTS, text, source, date(2026, 3, 1))
        latest = documents.latest()
        if line not in latest.lines:
            through = dict.fromkeys(names, 1)
            document = MemoryDocument((*latest.lines, line), latest.version, through)
            documents.put(document, "a-model")

    def move(self) -> None:
        self.store.move(self._one(), self._random.choice(["default", "Sea"]))

    def import_chats(self) -> None:
        content = self._random.choice([
            ("c.json", [exports.chatgpt_talk()]),
            (f"{SESSION}.jsonl", jsonl(claude_code_session())),
            ("k.json", [exports.claude(exports.claude_message("1", "", "human", "Look"))]),
        ])  # fmt: skip
        take(self.store, written(self._folder, *content))

    def delete(self) -> None:
        if len(self.store.conversations()) > 2:
            delete_conversation(self.store, self._one())


def check_rounds(make_home: Callable[[], ColdStore], folder: Path, seed: int, rounds: int) -> None:
    walk, done = Walk(make_home(), folder, seed), list[str]()
    for _ in range(rounds):
        done.append(walk.step())
        text = exported(walk.store)
        if not json.loads(text)["conversations"]:
            continue
        other = make_home()
        taken = take(other, written(folder, "all.json", text))

        assert exported(other) == text, done
        left_out = [(each.tally, each.census.examples) for each in taken]
        assert not any(tally.skipped or tally.changed for tally, _ in left_out), (left_out, done)
        take(other, folder / "all.json")
        assert exported(other) == text, done
        other.database.close()
    assert len(set(done)) > 10


@pytest.mark.parametrize("seed", range(3))
def test_an_export_is_the_same_after_an_import_at_every_stage(
    make_home: Callable[[], ColdStore], tmp_path: Path, seed: int
):
    check_rounds(make_home, tmp_path, seed, 40)


@pytest.mark.long
def test_an_export_is_the_same_after_an_import_at_hundreds_of_stages(
    make_home: Callable[[], ColdStore], tmp_path: Path, rounds: Callable[[int, int], int]
):
    """Each stage costs as much as all before it hold."""
    check_rounds(make_home, tmp_path, random.randrange(1 << 30), rounds(100, 600))


ORDERS: list[Callable[[list[str]], list[str]]] = [
    sorted,
    lambda names: sorted(names, reverse=True),
    lambda names: random.Random(1).sample(names, len(names)),
]


def reordered(value: object, order: Callable[[list[str]], list[str]]) -> object:
    """Sort the keys of all objects, as another program does that writes the file again."""
    if isinstance(value, list):
        return [reordered(item, order) for item in value]
    if isinstance(value, dict):
        return {name: reordered(value[name], order) for name in order(list(value))}
    return value


@pytest.mark.parametrize("order", ORDERS)
def test_an_export_whose_keys_were_reordered_is_the_same_after_an_import(
    make_home: Callable[[], ColdStore], tmp_path: Path, order: Callable[[list[str]], list[str]]
):
    walk = Walk(make_home(), tmp_path, 2)
    for _ in range(60):
        walk.step()
    text = exported(walk.store)
    assert all(f'"{name}":' in text for name in ("tags", "persona", "holds", "cases", "files"))
    other = make_home()

    taken = take(other, written(tmp_path, "all.json", reordered(json.loads(text), order)))

    assert exported(other) == text
    assert not any(each.tally.skipped or each.tally.changed for each in taken)
    again = take(other, written(tmp_path, "all.json", text))
    assert not any(each.added or each.changed for each in again)


def test_a_field_that_another_program_added_is_counted_wherever_it_stands(
    make_home: Callable[[], ColdStore], tmp_path: Path
):
    home = make_home()
    home.append(home.create("One").id, [turn(1, "said")])
    value = json.loads(exported(home))
    (talk,) = value["conversations"]
    value["conversations"] = [{"mood": "calm", **talk, "weather": {"wind": "light"}}]

    (taken,) = take(make_home(), written(tmp_path, "all.json", value))

    assert taken.added == 1
    assert dict(taken.tally.skipped) == {"unknown field (mood)": 1, "unknown field (weather)": 1}


def test_a_later_export_brings_what_is_new_of_a_conversation_that_grew(
    make_home: Callable[[], ColdStore], tmp_path: Path
):
    home, other = make_home(), make_home()
    walk = Walk(home, tmp_path, 1)
    home.create("Harbour talk")
    walk.send()
    take(other, written(tmp_path, "before.json", exported(home)))
    walk.send()
    (talk,) = home.conversations()
    home.tag(talk.id, {"work"})
    home.rename(talk.id, "Cranes")
    said = home.turns(talk.id)[-2]
    Cases(home.database).put(Case(said, said, CaseKind.MISS, None, NOW))

    (taken,) = take(other, written(tmp_path, "after.json", exported(home)))

    assert (taken.added, taken.is_new) == (2, False)
    assert exported(other) == exported(home)
    (note,) = notes_of(other.database, [other.turns(talk.id)[-1].id]).values()
    assert (note.model, note.stop, note.usage) == ("scripted-1", "stop", Usage(100, 10))


def test_one_conversation_of_several_goes_without_what_others_said(
    make_home: Callable[[], ColdStore], tmp_path: Path
):
    home, other = make_home(), make_home()
    first, second = home.create("One"), home.create("Two")
    for made in (first, second):
        home.append(made.id, [turn(1, f"said in {made.title}")])
    facts = FactStore(home.database, "default", home.now)
    for name in (first.id, second.id):
        facts.keep(Fact(0, f"Fact of {name}.", FactKind.STATED, Source(1, 1, name)))
    facts.keep(Fact(0, "Mine.", FactKind.STATED, None))
    lines = (DocumentLine(Section.FACTS, "Both.", Source(1, 1, first.id)),)
    DocumentStore(home.database, "default", home.now).put(MemoryDocument(lines), "a-model")

    alone = json.loads(exported(home, [home.conversation(first.id)]))["projects"]
    path = written(tmp_path, "all.json", exported(home))
    source = open_source(path)
    wanted = picked(require_turns(conversations_of(source), source), second.id, source)
    list(take_all(other, wanted, source))

    assert [fact["text"] for fact in alone[0]["facts"]] == ["Fact of chat-1."]
    assert alone[0]["document"] == []
    assert FactStore(other.database, "default", other.now).all() == []
    assert DocumentStore(other.database, "default", other.now).latest().lines == ()
    assert source.tally.skipped == {"memory about conversations that were not imported": 1}


DAMAGES = [
    {"facts": [{"id": 1, "text": "x", "kind": "odd", "source": None, "state": "kept"}]},
    {"facts": [{"id": 1, "text": 5, "kind": "stated", "source": None}]},
    {"facts": [{"id": 1, "text": "x", "kind": "stated", "source": [1, 2]}]},
    {"facts": [{"id": 1, "text": "x", "kind": "stated", "source": {"first": 1, "last": "2"}}]},
    {"document": [{"section": "Facts", "source": None}]},
    {"document": [{"section": "Facts", "text": 5, "source": None}], "made_at": "2026-03-13"},
    {"through": {"chat-1": "x"}, "made_at": "2026-03-13"},
    {"made_at": "never"},
    {"facts": {}},
    {"project": ""},
]


@pytest.mark.parametrize("change", DAMAGES)
def test_damaged_memory_is_counted_and_the_rest_imported(
    make_home: Callable[[], ColdStore], tmp_path: Path, change: dict[str, object]
):
    home, other = make_home(), make_home()
    home.append(home.create("One").id, [turn(1, "said")])
    value = json.loads(exported(home))
    value["projects"][0] |= change
    source = open_source(written(tmp_path, "all.json", value))

    (taken,) = take_all(other, conversations_of(source), source)

    assert taken.added == 1
    assert source.tally.skipped == {"project that cannot be read": 1}
    exported(other)
