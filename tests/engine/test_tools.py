"""Calls that a real server's model makes, their results, and its prompt cache, by every route."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.events import UsageReported, WindowBuilt
from jitchat.providers.answer import Answer
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import Endpoint, Options
from jitchat.providers.tools import arguments_of, problem_with
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.tools.asking import TOOL
from jitchat.tools.offering import Asking, OfferRules
from jitchat.tools.toolbox import Toolbox
from jitchat.values import Message, Mode, Role, ToolCall, ToolResult, ToolUse
from jitchat.window.budget import Budget
from tests.engine.asking import SAMPLING
from tests.engine.server import KEY, Engine
from tests.engine.tiny_model import BRIEF, CALLS, FOUND, LOOKING, NAME
from tests.providers.tool_windows import OFFERED
from tests.session.sending import failures, send
from tests.support import conversation_of, result_message, session_on, talk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitchat.store.store import ColdStore

ASKED = (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "The weather in Bonn, and then?"))
OPTIONS = replace(SAMPLING, tools=OFFERED.tools, max_tokens=8)


def step(number: int) -> tuple[Message, ...]:
    """An answer that calls twice, and the results."""
    calls = tuple(ToolCall(f"call{number}000{n}", "weather", '{"city": "Bonn"}') for n in range(2))
    results = (result_message(ToolResult(call, "21 °C")) for call in calls)
    return (Message(Role.ASSISTANT, "I look.", use=ToolUse(calls)), *results)


def provider_of(engine: Engine, protocol: str) -> HttpProvider:
    where = Endpoint("llamacpp", engine.base_url, NAME, KEY, read_seconds=30.0)
    return HttpProvider(where, protocol_named(protocol))


async def answer(
    engine: Engine, protocol: str, window: Sequence[Message], options: Options = OPTIONS
) -> Answer:
    provider, answered = provider_of(engine, protocol), Answer()
    async for piece in provider.stream(window, options):
        answered.take(piece)
    await provider.aclose()
    return answered


every_route = pytest.mark.parametrize("protocol", ["openai", "anthropic", "responses"])


@every_route
async def test_each_request_of_a_turn_is_the_head_of_the_next_one_in_the_engines_cache(
    roomy, protocol
):
    window, before = list(ASKED), 0
    for number in range(4):
        usage = (await answer(roomy, protocol, window)).usage
        assert usage is not None
        assert usage.input_tokens is not None
        # what ended the prompt before is the reply's opening, which now is the answer's
        assert usage.cached_tokens >= before - 4
        assert usage.input_tokens > before
        before = usage.input_tokens
        window += step(number)


def session_with(store: ColdStore, engine: Engine, protocol: str, most_steps: int) -> Session:
    """A session of which the first turn is not in the window of `recency`."""
    talk_of_it = [f"The boat is {FOUND}.", "Noted."] + ["word " * 60] * 80
    options = SessionOptions(
        budget=Budget(engine.context, 64, 2_000),
        request=replace(SAMPLING, max_tokens=60),
        offers=OfferRules(Asking.ON),
        toolbox=Toolbox(most_steps=most_steps),
    )
    conversation = conversation_of(store, talk(*talk_of_it))
    return session_on(store, conversation, provider_of(engine, protocol), options=options)


@every_route
@pytest.mark.parametrize("most_steps", [12, 1])
async def test_the_model_asks_the_store_twice_at_once_and_answers_from_what_came(
    store, roomy, protocol, most_steps
):
    """With one step, the answer is asked for with `tool_choice: none`."""
    session = session_with(store, roomy, protocol, most_steps)
    events = await send(session, "Please look up what colour the boat is.", Mode.RECENCY)
    await session.aclose()

    assert not failures(events)
    first, second = (event.window for event in events if isinstance(event, WindowBuilt))
    assert not any(FOUND in message.content for message in first.messages())
    assert second.messages()[: len(first.messages())] == first.messages()
    *_, called, one, other, reply = session.memory.turns
    assert called.content.strip() == LOOKING
    read = [(each.name, json.loads(each.arguments)) for each in called.use.calls]
    assert read == [(name, json.loads(arguments)) for name, arguments in CALLS]
    assert {one.use.answers, other.use.answers} == set(called.use.calls)
    assert [each.use.answers for each in second.messages()[-2:]] == list(called.use.calls)
    assert FOUND in one.content + other.content
    assert reply.content == BRIEF
    usage = [event.usage for event in events if isinstance(event, UsageReported)]
    assert usage[-1].cached_tokens > 0.9 * usage[0].input_tokens


@every_route
async def test_a_call_is_run_only_where_all_of_it_came(roomy, protocol):
    window = (Message(Role.SYSTEM, "Be kind."), Message(Role.USER, "Please look up the boat."))
    whole = [json.loads(arguments) for _, arguments in CALLS]
    ran = []
    for longest in range(1, 18):
        options = replace(SAMPLING, tools=(TOOL,), max_tokens=longest)
        answered = await answer(roomy, protocol, window, options)
        assert answered.finished is not None
        *others, last = answered.calls or (None,)
        cut = last if answered.finished.is_by_length else None
        problems = [problem_with(each, (TOOL,), is_cut=each is cut) for each in answered.calls]
        runs = [
            arguments_of(each)
            for each, problem in zip(answered.calls, problems, strict=True)
            if problem is None
        ]
        assert runs == whole[: len(runs)]
        assert not any(problems[: len(others)])
        ran.append(len(runs))
    assert ran[0] == 0
    assert ran[-1] == 2
    assert ran == sorted(ran)
