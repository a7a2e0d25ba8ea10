"""Running work in threads: work that must complete, and work that must not delay the exit."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

_Result = TypeVar("_Result")


async def to_the_end(work: Callable[[], _Result]) -> _Result:
    """Run work that must complete: if the task is cancelled, it still waits for the work.

    The work gets a thread of its own, because the event loop's pool may be busy.
    """
    thread = ThreadPoolExecutor(1)
    waiting, cancelled = asyncio.wrap_future(thread.submit(work)), None
    thread.shutdown(wait=False)
    while not waiting.done():
        try:
            await asyncio.wait((waiting,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        waiting.exception()  # mark it as retrieved: only the cancellation is reported
        raise cancelled
    return waiting.result()


async def left_at_exit(work: Callable[[], _Result]) -> _Result:
    """Run work in a daemon thread. Cancellation does not stop it, and exit does not wait for it."""
    done: Future[_Result] = Future()
    done.set_running_or_notify_cancel()  # from now on a cancellation ends the wait, not the work

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001  raised in the waiting task
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(done)
