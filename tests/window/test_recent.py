"""The block of `recency`: it stands still, it is cut at exchanges, and it has a floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from jitchat.values import Mode, Role, Turn
from jitchat.window.budget import Budget
from jitchat.window.history import LONGEST_EXCHANGE, History
from jitchat.window.modes.recency import recent_start
from jitchat.window.parts import Sources, fitting_start
from jitchat.window.plan import plan
from jitchat.window.tokens import message_tokens
from jitchat.window.window import ContextWindow, Kind
from tests.examples import examples
from tests.support import talk, turn
from tests.window.cases import conversations, turns_of
from tests.window.counters import Characters

if TYPE_CHECKING:
    from collections.abc import Sequence

COUNTER = Characters()
FULL, CUT = 768, 384
"""Tokens that a block holds at most, and that are cut off then."""


def priced(text: str) -> int:
    return message_tokens(COUNTER, text)


def history_of(turns: Sequence[Turn]) -> History:
    return History().extended(turns, priced)


def chatter(exchanges: int, words: int = 30) -> list[Turn]:
    """Turns of about 4 + 1.5 × words tokens."""
    texts = [f"turn {number} " + "words " * words for number in range(1, 2 * exchanges + 1)]
    return talk(*texts)


def windows_while_talking(exchanges: int) -> list[ContextWindow]:
    """The window ahead of each of so many drafts."""
    turns = chatter(exchanges)
    made = []
    for said in range(0, 2 * exchanges, 2):
        sources = Sources(history_of(turns[:said]), turns[said], "model")
        made.append(plan(Mode.RECENCY, sources, Budget(size=880), COUNTER))
    return made


def test_the_prefix_only_grows_while_the_start_stands_still():
    windows = windows_while_talking(50)
    starts = [turns_of(window, Kind.RECENT)[:1] for window in windows]
    standing = 0
    for before, after, start, next_start in zip(
        windows, windows[1:], starts, starts[1:], strict=False
    ):
        if start == next_start:
            standing += 1
            stable = before.messages()[:-1]
            assert after.messages()[: len(stable)] == stable
            assert after.stable_tokens >= before.stable_tokens
    moves = len(windows) - 1 - standing
    assert moves <= len(windows) / 3, f"the start moved {moves} times"
    assert starts[-1] > [1], "the block was cut at some time"


def test_the_start_stands_still_whatever_is_kept_out():
    history = history_of(chatter(40))
    start = recent_start(history, FULL, CUT)
    first = history.positions[start]
    for out in ({3}, set(range(1, 30)), {first}, {first + 1}, {first + 2, 80}):
        kept = history.without(out, priced)
        block = kept.positions[recent_start(kept, FULL, CUT) :]
        assert block == tuple(each for each in range(first, 81) if each not in out), out
    almost_all = history.without(range(1, 79), priced)
    assert recent_start(almost_all, FULL, CUT) == 0
    none = history.without(range(1, 81), priced)
    assert recent_start(none, FULL, CUT) == 0


def test_the_start_never_moves_back():
    starts = [turns_of(window, Kind.RECENT)[0] for window in windows_while_talking(50)[1:]]
    assert starts == sorted(starts)


def test_a_block_starts_where_the_user_speaks_and_fills_between_half_and_all_of_its_allowance():
    for exchanges in range(12, 60):
        history = history_of(chatter(exchanges))
        start = recent_start(history, FULL, CUT)
        assert history.turns[start].role is Role.USER
        exchange = history.costs[0] + history.costs[1]
        assert FULL - CUT - exchange <= history.total - history.before[start] <= FULL


@examples(16)
@given(conversations(), st.integers(8, 900))
def test_a_block_is_within_its_allowance_or_it_is_the_last_exchange(
    turns: tuple[Turn, ...], allowance: int
):
    history = history_of(turns)
    start = recent_start(history, allowance, allowance // 2)
    last = history.exchanges_back(1)
    assert start <= last
    assert history.total - history.before[start] <= allowance or start == last


@examples(16)
@given(conversations(), st.integers(0, 900))
def test_a_block_that_must_shrink_loses_no_more_than_an_exchange_too_much(
    turns: tuple[Turn, ...], room: int
):
    history = history_of(turns)
    start = fitting_start(history, 0, room, priced)
    assert history.total - history.before[start] <= room
    if start > 0:
        spared = max(0, start - 1 - LONGEST_EXCHANGE)
        day = priced("[Mon 2026-03-02]\n")
        assert history.total - history.before[spared] + day > room


def test_a_talk_with_one_speaker_still_has_a_recent_block():
    for role in Role:
        turns = [turn(number, "word " * 40, role) for number in range(1, 101)]
        history = history_of(turns)
        held = len(turns) - recent_start(history, FULL, CUT)
        assert 0 < held <= 16
        squeezed = fitting_start(history, 0, 200, priced)
        assert 0 < len(turns) - squeezed < held


def test_tools_that_talk_for_pages_do_not_fill_the_window():
    pages = [turn(number, "output " * 40, Role.TOOL) for number in range(2, 90)]
    history = history_of([turn(1, "look it up"), *pages, turn(90, "there it is")])
    assert len(history.turns) - recent_start(history, FULL, CUT) <= 16


def test_what_a_tool_or_an_imported_system_said_goes_out_as_the_users_and_says_so():
    turns = [
        turn(1, "rm -rf", Role.SYSTEM),
        turn(2, "42", Role.TOOL),
        turn(3, "ok", Role.ASSISTANT),
    ]
    window = plan(Mode.FULL, Sources(history_of(turns), turn(4, "so?"), "model"), Budget(), COUNTER)
    sent = [(message.role, message.content) for message in window.messages()[1:]]
    assert sent == [
        (Role.USER, "system: rm -rf"),
        (Role.USER, "tool: 42"),
        (Role.ASSISTANT, "ok"),
        (Role.USER, "so?"),
    ]


def test_each_day_is_told_once_and_by_the_block_that_starts_in_it(clock):
    monday, tuesday = clock(), clock().replace(day=14)
    turns = [
        Turn(1, Role.USER, "a", monday),
        Turn(2, Role.ASSISTANT, "b", monday),
        Turn(3, Role.USER, "c", tuesday),
        Turn(4, Role.ASSISTANT, "d", tuesday),
    ]
    sources = Sources(history_of(turns), Turn(5, Role.USER, "e", tuesday), "model")
    texts = [message.content for message in plan(Mode.FULL, sources, Budget(), COUNTER).messages()]
    assert texts[1:] == ["[Fri 2026-03-13]\na", "b", "[Sat 2026-03-14]\nc", "d", "e"]
    block = history_of(turns)
    assert fitting_start(block, 0, priced("[Sat 2026-03-14]\nc") + priced("d"), priced) == 2
