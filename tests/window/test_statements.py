"""How statements are written into a window, and what the distilling modes send with them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from jitchat.window.budget import SHARES, Budget
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
from jitchat.window.window import Kind, Verdict
from tests.window.cases import ODD_TEXTS, shortlist, turns_of

COUNTER = EstimateCounter()
BUDGET = Budget(size=1_000)
"""Less than what the turns of `sources` take."""
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


def sources(distilled: Distilled, count: int = 120, **more: object) -> Sources:
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


def test_observe_sends_observations_then_what_jit_sends():
    found = shortlist(7, 30, 55)
    window = plan(Mode.OBSERVE, sources(observed(110), retrieval=found), BUDGET, COUNTER)
    jit = plan(Mode.JIT, sources(observed(110), retrieval=found), BUDGET, COUNTER)
    assert "The port is 9641. (#1–#2)" in window.messages()[1].content
    assert window.segments[2].kind is Kind.OBSERVATIONS
    assert turns_of(window, Kind.RETRIEVED) == [55, 30, 7] == turns_of(jit, Kind.RETRIEVED)
    assert turns_of(window, Kind.RECENT)[-2:] == [119, 120]
    assert window.used <= BUDGET.size
    assert window.used + window.free + window.budget.reserve == window.budget.limit


def test_the_ledger_says_of_a_turn_left_out_that_it_is_observed_and_why_it_is_not_recalled():
    found = shortlist(*range(1, 80), hits=3)
    window = plan(Mode.OBSERVE, sources(observed(50), retrieval=found), BUDGET, COUNTER)
    rows = {row.turn: row.reason for row in window.ledger if row.verdict is Verdict.LEFT_OUT}
    assert rows[40].startswith("observed; ")
    assert not rows[60].startswith("observed")
    assert window.never_candidates is not None
    assert window.never_candidates.reason.startswith("observed up to #50; matched less than")


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.DOCUMENT])
def test_while_nothing_is_distilled_the_window_is_that_of_jit(mode):
    known = sources(Distilled(), retrieval=shortlist(7, 30))
    distilling = plan(mode, known, BUDGET, COUNTER)
    jit = plan(Mode.JIT, known, BUDGET, COUNTER)
    assert distilling.messages() == jit.messages()
    assert reasons.NOTHING_DISTILLED in choosing_sentences(distilling)
    assert choosing_sentences(jit) == []


def test_everything_is_sent_while_it_fits_and_no_head_repeats_it():
    window = plan(Mode.OBSERVE, sources(observed(110)), Budget(), COUNTER)
    assert turns_of(window, Kind.RECENT) == list(range(1, 121))
    assert window.tokens_of(Kind.OBSERVATIONS) == window.distilled_through == 0
    assert choosing_sentences(window) == []


def test_a_pin_among_the_observed_turns_is_quoted_behind_the_observations():
    window = plan(Mode.OBSERVE, sources(observed(110), pinned=(7,)), BUDGET, COUNTER)
    kinds = [each.kind for each in window.segments]
    assert turns_of(window, Kind.PINNED) == [7]
    assert kinds.index(Kind.OBSERVATIONS) < kinds.index(Kind.PINNED)


def test_the_document_stands_before_what_is_recalled():
    line = DocumentLine(Section.FACTS, "The port is 9641.", Source(1, 2, "demo"), NOON.date())
    distilled = Distilled(document=MemoryDocument((line,), 4), in_document=110)
    known = sources(distilled, retrieval=shortlist(7))
    window = plan(Mode.DOCUMENT, known, BUDGET, COUNTER)
    assert "## Facts\n- The port is 9641. (2026-03-02) (demo #1–#2)" in window.messages()[1].content
    assert window.segments[2].reason == "the memory document, version 4"
    assert turns_of(window, Kind.RETRIEVED) == [7]
    assert window.never_candidates is not None
    assert window.never_candidates.reason.startswith("in the document up to #110; ")


def test_of_observations_the_less_important_give_way_then_the_oldest():
    levels = (Priority.LOW, Priority.MEDIUM, Priority.HIGH)
    lines = tuple(
        Observation(f"Line {number} about the port.", Source(number, number), levels[number % 3])
        for number in range(1, 31)
    )
    window = plan(Mode.OBSERVE, sources(Distilled(Observations(lines, 110))), BUDGET, COUNTER)
    head = window.segments[2]
    kept = [source.first for _, source in statements_of(head.text)]
    important = [number for number in range(1, 31) if number % 3 == 2]
    medium = [number for number in kept if number not in important]
    assert kept == sorted([*important, *medium])
    assert medium == [number for number in range(1, 31) if number % 3 == 1][-len(medium) :]
    assert medium
    assert head.tokens <= BUDGET.share(SHARES.distilled)
    assert head.reason == f"{len(kept)} of 30 observations of #1–#110"
    assert f"({30 - len(kept)} notes left out here.)" in head.text


def test_of_the_document_the_oldest_lines_give_way_but_not_those_that_the_user_keeps():
    lines = tuple(
        DocumentLine(
            Section.FACTS,
            f"Line {number} about the port.",
            Source(1, 1, f"chat-{number}"),
            date(2026, 3, number),
            is_pinned=number == 1,
        )
        for number in range(1, 31)
    )
    known = sources(Distilled(document=MemoryDocument(lines, 4)))
    head = plan(Mode.DOCUMENT, known, BUDGET, COUNTER).segments[2]
    kept = [int(source.conversation[5:]) for _, source in statements_of(head.text)]
    assert kept == [1, *range(32 - len(kept), 31)]
    assert head.tokens <= BUDGET.share(SHARES.distilled)
    assert head.reason == f"the memory document, version 4, {len(kept)} of 30 lines"


@given(
    mode=st.sampled_from([Mode.OBSERVE, Mode.DOCUMENT]),
    texts=st.lists(TEXTS, max_size=30),
    count=st.integers(2, 60),
    size=st.integers(150, 1_500),
)
def test_a_window_of_a_mode_that_distils_never_exceeds_its_size(mode, texts, count, size):
    lines = tuple(Observation(text, Source(1, 1)) for text in texts)
    known = tuple(DocumentLine(Section.NOTES, text, Source(1, 1, "chat-2")) for text in texts)
    distilled = Distilled(Observations(lines, count), MemoryDocument(known, 1), count)
    window = plan(mode, sources(distilled, count), Budget(size=size), COUNTER)
    assert window.used <= size


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
    assert turns_of(window, Kind.RECENT) == [1, 2, 3, 4]
    written = next(each.text for each in window.segments if each.kind is Kind.DOCUMENT)
    assert [text for text, _ in statements_of(written)] == ["Ana lives in Oslo.", "A pinned line."]
    assert "Typed by the user." in written
    assert "9641" not in written
    assert any(each.reason == reasons.READING for each in window.segments)


def test_an_empty_document_has_no_message():
    assert document_segments(MemoryDocument(), COUNTER.count) == []


def test_an_observation_all_of_whose_turns_are_kept_out_is_left_out():
    distilled = observed(15)
    assert distilled.without({1, 2}).observations.lines == ()
    assert distilled.without({1, 2}).observations.through == 15
    assert distilled.without({2}) is distilled
