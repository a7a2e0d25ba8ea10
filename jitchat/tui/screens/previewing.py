"""The next window, live: what would be sent for what stands in the prompt.

A plan is asked for once the keys rest, and made in a thread, one at a time. From the key to the
window for it every surface says that it is being worked out: none is out of date and looks
current. A plan for a draft that has moved on is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.timer import Timer

from jitchat.errors import JitchatError
from jitchat.tui.command_hint import CommandHint, mode_within
from jitchat.tui.messages import PreviewReady
from jitchat.tui.screens.desk import DeskScreen
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.values import Mode, Status, Usage
from jitchat.window.steering import Once
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

PREVIEW_AFTER = 0.08
"""Seconds of silence after a key until the next window is planned anew."""
DIM_AFTER = 0.2
"""Seconds that a window is being worked out until its surfaces fade, so that a quick one does not
flicker; their mark is there at once."""


class PreviewingScreen(DeskScreen):
    """A desk that follows the draft."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self.planned = 0
        """The last request of which the plan was shown or refused."""
        self.working = False
        """Whether the surfaces wait for another window than they show."""
        self._serial = 0
        """The last request; whatever changes the next window makes another one of it."""
        self._under_way: int | None = None
        """The request whose plan is being made."""
        self._timer: Timer | None = None
        self._command_hint: CommandHint | None = None
        self._fading: Timer | None = None

    @on(Prompt.Changed)
    def _draft_changed(self) -> None:
        self.attend()
        self.show_mode()
        if self._command_hint is None:
            self._command_hint = CommandHint(self.query_one(HintLine))
        if self._command_hint.follow(self.query_one(Prompt).draft):
            return
        self._rest()
        if self._is_followed(self.draft):
            self._serial += 1
            self._mark(working=True)
            self._timer = self.set_timer(PREVIEW_AFTER, self.plan_now)
        elif not self.busy:
            self._serial += 1
            self._mark(working=False)

    def plan_now(self, *, afresh: bool = False) -> None:
        """Plan the window for what is in the prompt, off the event loop.

        An empty prompt leaves the window that was sent on screen, unless `afresh`.
        """
        self._rest()
        if self.session is None or self.busy:
            return
        if afresh or self._is_followed(self.draft):
            self._serial += 1
            self._mark(working=True)
            self._plan_next(self.session)

    def _is_followed(self, draft: str) -> bool:
        """Whether the surfaces are to show the window for this draft."""
        return self.session is not None and not self.busy and bool(draft or self.sent is None)

    def _plan_next(self, session: Session) -> None:
        """Plan for the last request, unless a plan is under way: then, when that one is made."""
        if self._under_way is None:
            self._under_way = self._serial
            self._plan(session, self.draft, self.next_mode, self._serial, self.once)

    @work(thread=True, group="plan")
    def _plan(self, session: Session, draft: str, mode: Mode, serial: int, once: Once) -> None:
        outcome: ContextWindow | JitchatError
        try:
            outcome = session.preview(draft, mode, once)
        except JitchatError as error:
            outcome = error
        self.post_message(PreviewReady(serial, outcome, session.planning.unmet(draft)))

    @on(PreviewReady)
    def _preview_ready(self, message: PreviewReady) -> None:
        """Show it, unless the draft has moved on."""
        if message.serial != self._under_way:
            return
        self._under_way = None
        if self.busy:
            return
        if message.serial == self._serial:
            self._show_outcome(message)
        elif self._timer is None and self.working and self.session is not None:
            self._plan_next(self.session)

    def _show_outcome(self, message: PreviewReady) -> None:
        self.sent = self.window = None
        self.planned = message.serial
        self.show_holds()
        if isinstance(message.outcome, JitchatError):
            self._mark(working=False)
            self.show_refusal(message.outcome)
        else:
            self.show_window(message.outcome, sent=False)
            hint = self.query_one(HintLine)
            back = "the draft of last time: Ctrl+C clears it" if self.keeper.is_back() else ""
            text = mode_within(self.query_one(Prompt).draft)
            for told in filter(None, (message.unmet, text, back, self._unanswered())):
                hint.show_cost(*(f"{told} · {each}" for each in hint.sentences))
        if self._command_hint is not None:
            self._command_hint.renew(self.query_one(Prompt).draft)

    def _unanswered(self) -> str:
        """Tell of a last message without a reply, where it does not stand in the prompt."""
        turns = self.session.memory.turns if self.session is not None else []
        if self.draft or not turns or turns[-1].status is not Status.UNANSWERED:
            return ""
        return f"#{turns[-1].position} was not answered: Alt+R sends it again"

    def show_window(self, window: ContextWindow, *, sent: bool, usage: Usage | None = None) -> None:
        """One window on every surface; it is the one that they waited for."""
        if sent:
            self._rest()
            self._serial += 1
        self._mark(working=False)
        super().show_window(window, sent=sent, usage=usage)

    def action_use_mode(self, mode: str) -> None:
        """Use a mode from now on."""
        self.mode, self.once_mode = Mode(mode), None
        self.show_mode()
        self.plan_now()

    def follow_again(self) -> None:
        """A send is over: plan for what was typed meanwhile, and where the surfaces wait."""
        self.plan_now(afresh=self.working)

    def forget_window(self) -> None:
        """Another conversation comes: a plan that is under way is not for it."""
        self._rest()
        self._serial += 1
        self._under_way = None
        self._mark(working=False)
        if self.planned:
            self.show_nothing()
        self.sent = self.window = None

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _mark(self, *, working: bool) -> None:
        """Say on every surface whether its window is being worked out."""
        if working == self.working:
            return
        self.working = working
        self.query_one(BudgetBar).working = working
        self.query_one(Inspector).show_working(working)
        self.query_one(HintLine).show_working(working)
        if self._fading is not None:
            self._fading.stop()
            self._fading = None
        if working:
            self._fading = self.set_timer(DIM_AFTER, self._fade)
        else:
            self._fade(faded=False)

    def _fade(self, *, faded: bool = True) -> None:
        faded = faded and self.working  # the timer's call may have waited until that was over
        self.query_one(BudgetBar).show_faded(faded)
        self.query_one(Inspector).show_faded(faded)
        self.query_one(HintLine).show_faded(faded)
