"""Everything is imported once: whole, again, as an older copy, and while it grows."""

from __future__ import annotations

import random
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from jitchat.errors import ImportFailed
from jitchat.replay import window_of
from jitchat.statements import Fact, FactKind, Source
from jitchat.store.database import Database
from jitchat.store.facts import FactStore
from jitchat.store.pins import Pins
from jitchat.store.regression_cases import Case, CaseKind, Cases
from jitchat.store.store import ColdStore
from jitchat.store.windows import WindowArchive, WindowRecord
from jitchat.transfer.incoming import Tally
from jitchat.values import Mode, Role, Turn
from tests.session.sending import send
from tests.store.segments import record_of
from tests.store.support import require_complete_index
from tests.support import session_on
from tests.transfer.claude_code import SESSION, line
from tests.transfer.exports import PNG, chatgpt, chatgpt_node, claude, claude_message
from tests.transfer.files import jsonl, take, written
from tests.transfer.growing import SOURCES, Growing
from tests.transfer.taken import every_turn, files_of, only, path_of, reasoning_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOW = datetime(2026, 3, 13, 10, tzinfo=UTC)
_ALL = 40
"""Items up to which every cut is tried."""
_DRAWN = 10


@pytest.fixture
def make_store(tmp_path: Path, empty_database: Path) -> Iterator[Callable[[], ColdStore]]:
    opened = list[Database]()

    def make() -> ColdStore:
        path = tmp_path / f"{len(opened)}.db"
        database = Database(shutil.copy(empty_database, path) and path)
        with database.writing() as connection:
            connection.execute("PRAGMA synchronous = OFF")
        opened.append(database)
        return ColdStore(database, lambda: NOW)

    yield make
    for database in opened:
        database.close()


def imported(store: ColdStore, path: Path) -> Tally:
    """Import a source, which can have no turns yet; return the tally of its conversations."""
    tally = Tally()
    with suppress(ImportFailed):
        for taken in take(store, path):
            tally.add(taken.tally)
    return tally


def state(store: ColdStore) -> dict[str, Any]:
    """Describe what is stored: each conversation's path, all its texts, and its files."""
    described: dict[str, Any] = {}
    for known in store.conversations():
        turns = every_turn(store, known)
        files = files_of(store, known)
        described[known.id] = {
            "path": path_of(store, known),
            "texts": sorted(
                f"{turn.role} {turn.created_at} {turn.content} {turn.use}"
                f" {reasoning_of(store, turn)}"
                for turn in turns
            ),
            "files": sorted((turn.content, files.get(turn.position, [])) for turn in turns),
        }
    return described


def cuts_of(source: Growing, rounds: Callable[[int, int], int]) -> list[int]:
    everything = range(1, source.items)
    number = len(everything) if source.items <= _ALL else rounds(_DRAWN, len(everything))
    return sorted(random.Random(1).sample(everything, number))


@pytest.fixture(params=SOURCES, ids=lambda source: source.name)
def source(request: pytest.FixtureRequest) -> Growing:
    given: Growing = request.param
    return given


def test_a_source_that_is_imported_again_adds_nothing(
    source: Growing, tmp_path: Path, make_store: Callable[[], ColdStore]
):
    store = make_store()
    path = source.write(tmp_path, source.items)
    tally = imported(store, path)
    expected = state(store)

    again = take(store, path)

    assert not any(taken.added or taken.changed for taken in again)
    assert state(store) == expected
    counted = Tally()
    for taken in again:
        counted.add(taken.tally)
    assert (counted.skipped, counted.changed) == (tally.skipped, tally.changed)


def test_an_older_copy_changes_nothing(
    source: Growing,
    tmp_path: Path,
    make_store: Callable[[], ColdStore],
    rounds: Callable[[int, int], int],
):
    whole = make_store()
    imported(whole, source.write(tmp_path, source.items))
    expected = state(whole)

    for cut in cuts_of(source, rounds):
        imported(whole, source.write(tmp_path, cut))
        assert state(whole) == expected, cut


def test_a_source_that_was_imported_when_it_was_shorter_ends_as_one_import(
    source: Growing,
    tmp_path: Path,
    make_store: Callable[[], ColdStore],
    rounds: Callable[[int, int], int],
):
    once = make_store()
    tally = imported(once, source.write(tmp_path, source.items))
    expected = state(once)

    for cut in cuts_of(source, rounds):
        store = make_store()
        imported(store, source.write(tmp_path, cut))
        last = imported(store, source.write(tmp_path, source.items))
        assert state(store) == expected, cut
        assert (last.skipped, last.changed) == (tally.skipped, tally.changed), cut
        store.database.close()


def test_a_source_that_is_imported_item_by_item_ends_as_one_import(
    source: Growing, tmp_path: Path, make_store: Callable[[], ColdStore]
):
    once, store = make_store(), make_store()
    imported(once, source.write(tmp_path, source.items))

    for count in range(1, source.items + 1):
        imported(store, source.write(tmp_path, count))

    assert state(store) == state(once)


