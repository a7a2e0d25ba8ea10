"""Spending limits: no request that would exceed one is sent, and a warning comes first."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.compare_modes import ModeComparison
from jitchat.errors import RequestRefused, SpendingLimitReached, StoreError
from jitchat.events import RequestAdapted, WindowBuilt
from jitchat.metering import MessageAccount, charged_to
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import (
    Finished,
    Options,
    PartRefused,
    Piece,
    ReplyDelta,
    RetryScheduled,
    SentRequest,
)
from jitchat.replay import window_of
from jitchat.savings import Cache, repeated
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.spending import Spending, SpendingLimits
from jitchat.store.requests import Purpose, RequestLog, Spent
from jitchat.tools.offering import Asking, OfferRules
from jitchat.tools.toolbox import Toolbox
from jitchat.values import REQUEST_CONTEXT, Message, Mode, Role, ToolCall, Usage
from jitchat.window.budget import Budget
from tests.session.sending import failures, send
from tests.small_models.support import QUESTION, TURNS, picks, small
from tests.support import ScriptedProvider, conversation_of, session_on, talk
from tests.tools.support import ScriptedTools

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from jitchat.store.store import ColdStore
    from jitchat.tools.source import Step, ToolOutput

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
    budget = Budget(size=600)
    options = SessionOptions(budget, spending=limits, prices=PRICES, request=SHORT, offers=offers)
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
    await send(talking, "hello", Mode.RECENCY)
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
    account = talking.spending.begin_message()
    for purpose, charged in ((Purpose.PICKING, account), (Purpose.TITLE, None)):
        with charged_to(charged):
            async for _ in talking.metered(purpose).stream([Message(Role.USER, "Choose.")], SHORT):
                pass
    assert log.spent(here) == log.spent_on(store.now().date()) == Spent(0.22)
    assert account.spent_in(log) == Spent(0.11)
    window = talking.preview("hello", Mode.RECENCY)
    told = talking.forecast(window).sentences()[-1]
    assert told == "Of this conversation's cost, other than answers: picking $0.11 and title $0.11."
    talking.spending._limits = SpendingLimits(send=0.12)
    with pytest.raises(SpendingLimitReached, match=r"This message so far: \$0.11 of \$0.12"):
        talking.spending.check(window, 0.1, account)  # the title is no part of it


async def test_a_limit_holds_for_small_models_too(store: ColdStore):
    talking = session(store, SpendingLimits(day=0.05))
    with pytest.raises(SpendingLimitReached, match=r"Today: \$0.00 of \$0.0500, and this would"):
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


THREE = (Mode.JIT, Mode.FULL, Mode.RECENCY)


async def ask_all(
    talking: Session, draft: str = "hello", waiting: asyncio.Event | None = None
) -> ModeComparison:
    """Ask in three modes at once; `waiting` is set when two of them have failed."""
    asking, failed = ModeComparison(talking, draft, modes=THREE), []

    def hear(_: Mode, event: object) -> None:
        failed.extend(failures([event]))
        if waiting is not None and len(failed) == 2:
            waiting.set()

    await asking.run(hear)
    return asking


def refusals(asking: ModeComparison) -> list[str]:
    errors = [answer.error for answer in asking.answers.values() if answer.error is not None]
    assert all(isinstance(error, SpendingLimitReached) for error in errors)
    return [str(error) for error in errors]


async def test_a_message_that_may_exceed_a_limit_may_in_all_modes(store: ColdStore):
    talking = session(store, SpendingLimits(day=0.0))
    talking.spending.exceed_once()
    asking = await ask_all(talking)
    assert refusals(asking) == []
    assert len(asking.replies) == len(talking.provider.requests) == 3
    assert len(refusals(await ask_all(talking, "and again"))) == 3, "once only"


@pytest.mark.parametrize("setting", ["day", "conversation", "send"])
async def test_modes_that_are_asked_at_once_cannot_exceed_a_limit_together(
    store: ColdStore, setting: str
):
    calibrated = session(store, SpendingLimits())
    await send(calibrated, "hello")  # its answer has 10 tokens
    windows = [calibrated.preview("hello", mode) for mode in THREE]
    ahead = [calibrated.forecast(window).amount for window in windows]
    assert 1.2 * max(ahead) < sum(ahead) - max(ahead), "only one of them fits"
    spent = 0.0 if setting == "send" else 0.11
    limit = spent + 1.2 * max(ahead)
    talking = session_on(
        store,
        calibrated.memory.conversation,
        ScriptedProvider(("Understood.", waiting := asyncio.Event())),
        options=replace(calibrated.options, spending=SpendingLimits(**{setting: limit})),
    )
    asyncio.get_running_loop().call_later(10.0, waiting.set)
    asking = await ask_all(talking, waiting=waiting)
    assert len(talking.provider.requests) == 1
    told = refusals(asking)
    assert len(told) == 2
    assert all("more reserved by 1 request under way, and this would add" in each for each in told)
    assert all("Wait for what is under way, which may cost less; or" in each for each in told)
    assert all(f"raise spending.{setting}" in each for each in told)


async def test_each_mode_knows_its_own_cost_and_the_message_that_of_all(store: ColdStore):
    talking = session(store, SpendingLimits())
    asking = await ask_all(talking)
    assert [answer.cost for answer in asking.answers.values()] == [0.11] * 3
    assert asking.account.cost() == pytest.approx(0.33)


def test_an_account_of_one_mode_is_lifted_with_its_message():
    assert MessageAccount(is_lifted=True).part().is_lifted
    assert not MessageAccount().part().is_lifted


async def test_what_an_answer_was_expected_to_cost_is_held_until_it_ends(store: ColdStore):
    provider = ScriptedProvider(("The port is", waiting := asyncio.Event()))
    talking = session(store, SpendingLimits(), provider)
    log, here = RequestLog(store.database), talking.memory.conversation.id
    async with aclosing(talking.send("which port?", Mode.RECENCY)) as events:
        async for event in events:
            if isinstance(event, ReplyDelta):
                under_way = log.spent(here)
                ahead = talking.forecast(talking.preview("and again", Mode.RECENCY))
                waiting.set()
    (request,) = talking.memory.archive.sends(here)
    assert under_way.amount == PRICES.of(Usage(request.used, 0))
    assert (under_way.under_way, under_way.reserved) == (1, pytest.approx(10 * 0.01))
    held = [line for line in ahead.sentences() if "~$0.10 more reserved by 1 request" in line]
    assert [line.partition(":")[0] for line in held] == ["This conversation", "Today"]
    after = log.spent(here)
    assert (after, after.under_way, after.reserved) == (Spent(0.11), 0, 0.0)


@pytest.mark.parametrize(
    "script",
    [
        (RequestRefused("No.", ""),),
        ("The port", RequestRefused("No.", "")),
        (asyncio.CancelledError(),),
    ],
)
async def test_nothing_is_held_after_the_end_however_it_comes(store: ColdStore, script: tuple):
    class Ending(ScriptedProvider):
        async def stream(self, messages: Sequence[Message], options: Options):
            for step in script:
                if isinstance(step, BaseException):
                    raise step
                yield ReplyDelta(step)

    talking = session(store, SpendingLimits(), Ending())
    with suppress(asyncio.CancelledError):
        await send(talking, "hello")
    spent = RequestLog(store.database).spent(talking.memory.conversation.id)
    assert (spent.sends, spent.under_way, spent.reserved) == (1, 0, 0.0)


async def test_a_request_that_cannot_be_recorded_is_not_sent(store: ColdStore, monkeypatch):
    def refuse(*_: object) -> int:
        raise StoreError("The disk is full.", "")

    talking = session(store, SpendingLimits())
    monkeypatch.setattr(RequestLog, "begin", refuse)
    (failed,) = failures(await send(talking, "hello"))
    assert isinstance(failed.error, StoreError)
    assert talking.provider.requests == []


SENT = SentRequest("scripted", "https://llm.test", Options(), "")


class Repeating(ScriptedProvider):
    """Refuses a part of the first request, retries the second, and answers a call's result."""

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        self.requests.append(tuple(messages))
        yield SENT
        if len(self.requests) == 1:
            raise PartRefused(RequestRefused("No.", ""), "system", "Sent without it.")
        if len(self.requests) == 2:
            yield RetryScheduled(0.0, "HTTP 429")
            yield SENT
            yield ToolCall("1", REQUEST_CONTEXT, '{"query": "relay 3"}')
        yield ReplyDelta("9003.")
        yield Usage(100, 10)
        yield Finished("stop")


