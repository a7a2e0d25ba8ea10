"""Observing in the chat: what was observed is told, and the user is asked where that is wanted."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.errors import JitchatError
from jitchat.events import MemoryUpdated, ObservationDue
from jitchat.observing import Consent
from jitchat.statements import Source
from jitchat.synthesis.pass_report import PassReport
from jitchat.text.sanitize import one_line
from jitchat.tools.approvals import Answer
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening
from jitchat.tui.chat.previews import Previews

if TYPE_CHECKING:
    from jitchat.session import Session

CHOICES = (Answer.ONCE, Answer.CONVERSATION, Answer.DECLINE)
_SEE = "/observations shows it; U there takes it back."


@dataclass(eq=False)
class Observations(Controller):
    """Tells of passes, and runs those that the user agreed to."""

    opening: Opening
    previews: Previews
    _asked: ObservationDue | None = None
    _declined: int = 0
    """The opening for which the user said no: it is not asked again while that is open."""

    def take(self, event: MemoryUpdated | ObservationDue) -> None:
        """Tell of what a send observed, or ask for what is due."""
        if isinstance(event, MemoryUpdated):
            self._tell(event)
        elif self._declined != self.opening.number:
            self._asked = event
            self.surfaces.approval.ask_about(*asked(event), CHOICES)

    def _take_made(self, number: int, made: MemoryUpdated | JitchatError) -> None:
        """Tell of a pass that is stored, or why none was made, unless its conversation was left."""
        if number != self.opening.number:
            return
        if isinstance(made, JitchatError):
            self.host.tell(made)
        else:
            self._tell(made)

    def answer(self, answer: Answer) -> bool:
        """Take the user's answer; False where nothing is asked, or it cannot be answered so."""
        session = self.opening.session
        if self._asked is None or answer not in CHOICES or session is None:
            return False
        self.leave()
        if answer is Answer.DECLINE:
            self._declined = self.opening.number
            self.host.say("Not observed. /observations, then R, does it when you like.")
            return True
        if answer is Answer.CONVERSATION:
            session.observing.consent = Consent.AUTO
        self.run(session)
        return True

    def run(self, session: Session, *, everything: bool = False) -> None:
        """Make the passes that are due, beside whatever the user does."""
        number = self.opening.number
        self.host.run(self._run(session, number, everything), "observe")

    def leave(self) -> None:
        """Ask nothing any more."""
        if self._asked is not None:
            self._asked = None
            self.surfaces.approval.close()

    async def _run(self, session: Session, number: int, everything: bool) -> None:
        limit = session.options.budget.limit
        try:
            passes = session.observing.run(limit, everything=everything)
            async with aclosing(passes) as made:
                async for updated in made:
                    self.host.later(self._take_made, number, updated)
        except JitchatError as error:
            self.host.later(self._take_made, number, error)

    def _tell(self, updated: MemoryUpdated) -> None:
        told = PassReport(updated.made).sentence
        if updated.is_needed:
            self.host.warn(one_line(f"The window did not fit without it: {told}. {_SEE}"))
        else:
            self.host.say(one_line(f"{told[:1].upper()}{told[1:]}. {_SEE}"))
        self.previews.plan(afresh=True)


def asked(due: ObservationDue) -> tuple[str, str]:
    """Write what is asked: what about, and the question."""
    what = "the observations" if due.turns is None else Source(*due.turns).name
    verb = "be rewritten" if due.turns is None else "be observed"
    return "observe", f"May {what} ({due.tokens:,} tokens) {verb} by {one_line(due.by)}?"
