"""The pieces of a reply reach the screen together; nothing else waits, and nothing overtakes."""

from __future__ import annotations

import asyncio

import pytest

from jitchat.events import Event, ReasoningDelta, ReasoningFound, ReplyDelta, RequestAdapted
from jitchat.tui import batches
from jitchat.tui.batches import Batches


async def test_the_first_piece_waits_for_nothing_and_later_ones_come_together():
    seen: list[Event] = []
    made = Batches(seen.append)
    for text in ("It ", "is ", "now", "."):
        made.take(ReplyDelta(text))
    assert seen == [ReplyDelta("It ")]
    while len(seen) < 2:
        await asyncio.sleep(0.005)
    assert seen == [ReplyDelta("It "), ReplyDelta("is now.")]


@pytest.mark.parametrize("other", [ReasoningFound(), RequestAdapted("without seed")])
async def test_another_event_comes_at_once_and_behind_the_pieces_before_it(other: Event):
    seen: list[Event] = []
    made = Batches(seen.append)
    for event in (ReplyDelta("a"), ReplyDelta("b"), ReplyDelta("c"), other, ReplyDelta("d")):
        made.take(event)
    assert seen == [ReplyDelta("a"), ReplyDelta("bc"), other, ReplyDelta("d")]
    made.flush()


async def test_what_was_thought_is_kept_apart_from_what_was_said():
    seen: list[Event] = []
    made = Batches(seen.append)
    for event in (ReasoningDelta("Hm"), ReasoningDelta("."), ReplyDelta("Yes"), ReplyDelta("!")):
        made.take(event)
    made.flush()
    assert seen == [ReasoningDelta("Hm"), ReasoningDelta("."), ReplyDelta("Yes"), ReplyDelta("!")]


async def test_after_the_end_nothing_comes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(batches, "EVERY", 0.01)
    seen: list[Event] = []
    made = Batches(seen.append)
    made.take(ReplyDelta("a"))
    made.take(ReplyDelta("b"))
    made.flush()
    await asyncio.sleep(0.03)
    assert seen == [ReplyDelta("a"), ReplyDelta("b")]
