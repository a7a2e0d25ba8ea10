"""Evidence text held: which words a window must contain, and in which text they count."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from jitchat.bench.evidence import (
    evidence_held,
    needed_words,
    single_facts,
    words_of_turn,
)
from jitchat.bench.questions import Question
from jitchat.statements import (
    NOTHING_DISTILLED,
    Distilled,
    DocumentLine,
    MemoryDocument,
    Observation,
    Observations,
    Priority,
    Section,
    Source,
)
from jitchat.text.words import stems
from jitchat.values import Mode, Role, Turn
from jitchat.window.budget import Budget
from jitchat.window.history import History
from jitchat.window.parts import Sources
from jitchat.window.plan import plan
from jitchat.window.tokens import EstimateCounter, message_tokens

COUNTER = EstimateCounter()
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SAID = {
    1: "Good morning. The deploy window is Tuesday at 14:00, and Ana runs it. It rains.",
    2: "Noted." + " It goes on." * 600,
    3: "What a day.",
}


def asked(answer: str, evidence: set[int] = frozenset({1}), text: str = "When is the deploy?"):
    return Question(text, "single-hop", frozenset(evidence), frozenset(evidence), answer)


def window(distilled: Distilled = NOTHING_DISTILLED, mode: Mode = Mode.OBSERVE, **more: object):
    roles = {1: Role.USER, 2: Role.ASSISTANT, 3: Role.USER}
    turns = tuple(Turn(at, roles[at], text, NOON) for at, text in SAID.items())
    history = History().following(turns, lambda *text: message_tokens(COUNTER, *text))
    draft = Turn(4, Role.USER, "And now?", NOON)
    known = Sources(history, draft, "model", distilled=distilled, **more)  # type: ignore[arg-type]
    return plan(mode, known, Budget(size=1_000), COUNTER)


def observed(text: str, *sources: Source) -> Distilled:
    source = sources[0] if sources else Source(1, 2)
    return Distilled(Observations((Observation(text, source, Priority.HIGH, NOON),), 2))


def test_what_an_answer_shares_with_the_turn_is_needed():
    needed = needed_words(SAID[1], asked("on Tuesdays, 2 pm, says Bea"))
    assert needed == {*stems("Tuesday"), *stems("14:00")}


def test_an_answer_that_shares_nothing_needs_the_sentence_that_fits_the_question():
    sentence = frozenset(stems("The deploy window is Tuesday at 14:00, and Ana runs it."))
    assert needed_words(SAID[1], asked("Yes")) == sentence
    assert needed_words(SAID[1], asked("")) == sentence


def test_a_raw_turn_holds_its_evidence():
    assert evidence_held(window(mode=Mode.FULL), asked("Tuesday"), SAID) == {1}


@pytest.mark.parametrize(
    ("text", "source", "held"),
    [
        ("The deploy window is Tuesday at 2 pm.", Source(1, 2), True),
        ("The deploy window is set for 14:00.", Source(1, 2), False),
        ("The deploy window is Tuesday at 14:00.", Source(2, 2), False),
        ("The deploy window is Tuesday at 14:00.", Source(1, 1, "other"), False),
    ],
)
def test_a_statement_holds_the_evidence_of_its_sources_if_all_words_are_there(text, source, held):
    found = window(observed(text, source))
    assert (evidence_held(found, asked("Tuesday at 14:00"), SAID) == {1}) is held


def test_words_may_stand_in_several_statements_of_the_turn():
    lines = (Observation("Tuesday it is.", Source(1, 1)), Observation("At 14:00.", Source(1, 2)))
    found = window(Distilled(Observations(lines, 2)))
    assert evidence_held(found, asked("Tuesday at 14:00"), SAID) == {1}


def test_what_jitchat_writes_around_a_statement_is_no_word_of_the_turn():
    dated = Observation("So it is.", Source(1, 1), Priority.HIGH, NOON, ("2026-03-02",))
    found = window(Distilled(Observations((dated,), 2)))
    assert words_of_turn(found, 1) == frozenset(stems("So it is."))


def test_each_evidence_turn_is_held_or_not():
    found = window(observed("The deploy window is Tuesday."))
    both = asked("Tuesday at 14:00, what a day", {1, 3})
    assert evidence_held(found, both, SAID) == {3}
    assert evidence_held(found, asked("Tuesday", set()), SAID) == set()


def test_a_document_holds_the_evidence_of_the_conversation_that_it_names():
    line = DocumentLine(
        Section.FACTS, "The deploy is Tuesday.", Source(1, 1, "talk-1"), NOON.date()
    )
    found = window(Distilled(document=MemoryDocument((line,), 1), in_document=3), Mode.DOCUMENT)
    assert evidence_held(found, asked("Tuesday"), SAID, "talk-1") == {1}
    assert evidence_held(found, asked("Tuesday"), SAID) == set()


def test_a_single_fact_has_one_turn_and_a_category_of_single_facts():
    one = asked("Tuesday")
    assert single_facts([one, asked("Tuesday", {1, 2}), replace(one, category="temporal")]) == [one]
