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
from jitchat.providers.protocols.json_values import at, first, list_of, parsed, text_at
from jitchat.providers.protocols.refusals import is_quota_spent, refused_parameter
from jitchat.providers.provider import UNREASONED, Options, RetryScheduled, forgetting
from jitchat.text.sanitize import shorten

MORE_TRIES = 2
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


def is_worth_another_try(failure: Failure) -> bool:
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


def _requested_wait(failure: Failure, now: datetime) -> float | None:
    """Seconds that the server asks to wait; None where it does not, or for no time at all."""
    milliseconds = _number(failure.headers.get("retry-after-ms", ""))
    after = failure.headers.get("retry-after", "")
    details = list_of(at(first(parsed(failure.body)), "error", "details"))
    delays = (text_at(detail, "retryDelay") for detail in details)  # Gemini's: 36s
    waits = (
        None if milliseconds is None else milliseconds / 1000,
        _number(after),
        _seconds_until(after, now),
        _number(next(filter(None, delays), "").removesuffix("s")),
    )
    return next((wait for wait in waits if wait), None)


def duration(seconds: float) -> str:
    """Tell a wait in whole units, rounded up: 45 s, 5 min, 3 h; a day is the longest."""
    for unit, width, most in (("s", 1, 120), ("min", 60, 120), ("h", 3600, 24)):
        if (units := -int(-seconds // width)) <= most:
            return f"{units} {unit}"
    return "more than a day"


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text := text.strip()) else None


def _seconds_until(text: str, now: datetime) -> float | None:
    """Seconds until an HTTP date; None where it is none, or has passed."""
    try:
        then = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (then - now).total_seconds()) or None


_MOST_DROPPED = 3


@dataclass(frozen=True, slots=True)
class Clock:
    """Time and chance, as the loop meets them."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Wait for so many seconds."""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    luck: Callable[[], float] = random.random
    """Draw from 0 to 1."""
    patience: float = 5.0
    """Seconds for what is worth no longer wait: the text of an error, what follows an answer."""


class Attempts:
    def __init__(self, without: frozenset[str], clock: Clock) -> None:
        self._without, self._clock = without, clock
        self._dropped = self._failed = 0
        self._renewed = False

    def shaped(self, options: Options) -> Options:
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

    def pause(self, failure: Failure) -> RetryScheduled:
        """Say how long to wait before the next try.

        Raises:
            ProviderError: There is none, and the error stands.

        """
        self._failed += 1
        if not is_worth_another_try(failure):
            raise failure.error
        seconds = _requested_wait(failure, self._clock.now())
        if seconds is None:
            # a part is left to luck, so that not all who were turned away come back at once
            own = min(_FIRST_WAIT * 2.0 ** (self._failed - 1), _LONGEST_OWN_WAIT)
            seconds = own * (1 - _JITTER * self._clock.luck())
        if seconds > LONGEST_WAIT:
            error = copy.copy(failure.error)
            error.retry_after = seconds
            error.remedy = f"It asks to wait {duration(seconds)}: send again after that."
            raise error
        if self._failed > MORE_TRIES:
            raise failure.error
        asks_for_less = failure.status == 429 or "retry-after" in failure.headers
        return RetryScheduled(seconds, failure.why, asks_for_less)


class SessionQuirks:
    """What a server taught, for as long as the provider is used."""

    def __init__(self) -> None:
        self._refused: frozenset[str] = frozenset()

    def refused(self) -> frozenset[str]:
        return self._refused

    def refuse(self, parameter: str) -> None:
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
    if parameter == "tools":
        return f"{name} takes no tools: it was asked without them, {always}."
    if parameter == "echo":
        return f"{name} did not take its earlier reasoning back: it was asked without that."
    if parameter == UNREASONED:
        return f"{name} takes no answers without reasoning: theirs is a blank now, {always}."
    if parameter in after:
        return f"{name} does not take so large a {parameter}: sent a smaller one, {always}."
    instead = ", ".join(sorted(after - before))
    changed = f"sent as {instead}" if instead else "sent without it"
    return f"{name} does not take {parameter}: {changed}, {always}."
