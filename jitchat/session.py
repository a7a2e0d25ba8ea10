"""THE FLOW: what happens to a message, from Enter to the indexed reply.

`Session.send` is the whole life of a turn, one stage a line. Front ends watch its events and
decide nothing. The user's turn is durable before the request leaves; whatever goes wrong, it
ends as an event that carries the draft back, and what came of the reply is kept.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from jitchat.errors import ContextOverflow
from jitchat.events import Event, LimitLearnt, TurnsRetrieved, TurnStored, WindowBuilt
from jitchat.exchange import Exchange, Outgoing
from jitchat.memory.memory import Memory
from jitchat.meter import Meter
from jitchat.providers.provider import Options, Provider
from jitchat.subcall.picker import ModelPicker
from jitchat.subcall.small_model import SmallModel
from jitchat.subcall.summariser import Summariser
from jitchat.text.safe import repaired
from jitchat.turn import LEARNT, Limit, Mode, Retrieval, Role, Status, Turn, Usage
from jitchat.window.budget import Budget
from jitchat.window.calibration import Calibration
from jitchat.window.history import History
from jitchat.window.plan import SYSTEM_PROMPT, Sources, plan
from jitchat.window.record import window_from
from jitchat.window.tokens import TokenCounter, message_tokens
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.memory.cold.archive import Ending
    from jitchat.memory.cold.learnt import LearntModel
    from jitchat.providers.catalogue.prices import Prices


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What a session does not decide by itself."""

    budget: Budget = field(default_factory=Budget)
    system: str = SYSTEM_PROMPT
    request: Options = field(default_factory=Options)
    picker: SmallModel | None = None
    """Chooses what is recalled; the heuristic does where there is none."""
    summariser: SmallModel | None = None
    """Writes index lines behind the chat; the heuristic's are used where there is none."""
    prices: Prices | None = None
    """Of the model that answers; None where nobody knows them."""
    learnt: LearntModel | None = None
    """What is kept of that model between runs; None where nothing is."""


