"""What the sends of a conversation took, beside what `full` would have taken for the same drafts.

Tokens are own counts on both sides. In money, `full` gets the cheaper of two ways: a prompt cache
that holds all of its window before, or none. So nothing is saved on paper only; and where `full`
is what was sent, it costs what was paid. What a small model took to choose is in no sum.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from jitchat.text.figures import about_cost, cost_of
from jitchat.text.sanitize import one_line
from jitchat.values import Mode, Usage
from jitchat.window.window import ContextWindow, Kind

_FIRST = (Kind.SYSTEM, Kind.PINNED)
"""What stands ahead of the recent block, whose start moves when it is cut."""


class Sent(Protocol):
    """A send, as far as it is compared."""

    @property
    def model(self) -> str:
        """Its name."""

    @property
    def provider(self) -> str:
        """Who was asked."""

    @property
    def mode(self) -> Mode:
        """How its window was chosen."""

    @property
    def sizes(self) -> Mapping[str, int]:
        """Tokens by kind of segment, by own count."""

    @property
    def full_tokens(self) -> int:
        """What `full` would have sent, by own count."""

    @property
    def usage(self) -> Usage | None:
        """As it was reported; None where it was not."""

    @property
    def reply(self) -> int | None:
        """The position of what came; None where nothing did."""

    @property
    def sent_at(self) -> datetime | None:
        """Aware; None where that is not known."""


Price = Callable[[Sent, Usage], float | None]
"""What so much would cost as that send, in US dollars; None where no price is known."""


@dataclass(frozen=True, slots=True)
class Money:
    """Input in US dollars, of the sends that have a known price."""

    sent: float = 0.0
    cached: float = 0.0
    """What `full` would have cost behind a cache that was warm whenever it can have been."""
    uncached: float = 0.0
    """What it would have cost without any."""
    sends: int = 0
    """So many have a price."""

    @property
    def full(self) -> float:
        """The cheaper of both ways."""
        return min(self.cached, self.uncached)

    @property
    def saved(self) -> float:
        """Negative where `full` would have been cheaper."""
        return self.full - self.sent


@dataclass(frozen=True, slots=True)
class Savings:
    """Running totals, up to and with one send."""

    sends: int = 0
    """So many count: they brought an answer, or a report."""
    unanswered: int = 0
    """So many brought neither, and are not in any sum: they were refused, or never arrived."""
    sent: int = 0
    """Tokens of all windows that were sent."""
    full: int = 0
    """Tokens that `full` would have sent instead."""
    money: Money = Money()

    @property
    def saved(self) -> int:
        """Tokens; negative where more was sent than `full` would have."""
        return self.full - self.sent

    @property
    def share(self) -> float:
        """The saved share of `full`; 0 where there is nothing."""
        return self.saved / self.full if self.full else 0.0


def savings(sends: Sequence[Sent], price: Price, life: timedelta | None = None) -> list[Savings]:
    """Sum up the sends, in the order of sending: one total after each.

    `life` is how long the provider's cache keeps what nobody asks for; None where that is not
    known, and then it is taken to be warm always.
    """
    caching = {_asked(send) for send in sends if _tells_of_cache(send.usage)}
    before: dict[tuple[str, str], Sent] = {}
    total, totals = Savings(), []
    for send in sends:
        if _is_answered(send):
            warm = _warm(before.get(_asked(send)), send, life)
            paid = _paid(send, warm, caches=_asked(send) in caching)
            total = _added(total, send, _money(total.money, send, (paid, warm), price))
            before[_asked(send)] = send
        else:
            total = replace(total, unanswered=total.unanswered + 1)
        totals.append(total)
    return totals


def _added(total: Savings, send: Sent, money: Money) -> Savings:
    sent, full = total.sent + _used(send), total.full + send.full_tokens
    return Savings(total.sends + 1, total.unanswered, sent, full, money)


def _money(money: Money, send: Sent, ways: tuple[Usage, Sent | None], price: Price) -> Money:
    """Add a send to the sums, unless something of it has no price."""
    sent, cached, uncached = (price(send, usage) for usage in _usages(send, *ways))
    if sent is None or cached is None or uncached is None:
        return money
    return Money(
        money.sent + sent, money.cached + cached, money.uncached + uncached, money.sends + 1
    )


def _usages(send: Sent, paid: Usage, warm: Sent | None) -> tuple[Usage, Usage, Usage]:
    """Tell what was used as sent, by `full` behind a cache, and by `full` without one."""
    if send.mode is Mode.FULL:
        return paid, paid, paid
    full = _full_tokens(send)
    known = _known_tokens(send, warm, full) if warm is not None else 0
    return paid, Usage(full, 0, known, full - known), Usage(full, 0)


def _paid(send: Sent, warm: Sent | None, *, caches: bool) -> Usage:
    """Tell what was charged: as it was reported, else by own count."""
    told = send.usage
    if told is not None and told.input_tokens is not None:
        return Usage(told.input_tokens, 0, told.cached_tokens, told.written_tokens)
    cached = _repeated(warm, send) if caches and warm is not None else 0
    return Usage(_used(send), 0, cached, _stable(send) - cached if caches else 0)


def _repeated(before: Sent, send: Sent) -> int:
    """Count the tokens at the start that are the same; a recent block that was cut is another."""
    is_alike = (before.mode is Mode.FULL) is (send.mode is Mode.FULL)
    if is_alike and _stable(send) >= _stable(before):
        return _stable(before)
    return sum(min(before.sizes.get(kind, 0), send.sizes.get(kind, 0)) for kind in _FIRST)


def _full_tokens(send: Sent) -> int:
    """Count `full` as the provider counts, by what it reported for the window that was sent."""
    told, used = send.usage, _used(send)
    if told is None or not told.input_tokens or not used:
        return send.full_tokens
    return round(send.full_tokens * told.input_tokens / used)


def _known_tokens(send: Sent, warm: Sent, full: int) -> int:
    """Count what of `full` was in its window before.

    On another branch that one can be larger; the draft is new there, too.
    """
    new = send.full_tokens - send.sizes.get(Kind.DRAFT, 0)
    share = min(warm.full_tokens, new) / send.full_tokens if send.full_tokens else 0.0
    return max(0, round(full * share))


def _warm(before: Sent | None, send: Sent, life: timedelta | None) -> Sent | None:
    """Find the send that a cache still has; None where it has none."""
    if before is None or life is None or before.sent_at is None or send.sent_at is None:
        return before
    return before if send.sent_at - before.sent_at <= life else None


def _is_answered(send: Sent) -> bool:
    return send.reply is not None or send.usage is not None


def _tells_of_cache(usage: Usage | None) -> bool:
    return usage is not None and bool(usage.cached_tokens or usage.written_tokens)


def _asked(send: Sent) -> tuple[str, str]:
    """Say whose cache it is."""
    return send.provider, send.model


def _used(send: Sent) -> int:
    return sum(send.sizes.values())


def _stable(send: Sent) -> int:
    return sum(send.sizes.get(kind, 0) for kind in Kind if kind.is_stable)


def window_cost(window: ContextWindow, price: Callable[[int], float | None]) -> str:
    """Tell what sending it will cost, without the answer: `~$0.0041`, or `cost unknown`.

    `price` gives the US dollars for so many tokens of input; None where nobody knows.
    """
    return about_cost(price(window.used))


def windows_cost(windows: Iterable[ContextWindow], price: Callable[[int], float | None]) -> str:
    """Tell what sending all of them will cost, as `window_cost` does for one."""
    known, unknown = 0.0, False
    for window in windows:
        amount = price(window.used)
        known, unknown = known + (amount or 0.0), unknown or amount is None
    return about_cost(None if unknown else known)


def picking_sentences(window: ContextWindow) -> list[str]:
    """Say who chose and what that took, then what is left of the saving; none without a model.

    For example: `picked by small-1: 412 + 18 tokens, 0.4 s, cost unknown`.
    """
    picking = window.picking
    if picking is None:
        return []
    model, why = one_line(picking.model), one_line(picking.fallback)
    if not picking.ms:
        return [f"picker {model}: {why}; heuristic used"]
    if not spent(window):
        return [f"picker {model}: {why}; heuristic used (no tokens, {_duration(picking.ms)})"]
    sign = "" if picking.exact else "~"
    took = (
        f"{sign}{picking.input_tokens:,} + {picking.output_tokens:,} tokens,"
        f" {_duration(picking.ms)}, {cost_of(picking.cost)}"
    )
    if why:
        return [f"picker {model}: {why}; heuristic used ({took})", _net(window)]
    return [f"picked by {model}: {took}", _net(window)]


def spent(window: ContextWindow) -> int:
    """Tokens that were spent on choosing what is in the window, beside those that it carries."""
    picking = window.picking
    return picking.input_tokens + picking.output_tokens if picking is not None else 0


def _net(window: ContextWindow) -> str:
    """Compare the tokens that the sub-call took with those that the window saves."""
    is_sure = window.is_sure and window.picking is not None and window.picking.exact
    sign = "" if is_sure else "~"
    saved, took = window.full_tokens - window.used, spent(window)
    against = f"{sign}{took:,} spent on picking, {sign}{saved:,} saved against full"
    return f"{against}: {sign}{saved - took:,} net" if took <= saved else f"{against}: no gain"


def _duration(ms: float) -> str:
    return f"{ms / 1000:.1f} s" if ms >= 100 else f"{ms:.0f} ms"
