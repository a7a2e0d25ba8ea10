"""Whose instructions the conversation has: its own system text, a persona, or the settings'."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from jitchat.settings.personas import missing, require_persona
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.model_switch import ModelSwitch
from jitchat.tui.chat.opening import Opening
from jitchat.values import Instructions
from jitchat.window.parts import SYSTEM_PROMPT

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.settings import Settings
    from jitchat.tui.dialogs.system import SystemText

NONE = "none"
"""What is typed for no persona."""


@dataclass(eq=False)
class Personas(Controller):
    """Changes the instructions of a conversation; a reply that is on its way keeps its own.

    It does so, too, where the conversation cannot be opened: its persona may be the reason.
    """

    opening: Opening
    models: ModelSwitch

    def tell_missing(self) -> None:
        """Say that the persona of the conversation that was opened is gone."""
        own = self.backend.own_instructions(self.opening.conversation.id)
        if sentence := missing(self.backend.settings, own):
            self.host.warn(sentence)

    def use_text(self, text: str = "") -> None:
        """Give the conversation a system text of its own; without one, show what it has."""
        if text:
            self._say(text)
            return
        from jitchat.tui.dialogs.system import SystemScreen  # noqa: PLC0415  not on the first frame

        settings = self._settings()
        text, origin = settings.chat.system, settings.origin("chat.system")
        whose = origin if text else "built in"
        self.host.push(SystemScreen(text or SYSTEM_PROMPT, whose), self._edited)

    def _edited(self, edited: SystemText | None) -> None:
        if edited is not None and edited.persona:
            self.host.run(self._save(edited), "persona", exclusive=True)
        elif edited is not None:
            self._say(edited.text)

    def _say(self, text: str) -> None:
        """Give the conversation a system text of its own; an empty one takes that back."""
        has = "has a system text of its own" if text.strip() else "has no system text of its own"
        self._use(f"this conversation {has}", lambda own: replace(own, system=text))

    def pick(self, name: str = "") -> None:
        """Use a persona in the conversation; without a name, choose among all.

        Raises:
            SettingsError: There is no such persona.

        """
        if name:
            self._use_persona(name)
            return
        from jitchat.tui.dialogs.personas import PersonasScreen  # noqa: PLC0415  likewise

        def chosen(name: str | None) -> None:
            if name is not None:
                self._use_persona(name)

        settings = self._settings()
        self.host.push(PersonasScreen(settings.personas, settings.chat.persona), chosen)

    def _use_persona(self, name: str) -> None:
        """Use a persona in the conversation; its system text takes the place of any other."""
        known = self.backend.settings.personas
        name = "" if name == NONE and NONE not in known else name
        if name:
            require_persona(name, known, "/persona")
        brings_text = bool(name) and bool(known[name].system.strip())

        def change(own: Instructions) -> Instructions:
            return Instructions(None if brings_text else own.system, name)

        self._use(f"the persona {name} is used" if name else "no persona is used", change)

    def _use(self, told: str, change: Callable[[Instructions], Instructions]) -> None:
        backend, opening = self.backend, self.opening
        conversation, session = opening.conversation.id, opening.session

        def make() -> tuple[Session | None, str]:
            own = change(backend.own_instructions(conversation))
            return backend.use_instructions(conversation, session, own)

        self.models.remake(make, told)

    async def _save(self, edited: SystemText) -> None:
        opening, name = self.opening, edited.persona
        save = partial(self.backend.save_persona, opening.conversation.id, opening.session)
        await asyncio.to_thread(save, name, edited.text)
        self.host.say(f"Saved as the persona {name}; it is used here.")
        self._use_persona(name)

    def _settings(self) -> Settings:
        return self.backend.settings_for(self.opening.conversation.id)