async def test_each_request_that_was_answered_is_charged_once(store: ColdStore):
    talking = session(store, SpendingLimits(), Repeating())
    events = await send(talking, "which port has relay 3?", Mode.RECENCY)
    assert failures(events) == []
    assert any(isinstance(event, RequestAdapted) for event in events)
    sends = talking.memory.archive.sends(talking.memory.conversation.id)
    assert [each.cost for each in sends] == [0.0, 0.11, 0.11]
    assert talking.message_usage() == (Spent(0.22), Usage(200, 20))
    spent = RequestLog(store.database).spent(talking.memory.conversation.id)
    assert (spent, spent.sends, spent.under_way) == (Spent(0.22), 3, 0)


async def test_usage_that_was_reported_before_a_refusal_is_charged_to_that_request(
    store: ColdStore,
):
    class Counting(ScriptedProvider):
        async def stream(self, messages: Sequence[Message], options: Options):
            self.requests.append(tuple(messages))
            yield SENT
            if len(self.requests) == 1:
                yield Usage(100, 0)
                raise PartRefused(RequestRefused("No.", ""), "system", "Sent without it.")
            raise RequestRefused("Not now.", "")

    talking = session(store, SpendingLimits(), Counting())
    await send(talking, "hello", Mode.RECENCY)
    sends = talking.memory.archive.sends(talking.memory.conversation.id)
    assert [each.cost for each in sends] == [pytest.approx(0.01), 0.0]


