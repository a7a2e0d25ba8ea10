"""`jitchat why`: for a window that would be sent, and for one that was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Shell
    from tests.support import ScriptedProvider

pytestmark = pytest.mark.usefixtures("demo")
QUESTION = "what did we settle on for the deploy window?"


def test_a_turn_is_explained_for_a_text_and_nothing_is_stored(jitchat: Shell):
    before = jitchat.stored()

    done = jitchat("why", "#9", QUESTION)
    found = jitchat("why", "20", QUESTION, "--json").json

    assert done.code == 0
    heading, first, *_ = done.out.splitlines()
    assert heading == f"The window that would be sent in jit for “{QUESTION}”:"
    assert first.startswith("#9 is in the window as retrieved, ~")
    assert list(found) == [
        "conversation", "mode", "sent_for", "text", "turn", "standing", "sentences", "row",
        "placed",
    ]  # fmt: skip
    assert (found["standing"], found["row"]) == ("never a candidate", None)
    assert (found["placed"]["rank"], found["placed"]["of"]) == (28, 60)
    assert jitchat.stored() == before


def test_without_a_text_the_last_message_is_planned_again(jitchat: Shell):
    found = jitchat("why", "59", "--json").json

    assert (found["text"], found["sent_for"]) == (jitchat.stored()["demo"][58], None)
    assert found["standing"] == "the message itself"


def test_the_stored_ledger_explains_a_sent_window(jitchat: Shell, scripted: ScriptedProvider):
    assert jitchat("send", QUESTION, "--conversation", "demo").code == 0
    said, reply = "61", "62"

    told = jitchat("why", "9", "--turn", said)
    never = jitchat("why", "20", "--turn", f"#{said}", "--json").json

    assert told.out.startswith(f"The window that was sent in jit for #61, “{QUESTION}”:\n#9 is in")
    assert (never["sent_for"], never["standing"]) == (61, "never a candidate")
    assert never["sentences"][-1].endswith("Ranked with today's index.")
    assert jitchat("why", "9", "--turn", reply).out == told.out


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("999", QUESTION), 1, "There is no #999: the last turn is #60."),
        (("9", "--turn", "59"), 1, "--turn: no window was sent for #59. Name a message"),
        (("9", "--turn", "999"), 1, "--turn: no window was sent for #999."),
        (("9", "hi", "--turn", "59"), 2, "TEXT and --turn cannot be combined. Give one of them."),
        (("nine",), 2, "'nine' is not a turn number."),
        (("9", " "), 2, "TEXT is empty."),
        (("9", "hi", "--limit", "600", "--mode", "full", "--reserve", "9"), 1, "switch to jit"),
    ],
)
def test_unanswerable_questions_end_with_an_error(
    jitchat: Shell, arguments: tuple[str, ...], code: int, told: str
):
    done = jitchat("why", *arguments)

    assert (done.code, done.out) == (code, "")
    assert told in done.err
    described = jitchat("why", *arguments, "--json")
    assert described.code == code
    assert told in json.loads(described.out)["error"]
