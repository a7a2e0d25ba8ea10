"""What sending cost and saved compared with `full`, and what the next message's input will be.

Savings in tokens compare jitchat's own counts. In money, `full` is priced the cheaper of two ways,
with a prompt cache that holds its whole previous window, or with none, so that savings are never
overstated; if `full` was sent, its cost is what was paid. Small models are not included.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from jitchat.store.windows import Send
from jitchat.values import Mode, Usage
from jitchat.window.window import ContextWindow, Kind

Price = Callable[[Send, Usage], float | None]
"""Prices usage at the rates of a send, in US dollars; None if unknown."""


@dataclass(frozen=True, slots=True)
class Money:
    """Cost of input in US dollars, for sends with a known price."""

    sent: float = 0.0
    cached: float = 0.0
    """What `full` would have cost with a prompt cache, warm whenever possible."""
    uncached: float = 0.0
    """What `full` would have cost without a cache."""
    sends: int = 0
    """How many sends have a price."""

    @property
    def full(self) -> float:
        """The cheaper of the two."""
        return min(self.cached, self.uncached)

    @property
    def saved(self) -> float:
        """Negative if `full` would have been cheaper."""
        return self.full - self.sent


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

    @property
    def saved(self) -> int:
        """Tokens; negative if more was sent than `full` would have."""
        return self.full - self.sent

    @property
    def share(self) -> float:
        """The saved share of `full`; 0 if nothing was sent."""
        return self.saved / self.full if self.full else 0.0


def savings(sends: Sequence[Send], price: Price, life: timedelta | None = None) -> list[Savings]:
    """Return a running total after each send, in the order of sending.

    `life` is how long the provider's cache keeps an unused prefix; if it is None (unknown), the
    cache is assumed to be always warm.
    """
    caching = {
        _cache_of(send)
        for send in sends
        if send.usage and (send.usage.cached_tokens or send.usage.written_tokens)
    }
    before: dict[tuple[str, str], Send] = {}
    total, totals = Savings(), list[Savings]()
    for send in sends:
        if send.reply is None and send.usage is None:
            total = replace(total, unanswered=total.unanswered + 1)
        else:
            cache = _cache_of(send)
            warm = _warm(before.get(cache), send.sent_at, life)
            paid = _paid(send, warm, caches=cache in caching)
            amounts = [price(send, way) for way in (paid, *_full(send, paid, warm))]
            sent = total.sent + send.used
            full = total.full + send.full_tokens
            money = _money(total.money, amounts)
            total = Savings(total.sends + 1, total.unanswered, sent, full, money)
            before[cache] = send
        totals.append(total)
    return totals


def _money(money: Money, amounts: Sequence[float | None]) -> Money:
    """Add the amounts paid, and for `full` with and without a cache, unless a price is missing."""
    sent, cached, uncached = amounts
    if sent is None or cached is None or uncached is None:
        return money
    return Money(
        money.sent + sent, money.cached + cached, money.uncached + uncached, money.sends + 1
    )


def _paid(send: Send, warm: Send | None, *, caches: bool) -> Usage:
    """Return the input charged: as reported, otherwise as counted here."""
    usage = send.usage
    if usage is not None and usage.input_tokens is not None:
        return Usage(usage.input_tokens, 0, usage.cached_tokens, usage.written_tokens)
    cached = _repeated(warm, send.sizes, send.mode) if caches and warm is not None else 0
    return Usage(send.used, 0, cached, _stable(send.sizes) - cached if caches else 0)


def _full(send: Send, paid: Usage, warm: Send | None) -> tuple[Usage, Usage]:
    """Return the input that `full` would have used with a cache, and without one.

    Its tokens are scaled by the provider's count of the window that was sent. On another branch the
    previous window can be larger; the draft is new there, too.
    """
    if send.mode is Mode.FULL:
        return paid, paid
    full, usage = send.full_tokens, send.usage
    if usage is not None and usage.input_tokens and send.used:
        full = round(full * usage.input_tokens / send.used)
    known = 0
    if warm is not None and send.full_tokens:
        old = min(warm.full_tokens, send.full_tokens - send.sizes.get(Kind.DRAFT, 0))
        known = max(0, round(full * (old / send.full_tokens)))
    return Usage(full, 0, known, full - known), Usage(full, 0)


def input_ahead(
    window: ContextWindow, sends: Sequence[Send], now: datetime, life: timedelta | None
) -> Usage:
    """Forecast the input usage that the provider would report for a window.

    `sends` are the earlier ones to the same model; `life` is as in `savings`.
    """
    before = _warm(sends[-1] if sends else None, now, life)
    used = [each.usage for each in sends if each.usage is not None]
    caches = any(usage.cached_tokens or usage.written_tokens for usage in used)
    sizes: dict[str, int] = {kind: window.tokens_of(kind) for kind in Kind}
    cached = 0
    if caches and before is not None:
        extends = window.step and all(sizes[kind] >= before.sizes.get(kind, 0) for kind in Kind)
        cached = before.used if extends else _repeated(before, sizes, window.mode)
    return Usage(window.used, 0, cached, max(0, _stable(sizes) - cached) if caches else 0)


def _repeated(before: Send, sizes: Mapping[str, int], mode: Mode) -> int:
    """Count the tokens of the common prefix: up to the first segment kind of a different size.

    The recent block only grows at its end until it is cut, and then starts at another turn.
    """
    repeated = 0
    for kind in (kind for kind in Kind if kind.is_stable):
        was, now = before.sizes.get(kind, 0), sizes.get(kind, 0)
        if kind is Kind.RECENT:
            return repeated + (was if now >= was and _start_alike(before.mode, mode) else 0)
        if was != now:
            break
        repeated += was
    return repeated


def _start_alike(one: Mode, other: Mode) -> bool:
    """Whether the recent blocks of both modes start at the same turn: jit and recency share one."""
    is_own = any(mode is Mode.FULL or mode.distils for mode in (one, other))
    return one is other or not is_own


def _warm(before: Send | None, now: datetime | None, life: timedelta | None) -> Send | None:
    """Return the previous send if it is still cached, otherwise None."""
    if before is None or life is None or before.sent_at is None or now is None:
        return before
    return before if now - before.sent_at <= life else None


def _cache_of(send: Send) -> tuple[str, str]:
    return send.provider, send.model


def _stable(sizes: Mapping[str, int]) -> int:
    return sum(sizes.get(kind, 0) for kind in Kind if kind.is_stable)
