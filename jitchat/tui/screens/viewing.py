"""The views of a window: opened on what the screen shows, and followed when they are left."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work
from textual.timer import Timer

from jitchat.tui.commands import addressed_in
from jitchat.tui.messages import SessionReady, ViewsLoaded
from jitchat.tui.screens.metered import last_sent
from jitchat.tui.screens.steered import SteeredScreen
from jitchat.tui.telling import telling
from jitchat.tui.views.view import Another, Branched, GoTo, Outcome, Planned, SendAgain, Subject
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import Conversation, Mode, Role
from jitchat.window.steering import NO_MORE, Once

if TYPE_CHECKING:
    from jitchat.lab.experiment import RunWanted
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

PREPARE_AFTER, PREPARE_EVERY = 1.0, 0.1
"""Seconds from an open conversation to the loading of views, and between two steps of it."""


class ViewingScreen(SteeredScreen):
    """A chat that can be looked into."""

    def __init__(self, backend: Backend, conversation: Conversation) -> None:
        super().__init__(backend, conversation)
        self._prepares: Timer | None = None

    @on(SessionReady)
    def _prepare_views(self) -> None:
        """Load them while nothing else happens, so that the first one opens as quickly."""
        if self._prepares is None:
            self._prepares = self.set_timer(PREPARE_AFTER, self._load_views)

    @work(thread=True, group="views")
    def _load_views(self) -> None:
        from jitchat.tui.views.registry import load_views  # noqa: PLC0415  not on the first frame

        self.post_message(ViewsLoaded(load_views()))

    @on(ViewsLoaded)
    def _views_loaded(self, message: ViewsLoaded) -> None:
        self._take_styles(message.styles)

    def _take_styles(self, files: list[Path]) -> None:
        """One after another, for each takes some milliseconds; what is on screen has none of it."""
        sheet = self.app.stylesheet
        if not sheet.has_source(str(files[0])):
            sheet.read(files[0])
            sheet.parse()
        if files[1:]:
            self.set_timer(PREPARE_EVERY, partial(self._take_styles, files[1:]))

    def action_view(self, name: str) -> None:
        """Open a view; nothing is sent or changed by that."""
        self.look(name)

    def look(self, name: str, text: str = "", turn: str = "") -> None:
        """Open a view on a text, else on what the screen shows, else on what was sent last.

        The ledger answers for `turn`.
        """
        session = self.session
        if session is None:
            self.notify("The conversation is still being opened.", markup=False)
        elif name == "ask_all" and self.waits():
            return
        elif text:
            self._open_view(name, self._subject_of(session, text), turn)
        elif self._is_about_last():
            self.call_later(self._look_at_last, session, name, turn)
        else:
            self._open_view(name, self._subject(session), turn)

    def _is_about_last(self) -> bool:
        """Whether nothing is typed, and another window than the sent one was not asked for."""
        shows_next = self.sent is None and not self.wants_next
        return shows_next and self.has_sends and not self.draft.strip() and not self.busy

    @telling
    async def _look_at_last(self, session: Session, name: str, turn: str) -> None:
        last = await asyncio.to_thread(last_sent, session)
        if last is not None and session is self.session:
            await self.show_sent(session, last, None)
        if session is self.session:
            self._open_view(name, self._subject(session), turn)

    def _open_view(self, name: str, subject: Subject, turn: str) -> None:
        from jitchat.tui.views.registry import make_view  # noqa: PLC0415  not on the first frame

        view = make_view(name, subject)
        self.app.push_screen(view, self._viewed)
        if turn:
            from jitchat.tui.views.ledger import LedgerView  # noqa: PLC0415  see above

            if isinstance(view, LedgerView):
                view.call_after_refresh(view.ask_about, f"#{turn}")

    def action_rot(self, preset: str = "") -> None:
        """Open the rot lab; one that is named is begun where the reader answers."""
        from jitchat.lab import experiment  # noqa: PLC0415  see action_view

        if not preset:
            self.open_lab()
        else:
            asked = experiment.preset(preset, is_reader=True)
            self.open_lab(experiment.RunWanted(asked), begins=True)

    def open_lab(self, wanted: RunWanted | None = None, *, begins: bool = False) -> None:
        """Open the rot lab: it has conversations of its own, and leaves this one alone.

        `wanted` is chosen there at first, and with `begins` begun if it costs nothing.
        """
        from jitchat.tui.lab.start import StartScreen  # noqa: PLC0415  see action_view

        titles = {each.id: each.title for each in self.backend.store.conversations()}
        lab = StartScreen(self.backend.lab_service(), wanted, begins=begins, titles=titles)
        self.app.push_screen(lab)

    def _subject_of(self, session: Session, text: str) -> Subject:
        """A text, as if it was what stands in the prompt."""
        addressed = addressed_in(text)
        return Subject(
            backend=self.backend,
            session=session,
            draft=addressed.text,
            mode=addressed.mode or self.next_mode,
            is_busy=lambda: self.busy,
            made=self._made,
        )

    def _subject(self, session: Session) -> Subject:
        """While the surfaces wait for another window, theirs is not the one that is asked about."""
        is_sent = self.sent is not None and not self.working
        return Subject(
            backend=self.backend,
            session=session,
            draft=self.draft,
            mode=self.next_mode,
            once=self.once,
            window=None if self.working else self.window,
            sent=self.sent_for if is_sent else None,
            chosen=self.query_one(Transcript).chosen,
            is_busy=lambda: self.busy,
            made=self._made,
        )

    @telling
    async def _viewed(self, outcome: Outcome | None) -> None:
        session = self.session
        if session is None or outcome is None:
            return
        if isinstance(outcome, Another):
            await self._viewed(outcome.planned)
            self.action_view(outcome.view)
        elif isinstance(outcome, Planned):
            self._take_up(outcome.once, outcome.mode)
        elif not self.waits():
            await self._follow(session, outcome)
        await self._viewed(outcome.planned if isinstance(outcome, GoTo) else None)

    async def _follow(self, session: Session, outcome: GoTo | SendAgain | Branched) -> None:
        """Show or send what a view was left for; no reply is on its way."""
        match outcome:
            case GoTo(position):
                await self._go_to(session, position)
            case SendAgain(said, mode, once):
                await asyncio.to_thread(session.memory.switch_to, said.position)
                await self.show_up_to(session, said.position)
                self.start(session, said.content, once, mode)
            case Branched(position, clears_draft):
                if clears_draft:
                    await self._let_draft_go(session, position)
                await self.show_branch(session, position)
                self.sum_up()

    async def _let_draft_go(self, session: Session, position: int) -> None:
        """It is a turn ahead of that position now: the prompt is free for another."""
        if self.leave_edit() is None:
            self.query_one(Prompt).take_draft()
        self.once, self.once_mode = NO_MORE, None
        self.show_mode()
        ahead = (turn for turn in reversed(session.memory.turns) if turn.position < position)
        self._said = next((turn for turn in ahead if turn.role is Role.USER), None)
        await self._free()

    def _take_up(self, once: Once | None, mode: Mode | None) -> None:
        """Plan as a view has it."""
        self.once = once if once is not None else self.once
        if mode is not None:
            self.action_use_mode(mode.value)
        else:
            self.plan_now(afresh=True)

    async def _go_to(self, session: Session, position: int) -> None:
        """Put the cursor on a turn, once the focus has put it where the user looks.

        A turn of another branch takes the conversation there.
        """
        transcript = self.query_one(Transcript)
        if session.memory.turn_at(position) is None:
            await asyncio.to_thread(session.memory.switch_to, position)
            await self.show_branch(session, position)
        else:
            await transcript.show(session.memory.turns, position)
        self.set_focus(transcript)
        transcript.call_later(transcript.point_at, position)
