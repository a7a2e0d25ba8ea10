"""What small models do beside the one that answers, as far as it is seen on the screen.

The picker is waited for; the summariser writes index lines behind whatever the user does.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from textual import on, work
from textual.worker import Worker

from jitchat.errors import JitchatError
from jitchat.events import TurnsRetrieved
from jitchat.tui.messages import BacklogEnded, LinesMoved, SendEnded, SessionReported
from jitchat.tui.screens.answered import AnsweredScreen
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.values import Conversation, Mode

if TYPE_CHECKING:
    from jitchat.small_models.summariser import Summariser
    from jitchat.tui.backend import Backend


class HelpedScreen(AnsweredScreen):
    """A conversation on which small models may work, too."""

    def __init__(self, backend: Backend, conversation: Conversation) -> None:
        super().__init__(backend, conversation)
        self._writing: Worker[None] | None = None

    async def leave(self) -> None:
        """No index line is written for a conversation that is left."""
        self.workers.cancel_group(self, "lines")
        await super().leave()

    @on(SessionReported)
    def _asks_the_picker(self, message: SessionReported) -> None:
        """The reply waits for the picker, for a moment: say so."""
        picker = self.session.picker if self.session is not None else None
        is_asked = isinstance(message.event, TurnsRetrieved) and self.mode is Mode.JIT
        if picker is not None and is_asked:
            self.query_one(HintLine).wait(f"asking {picker.name} what is needed")

    @on(BacklogEnded)
    def _turns_indexed(self, message: BacklogEnded) -> None:
        if message.opening == self.opening:
            self._write_missing_lines()

    @on(SendEnded)
    def _reply_indexed(self) -> None:
        self._write_missing_lines()

    def _write_missing_lines(self) -> None:
        summariser = self.session.summariser if self.session is not None else None
        is_writing = self._writing is not None and not self._writing.is_finished
        if summariser is not None and not summariser.stopped and not is_writing:
            self._writing = self._write_lines(summariser, self.opening)

    @work(group="lines")
    async def _write_lines(self, summariser: Summariser, opening: int) -> None:
        error: JitchatError | None = None
        try:
            async with aclosing(summariser.write()) as requests:
                async for written in requests:
                    self.post_message(LinesMoved(opening, written))
        except JitchatError as failed:
            error = failed
        self.post_message(LinesMoved(opening, None, error))

    @on(LinesMoved)
    def _lines_moved(self, message: LinesMoved) -> None:
        """Tell how far it is; the next window shows the lines once they are all there."""
        session = self.session
        if message.opening != self.opening or session is None or session.summariser is None:
            return
        if message.written is None:
            self.show_status()
            self.plan_now()
        elif message.written.left and self.progress is None:
            written, name = message.written, session.summariser.name
            told = (
                f"{name} writes index lines… {written.left:,} to go"
                f" · {written.input_tokens:,} + {written.output_tokens:,} tokens"
            )
            self.show_state(told, session)
        if message.error is not None:
            self.tell(message.error)
