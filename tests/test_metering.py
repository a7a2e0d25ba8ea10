"""What a request takes is recorded, whatever becomes of it, and by the provider's own figures."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import JitchatError, RequestRefused, SpendingLimitReached, StreamCut
from jitchat.metering import MessageAccount, MeteredProvider, Metering
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import (
    Options,
    PartRefused,
    ReasoningDelta,
    ReplyDelta,
    RetryScheduled,
    SentRequest,
)
from jitchat.providers.writing import stream_written
from jitchat.spending import Spending, SpendingLimits
from jitchat.store.requests import Purpose, RequestLog, Spent
from jitchat.store.usage import Grouping, usage_by
from jitchat.values import Message, Role, Tool, ToolCall, ToolUse, Usage
from jitchat.window.tokens import EstimateCounter, request_tokens
from jitchat.window.written import sent_tokens
from jitchat.writing.pieces import WritingRules
from tests.small_models.support import Bare
from tests.support import ScriptedProvider

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore

ASKED = (Message(Role.USER, "Which port has the gateway?"),)
COUNTER = EstimateCounter()
SENT = request_tokens(COUNTER, ASKED)
PRICES = Prices(1_000.0, 10_000.0)
POSTED = SentRequest("scripted", "https://llm.test", Options(), "")


def metered(store: ColdStore, provider: ScriptedProvider, prices: Prices | None = PRICES, **given):
    metering = Metering(RequestLog(store.database), store.now, **given)
    return MeteredProvider(provider, Purpose.TITLE, metering, COUNTER, prices)


async def ask(provider: MeteredProvider) -> None:
    with suppress(JitchatError):
        async for _ in provider.stream(ASKED, Options()):
            pass


def row(store: ColdStore) -> tuple[Spent, int, int, int, int]:
    (found,) = usage_by(store.database, Grouping.PURPOSE)
    assert found.name == "title"
    return (
        found.spent,
        found.spent.estimated,
        found.unreported,
        found.input_tokens,
        found.output_tokens,
    )


async def test_what_the_provider_reports_counts(store: ColdStore):
    await ask(metered(store, ScriptedProvider()))
    assert row(store) == (Spent(0.2), 0, 0, 100, 10)


async def test_what_it_charges_stands_before_every_price(store: ColdStore):
    await ask(metered(store, Bare(("Yes.", Usage(100, 10, cost=0.5)))))
    assert row(store) == (Spent(0.5), 0, 0, 100, 10)


async def test_for_what_it_does_not_report_own_counts_stand(store: ColdStore):
    call = ToolCall("1", "look", "{}")
    await ask(metered(store, Bare((ReasoningDelta("Hm."), "Yes.", call, StreamCut("Cut.", "")))))
    answered = COUNTER.count("Hm.Yes.look {}")
    cost = (SENT * 1_000 + answered * 10_000) / 1_000_000
    assert row(store) == (Spent(cost), 1, 1, SENT, answered)


async def test_of_a_report_that_is_not_whole_only_the_rest_is_counted(store: ColdStore):
    await ask(metered(store, Bare((Usage(100, None), "Yes."))))
    spent, estimated, unreported, *tokens = row(store)
    assert (estimated, unreported, tokens) == (1, 1, [100, COUNTER.count("Yes.")])
    assert spent.amount > 0.1


async def test_a_request_that_was_refused_costs_nothing(store: ColdStore):
    await ask(provider := metered(store, Bare((RequestRefused("No.", ""),))))
    assert row(store) == (Spent(), 0, 0, 0, 0)
    assert provider.cost == 0.0


async def test_an_unknown_price_is_no_zero(store: ColdStore):
    await ask(metered(store, ScriptedProvider(), None))
    assert row(store) == (Spent(0.0, 1), 0, 0, 100, 10)


async def test_one_that_is_stopped_took_its_input(store: ColdStore):
    asking = asyncio.create_task(ask(metered(store, waiting := Bare((asyncio.Event(),)))))
    while not waiting.requests:
        await asyncio.sleep(0)
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking
    assert row(store) == (Spent(SENT / 1_000), 1, 1, SENT, 0)


async def stop_waiting(store: ColdStore, *script: object) -> None:
    """Stop a request at the event at the end of its script."""
    asking = asyncio.create_task(ask(metered(store, waiting := Bare((*script, asyncio.Event())))))
    while not waiting.requests:
        await asyncio.sleep(0)
    for _ in range(10):  # to the event
        await asyncio.sleep(0)
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking


async def test_a_refused_request_that_is_stopped_before_its_retry_costs_nothing(store: ColdStore):
    await stop_waiting(store, POSTED, RetryScheduled(30.0, "HTTP 429"))
    assert row(store) == (Spent(), 0, 0, 0, 0)


async def test_a_retry_that_is_stopped_took_its_input(store: ColdStore):
    await stop_waiting(store, POSTED, RetryScheduled(30.0, "HTTP 429"), POSTED)
    assert row(store) == (Spent(SENT / 1_000), 1, 1, SENT, 0)


async def test_a_request_stopped_while_it_is_recorded_costs_nothing(store: ColdStore, monkeypatch):
    recording, go_on, begin = threading.Event(), threading.Event(), RequestLog.begin

    def held(*given: object) -> int:
        recording.set()
        assert go_on.wait(10)
        return begin(*given)

    monkeypatch.setattr(RequestLog, "begin", held)
    asking = asyncio.create_task(ask(metered(store, provider := ScriptedProvider())))
    await asyncio.to_thread(recording.wait, 10)
    asking.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with suppress(asyncio.CancelledError):
        await asking
    assert row(store) == (Spent(), 0, 0, 0, 0)
    assert provider.requests == []


async def test_no_tokens_reported_for_an_answer_with_text_are_counted(store: ColdStore):
    await ask(metered(store, Bare((ReplyDelta("Yes."), Usage(100, 0)))))
    assert row(store)[1:] == (1, 1, 100, COUNTER.count("Yes."))


async def test_it_is_written_down_before_it_leaves(store: ColdStore):
    provider = metered(store, ScriptedProvider(), conversation=store.create("Talk").id)
    async with aclosing(provider.stream(ASKED, Options())) as pieces:
        await anext(pieces)
        assert row(store) == (Spent(SENT / 1_000), 1, 1, SENT, 0)
    assert RequestLog(store.database).spent("chat-1").amount == pytest.approx(
        (SENT + 10 * COUNTER.count("Understood.")) / 1_000
    )


async def test_what_is_not_allowed_does_not_leave(store: ColdStore):
    def refuse(amount: float | None, account: MessageAccount | None) -> None:
        assert account is None
        assert amount == pytest.approx(SENT / 1_000 + 4.0)
        raise SpendingLimitReached("No.", "")

    provider = ScriptedProvider()
    with pytest.raises(SpendingLimitReached):
        async for _ in metered(store, provider, allow=refuse).stream(ASKED, Options()):
            pass
    assert provider.requests == []
    assert usage_by(store.database, Grouping.PURPOSE) == []


async def test_small_models_that_are_asked_at_once_cannot_exceed_a_limit_together(
    store: ColdStore,
):
    await ask(metered(store, ScriptedProvider()))  # $0.20; its answer has 10 tokens
    one = SENT / 1_000 + 10 * 0.01
    limits = SpendingLimits(day=0.2 + 3.5 * one)
    spending = Spending(store.database, store.now, None, limits)
    provider = Bare((Usage(SENT, 10), "Yes."))
    asked = [
        MeteredProvider(provider, Purpose.TITLE, spending.metering(), COUNTER, PRICES)
        for _ in range(8)
    ]
    await asyncio.gather(*(ask(each) for each in asked))
    assert len(provider.requests) == 3
    assert row(store)[0].amount == pytest.approx(0.2 + 3 * one)


async def test_the_forecast_is_no_longer_than_the_longest_answer(store: ColdStore):
    amounts = []

    def note(amount: float | None, _: object) -> None:
        amounts.append(amount)

    provider = metered(store, ScriptedProvider(), allow=note)
    async for _ in provider.stream(ASKED, Options(max_tokens=20)):
        pass
    assert amounts == [pytest.approx(SENT / 1_000 + 20 * 0.01)]


class Refusing(ScriptedProvider):
    """Refuses system messages once they were sent."""

    def rules(self, options: Options) -> WritingRules:
        return WritingRules(folds_system="system" in options.without)

    async def stream(self, messages, options):
        self.requests.append(tuple(messages))
        yield POSTED
        if messages[0].role is Role.SYSTEM:
            raise PartRefused(RequestRefused("No.", ""), "system", "Sent in the first message.")
        yield ReplyDelta("Yes.")


async def test_a_request_that_is_written_again_is_counted_as_it_is_sent(store: ColdStore):
    asked = (Message(Role.SYSTEM, "Be brief."), *ASKED)
    provider = Refusing()
    async for _ in stream_written(metered(store, provider), asked, Options()):
        pass
    first, second = provider.requests
    assert len(first) == 2
    assert len(second) == 1
    assert [each.sends for each in [row(store)[0]]] == [2]
    sent = request_tokens(COUNTER, second)
    assert row(store)[3] == sent, "what was refused costs nothing"


async def test_calls_results_and_definitions_are_counted_as_they_are_sent(store: ColdStore):
    call = ToolCall("1", "look", '{"at": "the quay, the crane and the eastern dock"}')
    talk = (
        *ASKED,
        Message(Role.ASSISTANT, "", None, ToolUse((call,))),
        Message(Role.TOOL, "Nothing.", None, ToolUse(answers=call)),
    )
    tools = (Tool("look", "Looks at the harbour through the eastern camera.", "{}"),)
    async for _ in metered(store, Bare(("Yes.",))).stream(talk, Options(tools=tools)):
        pass
    assert row(store)[3] == sent_tokens(COUNTER, talk, tools)


async def test_a_schema_that_was_left_out_is_not_charged(store: ColdStore):
    without = replace(POSTED, options=Options(without=frozenset({"response_format"})))
    provider = metered(store, Bare((POSTED, without, "Yes.")))
    async for _ in provider.stream(ASKED, Options(schema='{"type": "object"}')):
        pass
    assert row(store)[3] == SENT
    assert (provider.sent, provider.answered) == (SENT, COUNTER.count("Yes."))
