"""Errors of ours, on their way to the user: a sentence on the screen."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from textual.widget import Widget

from jitchat.errors import JitchatError

SECONDS = 12
"""As long as it takes to read."""

_Screen = TypeVar("_Screen", bound=Widget)
_Arguments = ParamSpec("_Arguments")
_Handler = Callable[Concatenate[_Screen, _Arguments], Coroutine[Any, Any, None]]


class ErrorSentence(str):
    """What happened and what to do; `cause` is equal where both are of the same kind."""

    __slots__ = ("cause",)
    cause: tuple[type[JitchatError], str]

    @classmethod
    def of(cls, error: JitchatError) -> ErrorSentence:
        """Write it."""
        sentence = cls(error)
        sentence.cause = type(error), error.remedy
        return sentence


def cause_of(notice: str) -> object:
    """Tell what a notice is about: one is enough of those that are about the same."""
    return notice.cause if isinstance(notice, ErrorSentence) else notice


def tell(screen: Widget, error: JitchatError) -> None:
    """Show what happened and what to do."""
    screen.notify(ErrorSentence.of(error), severity="error", timeout=SECONDS, markup=False)


def telling(handler: _Handler[_Screen, _Arguments]) -> _Handler[_Screen, _Arguments]:
    """Make a handler that tells an error of ours instead of ending the app with it."""

    @wraps(handler)
    async def told(screen: _Screen, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> None:
        try:
            await handler(screen, *args, **kwargs)
        except JitchatError as error:
            tell(screen, error)

    return told
