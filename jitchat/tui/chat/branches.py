"""Regenerate, edit or continue a turn, and go to its other versions.

Nothing is overwritten: each action makes a branch of the conversation, or goes to one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jitchat.draft import EMPTY, GO_ON, Draft, joined
from jitchat.store.database import waiting
from jitchat.store.path import parent_of
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Indexing, Opening
from jitchat.tui.chat.previews import Previews
from jitchat.tui.chat.sends import Sends
from jitchat.tui.chat.steering import Steering, with_files
from jitchat.tui.widgets.turn_details import NOTHING, TurnDetails, is_cut
from jitchat.turn_list import up_to
from jitchat.values import Role, Status, Turn
from jitchat.window.exchange import question_at, replies_to
from jitchat.window.steering import NO_MORE, Once

if TYPE_CHECKING:
    from jitchat.session import Session


@dataclass(eq=False)
class Branches(Controller):
    """Makes branches of the conversation on screen, and switches between them."""

    opening: Opening
    steering: Steering
    previews: Previews
    indexing: Indexing
    sends: Sends

    _unsent: Draft = EMPTY
    """The draft that was in the prompt before the edit."""
    _edited: Draft = EMPTY
    """The turn being edited, as it was."""

    @property
    def is_editing(self) -> bool:
        """Whether the prompt holds a turn that will be resent as a fork."""
        return self.steering.once.after is not None

    def typed(self) -> Draft:
        """Return what is unsent: the draft, and an edited turn if it was changed."""
        prompt = self.surfaces.prompt
        typed = joined((*prompt.submitted, prompt.message))
        if not self.is_editing:
            return typed
        is_same = (typed.text, typed.files) == (self._edited.text, self._edited.files)
        return joined((self._unsent, EMPTY if is_same else typed))

    async def regenerate(self, session: Session) -> None:
        """Answer the question of the selected turn again, or the last question."""
        question = self.question(session)
        if question is None:
            self.host.say("There is no reply to regenerate yet.")
            return
        self._set_edit_aside()
        if question.status is Status.UNANSWERED and question == session.memory.turns[-1]:
            draft = await asyncio.to_thread(session.memory.draft_of, question)
            is_back = self.steering.next_message.text == question.content
            if is_back:
                draft = self.surfaces.prompt.take_draft()
            self.sends.start(session, draft, with_files(NO_MORE, draft), is_returned=is_back)
        else:
            reply = next(replies_to(session.memory.turns, question.position), None)
            await self.show_up_to(session, parent_of(reply) if reply else question.position)
            self.sends.start(session, Draft.foreign(question.content), Once(again=question))

    async def go_on(self, session: Session) -> None:
        """Continue a reply that was cut off, by sending an ordinary message."""
        reply = self._chosen(session, lambda turn: turn.role is Role.ASSISTANT)
        looked_up = TurnDetails(self.backend.store, self.opening.conversation.id)
        details = await looked_up.of([reply]) if reply is not None else {}
        if reply is None or not is_cut(reply, details.get(reply.position, NOTHING)):
            self.host.say("The reply is complete; there is nothing to continue.")
            return
        self._set_edit_aside()
        is_last = session.memory.turns[-1].position == reply.position
        if not is_last:
            await self.show_up_to(session, reply.position)
        once = Once(after=None if is_last else reply.position)
        self.sends.start(session, Draft.foreign(GO_ON), once, is_returned=False)

    def confirmation(self, session: Session, action: str) -> str:
        """Return the confirmation for `regenerate` or `go_on`; empty if nothing would be sent."""
        if action == "regenerate":
            question = self.question(session)
            return f"Answer #{question.position} again?" if question is not None else ""
        reply = self._chosen(session, lambda turn: turn.role is Role.ASSISTANT)
        return f"Continue #{reply.position}?" if reply is not None else ""

    async def edit(self, session: Session) -> None:
        """Put the selected or last message into the prompt; Enter sends it as a fork."""
        message = self._chosen(session, lambda turn: turn.role is Role.USER)
        if message is None:
            self.host.say("There is no message to edit yet.")
            return
        prompt = self.surfaces.prompt
        edited = await asyncio.to_thread(session.memory.draft_of, message)
        if not self.is_editing:
            self._unsent = prompt.message
        prompt.swap(edited)
        self._edited = prompt.message
        prompt.focus()
        self.steering.once = replace(self.steering.once, after=parent_of(message))
        self.surfaces.hint.show_edit(message.position)
        self.previews.plan(afresh=True)

    def leave_edit(self) -> int | None:
        """End an edit and restore the prompt.

        Returns the position that the edited turn follows; None if no turn was edited.
        """
        after = self.steering.once.after
        if after is not None:
            self.steering.once = replace(self.steering.once, after=None)
            self.surfaces.hint.show_edit(None)
            if self.surfaces.prompt.message != self._unsent:
                self.surfaces.prompt.swap(self._unsent)
            self._unsent = EMPTY
        return after

    def empty_prompt(self) -> str:
        """Clear the prompt if it has the focus, and end an edit.

        Returns a notice; empty if there was nothing to clear.
        """
        prompt, before = self.surfaces.prompt, self._unsent
        is_edit = prompt.has_focus and self.is_editing
        is_emptied = prompt.empty()
        if is_edit:
            self.leave_edit()
            self.previews.plan(afresh=True)
        if is_edit and before:
            return "Edit cancelled. Your draft is back."
        return "Prompt cleared. Ctrl+_ restores it." if is_emptied or is_edit else ""

    def go_to_other(self, session: Session, step: int = 1, position: int | None = None) -> None:
        # Not awaited: the click is handled by a header that this removes, which would deadlock.
        self.host.later(self.go_to_version, session, step, position)

    async def go_to_version(self, session: Session, step: int, position: int | None) -> None:
        """Switch to the branch of the version `step` places after the selected turn's."""
        versions = await asyncio.to_thread(
            session.memory.store.branches, session.memory.conversation.id
        )
        if position is None:
            chosen = self._chosen(session, lambda turn: turn.position in versions)
            position = chosen.position if chosen is not None else 0
        if position not in versions:
            self.host.say("No turn has other versions yet: /retry and /edit make them.")
            return
        alternatives = versions[position]
        other = alternatives[(alternatives.index(position) + step) % len(alternatives)]
        await asyncio.to_thread(session.memory.switch_to, other)
        await self.show_branch(session, other)

    async def go_to(self, session: Session, position: int) -> None:
        """Put the cursor on a turn, switching to its branch if necessary."""
        transcript = self.surfaces.transcript
        if position not in session.memory.snapshot.path:
            await asyncio.to_thread(session.memory.switch_to, position)
            await self.show_branch(session, position)
        else:
            await transcript.show(session.memory.turns, position)
        transcript.screen.set_focus(transcript)
        # Later, because focusing the transcript moves the cursor to a turn in view.
        transcript.call_later(transcript.point_at, position)

    async def show_branch(self, session: Session, position: int) -> None:
        """Show the current branch, with one of its turns in view."""
        transcript, turns = self.surfaces.transcript, session.memory.turns
        is_last = bool(turns) and turns[-1].position == position
        await transcript.show(turns, None if is_last else position)
        transcript.point_at(position)
        self.indexing.catch_up()
        self.previews.plan(afresh=True)
        await self.opening.know(replace(self.opening.conversation, turns=len(turns)))

    async def show_up_to(self, session: Session, position: int) -> None:
        turns = session.memory.turns
        await self.surfaces.transcript.show(turns[: up_to(turns, position)])

    def question(self, session: Session) -> Turn | None:
        """Return the message that the selected turn, or else the last, is or answers; or None."""
        chosen = self.surfaces.transcript.chosen
        turns = session.memory.turns
        with waiting():
            end = len(turns) if chosen is None else up_to(turns, chosen.position)
            return question_at(turns, end - 1) if end else None

    def _chosen(self, session: Session, fits: Callable[[Turn], bool]) -> Turn | None:
        """Return the turn under the cursor if it fits, else the last turn that does."""
        chosen = self.surfaces.transcript.chosen
        if chosen is not None and fits(chosen):
            return chosen
        with waiting():
            return next((turn for turn in reversed(session.memory.turns) if fits(turn)), None)

    def _set_edit_aside(self) -> None:
        """End the edit because something else is sent; the typed text stays in the prompt."""
        kept = self.typed()
        if self.leave_edit() is not None:
            self.surfaces.prompt.swap(kept)
