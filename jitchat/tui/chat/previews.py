"""The window on screen: the last one sent or, live, the one that would be sent next.

A plan is requested after a pause in typing and made in a thread, one at a time. From the key press
until its window is shown, every widget is marked as working, so that no outdated window looks
current. A plan for an outdated draft is dropped. The cost is shown next to the window.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from textual.message import Message

from jitchat.errors import JitchatError, StoreError
from jitchat.replay import sent_on_path
from jitchat.store.requests import RequestLog
from jitchat.store.windows import Ending, WindowArchive
from jitchat.tui.alarm import Alarm
from jitchat.tui.chat.commands import hint_on, mode_within
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening
from jitchat.tui.chat.steering import NextMessage, Steering
from jitchat.tui.figures import exact_sentence, usage_sentence
from jitchat.tui.widgets.turn_details import is_broken_off
from jitchat.values import Role, Status, Turn, Usage
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.session import Session

PREVIEW_AFTER = 0.08
"""Seconds after the last key until the next window is re-planned."""
DIM_AFTER = 0.2
"""Seconds of planning until the surfaces fade, so that a quick plan does not flicker; the mark is
shown at once."""
_LOOKED_BACK = 50
"""Latest messages searched for the last one that was sent; imported messages were not sent."""
DRAFT_IS_BACK = "draft restored: Ctrl+C clears it"


@dataclass(eq=False)
class Previews(Controller):
    """Plans the next window while the user types, and keeps the window on screen."""

    @dataclass
    class Planned(Message):
        """A plan is ready: the window that would be sent, or why there is none."""

        request: int
        outcome: ContextWindow | JitchatError
        unmet: str = ""
        """Turns that the draft names in vain, and files that have changed; usually empty."""

    opening: Opening
    steering: Steering

    window: ContextWindow | None = None
    """The window on screen, sent or not; None if it cannot be planned."""
    sent: ContextWindow | None = None
    """The sent window, while it is on screen; else None."""
    sent_for: Turn | None = None
    """The user's turn of the sent window that is, or was last, on screen."""
    has_sends: bool = False
    """Whether anything was sent in this conversation."""
    wants_next: bool = False
    """Whether the user switched from the sent window to the next one."""
    working: bool = False
    """Whether a new window is being planned to replace the one shown."""
    planned: int = 0
    """The last request whose plan, or refusal, was shown."""
    _exact: tuple[ContextWindow, int] | None = None
    """The last window that the provider counted, and its tokens."""
    _request: int = 0
    """Number of the last request; every change to the next window increases it."""
    _under_way: int | None = None
    """The request that is being planned; None if none is."""
    _mentions: frozenset[str] = frozenset()
    """The files that the plan in progress may be reading."""
    _given_up: threading.Event = field(default_factory=threading.Event)
    """Set when one of them is no longer mentioned, so that the plan need not wait for it."""
    _command: str = ""
    """The hint line's description of the typed command; empty if there is none."""
    _timer: Alarm = field(default_factory=Alarm)
    _fading: Alarm = field(default_factory=Alarm)

    def follow_draft(self) -> None:
        """Plan for the draft after a pause in typing; a command is explained instead."""
        if not self._mentions.issubset(self.steering.next_message.once.mentions):
            self._given_up.set()
        before, self._command = (
            self._command,
            hint_on(self.surfaces.prompt.draft, self.surfaces.prompts),
        )
        self.surfaces.hint.command = self._command
        if before and self._command:
            return
        self._timer.stop()
        if self._is_followed(self.steering.next_message):
            self._request += 1
            self._mark(working=True)
            self._timer.set(self.host.after(PREVIEW_AFTER, self.plan))
        elif not self.steering.busy:
            self._request += 1
            self._mark(working=False)

    def plan(self, *, afresh: bool = False) -> None:
        """Plan the window for the draft, in a thread.

        If the prompt is empty, a sent window stays on screen, unless `afresh`.
        """
        self._timer.stop()
        if self.opening.session is None or self.steering.busy:
            return
        if afresh or self._is_followed(self.steering.next_message):
            self._request += 1
            self._mark(working=True)
            self._plan_next(self.opening.session)

    def take(self, message: Planned) -> None:
        """Show a plan, unless it is outdated."""
        if message.request != self._under_way:
            return
        self._under_way = None
        if self.steering.busy:
            return
        if message.request == self._request:
            self._show_outcome(message)
        elif not self._timer.is_set and self.working and self.opening.session is not None:
            self._plan_next(self.opening.session)

    def show_sent(self, window: ContextWindow, turn: Turn | None, usage: Usage | None) -> None:
        """Show the window that was sent for `turn`, which is None if it is not known yet."""
        self.sent, self.sent_for = window, turn
        self._timer.stop()
        self._request += 1
        self.wants_next = False
        self._show(window, sent=True, usage=usage)
        self.know_sends(1)

    def show_counted(self, window: ContextWindow, tokens: int) -> None:
        self.sent, self._exact = None, (window, tokens)
        self._show(window, sent=False)

    def know_sends(self, sends: int) -> None:
        """Offer to switch to the last sent window, if anything was sent."""
        self.has_sends = sends > 0
        self.surfaces.inspector.offer_switch(self.has_sends)

    def switch_to_next(self) -> None:
        self.wants_next = True
        self.plan(afresh=True)

    def forget(self) -> None:
        """Remove the window from the screen and drop a plan in progress."""
        self._timer.stop()
        self._given_up.set()
        self._request += 1
        self._under_way = None
        self._mark(working=False)
        if self.planned:
            self.surfaces.clear_window()
        self.sent = self.window = None

    def leave(self) -> None:
        self.know_sends(0)
        self.wants_next = False
        self.forget()

    def _is_followed(self, message: NextMessage) -> bool:
        """Whether the surfaces show the window for this message."""
        is_open = self.opening.session is not None and not self.steering.busy
        return is_open and bool(message.text or self.sent is None)

    def _plan_next(self, session: Session) -> None:
        """Plan for the last request, or once the plan in progress is ready."""
        if self._under_way is not None:
            return
        self._under_way = request = self._request
        message = self.steering.next_message
        self._mentions = frozenset(message.once.mentions)
        self._given_up = given_up = threading.Event()

        def plan() -> None:
            from jitchat.files.office import reading_until  # noqa: PLC0415  not on the first frame

            with reading_until(given_up):
                self.host.post(self.Planned(request, *_planned(session, message)))

        self.host.in_thread(plan, "plan")

    def _show_outcome(self, message: Planned) -> None:
        self.sent = self.window = None
        self.planned = message.request
        self.opening.show_holds()
        if isinstance(message.outcome, JitchatError):
            self._mark(working=False)
            self.surfaces.show_refusal(message.outcome)
        else:
            self._show(message.outcome, sent=False)
            misplaced = mode_within(self.surfaces.prompt.draft)
            back = DRAFT_IS_BACK if self.opening.keeper.is_back() else ""
            hint = self.surfaces.hint
            for note in filter(None, (misplaced, back, self._unanswered(), message.unmet)):
                hint.put_ahead(note)  # the last one is shown in any case

    def _show(self, window: ContextWindow, *, sent: bool, usage: Usage | None = None) -> None:
        self.window = window
        self._mark(working=False)
        self.surfaces.show_window(window, self.opening.session, sent=sent, usage=usage)
        if not sent and self._exact is not None and self._exact[0] == window:
            self.surfaces.hint.show_cost(exact_sentence(*self._exact))

    def _unanswered(self) -> str:
        """Return a hint if the last message has no reply and the prompt is empty; else ""."""
        session = self.opening.session
        turns = session.memory.turns if session is not None else []
        is_typed = bool(self.steering.next_message.text)
        if is_typed or not turns or turns[-1].status is not Status.UNANSWERED:
            return ""
        return f"#{turns[-1].position} was not answered: /retry sends it again"

    def _mark(self, *, working: bool) -> None:
        """Mark every surface while a window is being planned, and remove the mark afterwards."""
        if working == self.working:
            return
        self.working = working
        self.surfaces.show_working(working)
        self._fading.stop()
        if working:
            self._fading.set(self.host.after(DIM_AFTER, self._fade))
        else:
            self.surfaces.show_faded(False)

    def _fade(self) -> None:
        self.surfaces.show_faded(self.working)  # planning may have ended when the timer fires


