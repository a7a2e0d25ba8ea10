"""The steps of the tour that ask: the question as a message, then once more beside it."""

import asyncio

from textual import on

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.events import SendFailed
from jitchat.session import Session
from jitchat.tui.backend import Backend
from jitchat.tui.messages import (
    BacklogEnded,
    PreviewReady,
    SendEnded,
    SessionRefused,
    SessionReported,
)
from jitchat.tui.tour.guided import GuidedScreen
from jitchat.tui.tour.needle import DEPLOY_WINDOW
from jitchat.tui.tour.steps import STEPS, Ask
from jitchat.tui.tour.words import Asked, said_at_first
from jitchat.tui.views.view import SendAgain
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.values import Conversation, Role
from jitchat.window.steering import Once


class AskingScreen(GuidedScreen):
    """Asks the question of the tour in one mode after the other."""

    def __init__(
        self, backend: Backend, conversation: Conversation, pace: float | None = None
    ) -> None:
        super().__init__(backend, conversation, pace)
        self.needle = DEPLOY_WINDOW
        self.asked: dict[int, Asked] = {}
        """By step: what was sent in it, and what came."""
        self._error: JitchatError | None = None
        """Why nothing came."""

    @on(PreviewReady)
    @on(BacklogEnded)
    def _look_whether_ready(self) -> None:
        self.call_later(self._begin)

    def _begin(self) -> None:
        """Everything is indexed, and the first window is there."""
        is_ready = self.indexed and self.window is not None and not self.working
        is_new = self.told.is_on_way and not self.told.place and not self.is_over
        if is_ready and is_new and self.session is not None:
            self.query_one(Inspector).remove_class("-hidden")
            self.arrive(said_at_first(self.session, self.needle))

    @on(SessionRefused)
    def _cannot_begin(self, message: SessionRefused) -> None:
        self.fail(f"the tour cannot begin. {message.error}")

    async def ask(self, session: Session, step: Ask, place: int) -> None:
        """Ask, or show again what came of it."""
        self.action_use_mode(step.mode.value)
        if place in self.asked:
            await self._show_again(session, step, self.asked[place])
            return
        self._error = None
        self._take_back()
        first = next(iter(self.asked.values()), None)
        if first is None:
            self.post_message(Prompt.Submitted(self.needle.question))
        else:
            await self._viewed(SendAgain(first.said, step.mode, Once(again=first.said)))

    def _take_back(self) -> None:
        """The question of a step that failed is in the prompt."""
        prompt = self.query_one(Prompt)
        if prompt.draft == self.needle.question:
            prompt.take_draft()

    async def _show_again(self, session: Session, step: Ask, asked: Asked) -> None:
        if asked.reply is not None:
            await asyncio.to_thread(session.memory.switch_to, asked.reply.position)
            await self.show_branch(session, asked.reply.position)
        await self.show_sent(session, asked.said, asked.reply)
        self._show_asked(step, asked)

    @on(SessionReported)
    def _note_failure(self, message: SessionReported) -> None:
        if isinstance(message.event, SendFailed):
            self._error = message.event.error

    @on(SendEnded)
    def _note_error(self, message: SendEnded) -> None:
        self._error = message.error or self._error

    async def _free(self) -> None:
        """The reply of a step is over, if it is one."""
        await super()._free()
        step = STEPS[max(0, self.told.place - 1)]
        if self.told.is_on_way and self.told.place and isinstance(step, Ask) and not self.is_over:
            self._step_answered(step)

    def _step_answered(self, step: Ask) -> None:
        window, said, session = self.sent, self.sent_for, self.session
        reply = session.memory.turns[-1] if session is not None else None
        is_answered = reply is not None and reply.role is Role.ASSISTANT
        if isinstance(self._error, WindowOverflow):
            self.arrive(f"nothing was sent. {self._error}")
        elif self._error is not None or window is None or said is None or not is_answered:
            self.fail(f"no answer came. {self._error or ''}".strip())
        else:
            self.asked[self.told.place] = Asked(said, window, reply)
            self._show_asked(step, self.asked[self.told.place])

    def _show_asked(self, step: Ask, asked: Asked) -> None:
        """The cursor on what decided."""
        self.query_one(Inspector).point_at(self.needle.turn)
        self.arrive(step.says(asked, self.needle))
