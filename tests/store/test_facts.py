"""Facts of a project: proposed, kept, edited, superseded and found."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import UsageError
from jitchat.statements import Fact, FactKind, FactState, Source
from jitchat.store.database import Database
from jitchat.store.facts import LONGEST, FactStore, fact_text
from jitchat.store.store import ColdStore, project_name

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def facts(store: ColdStore) -> FactStore:
    store.create("Talk", "talk")
    return FactStore(store.database, "default", store.now)


def made(text: str, turn: int = 3, day: date | None = None) -> Fact:
    return Fact(0, text, FactKind.STANDING, Source(turn, turn, "talk"), day)


def test_a_proposed_fact_applies_once_it_is_kept(facts):
    (proposed,) = facts.propose([made("Always answer in French.")])
    assert proposed.state is FactState.PROPOSED
    assert facts.holding() == []
    change = facts.keep(proposed)
    assert facts.holding() == [change.kept]
    assert change.kept.source == Source(3, 3, "talk")
    assert change.kept.stated_on == date(2026, 3, 13)


def test_a_known_fact_is_not_proposed_again(facts):
    first = facts.propose([made("Always answer in French."), made("always answer in FRENCH.")])
    assert len(first) == 1
    assert facts.propose([made("Always answer in French.", turn=9)]) == []
    facts.forget(first[0])
    assert facts.propose([made("Always answer in French.", turn=11)]) == []


def test_a_later_statement_ends_the_validity_of_the_earlier_and_deletes_nothing(facts):
    french = facts.keep(made("Always answer in French.", day=date(2026, 3, 2))).kept
    change = facts.keep(made("From now on answer in German.", turn=9, day=date(2026, 3, 9)))
    assert change.superseded == (french,)
    assert facts.holding() == [change.kept]
    ended, _ = facts.all()
    assert (ended.valid_until, ended.superseded_by) == (date(2026, 3, 9), change.kept.id)
    assert facts.propose([made("Always answer in French.", turn=12)])  # said once more


def test_an_edit_replaces_the_fact_and_keeps_its_source(facts):
    kept = facts.keep(made("Always answer in Frensh.")).kept
    edited = facts.edit(kept, "Always answer\nin French.").kept
    assert (edited.text, edited.source) == ("Always answer in French.", kept.source)
    assert facts.holding() == [edited]
    assert facts.propose([made("Always answer in Frensh.")]) == []


def test_a_fact_is_found_by_id_text_or_a_unique_part_of_it(facts):
    first = facts.keep(made("The port is 9641.")).kept
    second = facts.keep(made("The port of Lisbon is large.")).kept
    assert facts.find(str(second.id)) == [second]
    assert facts.find("lisbon") == [second]
    assert facts.find("the port") == [first, second]
    assert facts.find("the port is 9641.") == [first]
    assert facts.find("nothing like it") == []


def test_projects_share_nothing(facts, store):
    facts.keep(made("The port is 9641."))
    assert FactStore(store.database, "work", store.now).all() == []


def test_the_stamp_changes_with_every_change(facts):
    stamps = [facts.stamp()]
    kept = facts.keep(made("The port is 9641.")).kept
    stamps.append(facts.stamp())
    edited = facts.edit(kept, "The port is 9642.").kept
    stamps.append(facts.stamp())
    facts.forget(edited)
    stamps.append(facts.stamp())
    assert len(set(stamps)) == len(stamps)


@pytest.mark.parametrize("text", ["", " \n", "x" * (LONGEST + 1)])
def test_a_text_that_is_not_a_short_statement_is_refused(text):
    with pytest.raises(UsageError):
        fact_text(text)


@pytest.mark.parametrize("name", ["", "  ", "x" * 61])
def test_an_invalid_project_name_is_refused(name):
    with pytest.raises(UsageError):
        project_name(name)


_KEEPS = """
import json, sys
from pathlib import Path
from jitchat.statements import Fact, FactKind
from jitchat.store.database import Database
from jitchat.store.facts import FactStore
from jitchat.store.store import local_now
database = Database(Path(sys.argv[1]))
facts = FactStore(database, "default", local_now)
sys.stdin.readline()
for text in json.loads(sys.argv[2]):
    facts.keep(Fact(0, text, FactKind.STANDING, None))
database.close()
"""


def test_of_contradicting_facts_kept_by_two_processes_one_applies(tmp_path: Path):
    path = tmp_path / "cold.db"
    Database(path).close()
    languages = ["English", "German", "French", "Spanish", "Italian", "Dutch"] * 5
    texts = [
        [f"Always answer in {name}." for name in languages],
        [f"From now on answer in {name}." for name in reversed(languages)],
    ]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _KEEPS, str(path), json.dumps(own)], stdin=subprocess.PIPE
        )
        for own in texts
    ]
    for process in running:
        process.communicate(b"\n")
        assert process.returncode == 0
    database = Database(path)
    facts = FactStore(database, "default", ColdStore(database).now)
    assert len(facts.all()) == 2 * len(languages)
    assert len(facts.holding()) == 1
    database.close()
