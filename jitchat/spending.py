"""What sending a window will cost, and whether the limits that the user set allow it.

A forecast is of the input, with what the provider's prompt cache should still hold of it, and of
an answer as long as those before. A limit is checked ahead of each request: what was spent, and
what is forecast, may not exceed it together. What small models take is in no sum.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from statistics import median

from jitchat.errors import SpendingLimitReached
from jitchat.providers.catalogue.table import cache_life
from jitchat.replay import input_ahead
from jitchat.store.store import ColdStore
from jitchat.store.windows import Send, Spent, WindowArchive
from jitchat.text.figures import about_cost, dollars, local, total_of
from jitchat.values import Usage
from jitchat.window.window import ContextWindow

_RECENT = 12
"""Sends that a forecast goes by."""
_ANSWER = 400
"""Tokens of an answer, where none was counted yet."""


@dataclass(frozen=True, slots=True)
class SpendingLimits:
    """In US dollars; None where there is none."""

    day: float | None = None
    conversation: float | None = None
    send: float | None = None
    """Of one message, with all requests of its answer."""
    warn: float = 0.8
    """The share of a limit from which on a warning is given."""

    def __bool__(self) -> bool:
        return any(limit is not None for limit in (self.day, self.conversation, self.send))


@dataclass(frozen=True, slots=True)
class Account:
    """What was spent in one respect, and how much may be."""

    name: str
    setting: str
    spent: Spent
    limit: float | None

    def sentence(self) -> str:
        """For example: `Today: $1.20 of $2.00`."""
        so_far = total_of(self.spent.amount, self.spent.unknown) or dollars(0)
        return f"{self.name}: {so_far}" + (f" of {dollars(self.limit)}" if self.limit else "")


@dataclass(frozen=True, slots=True)
class Forecast:
    usage: Usage
    """As the provider is expected to report it."""
    amount: float | None
    """In US dollars; None where no price is known."""
    accounts: tuple[Account, ...] = field(default=())

    def sentences(self) -> list[str]:
        """Say what the message should cost, and what was spent so far."""
        usage = self.usage
        cached = f", {usage.cached_tokens:,} of them cached" if usage.cached_tokens else ""
        return [
            f"This message: {about_cost(self.amount)} for ~{usage.input_tokens or 0:,}"
            f" tokens{cached}, and an answer of ~{usage.output_tokens or 0:,}.",
            *(f"{each.sentence()}." for each in self.accounts if each.spent.sends or each.limit),
        ]


class Spending:
    """The money of one conversation in use. Reads the store: takes a thread's time."""

    def __init__(
        self,
        store: ColdStore,
        conversation: str,
        limits: SpendingLimits,
        price: Callable[[Usage], float | None],
    ) -> None:
        self._store, self._conversation = store, conversation
        self._archive = WindowArchive(store.database)
        self._limits, self._price = limits, price
        self._warned: set[str] = set()
        self._before = 0
        """The window that was stored last when the message was sent that is answered."""

    def forecast(self, window: ContextWindow, provider: str, longest: int | None) -> Forecast:
        """Tell what sending a window should cost; `longest` is what an answer may take."""
        now = self._store.now()
        sends = self._archive.last_sends(self._conversation, _RECENT)
        known = [each for each in sends if (each.provider, each.model) == (provider, window.model)]
        answer = min(_answer(known), longest or window.budget.reserve)
        usage = input_ahead(window, known, now, cache_life(window.model))
        usage = replace(usage, output_tokens=answer)
        return Forecast(usage, self._price(usage), self._accounts(window, now))

    def check(self, window: ContextWindow, provider: str, longest: int | None) -> str:
        """Give a warning, once of each kind; empty where there is none.

        Raises:
            SpendingLimitReached: A limit would be exceeded.

        """
        if not self._limits:
            return ""
        if not window.step:
            self._before = self._archive.last_id()
        ahead = self.forecast(window, provider, longest)
        if ahead.amount is None:
            return self._once(
                "price", f"What {window.model} costs is not known: your limits cannot hold it."
            )
        warnings = [self._checked(account, ahead.amount) for account in ahead.accounts]
        return " ".join(filter(None, warnings))

    def _checked(self, account: Account, amount: float) -> str:
        limit, after = account.limit, account.spent.amount + amount
        if limit is None:
            return ""
        if after > limit:
            raise SpendingLimitReached(
                f"{account.sentence()}, and this would add {about_cost(amount)}. It was not sent.",
                f"Raise spending.{account.setting}, or send less: a smaller budget, another mode.",
            )
        is_near = after >= self._limits.warn * limit
        told = f"{account.sentence()}, and {about_cost(amount)} for this message."
        return self._once(account.setting, told) if is_near else ""

    def _accounts(self, window: ContextWindow, now: datetime) -> tuple[Account, ...]:
        archive, limits, here = self._archive, self._limits, self._conversation
        message = archive.spent(here, self._before) if window.step else Spent()
        return (
            Account("This message so far", "send", message, limits.send),
            Account("This conversation", "conversation", archive.spent(here), limits.conversation),
            Account("Today", "day", archive.spent_on(local(now).date()), limits.day),
        )

    def _once(self, kind: str, warning: str) -> str:
        is_new = kind not in self._warned
        self._warned.add(kind)
        return warning if is_new else ""


def _answer(sends: list[Send]) -> int:
    counted = [each.usage.output_tokens for each in sends if each.usage is not None]
    known = [tokens for tokens in counted if tokens]
    return round(median(known)) if known else _ANSWER
