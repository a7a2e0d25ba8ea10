"""How statements are written into a window, and what the distilling modes send with them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import WindowOverflow
from jitchat.statements import (
    Distilled,
    DocumentLine,
    MemoryDocument,
    Observation,
    Observations,
    Priority,
    Section,
    Source,
    Superseded,
)
from jitchat.values import Mode, Role, Turn
from jitchat.window import reasons
from jitchat.window.budget import Budget
from jitchat.window.cost import choosing_sentences
from jitchat.window.history import History
from jitchat.window.parts import Sources
from jitchat.window.plan import plan
from jitchat.window.statements import (
    document_line,
    document_segments,
    observation_line,
    observation_segments,
    observation_tokens,
    sources_of,
    statements_of,
)
from jitchat.window.tokens import EstimateCounter, message_tokens
from jitchat.window.window import Kind
from tests.window.cases import ODD_TEXTS

COUNTER = EstimateCounter()
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
TEXTS = st.one_of(st.sampled_from(ODD_TEXTS), st.text(max_size=60), st.just("see (#3–#9)"))
SOURCES = st.builds(
    lambda first, more, where: Source(first, first + more, where),
    st.integers(1, 10**6),
    st.integers(0, 99),
    st.sampled_from(["", "chat-3"]),
)


def talk(count: int) -> tuple[Turn, ...]:
    roles = (Role.USER, Role.ASSISTANT)
    return tuple(
        Turn(number, roles[(number - 1) % 2], f"Statement number {number} of the talk.", NOON)
        for number in range(1, count + 1)
    )


def sources(distilled: Distilled, count: int = 20, **more: object) -> Sources:
    history = History().following(talk(count), lambda *text: message_tokens(COUNTER, *text))
    draft = Turn(count + 1, Role.USER, "And now?", NOON)
    return Sources(history, draft, "model", distilled=distilled, **more)  # type: ignore[arg-type]


def observed(through: int, text: str = "The port is 9641.") -> Distilled:
    line = Observation(text, Source(1, 2), Priority.HIGH, NOON)
    return Distilled(Observations((line,), through))


@given(TEXTS, SOURCES)
def test_the_sources_of_a_written_line_are_read_back(text, source):
    assert sources_of(observation_line(Observation(text, source, said_at=NOON))) == source
    assert sources_of(document_line(DocumentLine(Section.NOTES, text, source))) == source


def test_a_line_says_when_how_important_of_which_day_and_what_took_its_place():
    line = Observation(
        "The port is 9641.",
        Source(3, 3),
        Priority.HIGH,
        NOON,
        ("2026-03-09",),
        Superseded(40, date(2026, 3, 12)),
    )
    assert observation_line(line) == (
        "- 12:00 [high] The port is 9641. (of 2026-03-09) (superseded 2026-03-12 by #40) (#3)\n"
    )


def test_a_medium_line_of_the_same_minute_tells_neither():
    first = Observation("One.", Source(1, 1), Priority.LOW, NOON)
    second = Observation("Two.", Source(2, 2), said_at=NOON)
    (segment,) = observation_segments(Observations((first, second), 2), COUNTER.count)
    assert "- 12:00 [low] One. (#1)\n- Two. (#2)\n" in segment.text
    assert observation_tokens(Observations((first, second), 2), COUNTER.count) == segment.tokens


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_no_line_can_close_its_fence(texts):
    lines = tuple(Observation(text, Source(1, 1)) for text in texts)
    (segment,) = observation_segments(Observations(lines, 1), COUNTER.count)
    opening = segment.text.partition("\n")[0]
    closing = opening.replace("<", "</")
    assert segment.role is Role.USER
    assert segment.text.endswith(f"\n{closing}\n")
    assert segment.text.casefold().count(closing) == 1


def test_a_pass_that_adds_lines_leaves_what_is_ahead_of_them_to_the_prompt_cache():
    first = Observation("The port is 9641.", Source(1, 2), said_at=NOON)
    second = Observation("The freeze is on Friday.", Source(3, 4), said_at=NOON)
    (before,) = observation_segments(Observations((first,), 2), COUNTER.count)
    (after,) = observation_segments(Observations((first, second), 4), COUNTER.count)
    ahead, _, _ = before.text.partition("So far, the notes stand for turns #1–#2.")
    assert after.text.startswith(ahead)
    assert "\nSo far, the notes stand for turns #1–#4.\n" in after.text


def test_observe_sends_the_observations_and_the_turns_behind_them():
    window = plan(Mode.OBSERVE, sources(observed(15)), Budget(), COUNTER)
    turns = [each.turn for each in window.segments if each.kind is Kind.RECENT]
    assert turns == [16, 17, 18, 19, 20]
    assert "The port is 9641. (#1–#2)" in window.messages()[1].content
    assert window.never_candidates is not None
    assert window.never_candidates.turns == 15
    assert window.never_candidates.reason == reasons.OBSERVED
    assert window.used + window.free + window.budget.reserve == window.budget.limit


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.DOCUMENT])
def test_while_nothing_is_distilled_every_turn_is_sent(mode):
    known = sources(Distilled())
    distilling = plan(mode, known, Budget(), COUNTER)
    full = plan(Mode.FULL, known, Budget(), COUNTER)
    assert distilling.messages() == full.messages()


def test_a_pin_among_the_observed_turns_is_quoted_beside_the_observations():
    window = plan(Mode.OBSERVE, sources(observed(35), 40, pinned=(7, 37)), Budget(), COUNTER)
    assert [each.turn for each in window.segments if each.kind is Kind.PINNED] == [7]
    assert "number 7" in window.messages()[2].content


def test_what_is_not_observed_and_does_not_fit_is_refused_with_the_overshoot():
    with pytest.raises(WindowOverflow, match="not observed yet") as refused:
        plan(Mode.OBSERVE, sources(observed(2)), Budget(limit=200, reserve=20), COUNTER)
    assert refused.value.overshoot > 0


def test_the_document_stands_for_the_turns_that_it_was_written_from():
    line = DocumentLine(Section.FACTS, "The port is 9641.", Source(1, 2, "demo"), NOON.date())
    distilled = Distilled(document=MemoryDocument((line,), 4), in_document=18)
    window = plan(Mode.DOCUMENT, sources(distilled), Budget(), COUNTER)
    assert [each.turn for each in window.segments if each.kind is Kind.RECENT] == [19, 20]
    assert "## Facts\n- The port is 9641. (2026-03-02) (demo #1–#2)" in window.messages()[1].content
    assert window.segments[2].reason == "the memory document, version 4"


@given(
    mode=st.sampled_from([Mode.OBSERVE, Mode.DOCUMENT]),
    texts=st.lists(TEXTS, min_size=1, max_size=30),
    count=st.integers(2, 12),
)
def test_a_mode_that_distils_costs_no_more_than_every_turn(mode, texts, count):
    lines = tuple(Observation(text, Source(1, 1)) for text in texts)
    known = tuple(DocumentLine(Section.NOTES, text, Source(1, 1)) for text in texts)
    distilled = Distilled(Observations(lines, count), MemoryDocument(known, 1), count)
    window = plan(mode, sources(distilled, count), Budget(), COUNTER)
    assert window.used <= window.full_tokens
    recent = {each.reason for each in window.segments if each.kind is Kind.RECENT}
    is_passed_through = not window.distilled_through
    assert (recent == {reasons.PASSED_THROUGH}) is is_passed_through
    assert (reasons.NOT_SMALLER in choosing_sentences(window)) is is_passed_through


def test_beside_every_turn_stands_what_they_do_not_say_and_what_the_user_keeps():
    own = DocumentLine(Section.FACTS, "The port is 9641. " * 30, Source(1, 1, "chat-1"))
    beside = (
        DocumentLine(Section.FACTS, "Ana lives in Oslo.", Source(1, 1, "chat-2")),
        DocumentLine(Section.NOTES, "Typed by the user.", None),
        DocumentLine(Section.NOTES, "A pinned line.", Source(2, 2, "chat-1"), is_pinned=True),
    )
    distilled = Distilled(document=MemoryDocument((own, *beside), 3), in_document=4)
    window = plan(
        Mode.DOCUMENT, sources(replace(distilled, conversation="chat-1"), 4), Budget(), COUNTER
    )
    assert [each.turn for each in window.segments if each.kind is Kind.RECENT] == [1, 2, 3, 4]
    written = next(each.text for each in window.segments if each.kind is Kind.DOCUMENT)
    assert [text for text, _ in statements_of(written)] == ["Ana lives in Oslo.", "A pinned line."]
    assert "Typed by the user." in written
    assert "9641" not in written


def test_an_empty_document_has_no_message():
    assert document_segments(MemoryDocument(), COUNTER.count) == []


def test_an_observation_all_of_whose_turns_are_kept_out_is_left_out():
    distilled = observed(15)
    assert distilled.without({1, 2}).observations.lines == ()
    assert distilled.without({1, 2}).observations.through == 15
    assert distilled.without({2}) is distilled
