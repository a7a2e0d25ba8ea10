"""Facts and observations in the chat.

Facts found in a message are proposed in the last line and kept by one key. Passes of observing are
reported, and the user is asked first if the settings say so.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from jitchat.errors import JitchatError, UsageError
from jitchat.events import FactsFound, MemoryUpdated, ObservationDue
from jitchat.observing import Consent
from jitchat.statements import Fact, Source
from jitchat.synthesis.extraction import remembered
from jitchat.synthesis.passes import PassReport
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line, shorten
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
        self.host.say(one_line(f"{report[:1].upper()}{report[1:]}. {_SEE}"))
        self.previews.plan(afresh=True)


def question_on(due: ObservationDue) -> tuple[str, str]:
    """Return the subject of the question and the question."""
    what = "the observations" if due.turns is None else Source(*due.turns).name
    verb = "rewrite" if due.turns is None else "observe"
    return "observe", f"Let {one_line(due.by)} {verb} {what} ({due.tokens:,} tokens)?"


KEEP = "/keep or {allow_once} keeps it"
TEMPORARY = "This conversation is temporary: it neither reads nor writes memory."
NOTHING_PROPOSED = "No fact is proposed. /remember TEXT keeps a fact; /facts lists all."
_NAMED = 48
"""Maximum characters of a fact in a notice."""


@dataclass(eq=False)
class Facts(Controller):
    """Proposes, keeps and forgets facts of the project."""

    opening: Opening
    previews: Previews
    _proposed: tuple[Fact, ...] = ()
    """Facts found and not yet decided on, the oldest first."""
    _last_warning: str = ""
    """The last warning shown about the model that finds facts."""

    def take(self, found: FactsFound) -> None:
        """Propose the facts found, and report one that was kept automatically."""
        self._proposed += found.proposed
        self.show()
        if found.told and found.told != self._last_warning:
            self.host.say(f"{found.told}. The built-in rules find facts instead.")
        self._last_warning = found.told
        if found.kept:
            self.host.say(f"Remembered: {_named(found.kept[0])}. /forget undoes this.")
        self.previews.plan(afresh=bool(found.kept))

    def show(self, *, while_typing: bool = False) -> None:
        """Show the first proposal, if there is one and the prompt is empty."""
        hint = self.surfaces.hint
        if not self._proposed or while_typing:
            hint.proposal = ()
            return
        text, more = self._proposed[0].text, len(self._proposed) - 1
        others = f" · {more} more" if more else ""
        forms = (text, shorten(text, _NAMED), shorten(text, _NAMED // 2))
        keep = self.keys.tell(KEEP)
        hint.proposal = (*(f"remember “{form}”? {keep}{others}" for form in forms), keep)

    @property
    def proposes(self) -> bool:
        return bool(self._proposed)

    def leave(self) -> None:
        """Withdraw the proposals; they can still be kept in the view of facts."""
        self._proposed = ()
        self.show()

    async def keep(self, session: Session) -> None:
        """Keep the first proposal, without changing the draft."""
        if not self._proposed:
            self.host.say(NOTHING_PROPOSED)
            return
        fact, *rest = self._proposed
        self._proposed = tuple(rest)
        self.show()
        await self._keep(session, fact)

    async def remember(self, session: Session, text: str = "") -> None:
        """Keep a text as a fact; without one, the first proposal."""
        if session.memory.conversation.is_temporary:
            self.host.say(TEMPORARY)
        elif not text:
            await self.keep(session)
        else:
            await self._keep(session, remembered(text))

    async def forget(self, session: Session, wanted: str = "") -> None:
        """Forget the fact with the given number or part of its text.

        Raises:
            UsageError: No fact matches, or several do.

        """
        if session.memory.conversation.is_temporary:
            self.host.say(TEMPORARY)
            return
        facts = await asyncio.to_thread(lambda: session.memory.facts)
        found = await asyncio.to_thread(facts.find, wanted) if wanted else []
        if len(found) != 1:
            what = "No remembered fact matches."
            if found:
                what = f"{plural(len(found), 'fact')} match."
            raise UsageError(what, "Type more of the fact's text, or forget it in /facts.")
        await asyncio.to_thread(facts.forget, found[0])
        self._proposed = tuple(each for each in self._proposed if each.id != found[0].id)
        self.show()
        self.host.say(f"Forgotten: {_named(found[0])}.")
        self.previews.plan(afresh=True)

    async def _keep(self, session: Session, fact: Fact) -> None:
        change = await asyncio.to_thread(lambda: session.memory.facts.keep(fact))
        over = f" It replaces {_named(change.superseded[0])}." if change.superseded else ""
        self.host.say(f"Remembered: {_named(change.kept)}.{over}")
        self.previews.plan(afresh=True)


def _named(fact: Fact) -> str:
    return f"“{shorten(fact.text, _NAMED).removesuffix('.')}”"
