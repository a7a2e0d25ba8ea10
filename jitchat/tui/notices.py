"""How an error of ours reaches the user: as a sentence on the screen."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from textual.widget import Widget

from jitchat.errors import JitchatError

READ_SECONDS = 12
"""As long as it takes to read a notice."""

_Screen = TypeVar("_Screen", bound=Widget)
_Arguments = ParamSpec("_Arguments")
_Handler = Callable[Concatenate[_Screen, _Arguments], Coroutine[Any, Any, None]]


class ErrorSentence(str):
    """What happened and what to do; `cause` is equal where both are of the same kind."""

    __slots__ = ("cause",)
    cause: tuple[type[JitchatError], str]


def cause_of(notice: str) -> object:
    """Tell what a notice is about: one is enough of those that are about the same."""
    return notice.cause if isinstance(notice, ErrorSentence) else notice


def notify_error(screen: Widget, error: JitchatError) -> None:
    sentence = ErrorSentence(error)
    sentence.cause = type(error), error.remedy
    screen.notify(sentence, severity="error", timeout=READ_SECONDS, markup=False)


def reports_errors(handler: _Handler[_Screen, _Arguments]) -> _Handler[_Screen, _Arguments]:
    """Have a handler show an error of ours, which would end the app otherwise."""

    @wraps(handler)
    async def reporting(
        screen: _Screen, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs
    ) -> None:
        try:
            await handler(screen, *args, **kwargs)
        except JitchatError as error:
            notify_error(screen, error)

    return reporting
