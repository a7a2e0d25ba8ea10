"""Whose instructions the conversation has: its own system text, a persona, or the settings'."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from jitchat.errors import JitchatError
from jitchat.settings.personas import missing, require_persona
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.model_switch import ModelSwitch
from jitchat.values import Instructions
from jitchat.window.parts import SYSTEM_PROMPT

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.dialogs.system import SystemText

NONE = "none"
"""What is typed for no persona."""


@dataclass(eq=False)
class Personas(Controller):
    """Changes the instructions of a conversation; a reply that is on its way keeps its own."""

    models: ModelSwitch

    def tell_missing(self, session: Session) -> None:
        """Say that the persona of a conversation that was opened is gone."""
        own = self.backend.own_instructions(session.memory.conversation.id)
        if sentence := missing(self.backend.settings, own):
            self.host.warn(sentence)

    def edit(self, session: Session) -> None:
        from jitchat.tui.dialogs.system import SystemScreen  # noqa: PLC0415  not on the first frame

        settings = self.backend.settings_for(session.memory.conversation.id)
        text, origin = settings.chat.system, settings.origin("chat.system")
        whose = origin if text else "built in"
        self.host.push(SystemScreen(text or SYSTEM_PROMPT, whose), partial(self._edited, session))

    def _edited(self, session: Session, edited: SystemText | None) -> None:
        if edited is None:
            return
        if edited.persona:
            self.host.run(self._save(session, edited), "persona", exclusive=True)
        else:
            self.say(session, edited.text)

    def say(self, session: Session, text: str) -> None:
        """Give the conversation a system text of its own; an empty one takes that back."""
        has = "has a system text of its own" if text.strip() else "has no system text of its own"
        self._use(session, f"this conversation {has}", lambda own: replace(own, system=text))

    def _use(
        self, session: Session, told: str, change: Callable[[Instructions], Instructions]
    ) -> None:
        def make() -> Session:
            own = self.backend.own_instructions(session.memory.conversation.id)
            return self.backend.use_instructions(session, change(own))

        self.models.remake(make, told)

    def choose(self, session: Session) -> None:
        from jitchat.tui.dialogs.personas import PersonasScreen  # noqa: PLC0415  likewise

        def chosen(name: str | None) -> None:
            if name is not None:
                self.use(session, name)

        settings = self.backend.settings_for(session.memory.conversation.id)
        self.host.push(PersonasScreen(settings.personas, settings.chat.persona), chosen)

    def use(self, session: Session, name: str) -> None:
        """Use a persona in the conversation; its system text takes the place of any other.

        Raises:
            SettingsError: There is no such persona.

        """
        known = self.backend.settings.personas
        name = "" if name == NONE and NONE not in known else name
        if name:
            require_persona(name, known, "/persona")
        brings_text = bool(name) and bool(known[name].system.strip())
        told = f"the persona {name} is used" if name else "no persona is used"
        self._use(
            session, told, lambda own: Instructions(None if brings_text else own.system, name)
        )

    async def _save(self, session: Session, edited: SystemText) -> None:
        try:
            save = partial(self.backend.save_persona, session, edited.persona, edited.text)
            await asyncio.to_thread(save)
        except JitchatError as error:
            self.host.tell(error)
        else:
            self.host.say(f"Saved as the persona {edited.persona}; it is used here.")
            self.use(session, edited.persona)
