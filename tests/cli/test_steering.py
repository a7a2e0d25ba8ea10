"""`jitchat window` and `jitchat send` respect pins, exclusions and named turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.store.database import Database
from jitchat.store.pins import Pins
from jitchat.store.store import ColdStore

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell
    from tests.support import ScriptedProvider

QUESTION = "what did we settle on for the deploy window?"


@pytest.fixture(autouse=True)
def held(demo: None, home: Path) -> None:
    """In the demo, #4 is pinned and #9 is excluded."""
    database = Database(home / "jitchat.db")
    store = ColdStore(database)
    turns = store.turns(store.conversations()[0].id)
    for position, hold in ((4, "pinned"), (9, "excluded")):
        Pins(database).put(turns[position - 1], hold)
    database.close()


def test_the_window_has_pinned_and_named_turns_and_no_excluded_ones(jitchat: Shell):
    shown = jitchat("window", f"{QUESTION} and #12, #99, #9", "--json")
    kinds = {each["turn"]: each["kind"] for each in shown.json["segments"]}
    assert (kinds[4], kinds[12], 9 in kinds) == ("pinned", "retrieved", False)
    reasons = {row["turn"]: row["reason"] for row in shown.json["ledger"]}
    assert reasons[9] == "excluded by you"
    assert shown.err == "jitchat: no #99 here, #9 excluded by you\n"


def test_pins_and_exclusions_apply_to_sends(jitchat: Shell, scripted: ScriptedProvider):
    done = jitchat("send", f"{QUESTION} #99", "--conversation", "demo")
    sent = "".join(message.content for message in scripted.requests[-1])
    assert "<turn #4 " in sent
    assert "Tuesday 02:00 UTC" not in sent
    assert (done.code, done.err) == (0, "jitchat: no #99 here\n")
