"""Turns of other conversations in a window of `jit`: what they may take, and how they are named."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitchat.errors import WindowOverflow
from jitchat.providers.passages import read_window
from jitchat.statements import Source
from jitchat.values import (
    Candidate,
    Elsewhere,
    ElsewhereHit,
    Hit,
    IndexEntry,
    Mode,
    Retrieval,
    Role,
    Turn,
)
from jitchat.window import reasons, record
from jitchat.window.budget import Budget
from jitchat.window.history import History
from jitchat.window.parts import Sources
from jitchat.window.plan import plan
from jitchat.window.tokens import EstimateCounter, message_tokens
from jitchat.window.window import ContextWindow, Kind, Verdict

COUNTER = EstimateCounter()
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def hit(score: float, turn: int = 12, text: str = "The port is 9641.") -> ElsewhereHit:
    said = Turn(turn, Role.USER, text, NOON)
    return ElsewhereHit("chat-3", "Release <planning> “now”", said, score, "best lexical match")


def sources(
    *hits: ElsewhereHit,
    own: tuple[tuple[int, float], ...] | None = (),
    picked: tuple[int, ...] = (),
    count: int = 200,
    long: int = 1,
) -> Sources:
    roles = (Role.USER, Role.ASSISTANT)
    turns = tuple(
        Turn(at, roles[(at - 1) % 2], f"Statement{at} of talk{at}, number{at}. " * long, NOON)
        for at in range(1, count + 1)
    )
    history = History().following(turns, lambda *text: message_tokens(COUNTER, *text))
    rows = tuple(
        Candidate(turn, rank, 1.0, (("lexical", 1.0),), (), IndexEntry(turn, "a line"))
        for rank, turn in enumerate(picked, start=1)
    )
    found = Retrieval(
        rows,
        tuple(Hit(turn, 1.0, "match") for turn in picked),
        floor=0.3,
        searched=count,
        elsewhere=Elsewhere(hits, own),
    )
    return Sources(history, Turn(count + 1, Role.USER, "Which port?", NOON), "m", retrieval=found)


def shown(window: ContextWindow) -> list[str]:
    return [
        f"{segment.source.conversation}#{segment.source.first}"
        for segment in window.segments
        if segment.kind is Kind.RETRIEVED and segment.source is not None
    ]


@pytest.mark.parametrize("count", [4, 200])
def test_a_turn_of_another_conversation_is_quoted_with_its_id_and_title(count):
    window = plan(Mode.JIT, sources(hit(0.9), count=count), Budget(), COUNTER)
    (segment,) = [each for each in window.segments if each.source is not None]
    assert (segment.kind, segment.turn) == (Kind.RETRIEVED, None)
    assert segment.source == Source(12, 12, "chat-3")
    assert segment.text == (
        "<elsewhere>\n<turn chat-3#12 “Release ‹planning› 'now'” Mon 2026-03-02 user>\n"
        "The port is 9641.\n</turn>\n</elsewhere>\n\n"
    )
    passages, question = read_window(window.messages())
    assert question == "Which port?"
    assert "chat-3#12" in {passage.where for passage in passages}
    (row,) = window.others
    assert (row.name, row.verdict, row.tokens) == ("chat-3#12", Verdict.RETRIEVED, segment.tokens)
    assert all(row.turn != 12 for row in window.ledger)
    again = record.window_from(
        record.header_fields(window), [record.segment_fields(each) for each in window.segments], []
    )
    assert (again.segments, again.others) == (window.segments, window.others)


def test_where_nothing_is_found_elsewhere_nothing_changes():
    known = sources(picked=(3, 5))
    without = replace(known, retrieval=replace(known.retrieval, elsewhere=Elsewhere()))
    assert plan(Mode.JIT, known, Budget(), COUNTER) == plan(Mode.JIT, without, Budget(), COUNTER)


@pytest.mark.parametrize("mode", [mode for mode in Mode if not mode.recalls])
def test_no_other_mode_recalls_from_elsewhere(mode):
    window = plan(mode, sources(hit(0.9), count=20), Budget(), COUNTER)
    assert shown(window) == []
    assert window.others == ()


def test_no_turn_of_this_conversation_gives_way_to_a_weaker_one():
    picked = tuple(range(2, 60, 2))
    own = tuple((turn, 0.9) for turn in picked)
    known = sources(
        *(hit(0.5, turn, f"Port {turn}. " * 60) for turn in range(1, 9)),
        own=own,
        picked=picked,
        long=30,
    )
    alone = replace(known, retrieval=replace(known.retrieval, elsewhere=Elsewhere()))
    window, before = (plan(Mode.JIT, each, Budget(size=2_000), COUNTER) for each in (known, alone))
    assert own_turns(before) <= own_turns(window)
    assert own_turns(before)


def own_turns(window: ContextWindow) -> set[int]:
    return {each.turn for each in window.segments if each.kind is Kind.RETRIEVED and each.turn}


def test_a_stronger_one_takes_the_place_of_the_weakest_and_the_ledger_says_so():
    picked = tuple(range(2, 60, 2))
    own = tuple((turn, 0.9 - place / 100) for place, turn in enumerate(picked))
    known = sources(hit(0.85, text="The port is 9641. " * 12), own=own, picked=picked, long=8)
    alone = replace(known, retrieval=replace(known.retrieval, elsewhere=Elsewhere()))
    window, before = (plan(Mode.JIT, each, Budget(size=2_000), COUNTER) for each in (known, alone))
    gone = own_turns(before) - own_turns(window)
    assert shown(window) == ["chat-3#12"]
    assert gone
    assert all(dict(own)[turn] < 0.85 for turn in gone)
    rows = {row.turn: row for row in window.ledger}
    assert all("below chat-3#12 of another conversation" in rows[turn].reason for turn in gone)
    unknown = sources(hit(0.85, text="The port. " * 30), own=None, picked=picked, long=8)
    assert own_turns(plan(Mode.JIT, unknown, Budget(size=2_000), COUNTER)) >= own_turns(before)


def test_a_long_turn_is_there_in_passages_and_one_text_once():
    text = "Something else entirely. " * 400 + "The port is 9641. " + "Nothing here. " * 400
    known = sources(hit(0.9, 3, text), hit(0.8, 9, text))
    window = plan(Mode.JIT, known, Budget(size=2_000), COUNTER)
    (segment,) = [each for each in window.segments if each.source is not None]
    assert segment.excerpt is not None
    assert segment.tokens < COUNTER.count(text) / 4
    assert [row.verdict for row in window.others] == [Verdict.RETRIEVED, Verdict.LEFT_OUT]


@given(
    st.lists(st.tuples(st.floats(0.1, 2), st.integers(1, 400)), max_size=8),
    st.lists(st.integers(1, 60), max_size=12, unique=True),
    st.integers(1, 60),
    st.integers(1, 12),
    st.integers(150, 4_000),
)
@settings(max_examples=120, deadline=None)
def test_the_identity_holds_and_the_open_conversation_costs_no_more_than_full(
    found, picked, count, long, limit
):
    hits = tuple(
        hit(score, place, f"Port number {place}. " * size)
        for place, (score, size) in enumerate(sorted(found, reverse=True), start=1)
    )
    own = tuple((turn, 0.5 + turn / 100) for turn in picked)
    known = sources(
        *hits, own=own, picked=tuple(p for p in picked if p <= count), count=count, long=long
    )
    try:
        window = plan(Mode.JIT, known, Budget(limit, limit // 4, limit // 2), COUNTER)
    except WindowOverflow:
        return
    is_whole = sum(each.kind is Kind.RECENT for each in window.segments) == count
    beyond = sum(
        each.tokens
        for each in window.segments
        if each.source is not None or (each.reason == reasons.READING and is_whole)
    )
    assert window.used + window.free + window.budget.reserve == window.budget.limit
    assert window.free >= 0
    assert window.used - beyond <= window.full_tokens
