"""The pieces of a reply reach the screen together; nothing else waits, and nothing overtakes."""

import asyncio

import pytest

from jitchat.events import Event, ReasoningDelta, ReasoningFound, ReplyDelta, RequestAdapted
from jitchat.tui import batches
from jitchat.tui.batches import reply_batcher


async def test_the_first_piece_waits_for_nothing_and_later_ones_come_together():
    seen: list[Event] = []
    batcher = reply_batcher(seen.append)
    for text in ("It ", "is ", "now", "."):
        batcher.take(ReplyDelta(text))
    assert seen == [ReplyDelta("It ")]
    while len(seen) < 2:
        await asyncio.sleep(0.005)
    assert seen == [ReplyDelta("It "), ReplyDelta("is now.")]


@pytest.mark.parametrize("other", [ReasoningFound(), RequestAdapted("without seed")])
async def test_another_event_comes_at_once_and_behind_the_pieces_before_it(other: Event):
    seen: list[Event] = []
    batcher = reply_batcher(seen.append)
    for event in (ReplyDelta("a"), ReplyDelta("b"), ReplyDelta("c"), other, ReplyDelta("d")):
        batcher.take(event)
    assert seen == [ReplyDelta("a"), ReplyDelta("bc"), other, ReplyDelta("d")]
    batcher.flush()


async def test_what_was_thought_is_kept_apart_from_what_was_said_and_after_the_end_nothing_comes(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(batches, "CHUNKS_EVERY", 0.01)
    seen: list[Event] = []
    batcher = reply_batcher(seen.append)
    pieces = (ReasoningDelta("Hm"), ReasoningDelta("."), ReplyDelta("Yes"), ReplyDelta("!"))
    for piece in pieces:
        batcher.take(piece)
    batcher.flush()
    await asyncio.sleep(0.03)
    assert seen == [ReasoningDelta("Hm"), ReasoningDelta("."), ReplyDelta("Yes!")]
