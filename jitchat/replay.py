"""What was sent: windows as they left, checked against their hash; what they took beside `full`.

Savings: tokens are own counts on both sides. In money, `full` gets the cheaper of two ways: a
prompt cache that holds all of its window before, or none. So nothing is saved on paper only; and
where `full` is what was sent, it costs what was paid. What a small model took to choose is in no
sum.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from jitchat.store.attachments import bytes_of
from jitchat.store.database import Database
from jitchat.store.store import ColdStore, require
from jitchat.store.windows import Send, WindowArchive
from jitchat.values import Mode, Turn, Usage
from jitchat.window.record import window_from
from jitchat.window.window import ContextWindow, Kind, Segment


@dataclass(frozen=True, slots=True)
class Replayed:
    """A send with the window that left."""

    send: Send
    window: ContextWindow
    said: Turn
    reply: Turn | None
    """None where no reply came."""
    digest: str
    """SHA-256 of the messages as they are now, in hexadecimal."""

    @property
    def is_as_sent(self) -> bool:
        return self.digest == self.send.digest


class Replay:
    """The sends of one conversation. Reads, and changes nothing; takes a thread's time."""

    def __init__(self, store: ColdStore, conversation: str) -> None:
        """`conversation` is its id."""
        self._store, self._conversation = store, conversation

    def sends(self) -> list[Send]:
        """List all of them, of every branch, in the order of sending."""
        return WindowArchive(self._store.database).sends(self._conversation)

    def open(self, send: Send) -> Replayed:
        """Read one of them whole.

        Raises:
            StoreUnreadable: What is kept of it is damaged.

        """
        window = window_of(self._store.database, send.window_id)
        reply = None if send.reply is None else self._turn(send.reply)
        return Replayed(send, window, self._turn(send.said), reply, window.digest)

    def _turn(self, position: int) -> Turn:
        turn = self._store.turn(self._conversation, position)
        if turn is None:
            raise self._store.database.damaged()
        return turn


def window_of(database: Database, window_id: int) -> ContextWindow:
    """Read one window as it was sent, by the archive's key.

    Raises:
        StoreUnreadable: It is not there, or what is kept of it is damaged.

    """
    try:
        record = WindowArchive(database).by_id(window_id)
        window = window_from(record.header, record.segments, record.ledger)
        window = _with_pictures(window, database)
        segments, budget = window.segments, window.budget
        numbers = (window.full_tokens, window.counted, window.band, budget.limit, budget.reserve)
        require(int, *numbers, *(segment.tokens for segment in segments))
        require(int, *(row.turn for row in window.ledger))
        require(str, *(segment.text for segment in segments), segments[-1].reason, window.model)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise database.damaged() from error
    return window


def _with_pictures(window: ContextWindow, database: Database) -> ContextWindow:
    """Give the pictures of a window their bytes, which are kept with the files."""
    if not any(segment.file is not None and segment.file.picture for segment in window.segments):
        return window
    return replace(
        window, segments=tuple(_with_picture(each, database) for each in window.segments)
    )


def _with_picture(segment: Segment, database: Database) -> Segment:
    file = segment.file
    if file is None or file.picture is None:
        return segment
    picture = replace(file.picture, data=bytes_of(database, file.digest))
    return replace(segment, file=replace(file, picture=picture))


def sends_for(sends: list[Send], position: int) -> list[Send]:
    """Choose those that answered a user's turn; for the position of a reply, those that gave it."""
    gave = [send for send in sends if send.reply == position]
    return gave or [send for send in sends if send.said == position]


Price = Callable[[Send, Usage], float | None]
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


def savings(sends: Sequence[Send], price: Price, life: timedelta | None = None) -> list[Savings]:
    """Sum up the sends, in the order of sending: one total after each.

    `life` is how long the provider's cache keeps what nobody asks for; None where that is not
    known, and then the cache is taken to be warm always.
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
            total = Savings(
                total.sends + 1,
                total.unanswered,
                total.sent + send.used,
                total.full + send.full_tokens,
                _money(total.money, [price(send, way) for way in (paid, *_full(send, paid, warm))]),
            )
            before[cache] = send
        totals.append(total)
    return totals


def _money(money: Money, amounts: Sequence[float | None]) -> Money:
    """Add what was paid, and `full` with and without a cache; nothing where a price is missing."""
    sent, cached, uncached = amounts
    if sent is None or cached is None or uncached is None:
        return money
    return Money(
        money.sent + sent, money.cached + cached, money.uncached + uncached, money.sends + 1
    )


def _paid(send: Send, warm: Send | None, *, caches: bool) -> Usage:
    """Give what was charged: as it was reported, else by own count."""
    usage = send.usage
    if usage is not None and usage.input_tokens is not None:
        return Usage(usage.input_tokens, 0, usage.cached_tokens, usage.written_tokens)
    cached = _repeated(warm, send.sizes, send.mode) if caches and warm is not None else 0
    return Usage(send.used, 0, cached, _stable(send) - cached if caches else 0)


def _full(send: Send, paid: Usage, warm: Send | None) -> tuple[Usage, Usage]:
    """Give what `full` would have used behind a cache, and without one.

    Its tokens are counted as the provider counts, by what it reported for the window that was
    sent. On another branch the window before can be larger; the draft is new there, too.
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
    """Forecast the input of a window that is not sent yet, as its provider would report it.

    `sends` are those before it to the same model; `life` is as in `savings`.
    """
    before = _warm(sends[-1] if sends else None, now, life)
    used = [each.usage for each in sends if each.usage is not None]
    caches = any(usage.cached_tokens or usage.written_tokens for usage in used)
    sizes: dict[str, int] = {kind: window.tokens_of(kind) for kind in Kind}
    cached = 0
    if caches and before is not None:
        extends = window.step and all(sizes[kind] >= before.sizes.get(kind, 0) for kind in Kind)
        cached = before.used if extends else _repeated(before, sizes, window.mode)
    stable = sum(sizes[kind] for kind in Kind if kind.is_stable)
    return Usage(window.used, 0, cached, max(0, stable - cached) if caches else 0)


def _repeated(before: Send, sizes: Mapping[str, int], mode: Mode) -> int:
    """Count the tokens at the start that are the same: up to the first kind of another size.

    Turns are appended to a block that starts where it did; one that was cut is another.
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
    """Whether the turns of both modes start at the same one: jit and recency have one block."""
    is_own = any(mode is Mode.FULL or mode.distils for mode in (one, other))
    return one is other or not is_own


def _warm(before: Send | None, now: datetime | None, life: timedelta | None) -> Send | None:
    """Give the send that a cache still has; None where it has none."""
    if before is None or life is None or before.sent_at is None or now is None:
        return before
    return before if now - before.sent_at <= life else None


def _cache_of(send: Send) -> tuple[str, str]:
    return send.provider, send.model


def _stable(send: Send) -> int:
    return sum(send.sizes.get(kind, 0) for kind in Kind if kind.is_stable)
