"""What can be done with a turn: answer it again, edit it, go on with it, look at its versions.

Nothing is overwritten: each makes a branch of the conversation, or goes to one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on

from jitchat.store.path import parent_of
from jitchat.tui.figures import ledger_note
from jitchat.tui.notices import reports_errors
from jitchat.tui.screens.helped import HelpedScreen
from jitchat.tui.send_figures import note_sentence
from jitchat.tui.turn_details import NOTHING, TurnDetails, is_cut
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import Conversation, Mode, Role, Status, Turn
from jitchat.window.steering import NO_MORE, Once

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

GO_ON = "Go on exactly where you stopped; repeat nothing."
"""What is sent, in view, to have a reply continued that was cut."""


class ForkedScreen(HelpedScreen):
    """A conversation with branches."""

    def __init__(self, backend: Backend, conversation: Conversation) -> None:
        super().__init__(backend, conversation)
        self._unsent = self._edited = ""
        """What stood in the prompt before a turn was edited there, and that turn's text."""

    def to_keep(self) -> str:
        """With an edit, as far as it is one, what stood there before."""
        typed = super().to_keep()
        if self.once.after is None:
            return typed
        return "\n".join(filter(None, (self._unsent, "" if typed == self._edited else typed)))

    def start(
        self, session: Session, draft: str, once: Once = NO_MORE, mode: Mode | None = None
    ) -> None:
        """Send; in another mode than the screen's where one is given."""
        raise NotImplementedError

    async def leave(self) -> None:
        """An edit is of the conversation that is left."""
        if self.once.after is not None:
            self.leave_edit()
        await super().leave()

    @reports_errors
    async def action_regenerate(self) -> None:
        """Answer the chosen turn's question once more, or the last one."""
        session = self.session
        if session is None or self.waits():
            return
        said = self._asked(session)
        if said is None:
            self.notify("Nothing has been asked yet.", markup=False)
        elif said.status is Status.UNANSWERED and said == session.memory.turns[-1]:
            self._set_edit_aside()
            if self.draft == said.content:
                self.query_one(Prompt).take_draft()
            self.start(session, said.content)
        else:
            self._set_edit_aside()
            await self.show_up_to(session, said.position)
            self.start(session, said.content, Once(again=said))

    def costs(self, name: str) -> str:
        """What is to be asked before `regenerate` or `go_on` sends; empty where it does not."""
        if self.session is None:
            return ""
        if name == "regenerate":
            said = self._asked(self.session)
            return f"Answer #{said.position} once more?" if said is not None else ""
        reply = self._chosen(self.session, lambda turn: turn.role is Role.ASSISTANT)
        return f"Continue #{reply.position}?" if reply is not None else ""

    def action_edit(self) -> None:
        """Put the chosen message into the prompt, or the last one; Enter sends it as a fork."""
        session = self.session
        if session is None or self.waits():
            return
        said = self._chosen(session, lambda turn: turn.role is Role.USER)
        if said is None:
            self.notify("You have said nothing yet.", markup=False)
            return
        if self.once.after is None:
            self._unsent = self.query_one(Prompt).draft
        self.query_one(Prompt).swap(said.content)
        self._edited = said.content
        self.query_one(Prompt).focus()
        self.once = replace(self.once, after=parent_of(said))
        self.query_one(HintLine).show_edit(said.position)
        self.plan_now(afresh=True)

    def leave_edit(self) -> int | None:
        """Edit no more, with the prompt as it was before; what the edited turn follows, if any."""
        after, self.once = self.once.after, replace(self.once, after=None)
        if after is not None:
            self.query_one(HintLine).show_edit(None)
            if self.query_one(Prompt).draft != self._unsent:
                self.query_one(Prompt).swap(self._unsent)
            self._unsent = ""
        return after

    def empty_prompt(self) -> str:
        """Take away what is typed, if the cursor is there, and end an edit; what to say of that."""
        prompt, before = self.query_one(Prompt), self._unsent
        is_edit = prompt.has_focus and self.once.after is not None
        is_emptied = prompt.empty()
        if is_edit:
            self.leave_edit()
            self.plan_now(afresh=True)
        if is_edit and before:
            return "Nothing is edited any more. What stood here before is back."
        return "Prompt cleared. Ctrl+Z restores it." if is_emptied or is_edit else ""

    def _set_edit_aside(self) -> None:
        """Edit no more, for something else is sent; what was typed stays in the prompt."""
        kept = self.to_keep()
        if self.leave_edit() is not None:
            self.query_one(Prompt).swap(kept)

    @reports_errors
    async def action_go_on(self) -> None:
        """Have a reply continued that was cut, by a message like any other."""
        session = self.session
        if session is None or self.waits():
            return
        reply = self._chosen(session, lambda turn: turn.role is Role.ASSISTANT)
        if reply is None or not await self._was_cut(reply):
            self.notify("This reply was not cut: there is nothing to go on with.", markup=False)
            return
        self._set_edit_aside()
        is_last = session.memory.turns[-1].position == reply.position
        if not is_last:
            await self.show_up_to(session, reply.position)
        self.start(session, GO_ON, Once(after=None if is_last else reply.position))

    async def _was_cut(self, reply: Turn) -> bool:
        details = await TurnDetails(self.backend.store, self.conversation.id).of([reply])
        return is_cut(reply, details.get(reply.position, NOTHING))

    def action_other_version(self, step: int = 1, position: int | None = None) -> None:
        """Go to another turn that stands in the place of the chosen one, and on with its branch."""
        # A click is handled by the header that is taken away, which would wait for itself.
        self.call_later(self._go_to_version, step, position)

    @reports_errors
    async def _go_to_version(self, step: int, position: int | None) -> None:
        session = self.session
        if session is None or self.waits():
            return
        versions = await asyncio.to_thread(session.memory.branches)
        if position is None:
            chosen = self._chosen(session, lambda turn: turn.position in versions)
            position = chosen.position if chosen is not None else 0
        if position not in versions:
            self.notify("There is one version of each turn: R and E make others.", markup=False)
            return
        beside = versions[position]
        other = beside[(beside.index(position) + step) % len(beside)]
        await asyncio.to_thread(session.memory.switch_to, other)
        await self.show_branch(session, other)

    async def show_branch(self, session: Session, position: int) -> None:
        """Show the conversation as it now is, with one of its turns in view."""
        transcript, turns = self.query_one(Transcript), session.memory.turns
        is_last = bool(turns) and turns[-1].position == position
        await transcript.show(turns, None if is_last else position)
        transcript.point_at(position)
        self.index_missing()
        self.plan_now(afresh=True)
        self.show_size(len(turns))

    def action_reasoning(self) -> None:
        """Fold or unfold what a model thought."""
        if not self.query_one(Transcript).toggle_reasoning():
            self.notify("No reasoning came with this reply.", markup=False)

    def waits(self) -> bool:
        """Whether a reply is under way; says so, for nothing is sent or left meanwhile."""
        if self.busy:
            self.notify("A reply is on its way. Esc stops it.", markup=False)
        return self.busy

    def _chosen(self, session: Session, fits: Callable[[Turn], bool]) -> Turn | None:
        """The turn under the cursor, if it fits; else the last one that does."""
        chosen = self.query_one(Transcript).chosen
        if chosen is not None and fits(chosen):
            return chosen
        return next((turn for turn in reversed(session.memory.turns) if fits(turn)), None)

    def _asked(self, session: Session) -> Turn | None:
        """What the user said ahead of the chosen reply."""
        chosen = self.query_one(Transcript).chosen
        ahead = reversed(session.memory.turns)
        return next(
            (
                turn
                for turn in ahead
                if turn.role is Role.USER and (chosen is None or turn.position <= chosen.position)
            ),
            None,
        )

    async def show_up_to(self, session: Session, position: int) -> None:
        """Show the conversation as it is where a branch begins."""
        kept = [turn for turn in session.memory.turns if turn.position <= position]
        await self.query_one(Transcript).show(kept)

    @on(Transcript.Opened)
    def _turn_opened(self, message: Transcript.Opened) -> None:
        turn, detail = message.turn, message.detail
        text = turn.content or detail.reasoning
        self.show_exact(f"#{turn.position} {turn.speaker}", text, note_sentence(detail.note))

    @on(Inspector.RowOpened)
    def _row_opened(self, message: Inspector.RowOpened) -> None:
        self.show_exact(message.title, message.text, message.note)

    @on(Inspector.LeftOutOpened)
    def _left_out_opened(self, message: Inspector.LeftOutOpened) -> None:
        row = message.row
        turn = self.session.memory.turn_at(row.turn) if self.session is not None else None
        text = turn.content if turn is not None else ""
        self.show_exact(f"left out #{row.turn}", text, ledger_note(row))

    def show_exact(self, title: str, text: str, note: str) -> None:
        """Open a text to read and copy."""
        from jitchat.tui.dialogs.exact import ExactScreen  # noqa: PLC0415  not on the first frame

        self.app.push_screen(ExactScreen(title, text, note))