class AskingTools(ScriptedTools):
    """A tool that asks the model, as the compactor does."""

    talking: Session | None = None

    async def run(self, call: ToolCall, arguments: object, step: Step) -> ToolOutput:
        asked = self.talking.metered(Purpose.COMPACTION)
        async for _ in asked.stream([Message(Role.USER, "Compact it.")], SHORT):
            pass
        return await super().run(call, {}, step)


async def test_small_models_that_work_for_a_message_are_charged_to_it_and_lifted_with_it(
    store: ColdStore,
):
    """A tool asks one, and so does the picker."""
    limits, tools = SpendingLimits(day=0.0), AskingTools({"look": "ok"})
    metering = Spending(store.database, store.now, None, limits).metering()
    picker = replace(small(picks(3)), prices=PRICES, purpose=Purpose.PICKING, metering=metering)
    calling = ScriptedProvider((ToolCall("1", "look", "{}"),), later=[("Yes.",), ("It is 21.",)])
    options = SessionOptions(
        Budget(size=1_500),
        spending=limits,
        prices=PRICES,
        picker=picker,
        toolbox=Toolbox((tools,)),
    )
    talking = session_on(store, conversation_of(store, talk(*TURNS)), calling, options=options)
    tools.talking = talking
    talking.spending.exceed_once()
    assert failures(await send(talking, QUESTION, Mode.JIT)) == []
    assert (len(picker.provider.requests), len(calling.requests)) == (1, 3)
    assert talking.message_usage() == (Spent(0.44), Usage(200, 20))
    (failed,) = failures(await send(talking, f"Again: {QUESTION}", Mode.JIT))
    assert isinstance(failed.error, SpendingLimitReached)
    assert (len(picker.provider.requests), len(calling.requests)) == (1, 3)


async def test_messages_of_one_conversation_that_are_sent_at_once_have_accounts_of_their_own(
    store: ColdStore,
):
    provider = ScriptedProvider(("Now", waiting := asyncio.Event()))
    first = session(store, SpendingLimits(send=1.0), provider)
    second = session_on(store, first.memory.conversation, ScriptedProvider(), options=first.options)
    sending = asyncio.create_task(send(first, "hello", Mode.RECENCY))
    while not provider.requests:
        await asyncio.sleep(0.01)
    second.options = replace(second.options, prices=Prices(0.0, 1.0))
    await send(second, "and again", Mode.RECENCY)
    assert second.message_usage()[0] == Spent(0.00001)
    waiting.set()
    await sending
    assert first.message_usage()[0] == Spent(0.11)
