"""A session learns the server's token counts from stored replies only."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import ContextOverflow, StoreFull, StreamCut
from jitchat.events import WindowBuilt
from jitchat.index.embedder import NoEmbedder
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Finished, Options, Piece, ReplyDelta
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.settings import Settings
from jitchat.store.models import ModelLessons
from jitchat.values import Message, Mode, Usage
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter, request_tokens
from jitchat.writing.pieces import PLAIN, WritingRules
from tests.session.sending import failures, kinds, regenerate, send, stored_turns
from tests.support import ScriptedProvider, conversation_of, make_session, session_on, talk
from tests.window.reports import Server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from jitchat.store.store import ColdStore
    from jitchat.window.window import ContextWindow

SERVER, COUNTER = "http://localhost:9/v1", EstimateCounter.name


@dataclass
class Counting:
    """A model that counts as `server` does, and answers."""

    server: Server = field(default_factory=lambda: Server(noise=0))
    script: Sequence[Piece | Exception | asyncio.Event] = (ReplyDelta("Understood."),)
    reports: list[int] = field(default_factory=list)
    name = model = "small-1"

    def rules(self, options: object) -> WritingRules:
        return PLAIN

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        own = request_tokens(EstimateCounter(), tuple(messages))
        self.reports.append(self.server.report(own).reported)
        yield Usage(self.reports[-1], 3)
        for step in self.script:
            if isinstance(step, Exception):
                raise step
            if isinstance(step, asyncio.Event):
                await step.wait()
            else:
                yield step
        yield Finished("stop")

    async def aclose(self) -> None:
        """Nothing to give back."""


def learnt_of(store: ColdStore) -> ModelLessons:
    return ModelLessons(store.database, SERVER, "small-1")


def samples(store: ColdStore) -> int:
    return len(learnt_of(store).samples(COUNTER))


def counting(
    store: ColdStore,
    provider: Counting | None = None,
    exchanges: int = 15,
    size: int = 8_000,
) -> Session:
    texts = [f"turn {n} of the harbour talk, " + "with cranes " * n for n in range(2 * exchanges)]
    options = SessionOptions(Budget(size=size), learnt=learnt_of(store))
    conversation = conversation_of(store, talk(*texts))
    return session_on(store, conversation, provider or Counting(), options=options)  # type: ignore[arg-type]


async def sent(session: Session, draft: str, mode: Mode = Mode.JIT) -> ContextWindow:
    events = await send(session, draft, mode)
    assert not failures(events)
    return next(event.window for event in events if isinstance(event, WindowBuilt))


@pytest.mark.parametrize(("noise", "held"), [(0.0, 12), (0.01, 11)])
async def test_after_four_replies_the_band_contains_the_next_report(store, noise, held):
    session = counting(store, Counting(Server(noise=noise)), exchanges=30)
    assert (await sent(session, "which crane?")).band == 0
    for number in range(3):
        await sent(session, f"crane {number}?", list(Mode)[number])

    holding = 0
    for number in range(12):
        window = await sent(session, f"and crane {number}?", list(Mode)[number % 3])
        holding += abs(window.used - session.provider.reports[-1]) <= window.band
        assert 0 < window.band < 0.15 * window.used
        assert window.used + window.free + window.budget.reserve == window.budget.limit
    assert holding >= held


async def test_lessons_are_available_in_the_next_session(store):
    session = counting(store, size=600)
    for number in range(4):
        await sent(session, f"crane {number}?")

    again = counting(store)

    assert again.calibration == session.calibration
    assert again.calibration.samples == 4
    assert again.preview("which crane?", Mode.FULL).band > 0


async def test_a_window_that_contains_a_reported_one_is_never_shown_under_that_report(store):
    """What the server adds is not known from one report, but the next request has it again."""
    session = counting(store, Counting(Server(offset=2_000, noise=0)), size=600)
    first = await sent(session, "which crane?", Mode.FULL)

    second = await sent(session, "and then?", Mode.FULL)
    beside = session.preview("which crane?", Mode.JIT)

    assert second.used >= session.provider.reports[0] > 2 * first.used
    assert second.used == second.full_tokens
    assert beside.used < 2_000, "a smaller window says what was counted"


async def test_a_session_that_is_opened_again_knows_what_was_reported_last(store):
    session = counting(store, Counting(Server(offset=2_000, noise=0)), 2)
    first = await sent(session, "Which crane is it?", Mode.FULL)
    reports = session.provider.reports
    conversation = store.conversation(session.memory.conversation.id)
    again = session_on(store, conversation, Counting(), options=SessionOptions())
    assert again.preview("And which berth?", Mode.FULL).used >= reports[0] > 2 * first.used
    other = Counting()
    other.model = "small-2"
    unknown = session_on(store, conversation, other, options=SessionOptions())
    assert unknown.preview("And which berth?", Mode.FULL).used < reports[0]


async def test_a_sample_is_the_uncorrected_count(store):
    session = counting(store)
    for number in range(5):
        await sent(session, f"crane {number}?")

    for sample in learnt_of(store).samples(COUNTER):
        assert sample.reported == session.provider.server.report(sample.counted).reported


@pytest.mark.parametrize("pieces", [(), (ReplyDelta("Under"),)])
async def test_a_reply_that_is_cancelled_teaches_nothing(store, pieces):
    session = counting(store, Counting(script=(*pieces, asyncio.Event())))
    events = session.send("which crane?", Mode.JIT)
    async for event in events:
        if type(event).__name__ == ("ReplyDelta" if pieces else "UsageReported"):
            break
    await events.aclose()

    assert (samples(store), session.calibration.samples) == (0, 0)


async def test_a_truncated_reply_teaches_nothing(store):
    session = counting(store, Counting(script=(ReplyDelta("Under"), StreamCut("Cut.", "Again."))))

    assert failures(await send(session, "which crane?"))

    assert samples(store) == 0


@pytest.mark.parametrize("usage", [Usage(None, 3), Usage(0, 3)])
async def test_a_report_without_input_teaches_nothing(store, usage):
    session = counting(store, Counting(script=(usage, ReplyDelta("Understood."))))

    await sent(session, "which crane?")

    assert samples(store) == 0


async def test_an_answer_that_is_regenerated_teaches_too(store):
    session = counting(store)
    await sent(session, "which crane?")
    said = session.memory.turns[-2]

    for _ in range(2):
        assert await regenerate(session, said, Mode.JIT)

    assert samples(store) == 3
    assert session.calibration.samples == 3


def test_the_reader_teaches_nothing(store):
    made = make_session(Settings(), store, store.create("Empty"), NoEmbedder())

    assert made.provider.name == "reader"
    assert made.options.learnt is None


async def test_a_reply_is_complete_even_if_its_sample_cannot_be_stored(store, monkeypatch):
    def refuse(*asked):
        raise StoreFull("The disk is full.", "Make room.")

    session = counting(store)
    monkeypatch.setattr(ModelLessons, "add_sample", refuse)

    events = await send(session, "which crane?")

    assert not failures(events)
    assert [turn.content for turn in stored_turns(events)] == ["which crane?", "Understood."]


class Refusing(Counting):
    """Accepts windows of up to 600 of its own tokens; the refusal states a larger one's size."""

    async def stream(self, messages, options):
        async for piece in super().stream(messages, options):
            if self.reports[-1] > 600:
                raise ContextOverflow("Too large.", "", needed=self.reports[-1], limit=600)
            yield piece


