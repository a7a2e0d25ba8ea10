"""When a request that failed is sent again, and how long to wait before. Pure policy.

As the providers' own libraries do it: two more tries, half a second doubled from try to try,
unless the server says how long; and never where money or the window's size is what is wrong.
"""

import asyncio
import copy
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from jitchat.errors import ContextOverflow, KeyRefused, ProviderError
from jitchat.providers.protocols.parameters import refused_parameter
from jitchat.providers.protocols.refusals import is_quota_spent
from jitchat.providers.protocols.responses import at, first, parsed
from jitchat.providers.provider import Options, Retrying, forgetting
from jitchat.text.sanitize import shorten

MORE_TRIES = 2
_TOO_MANY = 429
LONGEST_WAIT = 120.0
"""Seconds; who is asked to wait for longer is told so instead."""
_FIRST_WAIT, _LONGEST_OWN_WAIT = 0.5, 8.0
_JITTER = 0.25
_NUMBER = re.compile(r"\d{1,300}(?:\.\d{0,9})?")


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that brought no answer; nothing of it was shown."""

    error: ProviderError
    status: int | None = None
    """None where no response came."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By names in small letters."""
    body: str = field(default="", repr=False)
    """The start of it; it may repeat the key."""
    why: str = ""
    """What happened, as a clause."""
    is_lost: bool = False
    """Whether the connection was made, and broke before the response."""

    @property
    def asks_for_less(self) -> bool:
        """Whether the server wants fewer requests, or to be left alone for a while."""
        return self.status == _TOO_MANY or "retry-after" in self.headers


def is_worth_another_try(failure: Failure) -> bool:
    """Whether the same request may succeed later."""
    if failure.status is None:
        return failure.is_lost
    if isinstance(failure.error, ContextOverflow) or failure.status < 400:
        return False
    if failure.status == 402 or is_quota_spent(failure.body):
        return False
    advice = failure.headers.get("x-should-retry", "").strip().lower()
    if advice in ("true", "false"):
        return advice == "true"
    return failure.status in (408, 409, 429) or failure.status >= 500


def wait_before(tried: int, failure: Failure, now: datetime, luck: float) -> float:
    """Seconds to wait after `tried` failures; as long as the server asks for, however long.

    `luck`, from 0 to 1, takes up to a quarter off a wait of our own, so that not all who
    were turned away come back at once.
    """
    asked = asked_wait(failure, now)
    if asked is not None:
        return asked
    own = min(_FIRST_WAIT * 2.0 ** (tried - 1), _LONGEST_OWN_WAIT)
    return own * (1 - _JITTER * luck)


def asked_wait(failure: Failure, now: datetime) -> float | None:
    """Seconds that the server asks to wait; None where it does not, or for no time at all."""
    milliseconds = _seconds(failure.headers.get("retry-after-ms", ""))
    after = failure.headers.get("retry-after", "")
    waits = (
        None if milliseconds is None else milliseconds / 1000,
        _seconds(after),
        _until(after, now),
        _seconds(_delay_in(failure.body).removesuffix("s")),
    )
    return next((wait for wait in waits if wait), None)


def duration(seconds: float) -> str:
    """Tell a wait in whole units, rounded up: 45 s, 5 min, 3 h; a day is the longest."""
    for unit, width, most in (("s", 1, 120), ("min", 60, 120), ("h", 3600, 24)):
        if (units := -int(-seconds // width)) <= most:
            return f"{units} {unit}"
    return "more than a day"


def _seconds(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text := text.strip()) else None


def _until(text: str, now: datetime) -> float | None:
    """Seconds until an HTTP date; None where it is none, or has passed."""
    try:
        then = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (then - now).total_seconds()) or None


def _delay_in(body: str) -> str:
    """Find Gemini's delay, which it puts among an error's details: 36s."""
    details = at(first(parsed(body)), "error", "details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(found := at(detail, "retryDelay"), str):
            return found
    return ""


_MOST_DROPPED = 3


@dataclass(frozen=True, slots=True)
class Pace:
    """Time and chance, as the loop meets them."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Wait for so many seconds."""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    luck: Callable[[], float] = random.random
    """Draw from 0 to 1."""
    patience: float = 5.0
    """Seconds for what is worth no longer wait: the text of an error, what follows an answer."""


class Attempts:
    """What was tried so far, and what comes next."""

    def __init__(self, without: frozenset[str], pace: Pace) -> None:
        self._without, self._pace = without, pace
        self._dropped = self._failed = 0
        self._renewed = False

    def shaped(self, options: Options) -> Options:
        """Make the options without what is refused."""
        return replace(options, without=options.without | self._without)

    def drop(self, failure: Failure, sent: frozenset[str]) -> str | None:
        """Leave out what the server refuses of `sent`, and name it.

        None where it is about nothing that was sent, or about something that was left out
        already, or too much was.
        """
        if failure.status is None or self._dropped == _MOST_DROPPED:
            return None
        parameter = refused_parameter(failure.status, failure.body, sent)
        if parameter is None or parameter in self._without:
            return None
        self._without |= {parameter}
        self._dropped += 1
        return parameter

    def may_renew(self, failure: Failure) -> bool:
        """Whether another key may help; once for an answer."""
        if self._renewed or not isinstance(failure.error, KeyRefused):
            return False
        self._renewed = True
        return True

    def pause(self, failure: Failure) -> Retrying:
        """Say how long to wait before the next try.

        Raises:
            ProviderError: There is none, and the error stands.

        """
        self._failed += 1
        if not is_worth_another_try(failure):
            raise failure.error
        seconds = wait_before(self._failed, failure, self._pace.now(), self._pace.luck())
        if seconds > LONGEST_WAIT:
            raise _too_long(failure.error, seconds)
        if self._failed > MORE_TRIES:
            raise failure.error
        return Retrying(seconds, failure.why, failure.asks_for_less)


class SessionLessons:
    """What a server taught, for as long as the provider is used."""

    def __init__(self) -> None:
        self._refused: frozenset[str] = frozenset()

    def refused(self) -> frozenset[str]:
        """List the parameters that were refused."""
        return self._refused

    def refuse(self, parameter: str) -> None:
        """Keep that a parameter was refused."""
        self._refused |= {parameter}


def adaptation(
    provider: str, model: str, parameter: str, before: frozenset[str], after: frozenset[str]
) -> str:
    """Say what was changed, and what undoes that.

    `before` and `after` are the names of what is sent.
    """
    name = shorten(model, 60)
    always = f"until {forgetting(provider, model)}"
    if parameter == "system":
        return f"{name} does not take a system message: sent with the first question, {always}."
    if parameter in after:
        return f"{name} does not take so large a {parameter}: sent a smaller one, {always}."
    instead = ", ".join(sorted(after - before))
    changed = f"sent as {instead}" if instead else "sent without it"
    return f"{name} does not take {parameter}: {changed}, {always}."


def _too_long(error: ProviderError, seconds: float) -> ProviderError:
    made = copy.copy(error)
    made.retry_after = seconds
    made.remedy = f"It asks to wait {duration(seconds)}: send again after that."
    return made
