"""Observing in the chat: report passes, and ask the user first if the settings say so."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
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
_SEE = "/observations shows it and can undo it."


@dataclass(eq=False)
class Observations(Controller):
    """Reports passes, and runs those that the user agreed to."""

    opening: Opening
    previews: Previews
    _asked: ObservationDue | None = None
    _declined: int = 0
    """Number of the opening in which the user declined; it is not asked again there."""

    def take(self, event: MemoryUpdated | ObservationDue) -> None:
        """Report a pass made during a send, or ask whether to make one that is due."""
        if isinstance(event, MemoryUpdated):
            self._report(event)
        elif self._declined != self.opening.number:
            self._asked = event
            self.surfaces.approval.ask_about(*question_on(event), CHOICES)

    def answer(self, answer: Answer) -> bool:
        """Handle the user's answer; return False if no question is open that takes it."""
        session = self.opening.session
        if self._asked is None or answer not in CHOICES or session is None:
            return False
        self.leave()
        if answer is Answer.DECLINE:
            self._declined = self.opening.number
            self.host.say("Not observed. /observations can do it later.")
            return True
        if answer is Answer.CONVERSATION:
            session.observing.consent = Consent.AUTO
        self.run(session)
        return True

    def run(self, session: Session, *, everything: bool = False) -> None:
        """Make the passes that are due, in the background."""
        self.host.run(partial(self._run, session, everything), "observe")

    def leave(self) -> None:
        """Close an open question."""
        if self._asked is not None:
            self._asked = None
            self.surfaces.approval.close()

    async def _run(self, session: Session, everything: bool) -> None:
        """Report each pass, or why none was made, unless the conversation was left."""
        number = self.opening.number
        limit = session.options.budget.limit
        try:
            passes = session.observing.run(limit, everything=everything)
            async with aclosing(passes) as made:
                async for updated in made:
                    if number == self.opening.number:
                        self._report(updated)
        except JitchatError as error:
            if number == self.opening.number:
                self.host.show_error(error)

    def _report(self, updated: MemoryUpdated) -> None:
        report = PassReport(updated.made).sentence
        if updated.is_needed:
            self.host.warn(one_line(f"Needed to make the window fit: {report}. {_SEE}"))
        else:
            self.host.say(one_line(f"{report[:1].upper()}{report[1:]}. {_SEE}"))
        self.previews.plan(afresh=True)


def question_on(due: ObservationDue) -> tuple[str, str]:
    """Return the subject of the question and the question."""
    what = "the observations" if due.turns is None else Source(*due.turns).name
    verb = "rewrite" if due.turns is None else "observe"
    return "observe", f"Let {one_line(due.by)} {verb} {what} ({due.tokens:,} tokens)?"
