"""Between a window and its reply: reasoning, tools, retries, an overflow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitchat.errors import ContextOverflow, NotAnAnswer, StoreFull, StreamCut
from jitchat.events import LimitLearnt, UsageReported, WindowBuilt
from jitchat.providers.provider import (
    Finished,
    ReasoningDelta,
    ReasoningFound,
    RequestAdapted,
    RetryScheduled,
)
from jitchat.store.models import ModelLessons
from jitchat.values import Limit, Mode, Status, ToolCall, Usage
from jitchat.window.steering import Once
from jitchat.writing.pieces import PLAIN, WritingRules
from tests.session.sending import (
    check_nothing_is_left_open,
    durable,
    failures,
    kinds,
    regenerate,
    reply_text,
    send,
    stored_turns,
    talking,
)

FULL = Mode.FULL


def reasoning_of(store) -> list[str]:
    with store.database.read() as connection:
        return [row[0] for row in connection.execute("SELECT content FROM reasoning")]


class Overflowing:
    """A model with a limit in characters, stated in its refusals as servers do."""

    name = model = "small"

    def __init__(self, takes: int, told: Limit | None = None, *, begins: bool = False) -> None:
        self.takes, self.told, self.begins = takes, told, begins
        self.sizes: list[int] = []

    def rules(self, options: object) -> WritingRules:
        return PLAIN

    async def stream(self, messages, options):
        self.sizes.append(sum(len(message.content) for message in messages))
        if self.sizes[-1] > self.takes:
            if self.begins:
                yield ReasoningDelta("well")
            raise ContextOverflow("Too large.", "", limit=self.told and self.told.tokens)
        yield ReasoningDelta("well")
        yield ToolCall("1", "look", "{}")
        yield Finished("stop")

    async def aclose(self) -> None:
        """Nothing to give back."""


async def test_reasoning_is_stored_with_the_reply_and_never_sent_back(store):
    session = talking(store, ReasoningDelta("Let me "), ReasoningDelta("see."), "Eight.")
    events = await send(session, "which port?", FULL)
    assert [event.text for event in events if isinstance(event, ReasoningDelta)] == [
        "Let me ",
        "see.",
    ]
    assert stored_turns(events)[-1].content == "Eight."
    assert reasoning_of(store) == ["Let me see."]
    await send(session, "sure?", FULL)
    assert not any("Let me" in m.content for m in session.provider.requests[-1])


async def test_text_that_turns_out_to_be_reasoning_is_moved(store):
    session = talking(store, "Hm, ", "eight?", ReasoningFound(), "Eight.")
    events = await send(session, "which port?")
    assert sum(isinstance(event, ReasoningFound) for event in events) == 1
    assert stored_turns(events)[-1].content == "Eight."
    assert reasoning_of(store) == ["Hm, eight?"]


async def test_a_reply_of_reasoning_alone_is_stored_and_reported(store):
    session = talking(store, ReasoningDelta("Hm."), Finished("length"))
    events = await send(session, "which port?")
    assert isinstance(failures(events)[0].error, NotAnAnswer)
    assert [(turn.content, turn.status) for turn in stored_turns(events)][1:] == [("", Status.CUT)]
    assert reasoning_of(store) == ["Hm."]
    check_nothing_is_left_open(store)
    window = session.preview("and now?", FULL)
    assert all(message.content.strip() for message in window.messages())


async def test_a_call_of_a_tool_that_was_not_offered_is_text_of_the_reply(store):
    events = await send(talking(store, "Let me look.", ToolCall("1", "find", '{"a": 1')), "where?")
    assert reply_text(events) == 'Let me look.\n\n[tool call: find {"a": 1]\n'


async def test_retries_and_adapted_requests_are_reported_as_they_occur(store):
    session = talking(
        store, RetryScheduled(2.5, "busy"), RequestAdapted("No temperature."), "Hello."
    )
    events = await send(session, "hello")
    assert RetryScheduled(2.5, "busy") in events
    assert RequestAdapted("No temperature.") in events
    assert stored_turns(events)[-1].content == "Hello."


async def test_a_window_that_is_too_large_is_rebuilt_once_and_the_limit_learnt(store):
    session = talking(store, exchanges=40)
    session.provider = Overflowing(1_000, Limit(330, ""))
    events = await send(session, "hello")
    first, second = (event.window for event in events if isinstance(event, WindowBuilt))
    assert second.used < first.used
    assert second.budget.limit == 330
    assert session.options.budget.limit == 330
    told = next(event for event in events if isinstance(event, LimitLearnt))
    assert told.limit.tokens == 330
    assert "330 tokens (until `jitchat tokens " in told.sentence
    assert told.sentence.endswith(" Sending a smaller one.")
    assert not failures(events)
    sent = durable(store).windows
    assert [reply is None for _, reply, *_ in sent] == [True, False]


async def test_no_smaller_window_is_announced_if_every_turn_is_required(store):
    session = talking(store, exchanges=40)
    session.provider = Overflowing(1_000, Limit(330, ""))

    events = await send(session, "hello", Mode.FULL)

    told = next(event for event in events if isinstance(event, LimitLearnt))
    (sent,) = (event.window for event in events if isinstance(event, WindowBuilt))
    assert told.sentence.endswith(f"; it refused a window of ~{sent.used:,}.")
    (failed,) = failures(events)
    assert "Nothing is cut, so it cannot be sent." in str(failed.error)


async def test_a_refusal_because_of_the_answers_length_keeps_the_reserve_and_the_counts(
    store,
):
    asked = ContextOverflow("Too large.", "", needed=27, limit=6_000, answer=2_900)
    session = talking(store, asked, exchanges=4)
    before = session.calibration
    assert failures(await send(session, "hello"))
    assert session.calibration == before
    assert (session.options.budget.limit, session.options.budget.reserve) == (6_000, 2_900)
    session.provider.script = ("Hello.",)
    assert reply_text(await send(session, "hello")) == "Hello."


async def test_a_reply_is_complete_even_if_its_lesson_cannot_be_stored(store, monkeypatch):
    def full(*_: object) -> None:
        raise StoreFull("There is no space left.", "Make room.")

    monkeypatch.setattr(ModelLessons, "add_sample", full)
    monkeypatch.setattr(ModelLessons, "learn_limit", full)
    session = talking(store, exchanges=40)
    learnt = ModelLessons(store.database, "http://models.test/v1", "m")
    session.options = replace(session.options, learnt=learnt)
    session.provider = Overflowing(1_000, Limit(330, ""))
    events = await send(session, "hello")
    assert not failures(events)
    assert stored_turns(events)[-1].status is Status.COMPLETE


async def test_without_a_stated_limit_half_of_the_window_is_tried(store):
    session = talking(store, exchanges=40)
    session.provider = Overflowing(1_000)
    events = await send(session, "hello")
    assert not failures(events)
    assert session.provider.sizes[1] < session.provider.sizes[0]
    assert kinds(events).count("WindowBuilt") == 2


async def test_zero_output_tokens_for_a_reply_count_as_unreported(store):
    session = talking(store, "Eight.", Usage(9, 0))
    events = await send(session, "which port?")
    first = next(event for event in events if isinstance(event, UsageReported))
    assert first.usage == Usage(9, None)


async def test_if_half_cannot_fit_the_refusal_is_reported_and_nothing_learnt(store):
    session = talking(store)
    session.provider, before = Overflowing(1), session.options.budget
    events = await send(session, "a message of some length " * 40)
    (failed,) = failures(events)
    assert isinstance(failed.error, ContextOverflow)
    assert (len(session.provider.sizes), session.options.budget) == (1, before)
    assert not [event for event in events if isinstance(event, LimitLearnt)]
    check_nothing_is_left_open(store)


@pytest.mark.parametrize("mode", [FULL, Mode.JIT])
async def test_a_window_that_is_still_too_large_is_reported_and_nothing_is_lost(store, mode):
    session = talking(store, exchanges=40)
    session.provider = Overflowing(10, Limit(1_000, ""))
    events = await send(session, "hello", mode)
    (failed,) = failures(events)
    assert failed.draft == "hello"
    assert len(session.provider.sizes) <= 2
    check_nothing_is_left_open(store)


async def test_an_overflow_after_the_answer_began_is_not_sent_again(store):
    session = talking(store, exchanges=40)
    session.provider = Overflowing(10, begins=True)
    events = await send(session, "hello")
    assert len(session.provider.sizes) == 1
    assert isinstance(failures(events)[0].error, ContextOverflow)


async def test_a_regenerated_reply_is_an_alternative_to_the_first(store):
    session = talking(store, "One.")
    await send(session, "which port?", FULL)
    said = session.memory.turns[-2]
    session.provider.script = ("Two.",)
    events = await regenerate(session, said, FULL)
    assert [turn.content for turn in stored_turns(events)] == ["which port?", "Two."]
    assert session.memory.turns[-1].content == "Two."
    assert session.provider.requests[0] == session.provider.requests[1]
    assert (
        len(
            session.memory.store.branches(session.memory.conversation.id)[
                session.memory.turns[-1].position
            ]
        )
        == 2
    )


async def test_a_regeneration_that_fails_leaves_the_conversation_as_it_was(store):
    session = talking(store, "One.")
    await send(session, "which port?", FULL)
    before = session.memory.turns
    session.provider.script = (StreamCut("Cut.", "Again."),)
    events = await regenerate(session, before[-2], FULL)
    assert failures(events)
    assert session.memory.turns == before


async def test_a_message_that_is_edited_is_a_fork(store):
    session = talking(store, "One.")
    await send(session, "which port?", FULL)
    said, answered = session.memory.turns[-2:]
    session.provider.script = ("Two.",)
    events = [e async for e in session.send("which host?", FULL, Once(after=said.position - 1))]
    assert [turn.content for turn in session.memory.turns[-2:]] == ["which host?", "Two."]
    sent = [message.content for message in session.provider.requests[-1]]
    assert not any("which port?" in text or "One." in text for text in sent)
    assert stored_turns(events)[0].position > answered.position
    edited = stored_turns(events)[0].position
    assert session.memory.store.branches(session.memory.conversation.id)[edited] == (
        said.position,
        edited,
    )
