"""The turns that a window may draw on, and their prices."""

from __future__ import annotations

from dataclasses import replace

from jitchat.values import NO_TOOL_USE, Role, Status, ToolUse, Turn
from jitchat.window.exchange import compacted_as
from jitchat.window.history import History
from tests.support import talk, turn


class Prices:
    """A token a character, and what was priced."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, text: str) -> int:
        self.seen.append(text)
        return len(text)


def test_each_turn_is_priced_once_however_often_the_conversation_grows():
    turns, price = talk("one", "two", "three", "four"), Prices()
    history = History()
    for said in range(len(turns) + 1):
        history = history.following(turns[:said], price)
    assert price.seen == ["one", "two", "three", "four"]
    assert history.costs == (3, 3, 5, 4)
    assert history.before == (0, 3, 6, 11, 15)
    assert history.total == 15


def test_following_the_same_turns_changes_nothing():
    turns, price = talk("one", "two"), Prices()
    history = History().following(turns, price)
    assert history.following(list(turns), price) is history


def test_a_shorter_conversation_keeps_the_prices_of_what_is_left():
    turns, price = talk("one", "two", "three"), Prices()
    history = History().following(turns, price)
    assert history.following(turns[:1], price) == History((turns[0],), (3,), (0, 3), (1,))
    assert len(price.seen) == 3


def test_a_turn_that_went_unanswered_after_all_is_taken_out():
    turns, price = talk("one", "two", "three"), Prices()
    history = History().following(turns, price)
    turns[2] = replace(turns[2], status=Status.UNANSWERED)
    assert [t.position for t in history.following(turns, price).turns] == [1, 2]


def test_a_turn_whose_text_changed_is_priced_anew_and_so_are_those_behind_it():
    turns, price = talk("one", "two", "three"), Prices()
    history = History().following(turns, price)
    turns[1] = replace(turns[1], content="seven")
    assert history.following(turns, price).costs == (3, 5, 5)
    assert price.seen[3:] == ["seven", "three"]


def test_the_day_is_part_of_the_price_where_it_is_told(clock):
    moment = clock()
    turns = [Turn(1, Role.USER, "one", moment), Turn(2, Role.ASSISTANT, "two", moment)]
    assert History().extended(turns, len).costs == (len("[Fri 2026-03-13]\none"), 3)


def test_a_turn_is_found_by_its_position_even_beside_gaps():
    history = History().extended([turn(2, "a"), turn(5, "b"), turn(9, "c")], len)
    assert [history.find(position) for position in (1, 2, 3, 5, 9, 10)] == [
        None,
        0,
        None,
        1,
        2,
        None,
    ]


def test_an_exchange_starts_where_the_user_speaks_after_somebody_else():
    roles = [Role.USER, Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT, Role.USER]
    history = History().extended([turn(n, "x", role) for n, role in enumerate(roles, 1)], len)
    assert [history.exchange_at(index) for index in range(7)] == [0, 5, 5, 5, 5, 5, 6]
    assert [history.exchanges_back(count) for count in range(4)] == [6, 5, 0, 0]


def test_nothing_was_said_yet():
    history = History()
    assert (history.total, history.last(), history.find(1)) == (0, None, None)
    assert history.exchange_at(0) == history.exchanges_back(2) == 0


def length(text: str, _use: ToolUse = NO_TOOL_USE) -> int:
    return len(text)


def test_turns_that_are_taken_out_leave_the_rest_as_if_they_had_never_been(clock):
    today, later = clock(), clock().replace(day=20)
    days = (None, today, today, today, later, later, None, later)
    turns = [
        replace(each, created_at=day) for each, day in zip(talk(*"abcdefgh"), days, strict=True)
    ]
    for place in (2, 4):
        turns[place] = replace(turns[place], content="a long text", use=compacted_as("short"))
    history = History().extended(turns, length)
    for out in ([1], [2], [2, 3], [5], [4, 5, 6], [8], [2, 4, 7], range(1, 9)):
        left = [each for each in turns if each.position not in out]
        short = history.without(out, length)
        assert replace(short, taken_out={}) == History().extended(left, length)
        assert short.taken_out == {place: history.whole_cost(place - 1) for place in out}


def test_only_the_turns_behind_those_that_go_are_priced_anew():
    price = Prices()
    history = History().extended(talk(*"abcdefgh"), price)
    price.seen.clear()
    history.without([2, 3, 6, 8], price)
    assert price.seen == ["d", "g"]


def test_taking_out_what_is_not_there_changes_nothing():
    history = History().extended(talk("one", "two"), len)
    assert history.without([], len) is history.without([3, 9], len) is history
