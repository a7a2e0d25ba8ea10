"""Everything is imported once: whole, again, as an older copy, and while it grows."""

from __future__ import annotations

import random
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from jitchat.errors import ImportFailed
from jitchat.replay import Replay
from jitchat.statements import Fact, FactKind, Source
from jitchat.store.database import Database
from jitchat.store.facts import FactStore
from jitchat.store.pins import Pins
from jitchat.store.store import ColdStore
from jitchat.store.windows import WindowArchive
from jitchat.transfer.incoming import Tally
from tests.session.sending import send
from tests.support import session_on
from tests.transfer.claude_code import SESSION, claude_code_session, line
from tests.transfer.exports import claude, claude_message
from tests.transfer.files import jsonl, take, written
from tests.transfer.growing import SOURCES, Growing, busy_session
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
        with database.read() as connection:
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