def test_every_string_of_a_source_is_stored_or_counted(
    source: Growing, tmp_path: Path, make_store: Callable[[], ColdStore]
):
    for taken in take(make_store(), source.write(tmp_path, source.items)):
        assert taken.census.examples == []


# What stands on a turn


def session_lines(answer: str, *more: dict[str, Any]) -> str:
    """A question and an answer, which can be incomplete."""
    said = [{"type": "text", "text": answer}]
    return jsonl([
        line("u1", None, "user", "When is high tide?"),
        line("a1", "u1", "assistant", said, answer="m1"),
        *more,
    ])  # fmt: skip


LATER = line("u2", "a1", "user", "And low tide?")


def grow(store: ColdStore, folder: Path, *, answer: str = "At six, and at noon.") -> Any:
    path = written(folder, f"{SESSION}.jsonl", session_lines(answer, LATER))
    return only(store, path)


@pytest.fixture
def talk(tmp_path: Path, make_store: Callable[[], ColdStore]) -> tuple[ColdStore, str]:
    store = make_store()
    taken = only(store, written(tmp_path, f"{SESSION}.jsonl", session_lines("At six,")))
    return store, taken.id


def windows_of(store: ColdStore, name: str) -> list[tuple[object, ...]]:
    """Return everything that is shown of each window that was sent."""
    archive = WindowArchive(store.database)
    return [
        (send.digest, archive.by_id(send.window_id), window_of(store.database, send.window_id))
        for send in archive.sends(name)
    ]


def test_a_turn_that_grew_gets_its_last_form(talk: tuple[ColdStore, str], tmp_path: Path):
    store, name = talk
    list(session_on(store, store.conversation(name)).memory.index.catch_up())

    taken = grow(store, tmp_path)

    assert (taken.added, taken.changed) == (1, 1)
    assert path_of(store, taken) == [
        "u: When is high tide?", "a: At six, and at noon.", "u: And low tide?",
    ]  # fmt: skip
    assert store.branches(name) == {}
    assert [match.position for match in store.search("noon")] == [2]
    assert store.search("nothing") == []
    session = session_on(store, store.conversation(name))
    assert "noon" in next(e for e in session.memory.index.entries([2])).summary
    require_complete_index(store.database)


async def test_a_window_keeps_what_was_sent_and_the_last_form_becomes_a_version(
    talk: tuple[ColdStore, str], tmp_path: Path
):
    store, name = talk
    session = session_on(store, store.conversation(name))
    await send(session, "Are you sure?", Mode.FULL)
    sent = windows_of(store, name)

    taken, again = grow(store, tmp_path), grow(store, tmp_path)

    assert windows_of(store, name) == sent
    assert (taken.added, taken.changed, again.added, again.changed) == (2, 0, 0, 0)
    assert path_of(store, taken)[1:] == ["a: At six,", "u: Are you sure?", "a: Understood."]
    assert store.branches(name)[2] == (2, 5)
    assert [turn.content for turn in store.turns_at(name, [5, 6])] == [
        "At six, and at noon.", "And low tide?",
    ]  # fmt: skip


def test_a_window_of_another_conversation_keeps_what_it_quoted(
    talk: tuple[ColdStore, str], tmp_path: Path
):
    store, name = talk
    answer = store.turn(name, 2)
    (said,) = store.append(store.create("Elsewhere").id, [Turn(0, Role.USER, "Which tide?")])
    segment = record_of("retrieved", answer.content, turn_id=answer.id)
    archive = WindowArchive(store.database)
    window_id = archive.put(said.id, WindowRecord("digest", {}, [segment], []))
    sent = archive.by_id(window_id)

    taken = grow(store, tmp_path)

    assert archive.by_id(window_id) == sent
    assert "a: At six, and at noon." in path_of(store, taken)


@pytest.mark.parametrize("kind", ["pin", "fact", "fork", "case"])
def test_what_a_pin_a_fact_a_fork_or_a_report_stands_on_stays(
    talk: tuple[ColdStore, str], tmp_path: Path, kind: str
):
    store, name = talk
    asked, answer = store.turns(name)
    if kind == "pin":
        Pins(store.database).put(answer, "pinned")
    elif kind == "fact":
        fact = Fact(0, "High tide is at six.", FactKind.STATED, Source(2, 2, name))
        FactStore(store.database, "default", store.now).keep(fact)
    elif kind == "fork":
        store.append(name, [Turn(0, Role.USER, "Why six?")], 2)
    else:
        Cases(store.database).put(Case(asked, answer, CaseKind.MISS, None, NOW))

    taken = grow(store, tmp_path)

    texts = [turn.content for turn in every_turn(store, taken)]
    assert {"At six,", "At six, and at noon."} <= set(texts)
    assert store.turn(name, 2).content == "At six,"
    assert grow(store, tmp_path).added == 0


