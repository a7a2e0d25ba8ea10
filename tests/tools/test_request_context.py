"""`request_context`: the turns that a model gets from the store, and the text around them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitchat.providers.tools import arguments_of
from jitchat.session_options import SessionOptions
from jitchat.tools.asking import TOOL
from jitchat.tools.offering import Asking, OfferRules
from jitchat.tools.reading_on import read_on
from jitchat.tools.request_context import MOST_TOKENS, RequestContext
from jitchat.tools.source import Step
from jitchat.values import REQUEST_CONTEXT, Mode, Role, ToolCall, Turn
from jitchat.window.budget import Budget
from jitchat.window.steering import Hold
from jitchat.window.tokens import EstimateCounter
from jitchat.window.tool_prices import Style, tool_prices
from jitchat.window.window import Kind
from tests.support import conversation_of, session_on

FIRST_DAY = datetime(2026, 2, 16, 9, tzinfo=UTC)
TEXTS = {
    1: "Who pays for the billing service of the harbour?",
    2: "The city pays for the billing service, 900 euros a month.",
    7: "What did we decide about the crane?",
    8: "We agreed: the crane is painted yellow in May.",
}
LONG = 20
SMALL = Budget(16_000, size=600)


def turns(count: int = 60) -> list[Turn]:
    made = []
    for position in range(1, count + 1):
        role = Role.USER if position % 2 else Role.ASSISTANT
        text = TEXTS.get(position, f"Note {position} about ropes, paint and the tide of the day.")
        if position == LONG:
            text = "\n\n".join(f"Paragraph {n} on the lighthouse and its lamp." for n in range(900))
        made.append(Turn(position, role, text, FIRST_DAY + timedelta(days=position)))
    return made


@pytest.fixture
def session(store):
    options = SessionOptions(budget=SMALL, offers=OfferRules(Asking.ON))
    return session_on(store, conversation_of(store, turns()), options=options)


def ask(session, room: int = 100_000, mode: Mode = Mode.RECENCY, draft: str = "and?", **arguments):
    """What a call gives back, and the window whose answer made it."""
    memory = session.memory
    memory.store.now = lambda: FIRST_DAY + timedelta(days=61)
    window = session.preview(draft, mode)
    source = RequestContext(memory, session.planning.history_before, session.counter)
    call = ToolCall("c", REQUEST_CONTEXT, json.dumps(arguments))
    return source._output(call, arguments_of(call), Step(window, room)), window


def given_turns(output) -> list[int]:
    return [turn for turn, _ in output.requested.given]


def test_the_definition_is_small_in_every_style():
    for style in Style:
        ((_, tokens),) = tool_prices([TOOL], EstimateCounter().count, style).by_tool
        assert tokens < 250, style


def test_turns_that_fit_come_word_for_word_with_ids_and_dates(session):
    output, _ = ask(session, query="who pays for billing")
    assert 2 in given_turns(output)
    content = output.result.content
    assert f"<turn #2 Wed 2026-02-18 assistant>\n{TEXTS[2]}\n</turn>" in content
    assert content.startswith("<requested>\n")
    assert "that is all." in content
    assert "".join(segment.text for segment in output.segments) == content
    assert {segment.kind for segment in output.segments} == {Kind.REQUESTED}


def test_what_the_window_holds_is_named_and_not_repeated(session):
    output, window = ask(
        session, mode=Mode.JIT, draft="who pays for billing?", query="billing pays"
    )
    held = {segment.turn for segment in window.segments if segment.kind is Kind.RETRIEVED}
    assert 2 in held
    assert "#2" in output.result.content
    assert "in the window" in output.result.content
    assert TEXTS[2] not in output.result.content
    assert not set(given_turns(output)) & held


def test_a_time_range_alone_gives_what_was_said_then_and_echoes_it(session):
    output, _ = ask(session, time_range="2026-02-17..2026-02-19")
    assert given_turns(output) == [1, 2, 3]
    assert "Looked at 2026-02-17 to 2026-02-19." in output.result.content


def test_a_query_is_answered_within_its_days_only(session):
    output, _ = ask(session, query="what did we decide about the crane", time_range="2026-02-24")
    assert 8 in given_turns(output)
    output, _ = ask(session, query="the crane", time_range="2026-04-01")
    assert not output.segments
    assert "Ask without time_range" in output.result.content


def many(store, count: int = 300):
    """Thirty turns a day, all of the same subjects, and one that says something else."""
    made = []
    for position in range(1, count + 1):
        role = Role.USER if position % 2 else Role.ASSISTANT
        text = f"Note {position} about ropes, paint and the tide of the day."
        if position == 45:
            text = "The ropes were cut by Odile."
        made.append(Turn(position, role, text, FIRST_DAY + timedelta(days=(position - 1) // 30)))
    return session_on(store, conversation_of(store, made), options=SessionOptions(SMALL))


def read_all(session, **asked) -> tuple[list[int], str]:
    """Read on until nothing is left: the turns in the order in which they came, the last words."""
    seen, offset = list[int](), 0
    while True:
        output, _ = ask(session, offset=offset, **asked)
        seen += given_turns(output)
        rest = output.result.content.partition("go on with offset ")[2]
        if not rest:
            return seen, output.result.content
        offset = int(rest.partition(".")[0])


def test_of_days_every_turn_can_be_read_however_many_there_are(store):
    session = many(store)
    seen, last = read_all(session, time_range="2026-02-16..2026-02-25")
    assert seen == list(range(1, len(seen) + 1))
    assert f"#{len(seen) + 1} #{len(seen) + 2}" in last.partition("in the window")[0]
    assert "300 of 300 shown" in last


def test_a_query_looks_through_all_turns_of_its_days(store):
    session = many(store)
    for day in range(16, 26):
        output, _ = ask(session, query="the tide", time_range=f"2026-02-{day}")
        first = (day - 16) * 30 + 1
        assert set(given_turns(output)) <= set(range(first, first + 30))
        assert len(output.requested.given) + len(output.requested.named) >= 25
    output, _ = ask(session, query="who cut the ropes", time_range="2026-02-17")
    assert given_turns(output)[0] == 45


def test_a_search_that_ranks_only_the_best_does_not_say_that_they_are_all(store):
    seen, last = read_all(many(store), query="the tide")
    assert len(seen) >= 40
    assert "that fit best shown" in last
    assert "that is all" not in last


def test_turns_in_the_window_are_named_with_the_page_that_they_belong_to(store):
    output, window = ask(many(store), time_range="2026-02-16..2026-02-25")
    assert {segment.turn for segment in window.segments if segment.kind is Kind.RECENT}
    assert not output.requested.named
    assert "in the window" not in output.result.content


def test_calls_of_one_answer_do_not_give_the_same_turns(session):
    memory = session.memory
    window = session.preview("and?", Mode.RECENCY)
    source = RequestContext(memory, session.planning.history_before, session.counter)
    step = Step(window, 100_000)
    asked = [{"query": "who pays for billing"}, {"query": "billing of the city"}, {"turn": "#2"}]
    outputs = [
        source._output(ToolCall(str(number), REQUEST_CONTEXT, ""), arguments, step)
        for number, arguments in enumerate(asked)
    ]
    assert 2 in given_turns(outputs[0])
    for output in outputs[1:]:
        assert 2 in output.requested.named
        assert TEXTS[2] not in output.result.content


def test_a_long_query_is_not_said_again_whole(session):
    output, _ = ask(session, query="zebra " * 2_000, time_range="2026-02-20")
    assert "Ask without time_range" in output.result.content
    assert session.counter.count(output.result.content) < 120


def test_a_part_of_a_very_long_turn_is_read_without_counting_it_again_and_again(session):
    counted, count = [], session.counter.count
    turn = Turn(1, Role.TOOL, "2026-02-16 INFO [gate] opened for a boat\n" * 20_000)

    class Counting:
        name, exact, style = session.counter.name, False, session.counter.style

        def count(self, text):
            counted.append(len(text))
            return count(text)

    read = read_on(turn, 100_000, 1_000, Counting())
    assert read is not None
    assert sum(counted) < 3 * len(turn.content)
    excerpt, _ = read
    assert excerpt.whole == count(turn.content)


def test_knowledge_is_what_is_pinned_or_decided(session):
    session.hold(5, Hold.PINNED)
    output, _ = ask(session, scope="knowledge")
    assert {5, 8} <= set(given_turns(output))
    assert 9 not in given_turns(output)
    output, _ = ask(session, scope="knowledge", query="the crane")
    assert given_turns(output) == [7, 8]


def test_in_order_of_time_the_earlier_one_comes_first(session):
    output, _ = ask(session, query="crane decide painted", scope="temporal")
    assert given_turns(output) == sorted(given_turns(output))


def test_one_turn_comes_with_its_neighbours(session):
    for written in ("#8", "8", 8):
        output, _ = ask(session, turn=written)
        assert given_turns(output) == [7, 8, 9]
        assert "#8 is whole" in output.result.content


def test_around_a_turn_of_the_window_the_others_come(store):
    session = many(store)
    window = session.preview("and?", Mode.RECENCY)
    first = min(each.turn for each in window.segments if each.kind is Kind.RECENT)
    output, _ = ask(session, turn=f"#{first}")
    assert given_turns(output) == [first - 1]
    assert f"#{first} is in the window." in output.result.content
    output, _ = ask(session, turn=f"#{first + 2}")
    assert not output.segments


def test_a_long_turn_is_read_on_to_its_end_with_nothing_left_out(session):
    whole, read, offset = session.memory.turn_at(LONG).content, "", 0
    for _ in range(40):
        output, _ = ask(session, turn=f"#{LONG}", offset=offset)
        (passage,) = output.segments[0].excerpt.passages
        assert passage.start == offset
        read += whole[passage.start : passage.end]
        assert whole[passage.start : passage.end] in output.result.content
        offset = passage.end
        if "that is its end" in output.result.content:
            break
        assert f"go on with offset {offset}." in output.result.content
    assert read == whole


def test_one_result_goes_on_where_the_last_one_ended(session):
    seen, offset = set(), 0
    for _ in range(20):
        output, _ = ask(session, room=500, time_range="2026-02-17..2026-03-01", offset=offset)
        assert not seen & set(given_turns(output))
        seen |= set(given_turns(output))
        told = output.result.content.partition("go on with offset ")[2]
        if not told:
            break
        offset = int(told.partition(".")[0])
    assert seen == set(range(1, 14))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "Give at least one of query, time_range and turn"),
        ({"query": "  "}, "Give at least one of"),
        ({"time_range": "soonish"}, "is not clear. Write a date (2026-02-16)"),
        ({"query": "x", "scope": "everything"}, "there are semantic, temporal, knowledge"),
        ({"turn": "the first"}, "Write it as #12"),
        ({"turn": "#999"}, "There is no turn #999 here"),
        ({"query": "zebra quantum xylophone"}, "Ask once more with other words"),
        ({"time_range": "2019-01-01"}, "Nothing was said 2019-01-01"),
        ({"turn": f"#{LONG}", "offset": 10**8}, "is behind it"),
        ({"query": "crane", "offset": 500}, "none behind offset 500"),
    ],
)
def test_what_gives_nothing_says_what_to_do_next(session, arguments, said):
    output, _ = ask(session, **arguments)
    assert said in output.result.content
    assert not output.segments


def test_names_that_models_guess_are_understood(session):
    output, _ = ask(session, q="who pays for billing", limit=5, page=None)
    assert 2 in given_turns(output)
    output, _ = ask(session, day="2026-02-17", turn_id="#8")
    assert 8 in given_turns(output)


@pytest.mark.parametrize(
    ("arguments", "understood"),
    [
        ({"since": "2026-04-10"}, "2026-04-10 to 2026-04-18"),
        ({"start_date": "2026-02-17", "end_date": "2026-02-18"}, "2026-02-17 to 2026-02-18"),
        ({"before": "2026-02-18"}, "the beginning to 2026-02-18"),
        ({"since": "7d"}, "2026-04-11 to 2026-04-18"),
    ],
)
def test_the_ends_of_an_interval_may_be_given_apart(session, arguments, understood):
    output, _ = ask(session, **arguments)
    assert f"Looked at {understood}." in output.result.content


def test_a_page_is_no_offset(session):
    first, _ = ask(session, query="ropes", page=1)
    second, _ = ask(session, query="ropes", page=2)
    assert given_turns(first) == given_turns(second)


def test_what_the_user_keeps_out_is_not_given(session):
    session.hold(2, Hold.EXCLUDED)
    assert 2 not in given_turns(ask(session, query="who pays for billing")[0])
    assert "There is no turn #2 here" in ask(session, turn="#2")[0].result.content


def test_a_turn_that_no_window_shows_is_not_given(session):
    session.memory.mark_unanswered(session.memory.add_user_turn("Is anybody there?"))
    assert "There is no turn #61 here" in ask(session, turn="#61")[0].result.content


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_no_result_is_larger_than_its_room_whatever_is_asked(tmp_path_factory, data):
    session = _shared(tmp_path_factory)
    room = data.draw(st.integers(0, 2_500))
    asked = data.draw(
        st.sampled_from(
            [
                {"query": "ropes paint tide"},
                {"query": "lighthouse lamp paragraph"},
                {"turn": f"#{LONG}", "offset": 5_000},
                {"turn": "#8"},
                {"time_range": "2026-02-17..2026-04-17"},
            ]
        )
    )
    output, _ = ask(session, room=room, **asked)
    cost = session.counter.count(output.result.content)
    if output.segments:
        assert cost <= min(room, MOST_TOKENS)
        assert sum(segment.tokens for segment in output.segments) == cost
    else:
        assert cost < 80
    for turn, _ in output.requested.given:
        segment = next(each for each in output.segments if each.turn == turn)
        if segment.excerpt is None:
            assert session.memory.turn_at(turn).content in segment.text


_SESSIONS = {}


def _shared(factory):
    from jitchat.store.database import Database
    from jitchat.store.store import ColdStore

    if not _SESSIONS:
        store = ColdStore(Database(factory.mktemp("asked") / "jitchat.db"))
        _SESSIONS["one"] = session_on(store, conversation_of(store, turns()))
    return _SESSIONS["one"]
