"""The tour of the demo conversation: acts in the chat as a user would, step by step."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import Static

from jitchat.distil import distil
from jitchat.draft import Draft
from jitchat.errors import JitchatError, WindowOverflow
from jitchat.events import SendFailed
from jitchat.tui.alarm import Alarm
from jitchat.tui.app import JitchatApp
from jitchat.tui.chat.opening import Indexing, Opening
from jitchat.tui.chat.previews import Previews
from jitchat.tui.chat.screen import ChatScreen
from jitchat.tui.chat.sends import Sends
from jitchat.tui.drawing import Content
from jitchat.tui.notices import notify_error
from jitchat.tui.tour import script
from jitchat.tui.views.view import SendAgain
from jitchat.tui.views.what_if import Sides, WhatIfView, Windows
from jitchat.tui.widgets.hint_line import clickable
from jitchat.tui.widgets.prompt import Prompt
from jitchat.values import Conversation, Mode, Role
from jitchat.window.steering import Once

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

ON_TOUR = "-touring"
"""The class of a screen with a bar."""
LOOK_EVERY = 0.25
"""Seconds between checks of the lab's progress."""
STARTS_A_SHOW = frozenset({"f5", "shift+f5"})
"""Keys that presentation remotes send to start a slide show; they mean something else here."""
_LAB = "do('rot', 'quick')"
"""The action that opens the lab and starts a quick run if it is free."""
_NO_LAB = "the lab did not open here; `jitchat rot` runs it."


LAST_LENGTH = 2_000
"""Tokens of the live demo's conversation at the end of the tour: read within seconds."""
HELD_SECONDS = 0.25
"""Seconds; faster presses come from a key that is held or bounces."""


class TourKey(StrEnum):
    NEXT = "next"
    BACK = "back"
    END = "end"

    @property
    def action(self) -> str:
        return f"app.tour('{self}')"


_FORWARD = "space,right,pagedown,enter"
_KEYS = (
    (TourKey.NEXT, _FORWARD, "Next step of the tour", "Space, →, PgDn or Enter"),
    (TourKey.BACK, "left,pageup", "Previous step of the tour", "← or PgUp"),
    (TourKey.END, "escape", "End the tour", "The chat stays; Esc"),
)
"""Bindings with palette texts. Presentation remotes send PgDn and PgUp, arrows and a few others."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The tour's progress, as the bar shows it."""

    place: int
    """The step, from 1; 0 before the first."""
    words: str
    is_on_way: bool = False
    """Whether the step is still running, so that the key waits."""

    @property
    def text(self) -> str:
        """`2 of 7 · recency — the same question …`."""
        return f"{script.heading(self.place)} — {self.words}"


class TourBar(Vertical, can_focus=True):
    """The bar at the bottom of each screen that the tour shows."""

    def __init__(self, progress: Progress, *, has_keys: bool = True) -> None:
        super().__init__(classes="tour-bar")
        self._progress, self._has_keys = progress, has_keys
        self._words, self._keys = Static(classes="tour-words"), Static(classes="tour-keys")

    def compose(self) -> ComposeResult:
        yield self._words
        if self._has_keys:
            yield self._keys

    def on_mount(self) -> None:
        self.show(self._progress)

    def show(self, progress: Progress) -> None:
        self._progress = progress
        self._words.update(
            Content.assemble((script.heading(progress.place), "bold"), f" — {progress.words}")
        )
        self._keys.update(_key_line(progress))


def _key_line(progress: Progress) -> Content:
    """Make each key clickable, too."""
    keys = [("Esc", "ends the tour", TourKey.END.action)]
    if not progress.is_on_way:
        is_last = progress.place == len(script.steps())
        forward = "ends it here" if is_last else "next" if progress.place else "begins"
        back = [("←", "back", TourKey.BACK.action)] if progress.place > 1 else []
        keys = [("Space, →, PgDn or Enter", forward, TourKey.NEXT.action), *back, *keys]
    wait = "… in progress   " if progress.is_on_way else ""
    return Content.assemble(wait, clickable(keys, word=" {}", after="   "))