class Session:
    """A conversation in use: its memory, who answers, and how much fits."""

    def __init__(
        self, memory: Memory, provider: Provider, counter: TokenCounter, options: SessionOptions
    ) -> None:
        self.memory, self.provider, self.counter = memory, provider, counter
        self.options = options
        picker, summariser = map(self._as_it_answers, (options.picker, options.summariser))
        self.picker = ModelPicker(picker) if picker else None
        self.summariser = Summariser(summariser, memory) if summariser else None
        self._meter = Meter(counter, options.learnt)
        self._lock = threading.Lock()
        self._history = History()

    async def send(
        self, draft: str, mode: Mode, after: int | None = None, again: Turn | None = None
    ) -> AsyncGenerator[Event, None]:
        """Send a message; closing the generator cancels the reply and keeps what came.

        It follows the turn at position `after`, the last one if not given; or it is `again`, a
        user's turn that is answered once more: the reply that it has stays, as an alternative.
        """
        exchange = Exchange(self.memory, self._outgoing(draft, after, again))
        with self.memory.pace.under_way(), exchange:
            said = await asyncio.to_thread(exchange.store_draft)
            yield TurnStored(said)
            found = await asyncio.to_thread(self._retrieve, said)
            yield found
            picked = await self._pick(said, found.retrieval, mode, self.options.budget)
            async with aclosing(self._fitted(exchange, said, picked, mode)) as events:
                async for event in events:
                    yield event
            await asyncio.to_thread(exchange.finish)
            await asyncio.to_thread(self._meter.take, exchange.sent, exchange.usage)
        for event in exchange.outcome():
            yield event
        for event in await asyncio.to_thread(exchange.index):
            yield event

    async def _fitted(
        self, exchange: Exchange, said: Turn, picked: Retrieval, mode: Mode
    ) -> AsyncGenerator[Event, None]:
        """Have the window answered; one that is too large for the model is built anew, once."""
        built = await asyncio.to_thread(self._build, said, picked, mode)
        try:
            async with aclosing(self._answered(exchange, said, built)) as events:
                async for event in events:
                    yield event
        except ContextOverflow as overflow:
            if exchange.has_begun:
                raise
            refusal = overflow
        else:
            return
        yield await asyncio.to_thread(self._learn_limit, built.window, refusal)
        built = await asyncio.to_thread(self._build, said, picked, mode)
        async with aclosing(self._answered(exchange, said, built)) as events:
            async for event in events:
                yield event

    async def _answered(
        self, exchange: Exchange, said: Turn, built: WindowBuilt
    ) -> AsyncGenerator[Event, None]:
        """Send the window and report what comes."""
        await asyncio.to_thread(exchange.store_window, said, built)
        yield built
        options = self._request_options(built.window)
        async with aclosing(self.provider.stream(built.window.messages(), options)) as pieces:
            async for piece in pieces:
                for event in exchange.take(piece):
                    yield event
                if exchange.is_due:
                    await asyncio.to_thread(exchange.save)

    def preview(
        self, draft: str, mode: Mode, budget: Budget | None = None, after: int | None = None
    ) -> ContextWindow:
        """Plan the window that `send` would build now. Changes nothing; takes a thread's time.

        The draft follows the turn at position `after`, or the last one. A picker's model is not
        asked: its choice can be another one, and the window says so.

        Raises:
            WindowOverflow: What the mode must send does not fit.

        """
        said, retrieval = self._previewed(draft, after)
        if self.picker is not None and mode is Mode.JIT and retrieval.candidates:
            retrieval = self.picker.not_asked(retrieval)
        return self._plan(said, retrieval, mode, budget or self.options.budget)

    async def preview_picked(
        self, draft: str, mode: Mode, budget: Budget | None = None
    ) -> ContextWindow:
        """Plan as `preview` does, but ask the picker's model, which is sent its request.

        Raises:
            WindowOverflow: What the mode must send does not fit.

        """
        allowed = budget or self.options.budget
        said, retrieval = await asyncio.to_thread(self._previewed, draft)
        picked = await self._pick(said, retrieval, mode, allowed)
        return await asyncio.to_thread(self._plan, said, picked, mode, allowed)

    async def aclose(self) -> None:
        """Give back every connection."""
        await self.provider.aclose()
        for small in (self.options.picker, self.options.summariser):
            if small is not None:
                await small.provider.aclose()

    def sent_window(self, turn: Turn) -> ContextWindow | None:
        """Load the window that was sent last for a user's turn, as it was."""
        record = self.memory.archive.get(turn.id)
        return window_from(record.header, record.segments, record.ledger) if record else None

    def sent_ending(self, turn: Turn) -> Ending | None:
        """Load how that window was answered: what was reported for it, and what it cost."""
        return self.memory.archive.ending(turn.id)

    @property
    def calibration(self) -> Calibration:
        """How far the own counts are off for the model that answers."""
        return self._meter.calibration

    def take_budget(self, budget: Budget) -> None:
        """Use another budget from now on: the server told how much its model takes."""
        self.options = replace(self.options, budget=budget)

    def cost_of(self, usage: Usage | None) -> float | None:
        """Price a reply, in US dollars; None where the usage or a price is not known."""
        prices = self.options.prices
        if prices is None or prices.is_free:
            return 0.0 if prices is not None else None
        return prices.of(usage) if usage is not None else None

    def _as_it_answers(self, small: SmallModel | None) -> SmallModel | None:
        """Have a small model asked with the context size of the windows, where it answers, too."""
        if small is None or not small.answers:
            return small
        return replace(small, context=lambda: self.options.budget.limit)

    def _learn_limit(self, window: ContextWindow, refusal: ContextOverflow) -> LimitLearnt:
        """Take in what a refusal tells, and say so."""
        budget = self._meter.refused(window, refusal, self.options.budget)
        self.take_budget(budget)
        limit = refusal.limit
        told = f"takes {limit:,} tokens" if limit else "does not say how much it takes"
        size = f"{'' if window.is_sure else '~'}{window.used:,}"
        sentence = f"{self.provider.model} {told}; a window of {size} was sent and refused."
        after = "" if window.mode is Mode.FULL else " A smaller one is sent."
        return LimitLearnt(Limit(budget.limit, LEARNT), sentence + after)

    def _outgoing(self, draft: str, after: int | None, again: Turn | None) -> Outgoing:
        return Outgoing(draft, after, again, self.provider.name, self.cost_of)

    def _request_options(self, window: ContextWindow) -> Options:
        """Say what goes along with the window: for some servers, how large it may be."""
        limit = window.budget.limit
        return replace(self.options.request, context=limit, room=limit - window.used)

    def _previewed(self, draft: str, after: int | None = None) -> tuple[Turn, Retrieval]:
        """Make the draft's turn and search for it; for an empty one, nothing is looked for."""
        self.memory.refresh()
        said = self._draft_turn(repaired(draft), after)
        if not said.content.strip():
            return said, Retrieval()
        return said, self.memory.retrieve(said.content, said.position)

    def _draft_turn(self, content: str, after: int | None) -> Turn:
        """Make the turn that the draft will be; sent again, an unanswered one is that turn."""
        if after is not None:
            return Turn(after + 1, Role.USER, content, self.memory.store.now())
        turns = self.memory.turns
        last = turns[-1] if turns else None
        if last and last.status is Status.UNANSWERED and last.content == content:
            return last
        return Turn(last.position + 1 if last else 1, Role.USER, content, self.memory.store.now())

    def _retrieve(self, said: Turn) -> TurnsRetrieved:
        started = time.perf_counter()
        self.memory.index_little(said.position)
        retrieval = self.memory.retrieve(said.content, said.position)
        return TurnsRetrieved(retrieval, time.perf_counter() - started)

    async def _pick(
        self, said: Turn, retrieval: Retrieval, mode: Mode, budget: Budget
    ) -> Retrieval:
        """Let a small model choose what is recalled, where one is to and there is a choice."""
        if self.picker is None or mode is not Mode.JIT:
            return retrieval
        sources = await asyncio.to_thread(self._sources, said, retrieval)
        return await self.picker.pick(sources, budget, self.counter)

    def _build(self, said: Turn, retrieval: Retrieval, mode: Mode) -> WindowBuilt:
        window = self._plan(said, retrieval, mode, self.options.budget)
        return WindowBuilt(window, window.digest)

    def _plan(self, said: Turn, retrieval: Retrieval, mode: Mode, budget: Budget) -> ContextWindow:
        sources = self._sources(said, retrieval)
        return plan(mode, sources, budget, self.counter, self.calibration)

    def _sources(self, said: Turn, retrieval: Retrieval) -> Sources:
        history = self._history_before(said.position)
        return Sources(history, said, self.provider.model, self.options.system, retrieval)

    def _history_before(self, position: int) -> History:
        """Price the turns ahead of a draft; each is priced once."""
        with self._lock:
            ahead = (turn for turn in self.memory.turns if turn.position < position)
            self._history = self._history.following(ahead, self._price)
            return self._history

    def _price(self, text: str) -> int:
        return message_tokens(self.counter, text)
