"""Spending limits: no request that would exceed one is sent, and a warning comes first."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import RequestRefused, SpendingLimitReached
from jitchat.events import WindowBuilt
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Options, Piece, ReplyDelta
from jitchat.replay import window_of
from jitchat.savings import Cache, repeated
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.spending import SpendingLimits
from jitchat.store.requests import Purpose, RequestLog, Spent
from jitchat.tools.offering import Asking, OfferRules
from jitchat.values import REQUEST_CONTEXT, Message, Mode, Role, ToolCall, Usage
from tests.session.sending import failures, send
from tests.support import ScriptedProvider, conversation_of, session_on, talk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from jitchat.store.store import ColdStore

PRICES = Prices(100.0, 10_000.0, cached=10.0)
"""A reply of the scripted provider, 100 tokens in and 10 out, costs 11 cents."""
SHORT = Options(max_tokens=10)


class Caching(ScriptedProvider):
    """Most of the input comes from its cache."""

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        async for piece in super().stream(messages, options):
            yield Usage(100, 10, 80) if isinstance(piece, Usage) else piece


def session(
    store: ColdStore, limits: SpendingLimits, provider: ScriptedProvider | None = None
) -> Session:
    offers = OfferRules(Asking.ON)
    options = SessionOptions(spending=limits, prices=PRICES, request=SHORT, offers=offers)
    said = talk(*(f"The port of relay {number} is {9_000 + number}." for number in range(40)))
    return session_on(
        store, conversation_of(store, said), provider or ScriptedProvider(), options=options
    )


def warnings(events: list[object]) -> list[str]:
    return [each.warning for each in events if isinstance(each, WindowBuilt) and each.warning]


@pytest.mark.parametrize("setting", ["day", "conversation"])
async def test_a_request_that_would_exceed_a_limit_is_not_sent_and_the_draft_comes_back(
    store: ColdStore, setting: str
):
    talking = session(store, SpendingLimits(**{setting: 0.45}))
    assert failures(await send(talking, "hello")) == []
    assert failures(await send(talking, "and again")) == []
    failed = []
    while not failed:
        sent = len(talking.provider.requests)
        failed = failures(await send(talking, "and once more"))
    assert isinstance(failed[0].error, SpendingLimitReached)
    assert failed[0].draft == "and once more"
    assert " of $0.45, and this would add ~$" in str(failed[0].error)
    assert f"Raise spending.{setting}" in str(failed[0].error)
    assert 2 <= sent == len(talking.provider.requests)
    assert RequestLog(store.database).spent(talking.memory.conversation.id).sends == sent


async def test_one_message_can_exceed_a_limit_at_the_users_request(store: ColdStore):
    talking = session(store, SpendingLimits(day=0.0))
    talking.spending.exceed_once()
    assert failures(await send(talking, "hello")) == []
    (failed,) = failures(await send(talking, "and again"))
    assert "Today: $0.11 of $0.00, and this would add" in str(failed.error)


async def test_near_a_limit_a_warning_comes_once(store: ColdStore):
    talking = session(store, SpendingLimits(day=1.0, warn=0.25))
    assert warnings(await send(talking, "hello")) == []
    (warning,) = warnings(await send(talking, "and again"))
    assert warning.startswith("Today: $0.11 of $1.00, and ~$0.")
    assert warnings(await send(talking, "and once more")) == []


async def test_the_limit_of_a_message_holds_for_all_requests_of_its_answer(store: ColdStore):
    call = ToolCall("1", REQUEST_CONTEXT, '{"query": "relay 3"}')
    talking = session(store, SpendingLimits(send=0.5), ScriptedProvider((call,)))
    events = await send(talking, "which port has relay 3?", Mode.RECENCY)
    (failed,) = failures(events)
    assert isinstance(failed.error, SpendingLimitReached)
    assert "This message so far: $" in str(failed.error)
    assert 2 <= len(talking.provider.requests) <= 4
    assert "The tools' results were not sent" in str(failed.error)
    assert failed.draft == "which port has relay 3?"


async def test_an_unknown_price_is_reported_once_and_stops_nothing(store: ColdStore):
    talking = session(store, SpendingLimits(day=0.01))
    talking.options = replace(talking.options, prices=None)
    (warning,) = warnings(await send(talking, "hello"))
    assert "is unknown, so spending limits cannot be enforced" in warning
    assert warnings(await send(talking, "and again")) == []


async def test_a_forecast_counts_cached_tokens_while_the_cache_lasts(store: ColdStore):
    talking = session(store, SpendingLimits(), Caching())
    await send(talking, "hello")
    window = talking.preview("and again", Mode.RECENCY)
    warm = talking.forecast(window)
    assert warm.usage.cached_tokens > 0
    assert warm.usage.output_tokens == 10
    assert warm.amount == PRICES.of(warm.usage)
    assert f" input, ~{warm.usage.cached_tokens:,} cached; with an answer" in warm.sentences()[0]


async def test_one_message_has_one_price_of_its_input_wherever_it_is_shown(store: ColdStore):
    talking = session(store, SpendingLimits(), Caching())
    await send(talking, "hello")
    window = talking.preview("and again", Mode.RECENCY)
    compared, forecast = talking.comparison(window), talking.forecast(window)

    assert compared.sent == replace(forecast.usage, output_tokens=0)
    assert compared.cost == forecast.input
    told = f"This message: ~{window.used:,} tokens: {compared.cost}; with an answer of ~10: "
    assert forecast.sentences()[0].startswith(told)
    _, planned = talking.compare("and again")
    full = talking.comparison(planned[Mode.FULL])
    assert full.of_full == full.amount, "equal windows cost the same"
    empty = talking.forecast(talking.preview("", Mode.RECENCY)).sentences()[0]
    assert empty.startswith("The next message, without its text: ~")


async def test_a_correction_that_moves_takes_nothing_out_of_the_cache(store: ColdStore):
    talking = session(store, SpendingLimits())
    before, after = (talking.preview(draft, Mode.FULL) for draft in ("hello", "and again"))
    shared = repeated(before, after)
    dearer = replace(
        after, segments=tuple(replace(each, tokens=2 * each.tokens) for each in after.segments)
    )

    assert 0 < shared < after.used
    assert repeated(before, dearer) == 2 * shared
    assert repeated(before, before) == before.used


async def test_a_forecast_for_an_extended_window_counts_the_previous_one_as_cached(
    store: ColdStore,
):
    call = ToolCall("1", REQUEST_CONTEXT, '{"query": "relay 3"}')
    talking = session(store, SpendingLimits(), Caching((call,), later=[("9003.",)]))
    for _ in range(2):
        await send(talking, "which port has relay 3?", Mode.RECENCY)
    first, last = talking.memory.archive.sends(talking.memory.conversation.id)[-2:]
    window = window_of(store.database, last.window_id)
    before = window_of(store.database, first.window_id)
    assert window.step == 1
    assert Cache(before, caches=True).usage(window).cached_tokens == first.used
    forecast = talking.forecast(talking.preview("and relay 4?", Mode.RECENCY))
    assert forecast.requests == 2
    assert "usually took 2 requests: ~$" in forecast.sentences()[1]


async def test_viewing_the_costs_during_a_turn_does_not_restart_its_account(store: ColdStore):
    call = ToolCall("1", REQUEST_CONTEXT, '{"query": "relay 3"}')
    talking = session(store, SpendingLimits(send=0.5), ScriptedProvider((call,)))
    failed = []
    async for event in talking.send("which port has relay 3?", Mode.RECENCY):
        failed += failures([event])
        if isinstance(event, WindowBuilt):
            talking.forecast(talking.preview("and the next message", Mode.RECENCY))
    assert isinstance(failed[0].error, SpendingLimitReached)


async def test_costs_of_small_models_are_in_the_totals_of_day_conversation_and_message(
    store: ColdStore,
):
    talking = session(store, SpendingLimits(send=100.0))
    log, here = RequestLog(store.database), talking.memory.conversation.id
    talking.spending.begin_message()
    for purpose in (Purpose.PICKING, Purpose.TITLE):
        async for _ in talking.metered(purpose).stream([Message(Role.USER, "Choose.")], SHORT):
            pass
    assert log.spent(here) == log.spent_on(store.now().date()) == Spent(0.22)
    window = talking.preview("hello", Mode.RECENCY)
    told = talking.forecast(window).sentences()[-1]
    assert told == "Of this conversation's cost, other than answers: picking $0.11 and title $0.11."
    talking.spending._limits = SpendingLimits(send=0.12)
    with pytest.raises(SpendingLimitReached, match=r"This message so far: \$0.11 of \$0.12"):
        talking.spending.check(window, "scripted", 10)  # the title is no part of it


async def test_a_limit_holds_for_small_models_too(store: ColdStore):
    talking = session(store, SpendingLimits(day=0.5))
    with pytest.raises(SpendingLimitReached, match=r"Today: \$0.00 of \$0.50, and this would add"):
        async for _ in talking.metered(Purpose.TITLE).stream(
            [Message(Role.USER, "Name it.")], SHORT
        ):
            pass
    assert talking.provider.requests == []


async def test_a_cancelled_reply_costs_the_input_and_the_partial_output(store: ColdStore):
    provider = ScriptedProvider(("The port is", asyncio.Event()))
    talking = session(store, SpendingLimits(), provider)
    async with aclosing(talking.send("which port?", Mode.RECENCY)) as events:
        async for event in events:
            if isinstance(event, ReplyDelta):
                left = RequestLog(store.database).spent(talking.memory.conversation.id)
                break
    spent = RequestLog(store.database).spent(talking.memory.conversation.id)
    (send,) = talking.memory.archive.sends(talking.memory.conversation.id)
    assert (spent.unknown, spent.estimated) == (0, 1)
    assert send.usage is None
    assert left.amount == PRICES.of(Usage(send.used, 0))  # also where the process dies here
    assert (
        spent.amount
        == send.cost
        == PRICES.of(Usage(send.used, talking.counter.count("The port is")))
    )


async def test_a_window_that_was_refused_costs_nothing(store: ColdStore):
    talking = session(store, SpendingLimits(), ScriptedProvider((RequestRefused("No.", ""),)))
    await send(talking, "hello")
    spent = RequestLog(store.database).spent(talking.memory.conversation.id)
    assert (spent, spent.sends) == (Spent(), 1)


async def test_an_answers_forecast_length_is_the_models_usual_one_in_all_conversations(
    store: ColdStore,
):
    await send(session(store, SpendingLimits()), "hello")
    talking = session(store, SpendingLimits())
    talking.options = replace(talking.options, request=Options())
    assert talking.forecast(talking.preview("hello", Mode.RECENCY)).usage.output_tokens == 10
