"""Open the views of a window, and act on their outcomes when they are closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.timer import Timer

from jitchat.statements import Source
from jitchat.tui.chat.branches import Branches
from jitchat.tui.chat.commands import addressed_in, turn_ahead
from jitchat.tui.chat.conversations import Conversations
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening
from jitchat.tui.chat.previews import Meter, Previews
from jitchat.tui.chat.sends import Sends
from jitchat.tui.chat.steering import Steering, with_files
from jitchat.tui.views import view
from jitchat.values import Role
from jitchat.window.steering import NO_MORE

if TYPE_CHECKING:
    from jitchat.lab.experiment import RunWanted
    from jitchat.session import Session

PREPARE_AFTER, PREPARE_EVERY = 1.0, 0.1
"""Seconds from opening a conversation to loading the views, and between two steps of loading."""


@dataclass(eq=False)
class Views(Controller):
    """Opens views, and acts on their outcomes in the chat."""

    opening: Opening
    steering: Steering
    previews: Previews
    meter: Meter
    sends: Sends
    branches: Branches
    conversations: Conversations
    use_size: Callable[[str], None]
    """Sets the size of the conversation's windows."""

    _loads: Timer | None = None

    def load_soon(self) -> None:
        """Load all views while the app is idle, so that the first one opens quickly."""
        if self._loads is None:
            self._loads = self.host.after(PREPARE_AFTER, lambda: self.host.run(self.load, "views"))

    async def load(self) -> None:
        """Parse the views' style sheets one after another, because each takes some milliseconds.

        No widget on screen uses them.
        """
        sheet = self.surfaces.prompt.app.stylesheet
        for file in await asyncio.to_thread(view.load_views):
            if not sheet.has_source(str(file)):
                sheet.read(file)
                sheet.parse()
            await asyncio.sleep(PREPARE_EVERY)

    def open(self, session: Session, name: str, text: str = "", turn: str = "") -> None:
        """Open a view on a text or else on the draft; if both are empty, on the last sent window.

        The ledger explains `turn`. Opening a view sends and changes nothing.
        """
        if name == "ask_all" and self.sends.waits():
            return
        if not text and self._is_about_last():
            self.host.later(self._open_on_last, session, name, turn)
        else:
            self._push(session, name, text, turn)

    def explain(self, session: Session, typed: str = "") -> None:
        """Open the ledger at a turn: `12`, or `12` followed by the message to explain it for."""
        turn, text = turn_ahead(typed)
        self.open(session, "ledger", text, turn)

    async def switch_window(self, session: Session) -> None:
        """Switch between the last sent window and the next one; the draft is kept."""
        if self.previews.sent is not None:
            self.previews.switch_to_next()
        elif not await self.meter.show_last_sent(session):
            self.host.say("Nothing has been sent yet.")

    async def show_sent(self, session: Session) -> None:
        """Show the window sent for the selected turn, and the usage reported for it."""
        question, chosen = self.branches.question(session), self.surfaces.transcript.chosen
        if question is None or not await self.meter.show_sent(session, question, chosen):
            self.host.say("No window was sent for this turn.")

    async def open_preset(self, preset: str = "") -> None:
        """Open the rot lab; a named preset is started if it costs nothing."""
        from jitchat.lab import experiment  # noqa: PLC0415  not on the first frame

        if not preset:
            await self.open_lab()
        else:
            answers = self.opening.session.provider.name if self.opening.session else "reader"
            wanted = experiment.RunWanted(experiment.preset(preset, answers))
            await self.open_lab(wanted, begins=True)

    async def open_lab(self, wanted: RunWanted | None = None, *, begins: bool = False) -> None:
        """Open the rot lab, which uses its own conversations and not the one on screen.

        `wanted` is preselected; with `begins`, it is also started if it costs nothing.
        """
        from jitchat.tui.lab.start import StartScreen  # noqa: PLC0415  not on the first frame

        listed = await asyncio.to_thread(self.backend.store.conversations)
        titles = {each.id: each.title for each in listed}
        lab = StartScreen(self.backend.lab_service(), wanted, begins=begins, titles=titles)
        self.host.push(lab)

    async def _take_outcome(self, outcome: view.Outcome) -> None:
        session = self.opening.session
        if isinstance(outcome, Source):
            await self.conversations.go_to_source(outcome)
        elif session is not None:
            await self.follow(session, outcome)

    async def follow(self, session: Session, outcome: view.Here) -> None:
        match outcome:
            case view.Another(name, planned):
                if planned is not None:
                    self._plan(planned)
                self.open(session, name)
            case view.Planned():
                self._plan(outcome)
            case _ if not self.sends.waits():
                await self._act(session, outcome)
        if isinstance(outcome, view.GoTo) and outcome.planned is not None:
            self._plan(outcome.planned)

    async def _act(
        self, session: Session, outcome: view.GoTo | view.SendAgain | view.Branched
    ) -> None:
        """Show or send, while no reply is in progress."""
        match outcome:
            case view.GoTo(position):
                await self.branches.go_to(session, position)
            case view.SendAgain(turn, mode, once):
                await asyncio.to_thread(session.memory.switch_to, turn.position)
                await self.branches.show_up_to(session, turn.position)
                draft = await asyncio.to_thread(session.memory.draft_of, turn)
                self.sends.start(session, draft, replace(once, files=draft.files), mode)
            case view.Branched(position, clears_draft):
                if clears_draft:
                    await self._clear_draft(session, position)
                await self.branches.show_branch(session, position)
                self.meter.sum_up()

    async def _clear_draft(self, session: Session, position: int) -> None:
        """Clear the prompt after a view stored the draft as a turn before `position`."""
        if self.branches.leave_edit() is None:
            self.surfaces.prompt.take_draft()
        self.steering.reset()
        earlier = (turn for turn in reversed(session.memory.turns) if turn.position < position)
        await self.sends.release(next((turn for turn in earlier if turn.role is Role.USER), None))

    def _plan(self, planned: view.Planned) -> None:
        if planned.once is not None:
            self.steering.once = planned.once
        if planned.size is not None:
            self.use_size(str(planned.size))
        if planned.mode is not None:
            self.steering.use_mode(planned.mode)
            self.previews.plan()
        else:
            self.previews.plan(afresh=True)

    def _push(self, session: Session, name: str, text: str, turn: str) -> None:
        subject = replace(self._subject(session, text), explained=turn)
        self.host.push(view.make_view(name, subject), self.left)

    def left(self, outcome: view.Outcome | None) -> None:
        self.meter.sum_up()  # a view may have asked a model
        if outcome is not None:
            self.host.later(self._take_outcome, outcome)

    def _is_about_last(self) -> bool:
        """Whether a view opens on the last sent window: nothing is typed or otherwise requested."""
        previews = self.previews
        shows_next = previews.sent is None and not previews.wants_next
        is_empty = not self.steering.next_message.text.strip()
        return shows_next and previews.has_sends and is_empty and not self.sends.busy

    async def _open_on_last(self, session: Session, name: str, turn: str) -> None:
        await self.meter.show_last_sent(session)
        if session is self.opening.session:
            self._push(session, name, "", turn)

    def _subject(self, session: Session, text: str) -> view.Subject:
        """Return a text as the view's subject, as if it were the draft; else what is on screen.

        A window that is about to be replaced does not count as on screen.
        """
        previews, message = self.previews, self.steering.next_message
        addressed = addressed_in(text)
        about = view.Subject(
            backend=self.backend,
            session=session,
            draft=addressed.text if text else message.text,
            mode=addressed.mode or message.mode,
            is_busy=lambda: self.sends.busy,
            pins=self.steering.pins,
        )
        if text:
            typed = self.surfaces.prompt.origin_of(addressed.text)
            return replace(about, once=with_files(NO_MORE, typed))
        is_sent = previews.sent is not None and not previews.working
        return replace(
            about,
            once=message.once,
            window=None if previews.working else previews.window,
            sent=previews.sent_for if is_sent else None,
            chosen=self.surfaces.transcript.chosen,
        )
