"""The stable prefix: what one request repeats of the one before it, byte for byte."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.values import Mode, Turn
from jitchat.window.budget import Budget
from jitchat.window.history import History
from jitchat.window.parts import Sources
from jitchat.window.plan import plan
from jitchat.window.window import ContextWindow, Kind
from tests.examples import examples
from tests.support import talk
from tests.window.cases import conversations, shortlist, turns_of
from tests.window.test_recent import COUNTER, priced

MODES = tuple(mode for mode in Mode if not mode.recalls)
"""Of those that recall, see `test_epoch.py`."""
SENDS = 50
SHORT, LONG = 20, 160
"""Words; a turn of 160 costs about 250 tokens here."""


def said_in(words: int) -> list[Turn]:
    """A talk of so many words a turn, give or take a fifth."""
    lengths = [words + (number * 7 % 5 - 2) * words // 10 for number in range(2 * SENDS)]
    return talk(*(f"turn {number} " + "words " * size for number, size in enumerate(lengths, 1)))


def windows_of(mode: Mode, turns: list[Turn], budget: Budget) -> list[ContextWindow]:
    """The window ahead of every other turn, with much that is recalled."""
    made = []
    for said in range(0, len(turns), 2):
        found = shortlist(*range(1, said, 5), decisions=range(2, said, 17))
        history = History().extended(turns[:said], priced)
        sources = Sources(history, turns[said], "model", retrieval=found)
        made.append(plan(mode, sources, budget, COUNTER))
    return made


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("words", [1, SHORT, LONG])
def test_over_fifty_turns_the_prefix_breaks_only_where_the_recent_block_is_cut(mode, words):
    windows = windows_of(mode, said_in(words), Budget(limit=65_536, size=1_000))
    check_breaks(windows)
    starts = [turns_of(window, Kind.RECENT)[:1] for window in windows[1:]]
    holds_few = words == LONG
    assert mode is Mode.FULL or holds_few or len(set(map(tuple, starts))) <= len(starts) / 2


@examples(16)
@given(conversations(), st.sampled_from(MODES), st.sampled_from((200, 400, 2_000)))
def test_on_any_chat_the_prefix_breaks_only_where_the_recent_block_is_cut(turns, mode, size):
    check_breaks(windows_of(mode, list(turns), Budget(limit=100_000, size=size)))


def check_breaks(windows: list[ContextWindow]) -> None:
    """All but the last message of a request opens the next one, if the block was not cut."""
    for before, after in pairwise(windows):
        old, new = (turns_of(window, Kind.RECENT) for window in (before, after))
        if old and new[:1] != old[:1]:
            assert not new or new[0] > old[0], "the start moved back"
            continue
        kept = before.messages()[:-1]
        assert after.messages()[: len(kept)] == kept
