"""Measures and records the usage of requests to providers, and what each message has cost.

Answers are recorded with their windows by the recorder; every other request goes through a
`MeteredProvider`. A request that is repeated is recorded each time. Counts reported by the provider
are used; missing ones are replaced by jitchat's own and marked as such. A request that fails before
any part of an answer arrives, or is stopped while it waits for a retry, is not billed; one that is
stopped in the middle is.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from jitchat.errors import JitchatError, StoreError
from jitchat.providers.answer import Answer
from jitchat.providers.catalogue.table import Prices, cost_of
from jitchat.providers.provider import Options, Piece, Provider, RetryScheduled, SentRequest, Wire
from jitchat.store.database import Database
from jitchat.store.requests import NOT_BILLED, Asked, Purpose, RequestLog, Spent, Taken
from jitchat.threads import to_the_end
from jitchat.values import Message, Usage
from jitchat.window.tokens import TokenCounter
from jitchat.window.written import sent_tokens
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


class MessageAccount:
    """The requests of one message: what it has cost, and whether limits hold for it."""

    def __init__(self, *, is_lifted: bool = False, message: "MessageAccount | None" = None) -> None:
        """`message` is the account of the whole message if this is one of several answers."""
        self.is_lifted, self._message = is_lifted, message
        self._requests: dict[Database, list[int]] = defaultdict(list)

    def part(self) -> "MessageAccount":
        """Open an account for one of several answers to the message; its costs are in both."""
        return MessageAccount(is_lifted=self.is_lifted, message=self)

    @property
    def message(self) -> "MessageAccount":
        return self._message or self

    def add(self, database: Database, request: int) -> None:
        """Add a request by its id, in the transaction in which it was checked."""
        self._requests[database].append(request)
        if self._message is not None:
            self._message.add(database, request)

    def spent_in(self, log: RequestLog) -> Spent:
        """Sum up the requests that are recorded in this log."""
        return log.spent_by(self._requests[log.database])

    def answered_in(self, log: RequestLog) -> Usage | None:
        """Sum up the usage that was reported for the answers in this log; see `answered`."""
        return log.answered(self._requests[log.database])

    def cost(self) -> float | None:
        """Sum up all requests, in US dollars; None if nothing was sent or a cost is unknown."""
        logs = [RequestLog(database) for database in tuple(self._requests)]
        spent = [self.spent_in(log) for log in logs]
        is_known = any(each.sends for each in spent) and not any(each.unknown for each in spent)
        return sum(each.amount for each in spent) if is_known else None


_account: ContextVar[MessageAccount | None] = ContextVar("account", default=None)


@contextmanager
def charged_to(account: MessageAccount | None) -> Iterator[None]:
    """Charge the small models that are asked in this block, and in tasks that it starts."""
    token = _account.set(account)
    try:
        yield
    finally:
        _account.reset(token)


@dataclass(frozen=True, slots=True)
class Metering:
    """How requests are recorded: the log, the conversation, and the check of spending limits."""

    log: RequestLog
    now: Callable[[], datetime]
    conversation: str | None = None
    """The conversation's id; None if requests belong to none."""
    provider: str = ""
    """The provider's name in the settings; empty for the provider's own name."""
    allow: Callable[[float | None, MessageAccount | None], object] = lambda *_: None
    """Called before each request with the forecast in US dollars, or None if no price is known, and
    the account. Raises SpendingLimitReached if the request must not be sent."""

    def begin(self, asked: Asked, least: Taken, account: MessageAccount | None) -> int:
        """Check and record a request before it is sent, in one transaction; return its id.

        Raises:
            SpendingLimitReached: A spending limit would be exceeded.
            StoreError: The request cannot be recorded.

        """
        with self.log.database.write():
            self.allow(asked.forecast, account)
            request = self.log.begin(asked, least)
            if account is not None:
                account.add(self.log.database, request)
        return request


class MeteredProvider:
    """A provider whose requests are recorded, as they were written."""

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
        self.cost: float | None = 0.0
        """The cost of all requests in US dollars; None if one is unknown."""
        self.sent = self.answered = 0
        """Tokens of all requests that were billed, as reported or counted."""
        self.is_reported = True
        """Whether none of them had to be counted."""

    async def stream(
        self, messages: Sequence[Message], options: Options
    ) -> AsyncGenerator[Piece, None]:
        """Stream the answer as the provider does.

        Raises:
            SpendingLimitReached: A spending limit would be exceeded; nothing is sent.
            StoreError: The request cannot be recorded; nothing is sent.

        """
        sent, schema = await asyncio.to_thread(self._count, messages, options)
        identity: int | None = None
        account = _account.get()
        answer, is_refused = Answer(), True  # nothing is sent until the request is recorded

        def begin() -> None:
            nonlocal identity
            identity = self._begin(sent, options.max_tokens, account)

        try:
            await to_the_end(begin)
            is_refused = False
            async with aclosing(self._provider.stream(messages, options)) as pieces:
                async for piece in pieces:
                    answer.take(piece)
                    is_refused = waits_for_retry(piece, before=is_refused)
                    if isinstance(piece, SentRequest) and not piece.options.takes_schema:
                        sent, schema = sent - schema, 0
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

    def _count(self, messages: Sequence[Message], options: Options) -> tuple[int, int]:
        """Return the tokens of the request, and of the schema in it."""
        schema = self._counter.count(options.schema or "")
        return sent_tokens(self._counter, messages, options.tools) + schema, schema

    def _begin(self, sent: int, longest: int | None, account: MessageAccount | None) -> int | None:
        metering = self._metering
        if metering is None:
            return None
        who = metering.provider or self.name
        answer = metering.log.usual_answer(self._purpose, who, self.model)
        forecast = self._price(Usage(sent, min(answer, longest or answer)))
        where = metering.conversation, metering.now()
        asked = Asked(self._purpose, who, self.model, *where, forecast)
        return metering.begin(asked, taken(None, Usage(sent, 0), self._price), account)

    def _end(self, identity: int | None, sent: int, answer: Answer | None) -> None:
        used = NOT_BILLED
        if answer is not None:
            wrote, reported = answer.whole, answer.usage
            if reported is not None:
                reported = with_known_output(reported, has_output=bool(wrote))
            own = Usage(sent, self._counter.count(wrote))
            used = taken(reported, own, self._price)
            told = reported or own
            self.is_reported &= bool(reported and reported.input_tokens)
            self.sent += told.input_tokens or sent
            self.answered += told.output_tokens or own.output_tokens or 0
        is_known = self.cost is not None and used.cost is not None
        self.cost = (self.cost or 0.0) + (used.cost or 0.0) if is_known else None
        if self._metering is not None and identity is not None:
            with suppress(StoreError):  # the least usage is already recorded
                self._metering.log.end(identity, used)
