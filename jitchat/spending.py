"""Forecasts the cost of a window, and enforces the user's spending limits.

A forecast covers the input, with the part that the provider's prompt cache should still hold, and
an answer as long as the model's recent ones. Limits are checked before each request, also of small
models: what was spent plus the forecast must not exceed them.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from statistics import median

from jitchat.errors import SpendingLimitReached
from jitchat.metering import Metering
from jitchat.savings import CacheReader, Comparison
from jitchat.store.database import Database
from jitchat.store.requests import Purpose, RequestLog, Spent
from jitchat.text.figures import Figure, Mark, about_cost, dollars, enumerated, local
from jitchat.values import Usage
from jitchat.window.window import ContextWindow


@dataclass(frozen=True, slots=True)
class SpendingLimits:
    """In US dollars; None for no limit."""

    day: float | None = None
    conversation: float | None = None
    send: float | None = None
    """For one message, including all requests of its answer."""
    warn: float = 0.8
    """The share of a limit at which a warning is shown."""

    def __bool__(self) -> bool:
        return any(limit is not None for limit in (self.day, self.conversation, self.send))


@dataclass(frozen=True, slots=True)
class Account:
    """What was spent on a message, conversation or day, and its limit."""

    name: str
    setting: str
    spent: Spent
    limit: float | None

    @property
    def is_in_use(self) -> bool:
        return bool(self.spent.sends) or self.limit is not None

    def sentence(self) -> str:
        """Write `Today: $1.20 of $2.00`."""
        limit = "" if self.limit is None else f" of {dollars(self.limit)}"
        return f"{self.name}: {self.spent}{limit}"


@dataclass(frozen=True, slots=True)
class Forecast:
    usage: Usage
    """The usage that the provider is expected to report."""
    sent: Figure
    """The tokens of the window."""
    input: str
    """The cost of the input, as everywhere."""
    amount: float | None
    """In US dollars; None if no price is known."""
    accounts: tuple[Account, ...] = field(default=())
    requests: int = 1
    """The usual number of requests per message, if tools are called."""
    beside: Mapping[str, Spent] = field(default_factory=dict)
    """What the conversation spent on requests other than answers, by purpose."""
    is_typed: bool = True
    """Whether the message has a text yet."""

    def sentences(self) -> list[str]:
        """State the forecast for the message, and what was spent so far."""
        usage = self.usage
        who = "This message" if self.is_typed else "The next message, without its text"
        costs = f": {self.input}" if self.input else ""
        answer = f"with an answer of {Figure(usage.output_tokens or 0, Mark.ESTIMATED)}"
        sentences = [f"{who}: {self.sent} tokens{costs}; {answer}: {about_cost(self.amount)}."]
        if self.requests > 1:
            amount = None if self.amount is None else self.amount * self.requests
            usual = f"With tools, recent messages usually took {self.requests:,} requests:"
            sentences.append(f"{usual} {about_cost(amount)} or more.")
        sentences += [f"{account.sentence()}." for account in self.accounts if account.is_in_use]
        if self.beside:
            parts = enumerated([f"{purpose} {spent}" for purpose, spent in self.beside.items()])
            sentences.append(f"Of this conversation's cost, other than answers: {parts}.")
        return sentences


class Spending:
    """The spending of one open conversation, or of none. Blocking: call in a thread."""

    def __init__(
        self,
        database: Database,
        now: Callable[[], datetime],
        conversation: str | None,
        limits: SpendingLimits,
        price: Callable[[Usage], float | None] = lambda _: None,
    ) -> None:
        """`price` prices the model in use."""
        self._now, self._conversation = now, conversation
        self._log, self.cache = RequestLog(database), CacheReader(database, conversation)
        self._limits, self._price = limits, price
        self._warned: set[str] = set()
        self._may_exceed = self._exceeds = False
        """Whether the limits are lifted for the next message, and for the current one."""
        self._before: int | None = None
        """The id of the last request before the current message; None if none was sent."""

    def begin_message(self) -> None:
        """Start a new message's account."""
        self._before = self._log.last_id()
        self._exceeds, self._may_exceed = self._may_exceed, False

    def exceed_once(self) -> None:
        """Let the next message exceed the limits, at the user's request."""
        self._may_exceed = True

    def forecast(self, window: ContextWindow, provider: str, longest: int | None) -> Forecast:
        """Forecast the cost of sending a window as a new message.

        `longest` is the maximum length of an answer, in tokens.
        """
        ahead = self._forecast(window, provider, longest, Spent())
        spent = self._log.spent_by_purpose(self._conversation or "")
        beside = {purpose: each for purpose, each in spent.items() if purpose != Purpose.ANSWER}
        return replace(ahead, beside=beside)

    def check(self, window: ContextWindow, provider: str, longest: int | None) -> str:
        """Return a warning, each kind only once; empty if there is none.

        Raises:
            SpendingLimitReached: A limit would be exceeded.

        """
        if not self._limits:
            return ""
        ahead = self._forecast(window, provider, longest, self.message()[0])
        if ahead.amount is None:
            price = f"price of {window.model}"
            return self._once(
                price, f"The {price} is unknown, so spending limits cannot be enforced."
            )
        what = _STOPPED if window.step else _NOT_SENT
        warnings = [self._checked(account, ahead.amount, what) for account in ahead.accounts]
        return " ".join(warning for warning in warnings if warning)

    def allow(self, amount: float | None) -> None:
        """Check a request other than an answer: a small model's, or one of the lab's.

        Raises:
            SpendingLimitReached: A limit would be exceeded.

        """
        if self._limits and amount:
            for account in self._accounts(Spent()):
                _require(account, amount, _NOT_SENT)

    def metering(self) -> Metering:
        """Return how requests other than answers are recorded and checked."""
        return Metering(self._log, self._now, self._conversation, allow=self.allow)

    def _forecast(
        self, window: ContextWindow, provider: str, longest: int | None, message: Spent
    ) -> Forecast:
        known = self.cache.sends(provider, window.model)
        cache = self.cache.read(provider, window.model, self._now())
        ahead = Comparison.ahead(window, self._price, cache)
        answer = self._log.usual_answer(Purpose.ANSWER, provider, window.model)
        usage = replace(ahead.sent, output_tokens=min(answer, longest or window.budget.reserve))
        per_message = Counter(each.said for each in known).values()
        requests = round(median(per_message)) if per_message and window.tools else 1
        amounts = usage, window.used_figure, ahead.cost, self._price(usage)
        is_typed = bool(window.draft.text.strip())
        return Forecast(*amounts, self._accounts(message), requests, is_typed=is_typed)

    def _checked(self, account: Account, amount: float, what: str) -> str:
        if not self._exceeds:
            _require(account, amount, what)
        limit = account.limit
        is_near = limit is not None and account.spent.amount + amount >= self._limits.warn * limit
        warning = f"{account.sentence()}, and {about_cost(amount)} for this request."
        return self._once(account.setting, warning) if is_near else ""

    def message(self) -> tuple[Spent, Usage | None]:
        """Return what the message has cost so far, and the usage reported for its answer."""
        if self._conversation is None or self._before is None:
            return Spent(), None
        message = self._conversation, self._before
        return self._log.spent_on_message(*message), self._log.answered(*message)

    def _accounts(self, message: Spent) -> tuple[Account, ...]:
        log, limits, today = self._log, self._limits, local(self._now()).date()
        accounts = [Account("Today", "day", log.spent_on(today), limits.day)]
        if (here := self._conversation) is not None:
            accounts[:0] = [
                Account("This message so far", "send", message, limits.send),
                Account("This conversation", "conversation", log.spent(here), limits.conversation),
            ]
        return tuple(accounts)

    def _once(self, kind: str, warning: str) -> str:
        is_new = kind not in self._warned
        self._warned.add(kind)
        return warning if is_new else ""


_NOT_SENT = "It was not sent."
_STOPPED = "The tools' results were not sent, and the answer ends here."


def _require(account: Account, amount: float, what: str) -> None:
    if account.limit is not None and account.spent.amount + amount > account.limit:
        raise SpendingLimitReached(
            f"{account.sentence()}, and this would add {about_cost(amount)}. {what}",
            f"Raise spending.{account.setting}, or send less: a smaller budget, another mode."
            " In the chat, type /spend before the message to lift the limits once.",
        )
