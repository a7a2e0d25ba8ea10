"""What a request to a provider takes, and who records it.

Answers are recorded with their windows, by the recorder; any other request goes through a
`MeteredProvider`, whoever makes it. What the provider reports counts; for what it does not report,
own counts stand, and are marked as such. A request that failed before anything of an answer came
is not billed; one that was stopped meanwhile is.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from jitchat.errors import JitchatError, StoreError
from jitchat.providers.answer import Answer
from jitchat.providers.catalogue.table import Prices, cost_of
from jitchat.providers.provider import Options, Piece, Provider, Wire
from jitchat.store.requests import NOT_BILLED, Asked, Purpose, RequestLog, Taken
from jitchat.threads import to_the_end
from jitchat.values import Message, Usage
from jitchat.window.tokens import TokenCounter, request_tokens

Price = Callable[[Usage], float | None]
"""Gives US dollars; None where no price is known."""


def taken(reported: Usage | None, own: Usage, price: Price) -> Taken:
    """Say what a request took that reached its model: as reported, and else by own counts."""
    known = reported or Usage(None, None)
    sent, answered = known.input_tokens, known.output_tokens
    used = replace(
        known,
        input_tokens=own.input_tokens if sent is None else sent,
        output_tokens=own.output_tokens if answered is None else answered,
    )
    counted = Usage(
        own.input_tokens if sent is None else None,
        own.output_tokens if answered is None else None,
    )
    is_whole = counted == Usage(None, None)
    return Taken(reported, None if is_whole else counted, price(used))


@dataclass(frozen=True, slots=True)
class Metering:
    """Where requests are recorded, for which conversation, and who allows them."""

    log: RequestLog
    now: Callable[[], datetime]
    conversation: str | None = None
    """Its id; None where they belong to none."""
    provider: str = ""
    """Who is asked, as the settings call it; empty: as the provider is called."""
    allow: Callable[[float | None], object] = lambda _: None
    """Is given the forecast in US dollars ahead of a request, None where no price is known. Raises
    SpendingLimitReached where the request may not leave."""


class MeteredProvider:
    """A provider of which each request is recorded."""

    def __init__(
        self,
        provider: Provider,
        purpose: Purpose,
        metering: Metering | None,
        counter: TokenCounter,
        prices: Prices | None,
    ) -> None:
        """Without `metering`, what is taken is counted and not recorded."""
        self.name, self.model = provider.name, provider.model
        self._provider, self._purpose, self._metering = provider, purpose, metering
        self._counter = counter
        self._price = partial(cost_of, prices=prices)
        self.last = NOT_BILLED
        """What the request took that ended last."""

    async def stream(
        self, messages: Sequence[Message], options: Options
    ) -> AsyncGenerator[Piece, None]:
        """Stream the answer as the provider does.

        Raises:
            SpendingLimitReached: The request may not leave.
            StoreError: It cannot be recorded, and does not leave.

        """
        sent = await asyncio.to_thread(self._count, messages, options)
        identity = await asyncio.to_thread(self._begin, sent)
        answer, is_refused = Answer(), False
        try:
            async with aclosing(self._provider.stream(messages, options)) as pieces:
                async for piece in pieces:
                    answer.take(piece)
                    yield piece
        except JitchatError:
            is_refused = not answer.has_begun
            raise
        finally:
            await to_the_end(partial(self._end, identity, sent, None if is_refused else answer))

    def wire(
        self, messages: Sequence[Message], options: Options, *, as_posted: bool = False
    ) -> Wire | None:
        return self._provider.wire(messages, options, as_posted=as_posted)

    async def aclose(self) -> None:
        await self._provider.aclose()

    def _count(self, messages: Sequence[Message], options: Options) -> int:
        schema = self._counter.count(options.schema) if options.schema else 0
        return request_tokens(self._counter, messages) + schema

    def _begin(self, sent: int) -> int:
        metering = self._metering
        if metering is None:
            return 0
        who = metering.provider or self.name
        answer = metering.log.usual_answer(self._purpose, who, self.model)
        metering.allow(self._price(Usage(sent, answer)))
        asked = Asked(self._purpose, who, self.model, metering.conversation, metering.now())
        return metering.log.begin(asked, taken(None, Usage(sent, 0), self._price))

    def _end(self, identity: int, sent: int, answer: Answer | None) -> None:
        if answer is None:
            self.last = NOT_BILLED
        else:
            self.last = taken(
                answer.usage, Usage(sent, self._counter.count(answer.whole)), self._price
            )
        if self._metering is not None:
            with suppress(StoreError):  # what it takes at the least is recorded
                self._metering.log.end(identity, self.last)
