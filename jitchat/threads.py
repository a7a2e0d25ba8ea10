"""Work in threads: what is done whatever happens, and what nobody waits for at the end."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

_Result = TypeVar("_Result")


async def to_the_end(work: Callable[[], _Result]) -> _Result:
    """Wait for work that is done whatever happens to the task; cancelled, it ends only after it.

    In a thread of its own: those of the event loop's pool may all be computing.
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
        waiting.exception()  # whoever cancelled it hears of no other end
        raise cancelled
    return waiting.result()


async def left_at_exit(work: Callable[[], _Result]) -> _Result:
    """Wait for work in a thread of its own, which goes on when cancelled; no exit waits for it."""
    done: Future[_Result] = Future()
    done.set_running_or_notify_cancel()  # cancelled from now on is who waits, not the work

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001  raised where it is waited for
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(done)