async def test_a_refusal_corrects_until_there_are_samples(store, monkeypatch):
    session = counting(store, Refusing())
    events = await send(session, "which crane?", Mode.JIT)
    first, second = (event.window for event in events if isinstance(event, WindowBuilt))

    assert not failures(events)
    assert kinds(events).count("LimitLearnt") == 1
    assert first.used < session.provider.reports[0]
    assert second.used + second.band <= 600
    assert (samples(store), session.calibration.samples) == (1, 1)

    for number in range(3):
        window = await sent(session, f"crane {number}?")
    assert session.calibration.samples == 4
    assert abs(window.used - session.provider.reports[-1]) <= window.band


@pytest.mark.parametrize(
    ("prices", "usage", "cost"),
    [
        (None, Usage(1_000_000, 0), None),
        (None, None, None),
        (Prices(2.0, 3.0), Usage(1_000_000, 0), 2.0),
        (Prices(2.0, 3.0), Usage(1_000_000, None), None),
        (Prices(2.0, 3.0), None, None),
        (Prices(0.0, 0.0), Usage(None, None), 0.0),
        (Prices(0.0, 0.0), None, 0.0),
        (Prices(0.0, None), None, None),
        (None, Usage(9, 4, cost=0.00014), 0.00014),
        (Prices(2.0, 3.0), Usage(1_000_000, 0, cost=1.5), 1.5),
        (Prices(0.0, 0.0), Usage(9, 4, cost=0.5), 0.5),
    ],
)
def test_a_cost_is_known_only_if_all_its_parts_are(store, prices, usage, cost):
    options = SessionOptions(prices=prices)
    session = session_on(store, store.create("Empty"), ScriptedProvider(), options=options)

    assert session.cost_of(usage) == cost
