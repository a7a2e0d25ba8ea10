"""Work that whoever waits for it cannot break off."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")


async def to_the_end(work: Callable[[], _Result]) -> _Result:
    """Wait for work that is done whatever happens to the task; cancelled, it ends only after it.

    In a thread of its own: those of the event loop's pool may all be computing.
    """
    told: Future[_Result] = Future()

    def run() -> None:
        try:
            told.set_result(work())
        except BaseException as error:  # passed on, whatever it was
            told.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    waiting, cancelled = asyncio.wrap_future(told), None
    while not waiting.done():
        try:
            await asyncio.wait((waiting,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        waiting.exception()  # whoever cancelled it hears no other end
        raise cancelled
    return waiting.result()