def _planned(session: Session, message: NextMessage) -> tuple[ContextWindow | JitchatError, str]:
    """Plan a message; return the outcome, and what is named in vain. Slow."""
    outcome: ContextWindow | JitchatError
    text, mode, once = message
    try:
        once = session.find_named(once)
        outcome = session.preview(text, mode, once)
    except JitchatError as error:
        outcome = error
    planning = session.planning
    notes = planning.unmet(text), session.left_out(once), planning.changed_files(once)
    return outcome, " · ".join(filter(None, notes))


@dataclass(eq=False)
class Meter(Controller):
    """Shows tokens and costs of the conversation, of one send, and of the next window."""

    opening: Opening
    steering: Steering
    previews: Previews

    def sum_up(self) -> None:
        sums = partial(self._sum_up, self.opening.conversation.id)
        self.host.run(sums, "cost", exclusive=True)

    def leave(self) -> None:
        """Remove the figures of a conversation that is left, and cancel requests for them."""
        self.host.cancel("cost", "count")
        self.surfaces.top.show_cost("")

    async def show_sent(self, session: Session, turn: Turn, reply: Turn | None) -> bool:
        """Show the window sent for `reply` or, without one, for the user's `turn`.

        Returns whether there is a sent window.
        """
        sent = await asyncio.to_thread(sent_on_path, session.memory, turn, reply)
        if sent is None:
            return False
        window, ending = sent
        broken = await asyncio.to_thread(_is_broken_off, session, ending)
        usage, cost = (ending.usage, ending.cost) if ending is not None else (None, None)
        self.previews.forget()
        self.previews.show_sent(window, turn, usage)
        self.surfaces.hint.show_usage(usage_sentence(usage, cost, window, is_broken_off=broken))
        return True

    async def show_last_sent(self, session: Session) -> bool:
        """Show the last window sent on the current branch. Return whether there is one."""
        last = await asyncio.to_thread(_last_sent, session)
        is_open = session is self.opening.session
        return last is not None and is_open and await self.show_sent(session, last, None)

    def count_exactly(self, session: Session) -> None:
        """Have the provider count the window that would be sent, without sending the message."""
        self.host.run(
            partial(self._count, session, self.steering.next_message), "count", exclusive=True
        )

    def show_costs(self, session: Session) -> None:
        """Show the estimated cost of the next message and the total spent."""
        self.host.run(partial(self._show_costs, session, self.steering.next_message), "costs")

    def exceed_once(self, session: Session, draft: str = "") -> None:
        """Let the next message exceed the spending limits; a draft stays in the prompt."""
        session.spending.exceed_once()
        if draft:
            self.surfaces.prompt.give_back(self.surfaces.prompt.origin_of(draft))
        what = "This message" if draft else "The next message"
        self.host.say(f"{what} may exceed your spending limits.")

    async def _show_costs(self, session: Session, message: NextMessage) -> None:
        from jitchat.tui.dialogs.exact import ExactScreen  # noqa: PLC0415  not on the first frame

        window = await asyncio.to_thread(session.preview, *message)
        forecast = await asyncio.to_thread(session.forecast, window)
        self.sum_up()
        await self.host.wait_for(ExactScreen("Cost", "\n".join(forecast.sentences())))

    async def _sum_up(self, conversation: str) -> None:
        database = self.backend.store.database
        try:
            spent = await asyncio.to_thread(RequestLog(database).spent, conversation)
            sent = await asyncio.to_thread(WindowArchive(database).sends, conversation, 1)
        except StoreError:
            return  # reported by features that need the store
        self.previews.know_sends(len(sent))
        self.surfaces.top.show_cost(spent.sentence)

    async def _count(self, session: Session, message: NextMessage) -> None:
        """Show the count, unless something else would be sent by then."""
        hint, asking = self.surfaces.hint, f"asking {session.provider.name} to count…"
        before, plain = hint.sentences, hint.plain
        hint.show_cost(asking)
        try:
            window = await asyncio.to_thread(session.preview, *message)
            tokens = await self.backend.count_exactly(session, window)
        except JitchatError as error:
            self.host.show_error(error)
            if hint.sentences == (asking,):
                hint.show_cost(*before, plain=plain)
        else:
            if message == self.steering.next_message and not self.steering.busy:
                self.previews.show_counted(window, tokens)


def _last_sent(session: Session) -> Turn | None:
    """Return the last message on the current branch for which a window was sent. Slow."""
    messages = (turn for turn in reversed(session.memory.turns) if turn.role is Role.USER)
    latest = islice(messages, _LOOKED_BACK)
    return next((turn for turn in latest if sent_on_path(session.memory, turn) is not None), None)


def _is_broken_off(session: Session, ending: Ending | None) -> bool:
    """Whether there was no reply, or one that the model did not finish."""
    if ending is None or ending.reply_id is None:
        return True
    replies = (turn for turn in session.memory.turns if turn.id == ending.reply_id)
    return any(is_broken_off(reply, ending.stop) for reply in replies)
