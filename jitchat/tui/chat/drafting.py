"""Fill the draft from other sources: an earlier prompt, an external editor, files, pictures."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from jitchat.errors import FileRefused
from jitchat.files.mentions import mention_of, require_files
from jitchat.threads import left_at_exit
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening

if TYPE_CHECKING:
    from jitchat.session import Session

SEARCHED_PROMPTS = 10_000
"""Maximum earlier prompts searched, the latest ones."""
_PATIENCE = 3
"""Maximum seconds to wait for the clipboard, whose owner is another program that may hang."""


@dataclass(eq=False)
class Drafting(Controller):
    opening: Opening

    def __post_init__(self) -> None:
        self.surfaces.prompt.pictured = self._pictured

    def search_prompts(self, wanted: str = "") -> None:
        """Search earlier prompts for the typed text; the chosen prompt replaces it."""
        from jitchat.tui.dialogs import prompts  # noqa: PLC0415  seldom

        prompt, store = self.surfaces.prompt, self.backend.store

        def load() -> prompts.Searchable:
            return prompts.searchable(store.prompts(SEARCHED_PROMPTS))

        def taken(text: str | None) -> None:
            if text is not None:
                prompt.retype(text)

        self.host.push(prompts.PromptsScreen(load, wanted or prompt.draft), taken)

    def edit_outside(self) -> None:
        """Edit the draft in the user's own editor; text that arrives meanwhile is not lost."""
        self.host.run(self._edit_outside(), "editor", exclusive=True)

    async def _edit_outside(self) -> None:
        from jitchat.tui.editor import edited  # noqa: PLC0415  not on the first frame

        prompt = self.surfaces.prompt
        before = prompt.draft
        text = await edited(prompt.app, before)
        (prompt.retype if prompt.draft == before else prompt.give_back)(text)

    async def attach(self, path: str = "") -> None:
        """Mention files in the prompt, so that they are sent with its message.

        Raises:
            FileRefused: The path names no file.
        """
        named, session = path.strip("\"'"), self.opening.session
        folder = session.folder if session is not None else None
        if named and folder:
            await asyncio.to_thread(require_files, named, folder)
        prompt = self.surfaces.prompt
        prompt.insert(f"{mention_of(named)} " if named else "@")
        prompt.focus()

    async def paste_picture(self, session: Session) -> None:  # noqa: ARG002  it must be open
        """Attach the picture in the clipboard, by a mention in the prompt."""
        prompt = self.surfaces.prompt
        if named := await self._pictured(is_told=True):
            prompt.insert(f"{named} ")
            prompt.focus()

    async def _pictured(self, *, is_told: bool) -> str:
        from jitchat.files.clipboard import take_pictures  # noqa: PLC0415  not on the first frame

        try:
            async with asyncio.timeout(_PATIENCE):
                return await left_at_exit(lambda: take_pictures(datetime.now().astimezone()))
        except TimeoutError:
            refused = FileRefused("The clipboard did not respond.", "Use /attach PATH.")
        except FileRefused as error:
            refused = error
        if is_told:
            self.host.show_error(refused)
        return ""
