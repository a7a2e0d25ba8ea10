"""What a send costs, and what `full` would have cost in its place.

`full` is one request with every turn, without `request_context`, and with the cache of the
provider: what it reported or, for a forecast, what it should still hold. Savings in tokens compare
jitchat's own counts. Small models are not included.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import takewhile

from jitchat.providers.catalogue.table import cache_life
from jitchat.replay import window_of
from jitchat.store.database import Database
from jitchat.store.windows import Send, WindowArchive
from jitchat.text.figures import Figure, Mark, about_cost
from jitchat.values import Mode, Usage
from jitchat.window.window import ContextWindow, Kind, Segment, tokens_of

Price = Callable[[Usage], float | None]
"""Prices usage in US dollars; None if unknown."""
_RECENT = 12
"""Recent sends that say whether the provider caches."""
PriceOf = Callable[[Send, Usage], float | None]
"""Prices usage at the rates of a send."""


@dataclass(frozen=True, slots=True)
class Cache:
    """What a provider's prompt cache should still hold."""

    before: ContextWindow | None = None
    """The window that was last sent to the model; None if it is no longer cached."""
    caches: bool = False
    """Whether the provider reported that it caches."""

    def usage(self, window: ContextWindow) -> Usage:
        """Forecast the input that the provider would report for a window."""
        if not self.caches:
            return Usage(window.used, 0)
        cached = repeated(self.before, window) if self.before is not None else 0
        return Usage(window.used, 0, cached, max(0, window.stable_tokens - cached))

    def usage_of_full(self, window: ContextWindow) -> Usage:
        """Forecast the input of `full` for the same message, if all before were sent in `full`."""
        if window.used == window.full_tokens:
            return self.usage(window)
        before = self.before.full_tokens if self.before is not None else 0
        return _full(window.full_tokens, window.draft.tokens, before, caches=self.caches)


NO_CACHE = Cache()


class CacheReader:
    """Reads what the provider's cache should hold of one conversation. Slow: call in a thread."""

    def __init__(self, database: Database, conversation: str | None) -> None:
        self._database, self._conversation = database, conversation
        self.known = NO_CACHE
        """As last read."""
        self._sent: tuple[int, ContextWindow] | None = None
        """The id of the last window that was read, and the window."""

    def read(self, provider: str, model: str, now: datetime) -> Cache:
        self.known = NO_CACHE
        sends = self.sends(provider, model)
        if any(_is_cached(send) for send in sends):
            last = _warm(sends[-1], now, cache_life(model))
            before = self._window(last.window_id) if last is not None else None
            self.known = Cache(before, caches=True)
        return self.known

    def sends(self, provider: str, model: str) -> list[Send]:
        """List the recent sends to a model, in order."""
        sends = WindowArchive(self._database).sends(self._conversation or "", _RECENT)
        return [send for send in sends if (send.provider, send.model) == (provider, model)]

    def _window(self, window_id: int) -> ContextWindow:
        if self._sent is None or self._sent[0] != window_id:
            self._sent = window_id, window_of(self._database, window_id)
        return self._sent[1]


def repeated(before: ContextWindow, window: ContextWindow) -> int:
    """Sum up the tokens with which a window begins like the one before, text for text."""
    pairs = zip(before.segments, window.segments, strict=False)
    same = takewhile(lambda pair: _text(pair[0]) == _text(pair[1]), pairs)
    return tokens_of(segment for _, segment in same)


def _text(segment: Segment) -> tuple[object, ...]:
    return segment.role, segment.text, segment.use.calls, segment.file


def _full(full: int, draft: int, before: int, *, caches: bool) -> Usage:
    """Return the input of `full`, of which the draft is new, after a window of `before` tokens."""
    if not caches:
        return Usage(full, 0)
    cached = max(0, min(before, full - draft))
    return Usage(full, 0, cached, full - cached)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The input of one send, and that of `full` in its place."""

    sent: Usage
    full: Usage
    price: Price
    source: str = ""
    """Where the price is from; empty if unknown."""

    @classmethod
    def ahead(
        cls, window: ContextWindow, price: Price, cache: Cache = NO_CACHE, source: str = ""
    ) -> "Comparison":
        """Compare a window that was not sent yet."""
        return cls(cache.usage(window), cache.usage_of_full(window), price, source)

    @classmethod
    def of_sent(
        cls, window: ContextWindow, usage: Usage | None, price: Price, source: str = ""
    ) -> "Comparison":
        """Compare a window that was sent; without reported usage, nothing of it was cached."""
        if usage is None or usage.input_tokens is None:
            return cls.ahead(window, price, source=source)
        sent = replace(usage, output_tokens=0, reasoning_tokens=0, cost=None)
        if window.used == window.full_tokens:
            return cls(sent, sent, price, source)
        rate = usage.input_tokens / max(1, window.used)
        return cls(sent, Usage(round(rate * window.full_tokens), 0), price, source)

    @property
    def amount(self) -> float | None:
        """The cost of the input in US dollars; None if unknown."""
        return self.price(self.sent)

    @property
    def of_full(self) -> float | None:
        """The cost of `full`'s input in US dollars; None if unknown."""
        return self.price(self.full)

    @property
    def cost(self) -> str:
        """Write `~$0.0041 input` or `~$0.0026 input, ~2,900 cached`; empty if it is free."""
        if not self.amount:
            return "" if self.amount == 0 else "cost unknown"
        cost = f"{about_cost(self.amount)} input"
        if self.sent.cached_tokens:
            cost += f", {Figure(self.sent.cached_tokens, Mark.ESTIMATED)} cached"
        return cost


