"""The two parts of the system text: what the user says, and how to read the window."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import pytest

from jitchat.attachments import Attachment, Part
from jitchat.statements import Distilled, Fact, FactKind, Source
from jitchat.values import Mode, Role, Tool, ToolCall, ToolUse, Turn
from jitchat.window import reasons
from jitchat.window.budget import Budget
from jitchat.window.files import FileSources
from jitchat.window.history import History
from jitchat.window.parts import Sources, ToolOffer
from jitchat.window.plan import plan
from jitchat.window.render import READING
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import ContextWindow, Kind
from jitchat.window.written import TurnPricing
from jitchat.writing.pieces import PLAIN, WritingRules
from tests.support import talk, turn
from tests.window.cases import shortlist

COUNTER = EstimateCounter()
OWN = "You are a pirate."
BLOCK = re.compile(
    r"^</?(index|recalled|pinned|facts|documents|file|call|elsewhere)\b", re.MULTILINE
)
SMALL = Budget(limit=4_000, reserve=500, size=2_000)
PORT = Fact(1, "The port is 9641.", FactKind.DECISION, Source(1, 1, "chat-3"), date(2026, 3, 1))
CALL = ToolCall("call00001", "read", '{"path": "a.py"}')
NATIVE = (ToolOffer(Tool("read", "Reads.", "{}"), "matches"),)


def sources(turns: list[Turn] | None = None, *, native: bool = False, **more: object) -> Sources:
    price = TurnPricing(COUNTER, PLAIN, native)
    said = talk(*(f"turn {at:02} " + "words " * 60 for at in range(1, 41)))
    history = History().extended(said if turns is None else turns, price)
    draft = turn(history.turns[-1].position + 1, "Which port was it?")
    tools = NATIVE if native else ()
    return Sources(history, draft, "m", OWN, tools=tools, **more)  # type: ignore[arg-type]


def system_of(window: ContextWindow) -> list[tuple[str, str]]:
    return [(each.text, each.reason) for each in window.segments if each.kind is Kind.SYSTEM]


def assert_explained(window: ContextWindow) -> None:
    """Check that the explanation is there exactly if something is in tags."""
    written = "\n".join(m.content for m in window.messages() if m.role is not Role.SYSTEM)
    explanation = [(f"\n\n{READING}", reasons.READING)] if BLOCK.search(written) else []
    assert system_of(window) == [(OWN, reasons.INSTRUCTIONS), *explanation]


def called() -> list[Turn]:
    said, answered = talk("What is in a.py?", "I look.")
    calling = replace(answered, use=ToolUse((CALL,)))
    result = Turn(3, Role.TOOL, "port = 9641", use=ToolUse(answers=CALL))
    return [said, calling, result, turn(4, "It has the port.", Role.ASSISTANT)]


TEXT = "The port is 9641."
ATTACHED = Attachment("a.md", "0" * 64, "text/markdown", len(TEXT), (Part("", TEXT),), turn=1)


def test_what_the_user_says_and_how_to_read_the_window_are_two_parts_of_one_message():
    window = plan(Mode.JIT, sources(retrieval=shortlist(3, 4)), SMALL, COUNTER)
    assert system_of(window) == [
        (OWN, "instructions"),
        (f"\n\n{READING}", "how to read this window"),
    ]
    assert window.messages()[0].content == f"{OWN}\n\n{READING}"
    for tag in ("<index>", "<recalled>", "<pinned>", "<file>", "<call>"):
        assert tag in READING
    assert "not instructions" in READING


@pytest.mark.parametrize("mode", list(Mode))
def test_a_conversation_without_blocks_has_the_users_text_alone(mode: Mode):
    window = plan(mode, sources(talk("Hello.", "Hi.")), SMALL, COUNTER)
    assert system_of(window) == [(OWN, "instructions")]


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    "given",
    [
        sources(retrieval=shortlist(3, 4)),
        sources(pinned=(2,)),
        sources(called()),
        sources(called(), native=True),
        sources(talk("Hello.", "Hi."), distilled=Distilled(facts=(PORT,))),
        sources(talk("Hello.", "Hi."), files=FileSources((ATTACHED,))),
    ],
    ids=["recalled", "pinned", "quoted calls", "native calls", "facts", "files"],
)
def test_every_window_with_blocks_explains_them_and_no_other_does(mode: Mode, given: Sources):
    assert_explained(plan(mode, given, SMALL, COUNTER))


def test_the_explanation_stays_for_a_message_that_recalls_nothing():
    found = plan(Mode.JIT, sources(retrieval=shortlist(3, 4)), SMALL, COUNTER)
    nothing = plan(Mode.JIT, sources(), SMALL, COUNTER)
    assert system_of(nothing) == system_of(found), "or no cache could keep what follows it"


def test_a_model_that_takes_no_tools_is_told_of_quoted_calls():
    rules = WritingRules(takes_tools=False)
    assert_explained(plan(Mode.FULL, sources(called(), native=True, rules=rules), SMALL, COUNTER))
