"""Measures and records the usage of requests to providers.

Answers are recorded with their windows by the recorder; every other request goes through a
`MeteredProvider`. Counts reported by the provider are used; missing ones are replaced by jitchat's
own and marked as such. A request that fails before any part of an answer arrives, or is stopped
while it waits for a retry, is not billed; one that is stopped in the middle is.
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
from jitchat.providers.provider import Options, Piece, Provider, RetryScheduled, SentRequest, Wire
from jitchat.providers.writing import stream_written
from jitchat.store.requests import NOT_BILLED, Asked, Purpose, RequestLog, Taken
from jitchat.threads import to_the_end
from jitchat.values import Message, Usage
from jitchat.window.tokens import TokenCounter, request_tokens
from jitchat.writing.pieces import WritingRules

Price = Callable[[Usage], float | None]
"""Prices usage in US dollars; None if no price is known."""


def taken(reported: Usage | None, own: Usage, price: Price) -> Taken:
    """Return the usage and cost of a request that reached its model, reported or else counted."""
    known = reported or Usage(None, None)
    sent, answered = known.input_tokens, known.output_tokens
    used = replace(
        known,
        input_tokens=own.input_tokens if sent is None else sent,
        output_tokens=own.output_tokens if answered is None else answered,
    )
    counted = Usage(
        own.input_tokens if sent is None else None, own.output_tokens if answered is None else None
    )
    is_whole = counted == Usage(None, None)
    return Taken(reported, None if is_whole else counted, price(used))


def with_known_output(reported: Usage, *, has_output: bool) -> Usage:
    """Take 0 output tokens for an answer that has some as not counted."""
    is_counted = reported.output_tokens or not has_output
    return reported if is_counted else replace(reported, output_tokens=None)


def waits_for_retry(piece: Piece, *, before: bool) -> bool:
    """Whether, after a piece of the stream, a refused request waits to be sent again.

    `before` is the same before the piece.
    """
    return isinstance(piece, RetryScheduled) or (before and not isinstance(piece, SentRequest))


@dataclass(frozen=True, slots=True)
class Metering:
    """How requests are recorded: the log, the conversation, and the check of spending limits."""

    log: RequestLog
    now: Callable[[], datetime]
    conversation: str | None = None
    """The conversation's id; None if requests belong to none."""
    provider: str = ""
    """The provider's name in the settings; empty for the provider's own name."""
    allow: Callable[[float | None], object] = lambda _: None
    """Called before each request with the forecast in US dollars, or None if no price is known.
    Raises SpendingLimitReached if the request must not be sent."""


class MeteredProvider:
    """A provider whose requests are recorded."""

    def __init__(
        self,
        provider: Provider,
        purpose: Purpose,
        metering: Metering | None,
        counter: TokenCounter,
        prices: Prices | None,
    ) -> None:
        """Without `metering`, usage is counted but not recorded."""
        self.name, self.model = provider.name, provider.model
        self._provider, self._purpose, self._metering = provider, purpose, metering
        self._counter = counter
        self._price = partial(cost_of, prices=prices)
        self.last = NOT_BILLED
        """The usage of the last completed request."""
        self.cost: float | None = 0.0
        """The cost of all requests in US dollars; None if one is unknown."""

    async def stream(
        self, messages: Sequence[Message], options: Options
    ) -> AsyncGenerator[Piece, None]:
        """Stream the answer as the provider does.

        Raises:
            SpendingLimitReached: A spending limit would be exceeded; nothing is sent.
            StoreError: The request cannot be recorded; nothing is sent.

        """
        sent = await asyncio.to_thread(self._count, messages, options)
        identity: int | None = None
        answer, is_refused = Answer(), True  # nothing is sent until the request is recorded

        def begin() -> None:
            nonlocal identity
            identity = self._begin(sent)

        try:
            await to_the_end(begin)
            is_refused = False
            async with aclosing(stream_written(self._provider, messages, options)) as pieces:
                async for piece in pieces:
                    answer.take(piece)
                    is_refused = waits_for_retry(piece, before=is_refused)
                    yield piece
        except JitchatError:
            is_refused = True
            raise
        finally:
            is_billed = answer.has_begun or not is_refused
            await to_the_end(partial(self._end, identity, sent, answer if is_billed else None))

    def rules(self, options: Options) -> WritingRules:
        return self._provider.rules(options)

    def wire(
        self, messages: Sequence[Message], options: Options, *, as_posted: bool = False
    ) -> Wire | None:
        return self._provider.wire(messages, options, as_posted=as_posted)

    async def aclose(self) -> None:
        await self._provider.aclose()

    def _count(self, messages: Sequence[Message], options: Options) -> int:
        schema = self._counter.count(options.schema) if options.schema else 0
        return request_tokens(self._counter, messages) + schema

    def _begin(self, sent: int) -> int | None:
        metering = self._metering
        if metering is None:
            return None
        who = metering.provider or self.name
        answer = metering.log.usual_answer(self._purpose, who, self.model)
        metering.allow(self._price(Usage(sent, answer)))
        asked = Asked(self._purpose, who, self.model, metering.conversation, metering.now())
        return metering.log.begin(asked, taken(None, Usage(sent, 0), self._price))

    def _end(self, identity: int | None, sent: int, answer: Answer | None) -> None:
        if answer is None:
            self.last = NOT_BILLED
        else:
            wrote, reported = answer.whole, answer.usage
            if reported is not None:
                reported = with_known_output(reported, has_output=bool(wrote))
            self.last = taken(reported, Usage(sent, self._counter.count(wrote)), self._price)
        is_known = self.cost is not None and self.last.cost is not None
        self.cost = (self.cost or 0.0) + (self.last.cost or 0.0) if is_known else None
        if self._metering is not None and identity is not None:
            with suppress(StoreError):  # the least usage is already recorded
                self._metering.log.end(identity, self.last)