class TourApp(JitchatApp):
    """jitchat with the tour, which leads through the chat as a user would.

    It is driven by a presenter's keys or, with a `pace`, plays automatically and ends.
    """

    CSS_PATH = ["../app.tcss", "../chat/screen.tcss", "tour.tcss"]  # noqa: RUF012  Textual's own shape
    # They take priority over other bindings while the tour is running.
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding(keys, f"tour('{key}')", id=f"tour_{key}", priority=True, show=False)
        for key, keys, _, _ in _KEYS
    ]

    def __init__(
        self, backend: Backend, conversation: Conversation, pace: float | None = None
    ) -> None:
        """A pace of 2 is half the normal reading speed."""
        super().__init__(backend, conversation)
        self.chat = ChatScreen(backend, conversation)
        self.pace = pace
        self.needle = script.DEPLOY_WINDOW
        self.progress = Progress(0, "opening the conversation…", is_on_way=True)
        self.is_over = False
        self.asked: dict[int, script.Asked] = {}
        """What each step sent and received."""
        self._error: JitchatError | None = None
        """Why there was no reply."""
        self._dressed: list[Screen[Any]] = []
        """The screens opened by a step that have a bar."""
        self._reads = Alarm()
        self._looks = Alarm()
        self._pressed_at = float("-inf")
        self.chat.models.is_quiet = True
        self.chat.surfaces.offer.display = False
        self.chat.surfaces.below.append(self._make_bar())
        self.chat.add_class(ON_TOUR)

    @property
    def is_measuring(self) -> bool:
        """Whether the lab is shown and a run is, or may be, in progress."""
        return self._looks.is_set

    def get_default_screen(self) -> ChatScreen:
        return self.chat

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Handle only the tour's keys."""
        if action != "tour":
            return super().check_action(action, parameters)
        return bool(self.screen_stack) and self.takes(TourKey(str(parameters[0])))

    async def on_event(self, event: events.Event) -> None:
        """Ignore keys that were hit by mistake."""
        if isinstance(event, events.Key) and self.screen_stack and self.drops(event):
            return
        await super().on_event(event)

    def action_tour(self, wanted: str) -> None:
        """Run a tour key's action; a held key counts once."""
        key, moment = TourKey(wanted), time.monotonic()
        is_held = key is not TourKey.END and moment - self._pressed_at < HELD_SECONDS
        self._pressed_at = moment
        if not is_held:
            self.chat.call_later(self.press, key)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """List the chat's commands and, while the tour is running, its own."""
        if self.takes(TourKey.END):
            for key, _, title, help_text in _KEYS:
                yield SystemCommand(title, help_text, partial(self.action_tour, key.value))
        yield from super().get_system_commands(screen)

    @property
    def leads(self) -> bool:
        """Whether the tour is running and the top screen belongs to it."""
        top = self.screen
        return not self.is_over and (top is self.chat or top in self._dressed)

    def takes(self, key: TourKey) -> bool:
        """Whether the tour handles a key in the current state.

        Not on screens that the user opened, and while the user types, only the key that ends it.
        """
        prompt = self.chat.surfaces.prompt
        is_writing = prompt.has_focus and bool(prompt.text.strip())
        return self.leads and (key is TourKey.END or not is_writing)

    def drops(self, event: events.Key) -> bool:
        """Whether to ignore a key: hit by mistake, or sent by a presentation remote."""
        if not self.leads:
            return False
        is_typed = event.is_printable and event.key != "space"
        return event.key in STARTS_A_SHOW or (is_typed and not self.chat.surfaces.prompt.has_focus)

    async def press(self, key: TourKey) -> None:
        """Go to another step, or end the tour, after the running step has finished."""
        place = self.progress.place
        if key is TourKey.END:
            await self._close_screens()
            self.end()
        elif self.progress.is_on_way or self.chat.busy or self.is_over:
            return
        elif key is TourKey.NEXT:
            await self._go_on()
        elif place > 1:
            await self._do(place - 1)

    @on(Previews.Planned)
    @on(Indexing.Ended)
    def begin(self) -> None:
        """Begin once everything is indexed and the first window is planned."""
        chat, session = self.chat, self.chat.session
        has_window = chat.previews.window is not None and not chat.previews.working
        is_new = self.progress.is_on_way and not self.progress.place and not self.is_over
        if chat.indexing.indexed and has_window and is_new and session is not None:
            chat.surfaces.show_inspector(shown=True)
            self._arrive(script.describe_conversation(session, self.needle))

    @on(Opening.Shown)
    def take_opened(self, message: Opening.Shown) -> None:
        """Opening another conversation ends a tour that has begun."""
        if message.opening > 1 and self.progress.place:
            self.end()
        else:
            self.focus_bar()

    @on(Opening.Refused)
    def _session_refused(self, message: Opening.Refused) -> None:
        self.fail(f"the tour cannot begin. {message.error}")

    @on(Sends.Reported)
    def _session_reported(self, message: Sends.Reported) -> None:
        if isinstance(message.event, SendFailed):
            self._error = message.event.error

    @on(Sends.Ended)
    def _send_ended(self, message: Sends.Ended) -> None:
        self._error = message.error or self._error

    @on(Sends.PromptFreed)
    def take_answer(self) -> None:
        """Show the result of the question, if a step sent it."""
        step = script.steps()[max(0, self.progress.place - 1)]
        is_step = self.progress.is_on_way and self.progress.place and not self.is_over
        if not is_step or step.opens:
            return
        previews, session = self.chat.previews, self.chat.session
        reply = session.memory.turns[-1] if session is not None else None
        is_answered = reply is not None and reply.role is Role.ASSISTANT
        window, turn = previews.sent, previews.sent_for
        if isinstance(self._error, WindowOverflow):
            self._arrive(f"nothing was sent. {self._error}")
        elif self._error is not None or window is None or turn is None or not is_answered:
            self.fail(f"there was no reply. {self._error or ''}".strip())
        else:
            asked = self.asked[self.progress.place] = script.Asked(turn, window, reply)
            self._show_answer(step, asked)

    def fail(self, words: str) -> None:
        """Say why a step failed; the key repeats it, and a recording ends."""
        self._reads.stop()
        self._show(Progress(max(0, self.progress.place - 1), words))
        if self.pace is not None:
            self.exit(return_code=1, message=words)

    def end(self) -> None:
        """Leave an ordinary chat; what the last step opened stays open."""
        self._looks.stop()
        if self.is_over:
            return
        self.is_over = True
        self._dressed.clear()
        self._reads.stop()
        for screen in self.screen_stack:
            screen.remove_class(ON_TOUR)
            screen.query(TourBar).remove()
        self.chat.models.is_quiet = False
        if self.chat.session is not None:
            self.chat.models.show_answerer(self.chat.session)
        self.chat.surfaces.prompt.focus()

    @on(Prompt.Submitted)
    def focus_bar(self) -> None:
        """Take the focus off the prompt, so that the tour gets the keys."""
        if not self.is_over:
            for bar in self.chat.query(TourBar):
                bar.focus()

    def dress(self, screen: Screen[Any]) -> None:
        """Put the bar on a screen that a step opened, unless it has been closed."""

        def mount() -> None:
            if screen in self._dressed:
                screen.mount(self._make_bar())

        self._dressed.append(screen)
        screen.add_class(ON_TOUR)
        screen.call_after_refresh(mount)

    def _make_bar(self) -> TourBar:
        return TourBar(self.progress, has_keys=self.pace is None)

    async def _do(self, place: int) -> None:
        """Run a step, counted from 1, or show its result again."""
        session = self.chat.session
        if session is None:
            return
        self._looks.stop()
        self._reads.stop()
        await self._close_screens()
        self._show(Progress(place, "…", is_on_way=True))
        try:
            step = script.steps()[place - 1]
            if step.opens == "what_if":
                await self._compare()
            elif step.opens:
                await self._measure()
            else:
                await self._ask(session, step, place)
        except JitchatError as error:
            notify_error(self.chat, error)

    async def _ask(self, session: Session, step: script.Step, place: int) -> None:
        """Ask the question: the first time as a new message, then as an alternative reply."""
        chat, prompt = self.chat, self.chat.surfaces.prompt
        chat.choices.use_mode(step.mode.value)
        if place in self.asked:
            await self._show_again(session, step, self.asked[place])
            return
        self._error = None
        if step.mode.distils:
            await self._distil(session)
        if prompt.draft == self.needle.question:  # of a step that failed
            prompt.take_draft()
        first = next(iter(self.asked.values()), None)
        if first is None:
            chat.post_message(Prompt.Submitted(Draft.by_user(self.needle.question)))
        else:
            again = SendAgain(first.turn, step.mode, Once(again=first.turn, may_ask=step.may_ask))
            await chat.views.follow(session, again)

    async def _distil(self, session: Session) -> None:
        """Distil everything, also for the modes that are compared later."""
        limit = session.options.budget.limit
        for mode in Mode:
            await distil(session.memory, mode, session.counter, limit)

    async def _show_again(self, session: Session, step: script.Step, asked: script.Asked) -> None:
        """Show what a step sent and received."""
        chat = self.chat
        if asked.reply is not None:
            await asyncio.to_thread(session.memory.switch_to, asked.reply.position)
            await chat.branches.show_branch(session, asked.reply.position)
        await chat.meter.show_sent(session, asked.turn, asked.reply)
        self._show_answer(step, asked)

    def _show_answer(self, step: script.Step, asked: script.Asked) -> None:
        self.chat.surfaces.inspector.point_at(self.needle.turn)
        self._arrive(step.says(asked, self.needle))

    async def _compare(self) -> None:
        await self.chat.action_do("what_if")
        self._arrive(script.describe_comparison(None, self.needle))
        view = self.screen
        if isinstance(view, WhatIfView):
            self.dress(view)
            view.call_after_refresh(self._follow_plans, view)

    def _follow_plans(self, view: WhatIfView) -> None:
        def planned(comparison: Windows | None) -> None:
            if comparison is not None and view in self._dressed:
                self._arrive(script.describe_comparison(comparison, self.needle))

        for sides in view.query(Sides):  # none, where it is closed again by now
            view.watch(sides, "comparison", planned)

    async def _measure(self) -> None:
        await self.chat.run_action(_LAB)
        if self.screen is self.chat:
            self._arrive(_NO_LAB)
            return
        self._arrive(script.describe_rot(None, is_running=False))
        self._looks.set(self.chat.set_interval(LOOK_EVERY, self._look))

    def _look(self) -> None:
        """Show the run's progress; the bar comes with the screen that has one."""
        from jitchat.tui.lab.run import RunScreen  # noqa: PLC0415  the lab loads it

        screen = run = self.screen
        if not isinstance(run, RunScreen):
            return
        if screen not in self._dressed:
            self.dress(screen)
        if run.progress.is_running:
            self._say(script.describe_rot(run.state.tallies, is_running=True))
        else:
            self._looks.stop()
            self._arrive(script.describe_rot(run.state.tallies, is_running=False))

    async def _close_screens(self) -> None:
        self._dressed.clear()
        while self.screen is not self.chat:
            await self.pop_screen()

    async def _go_on(self) -> None:
        """Run the next step; after the last one, the live demo if the local model is available."""
        if self.progress.place < len(script.steps()):
            await self._do(self.progress.place + 1)
        elif await asyncio.to_thread(self._can_be_live):
            await self._close_screens()
            self.end()
            from jitchat.lab.live import Setup  # noqa: PLC0415  loads the lab
            from jitchat.tui.lab.live import LiveScreen  # noqa: PLC0415  likewise

            live = LiveScreen(self._backend, self.pace, Setup(LAST_LENGTH), count=1)
            self.push_screen(live, self._live_left)
        elif self.pace is not None:
            self.exit(return_code=0)
        else:
            self.end()

    def _can_be_live(self) -> bool:
        try:
            self._backend.live_service()
        except JitchatError:
            return False
        return True

    def _live_left(self, _: bool | None) -> None:
        if self.pace is not None:
            self.exit(return_code=0)

    def _arrive(self, words: str) -> None:
        """Show the step's text; a recording goes on after the reading time."""
        self._say(words)
        if self.pace is not None:
            seconds = script.reading_seconds(self.progress.text, self.pace)
            self._reads.set(self.chat.set_timer(seconds, self._go_on))

    def _say(self, words: str) -> None:
        self._reads.stop()
        self._show(Progress(self.progress.place, words))

    def _show(self, progress: Progress) -> None:
        self.progress = progress
        for screen in self.screen_stack:
            for bar in screen.query(TourBar):
                bar.show(progress)
