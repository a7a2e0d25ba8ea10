"""What can be done with a turn: answer it again, edit it, continue it, go to its other versions.

Nothing is overwritten: each makes a branch of the conversation, or goes to one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jitchat.store.path import parent_of
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Indexing, Opening
from jitchat.tui.chat.previews import Previews
from jitchat.tui.chat.sends import Sends
from jitchat.tui.chat.steering import Steering
from jitchat.tui.widgets.turn_view import NOTHING, TurnDetails, is_cut
from jitchat.values import Role, Status, Turn
from jitchat.window.steering import Once

if TYPE_CHECKING:
    from jitchat.session import Session

GO_ON = "Go on exactly where you stopped; repeat nothing."
"""What is sent, in view, to have a reply continued that was cut."""


@dataclass(eq=False)
class Branches(Controller):
    """Makes branches of the conversation on screen, and goes from one to another."""

    opening: Opening
    steering: Steering
    previews: Previews
    indexing: Indexing
    sends: Sends

    _unsent: str = ""
    """What stood in the prompt before a turn was edited there."""
    _edited: str = ""
    """The text of the turn that is edited."""

    @property
    def is_editing(self) -> bool:
        """Whether the prompt holds a turn to be sent again, as a fork."""
        return self.steering.once.after is not None

    def typed(self) -> str:
        """Read what was typed and not sent; of an edit only what differs from the turn."""
        prompt = self.surfaces.prompt
        typed = "\n".join(filter(None, (*prompt.submitted, prompt.draft)))
        if not self.is_editing:
            return typed
        return "\n".join(filter(None, (self._unsent, "" if typed == self._edited else typed)))

    async def regenerate(self, session: Session) -> None:
        """Answer the chosen turn's question once more, or the last one."""
        asked = self.question(session)
        if asked is None:
            self.host.say("Nothing has been asked yet.")
            return
        self._set_edit_aside()
        if asked.status is Status.UNANSWERED and asked == session.memory.turns[-1]:
            if self.steering.next_message.text == asked.content:
                self.surfaces.prompt.take_draft()
            self.sends.start(session, asked.content)
        else:
            await self.show_up_to(session, asked.position)
            self.sends.start(session, asked.content, Once(again=asked))

    async def go_on(self, session: Session) -> None:
        """Have a reply continued that was cut, by a message like any other."""
        reply = self._chosen(session, lambda turn: turn.role is Role.ASSISTANT)
        looked_up = TurnDetails(self.backend.store, self.opening.conversation.id)
        details = await looked_up.of([reply]) if reply is not None else {}
        if reply is None or not is_cut(reply, details.get(reply.position, NOTHING)):
            self.host.say("This reply was not cut: there is nothing to go on with.")
            return
        self._set_edit_aside()
        is_last = session.memory.turns[-1].position == reply.position
        if not is_last:
            await self.show_up_to(session, reply.position)
        self.sends.start(session, GO_ON, Once(after=None if is_last else reply.position))

    def confirmation(self, session: Session, action: str) -> str:
        """Word the question ahead of `regenerate` or `go_on`; empty where neither would send."""
        if action == "regenerate":
            asked = self.question(session)
            return f"Answer #{asked.position} once more?" if asked is not None else ""
        reply = self._chosen(session, lambda turn: turn.role is Role.ASSISTANT)
        return f"Continue #{reply.position}?" if reply is not None else ""

    def edit(self, session: Session) -> None:
        """Put the chosen message into the prompt, or the last one; Enter sends it as a fork."""
        message = self._chosen(session, lambda turn: turn.role is Role.USER)
        if message is None:
            self.host.say("You have said nothing yet.")
            return
        prompt = self.surfaces.prompt
        if not self.is_editing:
            self._unsent = prompt.draft
        prompt.swap(message.content)
        self._edited = message.content
        prompt.focus()
        self.steering.once = replace(self.steering.once, after=parent_of(message))
        self.surfaces.hint.show_edit(message.position)
        self.previews.plan(afresh=True)

    def leave_edit(self) -> int | None:
        """Edit no more, with the prompt as it was before; the position that the turn follows."""
        after = self.steering.once.after
        if after is not None:
            self.steering.once = replace(self.steering.once, after=None)
            self.surfaces.hint.show_edit(None)
            if self.surfaces.prompt.draft != self._unsent:
                self.surfaces.prompt.swap(self._unsent)
            self._unsent = ""
        return after

    def empty_prompt(self) -> str:
        """Take away what is typed, if the cursor is there, and end an edit; what to say of that."""
        prompt, before = self.surfaces.prompt, self._unsent
        is_edit = prompt.has_focus and self.is_editing
        is_emptied = prompt.empty()
        if is_edit:
            self.leave_edit()
            self.previews.plan(afresh=True)
        if is_edit and before:
            return "Nothing is edited any more. What stood here before is back."
        return "Prompt cleared. Ctrl+_ restores it." if is_emptied or is_edit else ""

    def go_to_other(self, session: Session, step: int = 1, position: int | None = None) -> None:
        # A click is handled by the header that is taken away, which would wait for itself.
        self.host.later(self.go_to_version, session, step, position)

    async def go_to_version(self, session: Session, step: int, position: int | None) -> None:
        """Go to the turn that is `step` versions from the chosen one, and on with its branch."""
        versions = await asyncio.to_thread(
            session.memory.store.branches, session.memory.conversation.id
        )
        if position is None:
            chosen = self._chosen(session, lambda turn: turn.position in versions)
            position = chosen.position if chosen is not None else 0
        if position not in versions:
            self.host.say("There is one version of each turn: /retry and /edit make others.")
            return
        beside = versions[position]
        other = beside[(beside.index(position) + step) % len(beside)]
        await asyncio.to_thread(session.memory.switch_to, other)
        await self.show_branch(session, other)

    async def go_to(self, session: Session, position: int) -> None:
        """Put the cursor on a turn; one of another branch takes the conversation there."""
        transcript = self.surfaces.transcript
        if session.memory.turn_at(position) is None:
            await asyncio.to_thread(session.memory.switch_to, position)
            await self.show_branch(session, position)
        else:
            await transcript.show(session.memory.turns, position)
        transcript.screen.set_focus(transcript)
        # The focus puts the cursor where the user looks, which is before this.
        transcript.call_later(transcript.point_at, position)

    async def show_branch(self, session: Session, position: int) -> None:
        """Show the conversation as it now is, with one of its turns in view."""
        transcript, turns = self.surfaces.transcript, session.memory.turns
        is_last = bool(turns) and turns[-1].position == position
        await transcript.show(turns, None if is_last else position)
        transcript.point_at(position)
        self.indexing.catch_up()
        self.previews.plan(afresh=True)
        self.opening.know(replace(self.opening.conversation, turns=len(turns)))

    async def show_up_to(self, session: Session, position: int) -> None:
        kept = [turn for turn in session.memory.turns if turn.position <= position]
        await self.surfaces.transcript.show(kept)

    def question(self, session: Session) -> Turn | None:
        """Find the user's turn ahead of the chosen reply, or the last one."""
        chosen = self.surfaces.transcript.chosen
        for turn in reversed(session.memory.turns):
            if turn.role is Role.USER and (chosen is None or turn.position <= chosen.position):
                return turn
        return None

    def _chosen(self, session: Session, fits: Callable[[Turn], bool]) -> Turn | None:
        """Find the turn under the cursor, if it fits; else the last one that does."""
        chosen = self.surfaces.transcript.chosen
        if chosen is not None and fits(chosen):
            return chosen
        return next((turn for turn in reversed(session.memory.turns) if fits(turn)), None)

    def _set_edit_aside(self) -> None:
        """Edit no more, for something else is sent; what was typed stays in the prompt."""
        kept = self.typed()
        if self.leave_edit() is not None:
            self.surfaces.prompt.swap(kept)
