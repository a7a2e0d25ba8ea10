"""No text is slow to look at: every pattern is linear, and every reach is bounded.

A pattern that grows squared or worse needs hours for these texts and would never end; the
alarm turns that into a failure. A run that passes takes a fraction of it.
"""

from __future__ import annotations

import signal
import sys
from datetime import date
from functools import partial

import pytest

from jitchat.memory.index.indexer import index_entry
from jitchat.memory.index.query import make_query
from jitchat.text.dates import has_time_cue, mentioned
from jitchat.text.decisions import commits, is_decision
from jitchat.text.entities import entities
from jitchat.text.safe import one_line, repaired, shortened, visible
from jitchat.text.sentences import sentences
from jitchat.text.words import stems
from tests.support import turn

RUNS = (
    " ", "a", "A", "(", "7", ".", "_", "a_", "a.", "x@", "-", "--a", "'", "a'", "`", '."', "!",
    "a::", "1:", "a/", "c++", "c#", "a'b", "__", "ि", "กั", "한",
    "\n", "\t", "- ", "> ", "#", "*", "[", "```\n", "Mr. ", "i. ", "Ab ", "1 ", "may ", "Friday ",
    "agreed ", "we ", "not ", "let's ", "lock the ", "went with ", "moved it ", "instead of ",
    "http://a.b/", "é", "\u0301\u0316", "日", "日。", "ก", "\u200d", "\ud800",
)  # fmt: skip

LOOKS = {
    "index_entry": lambda text: index_entry(turn(1, text)),
    "make_query": lambda text: make_query(text, text, frozenset({"ann"})),
    "stems": stems,
    "sentences": sentences,
    "mentioned": partial(mentioned, said_on=date(2026, 3, 13)),
    "has_time_cue": has_time_cue,
    "is_decision": is_decision,
    "commits": commits,
    "entities": entities,
    "visible": visible,
    "repaired": repaired,
    "one_line": one_line,
    "shortened": partial(shortened, width=80),
}


@pytest.fixture
def alarm(rounds):
    if sys.platform == "win32":
        pytest.skip("needs an alarm")

    def give_up(*_):
        raise TimeoutError("this text is looked at for ever")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(rounds(20, 120))
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("look", LOOKS)
def test_a_long_run_of_anything_is_looked_at_in_one_go(look, alarm, rounds):
    for run in RUNS:
        text = run * (rounds(10_000, 300_000) // len(run))
        for whole in (f"{text}x", f"Ab 1 {text}?"):
            LOOKS[look](whole)


def test_marks_that_are_out_of_order_are_folded_in_one_go(alarm):
    assert stems("\u0301" * 100_000 + "\u0316" * 100_000 + "\u0591" * 100_000) == []
    assert stems("\u05b0" * 100_000 + "\u0591" * 100_000) == []


def test_a_turn_of_ten_million_characters_is_indexed(alarm):
    entry = index_entry(turn(1, "x" * 10_000_000))
    assert len(entry.summary) == 160
    end = index_entry(turn(1, "blah " * 2_000_000 + ". So we decided on port 8443."))
    assert "8443" in end.summary
    assert end.decision
