"""Facts in the chat: what a message states is proposed in the last line, and kept by one key."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.errors import UsageError
from jitchat.events import FactsFound
from jitchat.statements import Fact
from jitchat.synthesis.facts import remembered
from jitchat.text.figures import plural
from jitchat.text.sanitize import shorten
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening
from jitchat.tui.chat.previews import Previews

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.store.facts import Change

KEEP = "/keep or {allow_once} keeps it"
TEMPORARY = "This conversation is temporary: it reads and writes no memory."
NOTHING_PROPOSED = "Nothing is proposed. /remember and a text keeps that; /facts lists all."
_NAMED = 48
"""Characters of a fact where it is only named."""


@dataclass(eq=False)
class Facts(Controller):
    """Proposes, keeps and forgets facts of the project. Its methods wait for the store."""

    opening: Opening
    previews: Previews
    _proposed: tuple[Fact, ...] = ()
    """What was found and is not decided on, the oldest first."""
    _told: str = ""
    """What was said last of who found it."""

    def take(self, found: FactsFound) -> None:
        """Propose what was found, or tell of what is kept already."""
        self._proposed += found.proposed
        self.show()
        if found.told and found.told != self._told:
            self.host.say(f"{found.told}. The rules that are built in look for facts.")
        self._told = found.told
        if found.kept:
            self.host.say(f"Remembered: {_named(found.kept[0])}. /forget takes it back.")
        self.previews.plan(afresh=bool(found.kept))

    def show(self, *, while_typing: bool = False) -> None:
        """Show the first proposal, unless something is typed; nothing where there is none."""
        hint = self.surfaces.hint
        if not self._proposed or while_typing:
            hint.show_proposal()
            return
        text, more = self._proposed[0].text, len(self._proposed) - 1
        others = f" · {more} more" if more else ""
        forms = (text, shorten(text, _NAMED), shorten(text, _NAMED // 2))
        keep = self.keys.tell(KEEP)
        hint.show_proposal(*(f"remember “{form}”? {keep}{others}" for form in forms), keep)

    @property
    def proposes(self) -> bool:
        return bool(self._proposed)

    def leave(self) -> None:
        """Propose nothing any more; what was proposed can be kept in the view."""
        self._proposed = ()
        self.show()

    async def keep(self, session: Session) -> None:
        """Keep the first proposal; what is typed stays."""
        if not self._proposed:
            self.host.say(NOTHING_PROPOSED)
            return
        fact, *rest = self._proposed
        self._proposed = tuple(rest)
        self.show()
        self._tell(await asyncio.to_thread(session.memory.facts.keep, fact))

    async def remember(self, session: Session, text: str = "") -> None:
        """Keep a text; without one, what is proposed."""
        if session.memory.conversation.is_temporary:
            self.host.say(TEMPORARY)
        elif not text:
            await self.keep(session)
        else:
            self._tell(await asyncio.to_thread(session.memory.facts.keep, remembered(text)))

    async def forget(self, session: Session, wanted: str = "") -> None:
        """Forget the one fact that is meant by its number or a part of its text.

        Raises:
            UsageError: None is, or several are.

        """
        if session.memory.conversation.is_temporary:
            self.host.say(TEMPORARY)
            return
        facts = session.memory.facts
        found = await asyncio.to_thread(facts.find, wanted) if wanted else []
        if len(found) != 1:
            what = "Nothing that is remembered fits that."
            if found:
                what = f"That fits {plural(len(found), 'fact')}."
            raise UsageError(what, "Say more of its text; /facts lists all, and X there forgets.")
        await asyncio.to_thread(facts.forget, found[0])
        self._proposed = tuple(each for each in self._proposed if each.id != found[0].id)
        self.show()
        self.host.say(f"Forgotten: {_named(found[0])}.")
        self.previews.plan(afresh=True)

    def _tell(self, change: Change) -> None:
        over = (
            f" It takes the place of {_named(change.superseded[0])}." if change.superseded else ""
        )
        self.host.say(f"Remembered: {_named(change.kept)}.{over}")
        self.previews.plan(afresh=True)


def _named(fact: Fact) -> str:
    return f"“{shorten(fact.text, _NAMED).removesuffix('.')}”"
