"""What comes into the draft untyped: an earlier prompt, an edited text, files, pictures."""

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
"""So many of the last ones."""
_PATIENCE = 3
"""Seconds. What owns the clipboard is another program, which may hang."""


@dataclass(eq=False)
class Drafting(Controller):
    opening: Opening

    def __post_init__(self) -> None:
        self.surfaces.prompt.pictured = self._pictured

    def search_prompts(self, wanted: str = "") -> None:
        """Search what was sent before, for what is typed; one that is taken stands in its place."""
        from jitchat.tui.dialogs import prompts  # noqa: PLC0415  seldom

        prompt, store = self.surfaces.prompt, self.backend.store

        def load() -> prompts.Searchable:
            return prompts.searchable(store.prompts(SEARCHED_PROMPTS))

        def taken(text: str | None) -> None:
            if text is not None:
                prompt.retype(text)

        self.host.push(prompts.PromptsScreen(load, wanted or prompt.draft), taken)

    def edit_outside(self) -> None:
        """Have the draft edited in the user's own editor; what comes meanwhile is not lost."""
        self.host.run(self._edit_outside(), "editor", exclusive=True)

    async def _edit_outside(self) -> None:
        from jitchat.tui.editor import edited  # noqa: PLC0415  not on the first frame

        prompt = self.surfaces.prompt
        before = prompt.draft
        text = await edited(prompt.app, before)
        (prompt.retype if prompt.draft == before else prompt.give_back)(text)

    async def attach(self, path: str = "") -> None:
        """Name files in the prompt, so that they go along with its message.

        Raises:
            FileRefused: The path names none.
        """
        named, session = path.strip("\"'"), self.opening.session
        folder = session.folder if session is not None else None
        if named and folder:
            await asyncio.to_thread(require_files, named, folder)
        prompt = self.surfaces.prompt
        prompt.insert(f"{mention_of(named)} " if named else "@")
        prompt.focus()

    async def paste_picture(self, session: Session) -> None:  # noqa: ARG002  it has to be open
        """Name the picture in the clipboard in the prompt."""
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
            refused = FileRefused("The clipboard does not answer.", "Use /attach PATH.")
        except FileRefused as error:
            refused = error
        if is_told:
            self.host.tell(refused)
        return ""
