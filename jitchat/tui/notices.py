"""Show a `JitchatError` to the user, as a notice on the screen."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from textual.widget import Widget

from jitchat.errors import JitchatError

READ_SECONDS = 12
"""How long a notice is shown that takes time to read."""

_Screen = TypeVar("_Screen", bound=Widget)
_Arguments = ParamSpec("_Arguments")
_Handler = Callable[Concatenate[_Screen, _Arguments], Coroutine[Any, Any, None]]


class ErrorSentence(str):
    """What happened and what to do; `cause` is equal for errors of the same kind."""

    __slots__ = ("cause",)
    cause: tuple[type[JitchatError], str]


def cause_of(notice: str) -> object:
    """Return a notice's cause; a notice replaces an earlier one with the same cause."""
    return notice.cause if isinstance(notice, ErrorSentence) else notice


def notify_error(screen: Widget, error: JitchatError) -> None:
    sentence = ErrorSentence(error)
    sentence.cause = type(error), error.remedy
    screen.notify(sentence, severity="error", timeout=READ_SECONDS, markup=False)


def reports_errors(handler: _Handler[_Screen, _Arguments]) -> _Handler[_Screen, _Arguments]:
    """Decorate a handler to show a `JitchatError`, which would otherwise end the app."""

    @wraps(handler)
    async def reporting(
        screen: _Screen, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs
    ) -> None:
        try:
            await handler(screen, *args, **kwargs)
        except JitchatError as error:
            notify_error(screen, error)

    return reporting
