"""THE FLOW: what happens to a message, from Enter to the indexed reply.

`Session.send` is the whole life of a turn, one stage a line. Front ends watch its events and
decide nothing. The user's turn is durable before the request leaves; whatever goes wrong, it
ends as an event that carries the draft back, and what came of the reply is kept.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace

from jitchat.errors import ContextOverflow, StoreError, WindowOverflow
from jitchat.events import Event, LimitLearnt, TurnsRetrieved, TurnStored, WindowBuilt
from jitchat.inspection import Inspection, SessionOptions
from jitchat.planning import Question, told_of_refusal
from jitchat.recorder import Exchange, Outgoing
from jitchat.threads import to_the_end
from jitchat.values import BY_USER, LEARNT, Limit, Message, Mode, Turn
from jitchat.window.budget import Budget
from jitchat.window.steering import NO_MORE, Once
from jitchat.window.window import ContextWindow, digest_of

__all__ = ["Session", "SessionOptions"]


class Session(Inspection):
    """A conversation in use: its memory, who answers, and how much fits."""

    _last: Exchange | None = None
    """The message that was sent last."""

    async def send(
        self,
        draft: str,
        mode: Mode,
        once: Once = NO_MORE,
        on_stored: Callable[[], object] = lambda: None,
    ) -> AsyncGenerator[Event, None]:
        """Send a message; closing the generator cancels the reply and keeps what came.

        `once` says where it stands and what else holds for it alone. `on_stored` is told, in
        whichever thread, that the message is a turn, also where nobody hears of events any more.
        """
        if unstored := self.memory.store.unstored:
            with suppress(StoreError):  # the message itself is refused then, and comes back
                await asyncio.to_thread(unstored.store_again)
        outgoing = replace(self._outgoing(draft, once), on_stored=on_stored)
        self._last = exchange = Exchange(self.memory, outgoing)
        with self.memory.index.throttle.under_way():
            async with exchange:
                said = await to_the_end(exchange.store_draft)
                yield TurnStored(said)
                question, found = await asyncio.to_thread(self._retrieve, said, once)
                yield found
                question = await self._pick(question, mode)
                async with aclosing(self._fitted(exchange, question, mode)) as events:
                    async for event in events:
                        yield event
                await asyncio.to_thread(exchange.finish)
                await asyncio.to_thread(self._meter.take, exchange.sent, exchange.usage)
        for event in exchange.outcome():
            yield event
        for event in await asyncio.to_thread(exchange.index):
            yield event

    @property
    def unstored(self) -> int | None:
        """From which character on the last reply is not stored; None where all of it is."""
        return self._last.unstored if self._last is not None else None

    async def _fitted(
        self, exchange: Exchange, question: Question, mode: Mode
    ) -> AsyncGenerator[Event, None]:
        """Have the window answered; one that is too large for the model is built anew, once."""
        built, messages = await asyncio.to_thread(self._build, question, mode)
        try:
            async with aclosing(self._answered(exchange, question.said, built, messages)) as events:
                async for event in events:
                    yield event
        except ContextOverflow as overflow:
            if exchange.has_begun:
                raise
            refusal = overflow
        else:
            return
        question = replace(question, once=replace(question.once, budget=None))
        yield await asyncio.to_thread(self._learn_limit, question, mode, built.window, refusal)
        built, messages = await asyncio.to_thread(self._build, question, mode)
        async with aclosing(self._answered(exchange, question.said, built, messages)) as events:
            async for event in events:
                yield event

    async def _answered(
        self, exchange: Exchange, said: Turn, built: WindowBuilt, messages: Sequence[Message]
    ) -> AsyncGenerator[Event, None]:
        """Send the window and report what comes."""
        await asyncio.to_thread(exchange.store_window, said, built)
        yield built
        options = self.request_options(built.window)
        async with aclosing(self.provider.stream(messages, options)) as pieces:
            async for piece in pieces:
                for event in exchange.take(piece):
                    yield event
                if exchange.is_due:
                    await asyncio.to_thread(exchange.save)

    async def preview_picked(self, draft: str, mode: Mode, once: Once = NO_MORE) -> ContextWindow:
        """Plan as `preview` does, but ask the picker's model, which is sent its request.

        Raises:
            WindowOverflow: What the mode must send does not fit.

        """
        question = await asyncio.to_thread(self.planning.question, draft, once)
        picked = await self._pick(question, mode)
        return await asyncio.to_thread(self.planning.window, picked, mode, self.options.budget)

    async def aclose(self) -> None:
        """Give back every connection."""
        await self.provider.aclose()
        for small in (self.options.picker, self.options.summariser):
            if small is not None:
                await small.provider.aclose()

    def take_budget(self, budget: Budget) -> None:
        """Use another budget from now on: the server told what its model takes, or the user did."""
        if budget.limit_source != BY_USER:
            self.model_limit = budget.limit
        self.options = replace(self.options, budget=budget)

    def _learn_limit(
        self, question: Question, mode: Mode, window: ContextWindow, refusal: ContextOverflow
    ) -> LimitLearnt:
        """Take in what a refusal tells, and say so.

        Raises:
            ContextOverflow: The refusal itself, where it names no limit and no window of half the
                size, which is only tried, can be planned.

        """
        known, limit = self.options, self.model_limit
        budget = self._meter.refused(window, refusal, self.options.budget)
        self.take_budget(budget)
        if not refusal.limit:
            try:
                self.planning.window(question, mode, budget)
            except WindowOverflow:
                self.options, self.model_limit = known, limit
                raise refusal from None
        told = told_of_refusal(self.provider.name, self.provider.model, window, refusal)
        return LimitLearnt(Limit(budget.limit, LEARNT), told)

    def _outgoing(self, draft: str, once: Once) -> Outgoing:
        return Outgoing(draft, once.after, once.again, self.provider.name, self.cost_of)

    def _retrieve(self, said: Turn, once: Once) -> tuple[Question, TurnsRetrieved]:
        started = time.perf_counter()
        self.memory.index.index_little(said.position)
        question = self.planning.asked(said, once)
        return question, TurnsRetrieved(question.retrieval, time.perf_counter() - started)

    async def _pick(self, question: Question, mode: Mode) -> Question:
        """Let a small model choose what is recalled, where one is to and there is a choice."""
        if self.picker is None or mode is not Mode.JIT:
            return question
        sources = await asyncio.to_thread(self.planning.sources, question)
        budget = question.once.budget or self.options.budget
        picked = await self.picker.pick(sources, budget, self.counter)
        return replace(question, retrieval=picked)

    def _build(self, question: Question, mode: Mode) -> tuple[WindowBuilt, Sequence[Message]]:
        """Plan the window, and write the messages that it is sent as: once, for they are long."""
        window = self.planning.window(question, mode, self.options.budget)
        messages = window.messages()
        return WindowBuilt(window, digest_of(messages)), messages
