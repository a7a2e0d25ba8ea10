"""Work that whoever waits for it cannot break off."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
