"""One request to a small model: what it took is told, whatever came of it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace

import pytest

from jitchat.errors import (
    JitchatError,
    KeyRefused,
    NotAnAnswer,
    RequestRefused,
    StreamCut,
    Unreachable,
)
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Finished, Options, ReasoningDelta, SentRequest
from jitchat.small_models.small_model import LONGEST, SmallModel
from jitchat.values import Message, Role, Usage
from jitchat.window.tokens import EstimateCounter, request_tokens
from tests.small_models.support import UNREPORTED, Bare, small
from tests.support import ScriptedProvider

ASKED = (Message(Role.SYSTEM, "Choose."), Message(Role.USER, "Which of #1, #2 and #3?"))
COUNTER = EstimateCounter()
SENT = request_tokens(COUNTER, ASKED)


def bare(*script: object, seconds: float = 5.0) -> tuple[SmallModel, Bare]:
    provider = Bare(script)
    return SmallModel(provider, COUNTER, seconds), provider


@pytest.mark.parametrize(("usage", "sent"), [(UNREPORTED, SENT), (Usage(100, 10), 100)])
async def test_the_tokens_are_those_reported_or_else_those_of_the_very_request(usage, sent):
    model = small('{"ids":', " [1]}")
    model.provider.usage = usage

    heard = await model.ask(ASKED)

    assert model.provider.requests == [ASKED]
    assert (heard.text, heard.error) == ('{"ids": [1]}', None)
    assert (heard.input_tokens, heard.output_tokens) == (sent, 10)
    assert heard.ms > 0
    assert heard.exact == (usage.input_tokens is not None)


@pytest.mark.parametrize("reported", [(), (Usage(50, 0),)])
async def test_an_answer_that_nobody_counted_is_counted_here(reported):
    model, provider = bare("one two three", *reported, Finished("stop"))

    heard = await model.ask(ASKED)

    assert heard.output_tokens == COUNTER.count("one two three")
    assert provider.closed


async def test_after_its_time_it_is_hung_up_on_and_the_request_is_still_counted():
    model, provider = bare("[", asyncio.Event(), seconds=0.5)

    heard = await model.ask(ASKED)

    assert isinstance(heard.error, Unreachable)
    assert heard.error.what == "No answer in 0.5 s."
    assert (heard.text, heard.input_tokens, heard.output_tokens) == ("[", SENT, COUNTER.count("["))
    assert heard.ms >= 9
    assert provider.closed


async def test_a_refused_request_costs_nothing():
    model, _ = bare(RequestRefused("The provider refused.", "Wait."))

    heard = await model.ask(ASKED)

    assert isinstance(heard.error, RequestRefused)
    assert (heard.input_tokens, heard.output_tokens) == (0, 0)


async def test_an_answer_that_breaks_off_was_paid_for():
    model, _ = bare('{"ids"', StreamCut("It broke.", "Again."))

    heard = await model.ask(ASKED)

    assert isinstance(heard.error, StreamCut)
    assert heard.input_tokens == SENT
    assert heard.output_tokens > 0


async def test_an_answer_without_an_end_is_not_listened_to():
    model, provider = bare(*["x" * 1_000] * 100)

    heard = await model.ask(ASKED)

    assert isinstance(heard.error, NotAnAnswer)
    assert len(heard.text) == LONGEST
    assert provider.closed


async def test_cancelling_hangs_up():
    model, provider = bare("[", asyncio.Event())
    task = asyncio.ensure_future(model.ask(ASKED))
    while not provider.requests:
        await asyncio.sleep(0)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert provider.closed


async def test_the_event_loop_is_free_while_a_request_is_counted():
    """A counter that waits for the loop: were it called on the loop, it would wait for ever."""
    loop = asyncio.get_running_loop()

    class Waiting(EstimateCounter):
        def count(self, text: str) -> int:
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(5)
            return 1

    model = SmallModel(Bare(("yes",)), Waiting(), 5)

    assert (await model.ask(ASKED)).text == "yes"


async def test_what_it_cost_is_told_where_the_price_is_known():
    prices = Prices(input=2.0, output=10.0)
    provider = ScriptedProvider(("[1]",))
    for known, cost in ((prices, 100 * 2e-6 + 10 * 10e-6), (None, None)):
        heard = await SmallModel(provider, COUNTER, 1.0, known).ask(ASKED)
        assert heard.cost == pytest.approx(cost)


SCHEMA = {"type": "object", "required": ["ids"]}


@dataclass
class Strict(ScriptedProvider):
    """Refuses a request with a schema."""

    refusal: JitchatError = field(default_factory=lambda: RequestRefused("No such field.", ""))

    async def stream(self, messages, options):
        if options.schema is not None:
            self.options.append(options)
            raise self.refusal
        async for piece in super().stream(messages, options):
            yield piece


async def test_the_schema_goes_along_and_is_counted():
    model = small("[]")
    model.provider.usage = UNREPORTED

    heard = await model.ask(ASKED, SCHEMA)

    assert json.loads(model.provider.options[0].schema) == SCHEMA
    assert heard.input_tokens == SENT + COUNTER.count(json.dumps(SCHEMA))


@pytest.mark.parametrize(
    "refusal", [RequestRefused("No such field.", ""), NotAnAnswer("HTTP 500.", "")]
)
async def test_a_server_that_takes_no_schema_is_asked_without_one_from_then_on(refusal):
    provider = Strict(("[1]",), refusal=refusal, usage=UNREPORTED)
    model = SmallModel(provider, COUNTER, 5)

    heard = [await model.ask(ASKED, SCHEMA) for _ in range(2)]

    assert [each.whole() for each in heard] == ["[1]", "[1]"]
    assert [each.schema is None for each in provider.options] == [False, True, True]
    assert [each.input_tokens for each in heard] == [SENT, SENT]
    assert replace(model, answers=True).taught is model.taught, "what is made of it knows, too"


async def test_a_request_that_was_billed_and_repeated_without_its_schema_is_paid_twice():
    class Thinks(Strict):
        async def stream(self, messages, options):
            if options.schema is not None:
                yield ReasoningDelta("hm")
                yield Usage(100, 10)
            async for piece in super().stream(messages, options):
                yield piece

    provider = Thinks(("[1]", Usage(100, 10)), refusal=NotAnAnswer("Nothing.", ""))
    heard = await SmallModel(provider, COUNTER, 5, Prices(2.0, 10.0)).ask(ASKED, SCHEMA)

    assert heard.text == "[1]"
    assert heard.cost == pytest.approx(2 * (100 * 2e-6 + 10 * 10e-6))


async def test_a_schema_that_the_loop_left_out_is_not_sent_or_counted_again():
    sent = SentRequest("openai", "", Options(without=frozenset({"response_format"})), "")
    model = small(sent, "[1]")
    model.provider.usage = UNREPORTED

    heard = [await model.ask(ASKED, SCHEMA) for _ in range(2)]

    assert [each.input_tokens for each in heard] == [SENT, SENT]
    assert [each.schema is None for each in model.provider.options] == [False, True]


async def test_what_is_refused_without_a_schema_too_is_the_error_and_teaches_nothing():
    model = small(RequestRefused("There is no such model.", "Name another."))

    heard = await model.ask(ASKED, SCHEMA)

    assert heard.error is not None
    assert heard.error.what == "There is no such model."
    assert len(model.provider.requests) == 2
    assert model.taught.takes_schema
    assert heard.input_tokens == 0


async def test_a_key_that_is_refused_is_not_tried_again():
    model = small(KeyRefused("The key is refused.", ""))

    await model.ask(ASKED, SCHEMA)

    assert len(model.provider.requests) == 1
