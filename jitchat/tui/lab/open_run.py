"""A run whose file is open: to be looked at, or with a lab to be asked.

The lab works in the event loop of the screen, as a message of the chat does: all that is slow in
it is done in threads. It has a task of its own, which is cancelled once: what is being stored is
stored before the file is given back.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from jitchat.errors import JitchatError
from jitchat.lab.events import LabEvent
from jitchat.lab.lab import Lab
from jitchat.lab.run_file import RunFile
from jitchat.tui.lab.run_state import RunState


class OpenRun:
    """Owns the file, which is given back by `close`."""

    def __init__(self, file: RunFile, lab: Lab | None = None) -> None:
        """Read what is known of the run. Slow.

        Raises:
            JitchatError: That cannot be read; the file is given back.

        """
        self.file, self.lab = file, lab
        try:
            self.state = RunState(file.run, file.results())
        except BaseException:  # closed whatever it was, and passed on
            file.close()
            raise
        self.is_stopping = False
        self._asking: asyncio.Task[None] | None = None

    @classmethod
    def to_ask(cls, lab: Lab) -> Self:
        return cls(lab.file, lab)

    async def ask(self, report: Callable[[], object]) -> None:
        """Ask until the end, or until it is stopped; `report` is called after each event.

        Raises:
            StoreError: Results cannot be kept.

        """
        if self.lab is None:
            return
        self._asking = asyncio.create_task(self._drive(self.lab, report))
        await asyncio.wait((self._asking,))
        if not self._asking.cancelled():
            self._asking.result()

    async def _drive(self, lab: Lab, report: Callable[[], object]) -> None:
        def hear(event: LabEvent) -> None:
            self.state.take(event)
            report()

        try:
            with suppress(asyncio.CancelledError):
                await lab.run(hear)
        finally:
            with suppress(JitchatError):  # why the lab broke off is told
                self.state.keep(await asyncio.to_thread(self.file.results))

    def stop(self) -> None:
        """Ask no more; what came is kept. May be called twice."""
        if self._asking is not None and not self.is_stopping:
            self.is_stopping = True
            self._asking.cancel()

    async def close(self) -> None:
        """Stop, and give the file back. May be called twice."""
        self.stop()
        if self._asking is not None:
            await asyncio.gather(self._asking, return_exceptions=True)
        await asyncio.to_thread(self.file.close)
