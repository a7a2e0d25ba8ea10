"""When a failed request is retried, and after how long. Pure policy.

As in the providers' own libraries: at most two retries, after half a second and then twice as
long, unless the server states a time; never if the cause is missing credit or the window's size.
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
from jitchat.providers.protocols.refusals import is_quota_spent, refused_parameter
from jitchat.providers.provider import UNREASONED, Options, RetryScheduled, forgetting
from jitchat.text.json_values import at, first, list_of, parsed, text_at
from jitchat.text.sanitize import shorten

MORE_TRIES = 2
LONGEST_WAIT = 120.0
"""Seconds. If the server asks for a longer wait, that is reported instead."""
_FIRST_WAIT, _LONGEST_OWN_WAIT = 0.5, 8.0
_JITTER = 0.25
_NUMBER = re.compile(r"\d{1,300}(?:\.\d{0,9})?")


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that failed before any part of an answer was shown."""

    error: ProviderError
    status: int | None = None
    """None if there was no response."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By lower-case name."""
    body: str = field(default="", repr=False)
    """The start of the body; it may contain the key."""
    why: str = ""
    """What happened, as a clause."""
    is_lost: bool = False
    """Whether an established connection broke before the response."""


def is_retryable(failure: Failure) -> bool:
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
    """Return the seconds that the server asks to wait; None if none or zero."""
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
    """Format a wait in whole units, rounded up: 45 s, 5 min, 3 h, or "more than a day"."""
    for unit, width, most in (("s", 1, 120), ("min", 60, 120), ("h", 3600, 24)):
        if (units := -int(-seconds // width)) <= most:
            return f"{units} {unit}"
    return "more than a day"


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text := text.strip()) else None


def _seconds_until(text: str, now: datetime) -> float | None:
    """Return the seconds until an HTTP date; None if it is not a date, or has passed."""
    try:
        then = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (then - now).total_seconds()) or None


_MOST_DROPPED = 3


@dataclass(frozen=True, slots=True)
class Clock:
    """The sources of time and randomness."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Wait for the given number of seconds."""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    luck: Callable[[], float] = random.random
    """Return a random number from 0 to 1."""
    patience: float = 5.0
    """Timeout in seconds for the text of an error, and for data after the end of an answer."""


class Attempts:
    """The attempts to get one answer: parts omitted, key renewed, retries so far."""

    def __init__(self, without: frozenset[str], clock: Clock) -> None:
        self._without, self._clock = without, clock
        self._dropped = self._failed = 0
        self._renewed = False

    def shaped(self, options: Options) -> Options:
        return replace(options, without=options.without | self._without)

    def drop(self, failure: Failure, sent: frozenset[str]) -> str | None:
        """Omit the part of `sent` that the server refuses, and return its name.

        None if the failure is not about a part that was sent, if the part is omitted already, or
        if too many parts are.
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
        """Whether another key may help; true at most once per answer."""
        if self._renewed or not isinstance(failure.error, KeyRefused):
            return False
        self._renewed = True
        return True

    def pause(self, failure: Failure) -> RetryScheduled:
        """Return how long to wait before the next attempt.

        Raises:
            ProviderError: The failure's error, if there is no further attempt.

        """
        self._failed += 1
        if not is_retryable(failure):
            raise failure.error
        seconds = _requested_wait(failure, self._clock.now())
        if seconds is None:
            # jitter, so that clients that failed together do not retry together
            own = min(_FIRST_WAIT * 2.0 ** (self._failed - 1), _LONGEST_OWN_WAIT)
            seconds = own * (1 - _JITTER * self._clock.luck())
        if seconds > LONGEST_WAIT:
            error = copy.copy(failure.error)
            error.retry_after = seconds
            error.remedy = f"The server asks to wait {duration(seconds)}. Send again after that."
            raise error
        if self._failed > MORE_TRIES:
            raise failure.error
        asks_for_less = failure.status == 429 or "retry-after" in failure.headers
        return RetryScheduled(seconds, failure.why, asks_for_less)


class SessionQuirks:
    """What was learnt from a server, kept as long as the provider is used."""

    def __init__(self) -> None:
        self._refused: frozenset[str] = frozenset()

    def refused(self) -> frozenset[str]:
        return self._refused

    def refuse(self, parameter: str) -> None:
        self._refused |= {parameter}


def adaptation(
    provider: str, model: str, parameter: str, before: frozenset[str], after: frozenset[str]
) -> str:
    """Return a sentence on what was changed, and how to undo it.

    `before` and `after` are the names of the parts sent.
    """
    name = shorten(model, 60)
    until = f"until you run {forgetting(provider, model)}"
    if parameter == "system":
        return f"{name} does not accept a system message: sent in the first message, {until}."
    if parameter == "tools":
        return f"{name} does not support tools: sent without tools, {until}."
    if parameter == "echo":
        return f"{name} did not accept its earlier reasoning: sent without it."
    if parameter == UNREASONED:
        return f"{name} requires reasoning in every answer: sent with blank reasoning, {until}."
    if parameter in after:
        return f"{name} does not accept so large a {parameter}: sent a smaller one, {until}."
    instead = ", ".join(sorted(after - before))
    changed = f"sent as {instead}" if instead else "sent without it"
    return f"{name} does not accept {parameter}: {changed}, {until}."
