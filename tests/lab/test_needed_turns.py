"""How many needed turns a window holds, at full text or in statements."""

from __future__ import annotations

from jitchat.lab.facts import Fact, Kind, Saying
from jitchat.lab.lab import Needed, needed_held
from jitchat.statements import Distilled, DocumentLine, MemoryDocument, Section, Source
from jitchat.values import Mode
from jitchat.window.plan import plan
from tests.window.test_statements import BUDGET, COUNTER, observed, sources

SAID = "By the way, the port is 9641."


def needed(turn: int, *accepted: str, text: str = SAID) -> Needed:
    fact = Fact(Kind.DIRECT, "port", (Saying(text, "Noted."),), "Which port?", "9641", accepted)
    return Needed("demo", {turn: text}, fact)


def test_a_turn_at_full_text_is_held_and_one_that_nothing_carries_is_not() -> None:
    window = plan(Mode.OBSERVE, sources(observed(110)), BUDGET, COUNTER)
    assert needed_held(window, needed(120, "9641")) == 1
    assert needed_held(window, needed(9, "9641")) == 0


def test_an_observation_holds_the_turns_that_it_names_if_it_has_the_answer() -> None:
    window = plan(Mode.OBSERVE, sources(observed(110)), BUDGET, COUNTER)
    assert needed_held(window, needed(2, "9641")) == 1
    assert needed_held(window, needed(2, "8080", text="By the way, the port is 8080.")) == 0


def test_where_a_turn_does_not_say_the_answer_the_words_of_the_question_count() -> None:
    window = plan(Mode.OBSERVE, sources(observed(110)), BUDGET, COUNTER)
    assert needed_held(window, needed(1, text="Forget the port that I named.")) == 1
    assert needed_held(window, needed(1, text="Nothing of the kind.")) == 0


def test_a_line_of_the_document_holds_turns_of_its_own_conversation() -> None:
    line = DocumentLine(Section.FACTS, "The port is 9641.", Source(1, 2, "demo"))
    other = DocumentLine(Section.FACTS, "The port is 9641.", Source(3, 3, "other"))
    document = MemoryDocument((line, other), 1)
    window = plan(
        Mode.DOCUMENT, sources(Distilled(document=document, in_document=110)), BUDGET, COUNTER
    )
    assert needed_held(window, needed(2, "9641")) == 1
    assert needed_held(window, needed(3, "9641")) == 0
