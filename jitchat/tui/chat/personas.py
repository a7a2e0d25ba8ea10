"""The conversation's instructions: its own system prompt, a persona, or those of the settings."""

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
"""Typed to use no persona."""


@dataclass(eq=False)
class Personas(Controller):
    """Changes the instructions of a conversation; a reply in progress is not affected.

    This also works if the conversation cannot be opened, because its persona may be the reason.
    """

    opening: Opening
    models: ModelSwitch

    async def warn_if_missing(self) -> None:
        """Warn if the persona of the opened conversation no longer exists."""
        here = self.opening.conversation.id
        own = await asyncio.to_thread(self.backend.own_instructions, here)
        if sentence := missing(self.backend.settings, own):
            self.host.warn(sentence)

    async def use_text(self, text: str = "") -> None:
        """Set the conversation's own system prompt; without a text, show the current one."""
        if text:
            self._say(text)
            return
        from jitchat.tui.dialogs.system import SystemScreen  # noqa: PLC0415  not on the first frame

        settings = await self._settings()
        text, origin = settings.chat.system, settings.origin("chat.system")
        source = origin if text else "built in"
        self.host.push(SystemScreen(text or SYSTEM_PROMPT, source), self._edited)

    def _edited(self, edited: SystemText | None) -> None:
        if edited is not None and edited.persona:
            self.host.run(partial(self._save, edited), "persona", exclusive=True)
        elif edited is not None:
            self._say(edited.text)

    def _say(self, text: str) -> None:
        """Set the conversation's own system prompt; an empty text removes it."""
        has = "has its own system prompt" if text.strip() else "has no system prompt of its own"
        self._use(f"this conversation {has}", lambda own: replace(own, system=text))

    async def pick(self, name: str = "") -> None:
        """Use a persona in the conversation; without a name, let the user choose one.

        Raises:
            SettingsError: There is no persona with this name.

        """
        if name:
            self._use_persona(name)
            return
        from jitchat.tui.dialogs.choice import personas_screen  # noqa: PLC0415  likewise

        def chosen(name: str | None) -> None:
            if name is not None:
                self._use_persona(name)

        settings = await self._settings()
        self.host.push(personas_screen(settings.personas, settings.chat.persona), chosen)

    def _use_persona(self, name: str) -> None:
        """Use a persona in the conversation; its system prompt replaces the conversation's own."""
        known = self.backend.settings.personas
        name = "" if name == NONE and NONE not in known else name
        if name:
            require_persona(name, known, "/persona")
        brings_text = bool(name) and bool(known[name].system.strip())

        def change(own: Instructions) -> Instructions:
            return Instructions(None if brings_text else own.system, name)

        self._use(f"the persona {name} is used" if name else "no persona is used", change)

    def _use(self, clause: str, change: Callable[[Instructions], Instructions]) -> None:
        backend, opening = self.backend, self.opening
        conversation, session = opening.conversation.id, opening.session

        def make() -> tuple[Session | None, str]:
            own = change(backend.own_instructions(conversation))
            return backend.use_instructions(conversation, session, own)

        self.models.remake(make, clause)

    async def _save(self, edited: SystemText) -> None:
        opening, name = self.opening, edited.persona
        save = partial(self.backend.save_persona, opening.conversation.id, opening.session)
        await asyncio.to_thread(save, name, edited.text)
        self.host.say(f"Saved as the persona {name}, which is now used here.")
        self._use_persona(name)

    async def _settings(self) -> Settings:
        return await asyncio.to_thread(self.backend.settings_for, self.opening.conversation.id)
