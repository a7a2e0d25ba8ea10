"""What the history says in words and figures: sums that add up, and money without a gloss."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.savings import Money, Savings
from jitchat.store.windows import Send
from jitchat.tui.views.history import money_sentence, saved_sentence, send_lines, table_lines
from jitchat.values import Mode, Usage
from jitchat.window.budget import Budget
from jitchat.window.window import Kind
from tests.examples import examples

SEND = Send(
    *(7, 61, 62, datetime(2026, 11, 3, 9, 30, tzinfo=UTC), Mode.JIT, "m-1", "work"),
    *(asdict(Budget(1_000, 200)), {"system": 9, "draft": 24}, 1_200, 0, True),
    *(Usage(40, 5, 30), 0.25, "stop", "digest", None),
)


def numbers(text: str) -> list[int]:
    return [int(each.replace(",", "")) for each in re.findall(r"-?\d[\d,]*", text)]


@pytest.mark.parametrize(
    ("total", "told"),
    [
        (Savings(5, 0, 400, 1_000), "5 sends · ~400 tokens · full ~1,000 · saved ~600 (60 %)"),
        (Savings(1, 0, 9, 9), "sends 1 to 1 of 5 · ~9 tokens · full ~9 · nothing saved"),
        (
            Savings(1, 1, 12, 9),
            "sends 1 to 2 of 5 · ~12 tokens · full ~9 · ~3 more than full"
            " · 1 unanswered not counted",
        ),
    ],
)
def test_the_total_says_what_was_saved(total, told):
    assert saved_sentence(total, 5, exact=False) == told
    assert saved_sentence(total, 5, exact=True) == told.replace("~", "")


@pytest.mark.parametrize(
    ("money", "told"),
    [
        (
            Money(0.2, 0.5, 3, 1_200),
            "Input: $0.20 sent · full ~$0.50, ~1,200 tokens of it cached · saved ~$0.30 (60 %)",
        ),
        (Money(0.2, 2.0, 3), "Input: $0.20 sent · full ~$2.00 · saved ~$1.80 (90 %)"),
        (Money(0.2, 0.2, 3), "Input: $0.20 sent · full ~$0.20 · nothing saved"),
        (
            Money(0.2, 0.15, 3, 900),
            "Input: $0.20 sent · full would have been cheaper: ~$0.15, ~900 tokens of it cached",
        ),
        (
            Money(0.2, 0.15, 2),
            "Input: $0.20 sent · full would have been cheaper: ~$0.15"
            " · 1 send not compared, charged $0.25 with answers:"
            " no price of m\N{SYMBOL FOR ESCAPE}1 is known",
        ),
        (Money(0.0, 0.0, 3), "No charge"),
        (
            Money(),
            "3 sends not compared, charged $0.25 with answers: no price of m\N{SYMBOL FOR ESCAPE}1"
            " is known",
        ),
    ],
)
def test_money_is_told_plainly(money, told):
    total = Savings(3, 0, 1, 1, money, ("m\x1b1",), 0.25)
    assert money_sentence(total).replace("m\x1b1", "m\N{SYMBOL FOR ESCAPE}1") == told


def test_what_the_picker_took_is_told_to_be_in_no_sum():
    told = money_sentence(Savings(3, 0, 1, 1, Money(0.2, 2.0, 3)), picked=True)
    assert told.endswith(" (90 %) · the picker is not counted")


def test_of_nothing_sent_no_money_is_told():
    assert money_sentence(Savings()) == ""


def test_a_send_is_told_in_its_figures():
    assert send_lines(SEND, 2, 5) == (
        "send 2 of 5 · #61 · 2026-11-03 09:30 · jit · m-1 (work)",
        "system 9 + draft 24 + free 767 + reserve 200 = 1,000 limit · full would be 1,200",
        "sent 40 ✓ (30 cached, 10 new) · answer 5 ✓ · $0.25",
    )
    older = replace(SEND, provider="", sent_at=None, band=3, reply=None, usage=None, model="a\nb")
    first, second, third = send_lines(older, 1, 1)
    assert first == "send 1 of 1 · #61 · jit · a b"
    assert second.startswith("system ~9 + draft ~24 + free ~767 + reserve 200 = 1,000 limit")
    assert third == "no reply and no usage"


@examples(30)
@given(st.dictionaries(st.sampled_from([kind.value for kind in Kind]), st.integers(0, 300_000)))
def test_kinds_free_and_reserve_are_the_limit_wherever_they_are_printed(sizes):
    send = replace(SEND, sizes=sizes)
    *parts, limit, full = numbers(send_lines(send, 1, 1)[1])
    assert sum(parts) == limit == 1_000
    header, line = table_lines([send])
    names = re.split(r"  +", header.strip())[2:]
    figures = dict(zip(names, numbers(line)[2:], strict=True))
    full = figures.pop("full")
    assert full == 1_200
    assert figures.pop("limit") == sum(figures.values())
