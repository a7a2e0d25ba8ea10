"""Forecasts the cost of a window, and enforces the user's spending limits.

A forecast covers the input, with the part that the provider's prompt cache should still hold, and
an answer as long as the model's recent ones. Limits are checked before each request, also of small
models, in the transaction that records it: what was spent, what is reserved by requests under way,
and the forecast must not exceed them.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from statistics import median

from jitchat.errors import SpendingLimitReached
from jitchat.metering import MessageAccount, Metering
from jitchat.savings import CacheReader, Comparison
from jitchat.store.database import Database
from jitchat.store.requests import Purpose, RequestLog, Spent
from jitchat.text.figures import Figure, Mark, about_cost, dollars, enumerated, local, plural
from jitchat.values import Usage
from jitchat.window.window import ContextWindow

_ROUNDING = 1e-9
"""In US dollars."""


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

    def is_exceeded_by(self, amount: float) -> bool:
        """Whether the limit would be exceeded if the amount was spent, too."""
        return self.limit is not None and self.expected + amount - self.limit > _ROUNDING

    def sentence(self) -> str:
        """Write `Today: $1.20 of $2.00`, and what more is reserved."""
        spent = self.spent
        limit = "" if self.limit is None else f" of {dollars(self.limit)}"
        under_way = plural(spent.under_way, "request")
        held = f", {about_cost(spent.reserved)} more reserved by {under_way} under way"
        return f"{self.name}: {spent}{limit}{held if spent.reserved else ''}"

    @property
    def expected(self) -> float:
        """In US dollars, with what is reserved."""
        return self.spent.amount + self.spent.reserved

    def require(self, amount: float, what: str) -> None:
        """Check that an amount can be added; `what` says what is not done otherwise.

        Raises:
            SpendingLimitReached: It would exceed the limit.

        """
        if not self.is_exceeded_by(amount):
            return
        first = "Raise"
        if self.spent.reserved:
            first = "Wait for what is under way, which may cost less; or raise"
        raise SpendingLimitReached(
            f"{self.sentence()}, and this would add {about_cost(amount)}. {what}",
            f"{first} spending.{self.setting}, or send less: a smaller budget, another mode."
            " In the chat, type /spend before the message to lift the limits once.",
        )


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

    @property
    def exceeded(self) -> str:
        """State the limit that the message would exceed; empty if it would exceed none."""
        for account in self.accounts:
            if self.amount is not None and account.is_exceeded_by(self.amount):
                return f"{account.sentence()}, and this would add {about_cost(self.amount)}."
        return ""

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
        self._may_exceed = False
        """Whether the limits are lifted for the next message."""

    def begin_message(self) -> MessageAccount:
        account = MessageAccount(is_lifted=self._may_exceed)
        self._may_exceed = False
        return account

    @property
    def is_lifted(self) -> bool:
        """Whether the next message may exceed the limits."""
        return self._may_exceed

    def exceed_once(self) -> None:
        """Let the next message exceed the limits, at the user's request."""
        self._may_exceed = True

    def forecast(self, window: ContextWindow, provider: str, longest: int | None) -> Forecast:
        """Forecast the cost of sending a window as a new message.

        `longest` is the maximum length of an answer, in tokens.
        """
        ahead = self.ahead(window, provider, longest)
        spent = self._log.spent_by_purpose(self._conversation or "")
        beside = {purpose: each for purpose, each in spent.items() if purpose != Purpose.ANSWER}
        return replace(ahead, beside=beside, accounts=self._accounts())

    def check(self, window: ContextWindow, amount: float | None, account: MessageAccount) -> str:
        """Return a warning about a window's cost, each kind only once; empty if there is none.

        `amount` is the forecast. Call in the transaction that reserves it.

        Raises:
            SpendingLimitReached: A limit would be exceeded.

        """
        if not self._limits:
            return ""
        if amount is None:
            price = f"price of {window.model}"
            return self._once(
                price, f"The {price} is unknown, so spending limits cannot be enforced."
            )
        accounts = self._allowed(amount, account, _STOPPED if window.step else _NOT_SENT)
        return " ".join(filter(None, (self._warning(each, amount) for each in accounts)))

    def allow(self, amount: float | None, account: MessageAccount | None) -> None:
        """Check a request other than an answer: a small model's, or one of the lab's.

        `account` is that of its message, if it belongs to one.

        Raises:
            SpendingLimitReached: A limit would be exceeded.

        """
        if self._limits and amount:
            self._allowed(amount, account, _NOT_SENT)

    def metering(self) -> Metering:
        """Return how requests other than answers are recorded and checked."""
        return Metering(self._log, self._now, self._conversation, allow=self.allow)

    def ahead(self, window: ContextWindow, provider: str, longest: int | None) -> Forecast:
        """Forecast the cost of a window's request alone; see `forecast`."""
        known = self.cache.sends(provider, window.model)
        cache = self.cache.read(provider, window.model, self._now())
        ahead = Comparison.ahead(window, self._price, cache)
        answer = self._log.usual_answer(Purpose.ANSWER, provider, window.model)
        usage = replace(ahead.sent, output_tokens=min(answer, longest or window.budget.reserve))
        per_message = Counter(each.said for each in known).values()
        requests = round(median(per_message)) if per_message and window.tools else 1
        amounts = usage, window.used_figure, ahead.cost, self._price(usage)
        is_typed = bool(window.draft.text.strip())
        return Forecast(*amounts, requests=requests, is_typed=is_typed)

    def _allowed(
        self, amount: float, message: MessageAccount | None, what: str
    ) -> tuple[Account, ...]:
        """Return the accounts that an amount is added to; `what` says what is not done."""
        accounts = self._accounts(message)
        is_lifted = message is not None and message.is_lifted
        for account in () if is_lifted else accounts:
            account.require(amount, what)
        return accounts

    def _warning(self, account: Account, amount: float) -> str:
        limit = account.limit
        if limit is None or account.expected + amount < self._limits.warn * limit:
            return ""
        warning = f"{account.sentence()}, and {about_cost(amount)} for this request."
        return self._once(account.setting, warning)

    def _accounts(self, account: MessageAccount | None = None) -> tuple[Account, ...]:
        """Return the accounts of a message, which is a new one if it has none yet."""
        log, limits, today = self._log, self._limits, local(self._now()).date()
        message = Spent() if account is None else account.message.spent_in(log)
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
