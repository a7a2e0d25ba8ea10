"""When a request that failed is sent again, and how long to wait before. Pure policy.

As the providers' own libraries do it: two more tries, half a second doubled from try to try,
unless the server says how long; and never where money or the window's size is what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from jitchat.errors import ContextOverflow, ProviderError
from jitchat.providers.protocols.refusals import is_quota_spent
from jitchat.providers.protocols.values import at, first, parsed

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
