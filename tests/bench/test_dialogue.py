"""A chat is replayed message by message, and priced as if the provider had a prompt cache."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.bench.asking import Setup, indexed
from jitchat.bench.dialogue import RATES, Dialogue, Replaying, Request, measure, prices_of
from jitchat.bench.haystack import NEEDLE, PHRASINGS, Haystack, Length
from jitchat.bench.questions import LabelledConversation, Question
from jitchat.index.embedder import NoEmbedder
from jitchat.tools.offering import Asking
from jitchat.transfer.turns import FileConversation
from jitchat.values import Mode, Role
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import Kind

if TYPE_CHECKING:
    from jitchat.window.window import ContextWindow

TALK = Haystack(60, Length.USUAL)
SMALL = Setup(NoEmbedder(), EstimateCounter(), Budget(size=1_200))


def replayed(setup: Setup, last: int | None = None) -> Dialogue:
    with indexed(conversation(), NoEmbedder()) as memory:
        return Replaying(memory, setup).replay(last=last)


def conversation() -> FileConversation:
    return FileConversation("talk", "talk", tuple(TALK.turns()))


def test_while_everything_fits_a_chat_costs_what_full_does():
    dialogue = replayed(replace(SMALL, budget=Budget(size=8_000)))
    assert len(dialogue.windows) == sum(turn.role is Role.USER for turn in TALK.turns())
    assert dialogue.sent == dialogue.full


def test_a_small_window_costs_less_without_a_cache_and_offers_the_tool_as_the_chat_does():
    dialogue, without = replayed(SMALL), replayed(replace(SMALL, asking=Asking.OFF))
    assert max(each.tokens for each in dialogue.sent) <= 1_200
    assert prices_of([dialogue])["no cache"]["of_full"] < 1
    assert [has_tool(each) for each in dialogue.windows].count(True) > 10
    assert not any(map(has_tool, without.windows))
    assert {each.mode for each in dialogue.windows} == {Mode.JIT}


def has_tool(window: ContextWindow) -> bool:
    return window.tokens_of(Kind.TOOLS) > 0


def test_of_the_last_messages_none_pays_for_what_the_cache_has():
    assert replayed(SMALL, last=5).full == replayed(SMALL).full[-5:]


def test_what_repeats_is_read_and_the_rest_is_written():
    sent, full = Request(1_000, 600), Request(2_000, 1_900)
    dialogue = Dialogue((sent, sent), (full, full), ())
    prices = prices_of([dialogue])
    assert [prices[rates.name]["sent"] for rates in RATES] == pytest.approx([560, 550, 1_000])
    shares = [560 / 315, 550 / 575, 0.5]
    assert [prices[rates.name]["of_full"] for rates in RATES] == pytest.approx(shares)
    assert [prices[rates.name]["dearest"] for rates in RATES] == pytest.approx(shares)


def test_questions_are_asked_after_the_last_message():
    asked = Question(PHRASINGS[1], "fact", frozenset({TALK.needle}), None)
    talk = LabelledConversation(conversation(), (asked,))
    assert NEEDLE in talk.found.turns[TALK.needle - 1].content
    chats = measure([talk], SMALL, lambda _: None)
    assert chats["talk"].held == ((True, True),)