@dataclass(frozen=True, slots=True)
class Money:
    """Cost of input in US dollars, for sends with a known price."""

    sent: float = 0.0
    full: float = 0.0
    """What `full` would have cost."""
    sends: int = 0
    """How many sends have a price."""
    cached: int = 0
    """Tokens of `full` that the provider would have had in its cache."""

    @property
    def saved(self) -> float:
        """Negative if `full` would have been cheaper."""
        return self.full - self.sent

    def plus(self, one: Comparison) -> "Money":
        if one.amount is None or one.of_full is None:
            return self
        cached = self.cached + one.full.cached_tokens
        return Money(self.sent + one.amount, self.full + one.of_full, self.sends + 1, cached)


@dataclass(frozen=True, slots=True)
class Savings:
    """Running totals up to and including one send."""

    sends: int = 0
    """How many sends are included: those with a reply or reported usage."""
    unanswered: int = 0
    """How many sends had neither, and are in no total: refused, or never delivered."""
    sent: int = 0
    """Tokens of all windows sent."""
    full: int = 0
    """Tokens that `full` would have sent instead."""
    money: Money = Money()
    unpriced: tuple[str, ...] = ()
    """The models of the sends without a known price."""
    charged: float = 0.0
    """What those sends cost as stored, with their answers, in US dollars."""

    @property
    def saved(self) -> int:
        """Tokens; negative if more was sent than `full` would have."""
        return self.full - self.sent

    def plus(self, send: Send, one: Comparison, full: int) -> "Savings":
        money = self.money.plus(one)
        unpriced, charged = self.unpriced, self.charged
        if money.sends == self.money.sends:
            unpriced = tuple(dict.fromkeys((*unpriced, send.model)))
            charged += send.cost or 0.0
        totals = self.sent + send.used, self.full + full, money, unpriced, charged
        return Savings(self.sends + 1, self.unanswered, *totals)


def savings(sends: Sequence[Send], price: PriceOf, life: timedelta | None = None) -> list[Savings]:
    """Return a running total after each send, in the order of sending.

    `life` is how long the provider's cache keeps an unused prefix; None if it is unknown.
    """
    caching = {_cache_of(send) for send in sends if _is_cached(send)}
    before: dict[tuple[str, str], Send] = {}
    total, totals = Savings(), list[Savings]()
    for send in sends:
        if send.reply is None and send.usage is None:
            total = replace(total, unanswered=total.unanswered + 1)
        else:
            cache = _cache_of(send)
            last = before.get(cache)
            full = 0 if last is not None and _asks_only(last, send) else send.full_tokens
            warm = _warm(last, send.sent_at, life) if last is not None else None
            usages = _usages(send, full, warm, caches=cache in caching)
            total = total.plus(send, Comparison(*usages, partial(price, send)), full)
            before[cache] = send
        totals.append(total)
    return totals


def _usages(send: Send, full: int, warm: Send | None, *, caches: bool) -> tuple[Usage, Usage]:
    """Return the input of a send and that of `full`, whose tokens are `full` as counted here.

    They are scaled by the provider's count of the window that was sent. On another branch, the
    window before can be larger; the draft is new there, too.
    """
    usage, rate = send.usage, 1.0
    sent = Usage(send.used, 0)
    if usage is not None and usage.input_tokens is not None:
        sent = Usage(usage.input_tokens, 0, usage.cached_tokens, usage.written_tokens)
        rate = usage.input_tokens / send.used if send.used else 1.0
    if send.mode is Mode.FULL or full == send.used:
        return sent, sent
    counts = (full, send.sizes.get(Kind.DRAFT, 0), warm.full_tokens if warm is not None else 0)
    scaled = [round(rate * count) for count in counts]
    return sent, _full(*scaled, caches=caches)


def _asks_only(before: Send, send: Send) -> bool:
    """Whether a send only brought context that was asked for, which `full` has from the start."""
    is_step = bool(send.sizes.get(Kind.TOOL_CALLS)) and send.said == before.said
    return is_step and send.full_tokens == before.full_tokens


def _is_cached(send: Send) -> bool:
    usage = send.usage
    return usage is not None and bool(usage.cached_tokens or usage.written_tokens)


def _warm(before: Send, now: datetime | None, life: timedelta | None) -> Send | None:
    """Return the previous send if it is still cached, otherwise None."""
    if life is None or before.sent_at is None or now is None:
        return before
    return before if now - before.sent_at <= life else None


def _cache_of(send: Send) -> tuple[str, str]:
    return send.provider, send.model