def test_a_version_that_grows_again_gets_its_last_form(talk: tuple[ColdStore, str], tmp_path: Path):
    store, name = talk
    Pins(store.database).put(store.turn(name, 2), "pinned")
    grow(store, tmp_path)

    taken = grow(store, tmp_path, answer="At six, and at noon. Mind the wind.")

    assert (taken.added, taken.changed) == (0, 1)
    assert path_of(store, taken)[1] == "a: At six, and at noon. Mind the wind."
    assert len(every_turn(store, taken)) == 4


def test_a_database_of_before_has_its_turns_recognized(
    tmp_path: Path, make_store: Callable[[], ColdStore]
):
    store = make_store()
    taken = only(store, written(tmp_path, f"{SESSION}.jsonl", session_lines("At six,")))
    # as they were imported then: the key was a hash of the text, and there was no form
    store.database.execute("UPDATE imported_turns SET key = form, form = NULL")

    again = grow(store, tmp_path)

    assert (again.added, again.changed) == (1, 1)
    assert len(every_turn(store, taken)) == 3


# Titles, files


def test_a_title_is_taken_over_until_the_user_gives_another(
    tmp_path: Path, make_store: Callable[[], ColdStore]
):
    store = make_store()

    def title_after(name: str, month: int = 1) -> str:
        talk = claude(claude_message("1", "", "human", "Hello"), name=name)
        talk["updated_at"] = f"2026-0{month}-01T10:00:00Z"
        taken = only(store, written(tmp_path, "c.json", [talk]))
        return store.conversation(taken.id).title

    assert title_after("Kites") == "Kites"
    assert title_after("Red kites", 3) == "Red kites"
    assert title_after("Kites", 2) == "Red kites"  # an older copy
    assert title_after("x" * 150, 4) == "x" * 150
    store.rename(store.conversations()[0].id, "Mine")
    assert title_after("Blue kites", 5) == "Mine"


def test_the_zip_after_the_json_adds_its_files_also_where_a_pin_stands(
    tmp_path: Path, make_store: Callable[[], ColdStore]
):
    file = {"file_name": "kite.png"}
    talk = [claude(claude_message("1", "", "human", "Look", files=[file]))]
    plain = written(tmp_path, "conversations.json", talk)
    folder = tmp_path / "zip"
    folder.mkdir()
    written(folder, "conversations.json", talk)
    written(folder, "kite.png", PNG)

    for is_pinned in (False, True):
        store = make_store()
        taken = only(store, plain)
        assert files_of(store, taken) == {}
        if is_pinned:
            Pins(store.database).put(store.turn(taken.id, 1), "pinned")
        changed, again, older = only(store, folder), only(store, folder), only(store, plain)
        assert (changed.added, changed.changed) == (0, 1)
        assert not any((again.added, again.changed, older.added, older.changed))
        assert files_of(store, taken) == {1: [("kite.png", "image/png")]}
        text = "u: Look\n\n[file: kite.png]" if is_pinned else "u: Look"
        assert path_of(store, taken) == [text]


def test_an_older_copy_with_more_branches_and_files_changes_neither_text_nor_head(
    tmp_path: Path, make_store: Callable[[], ColdStore]
):
    def talk(day: int, text: str, *others: Any, files: object = ()) -> list[object]:
        asked = claude_message("1", "", "human", text, files=files)
        return [claude(asked, *others, updated_at=f"2026-03-0{day}T10:00:00Z")]

    folder = tmp_path / "older"
    folder.mkdir()
    branch = claude_message("3", "1", "assistant", "A branch that was deleted later.")
    files = [{"file_name": "kite.png"}]
    written(folder, "conversations.json", talk(2, "An old text", branch, files=files))
    written(folder, "kite.png", PNG)
    reply = claude_message("2", "1", "assistant", "Kites fly.")
    newer = written(tmp_path, "conversations.json", talk(3, "Kites?", reply))
    store = make_store()
    taken = only(store, newer)

    older = only(store, folder, is_whole=False)  # the old text is in the tally

    assert (older.added, older.changed) == (1, 1)
    assert path_of(store, taken) == ["u: Kites?", "a: Kites fly."]
    assert files_of(store, taken) == {1: [("kite.png", "image/png")]}
    assert store.conversation(taken.id).updated_at.day == 3


def test_the_json_after_the_zip_leaves_what_the_zip_brought(
    tmp_path: Path, make_store: Callable[[], ColdStore]
):
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_1"}
    drawn = {"content_type": "multimodal_text", "parts": [picture]}
    talk = chatgpt(
        chatgpt_node("q", None, "user", text="Draw"),
        chatgpt_node("a", "q", "tool", content=drawn),
    )
    plain = written(tmp_path, "conversations.json", [talk])
    folder = tmp_path / "zip"
    folder.mkdir()
    written(folder, "conversations.json", [talk])
    written(folder, "file_1-kite.png", PNG)
    store, whole = make_store(), make_store()
    imported(whole, folder)

    for path in (folder, plain, folder):
        imported(store, path)

    assert state(store) == state(whole)
    assert only(store, plain).changed == only(store, folder).changed == 0
