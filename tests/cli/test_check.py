"""`jitchat check`: its table, its JSON and its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.cli.check import NONE_YET
from jitchat.store.database import Database
from jitchat.store.regression_cases import Case, CaseKind, Cases
from jitchat.store.store import ColdStore

if TYPE_CHECKING:
    from tests.cli.conftest import Shell
    from tests.support import ScriptedProvider

pytestmark = pytest.mark.usefixtures("demo")
QUESTION = "what did we settle on for the deploy window?"


def note(jitchat: Shell, *wanted: int) -> None:
    database = Database(jitchat.home / "jitchat.db")
    store = ColdStore(database)
    turns = {turn.position: turn for turn in store.turns("demo")}
    for turn in wanted:
        case = Case(turns[61], turns[turn], CaseKind.MISS, 1, store.now())
        Cases(database).put(case)
    database.close()


def test_cases_are_reported_with_past_and_present_and_a_failing_one_fails(
    jitchat: Shell, scripted: ScriptedProvider
):
    none = jitchat("check")
    assert (none.code, none.out) == (0, f"{NONE_YET}\n")
    assert jitchat("check", "--json").json == {"cases": [], "found": 0, "failed": 0}

    assert jitchat("send", QUESTION, "--conversation", "demo").code == 0
    note(jitchat, 9)
    before = jitchat.stored()
    good = jitchat("check")
    assert good.code == 0
    assert good.out.splitlines() == [
        "demo",
        "  case    message                             turn  then           now",
        "✓ 1 miss  #61 what did we settle on for the…  #9    in the window  in the window",
        "1 case: 1 found, 0 not found.",
    ]
    note(jitchat, 20)
    bad = jitchat("check", "--conversation", "demo")
    assert bad.code == 1
    assert bad.out.splitlines()[-1] == "2 cases: 1 found, 1 not found."
    assert "    #20 was never a candidate: rank 28 of 60" in bad.out
    told = jitchat("check", "--json")
    assert told.code == 1
    assert '"then": "never a candidate"' in told.out
    assert jitchat.stored() == before
    assert jitchat("check", "--conversation", "nowhere").code == 2
