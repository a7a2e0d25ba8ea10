"""The tries for one answer: what to leave out of the request, and when to send it again."""

from __future__ import annotations

import asyncio
import copy
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from jitchat.errors import KeyRefused, ProviderError
from jitchat.providers.http.retry import (
    LONGEST_WAIT,
    MORE_TRIES,
    Failure,
    duration,
    is_worth_another_try,
    wait_before,
)
from jitchat.providers.protocols.parameters import refused_parameter
from jitchat.providers.provider import Options, Retrying, forgetting
from jitchat.text.safe import shortened

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
    name = shortened(model, 60)
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
