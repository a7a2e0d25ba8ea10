"""Fill the draft from other sources: an earlier prompt, an external editor, files, pictures."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from jitchat.draft import Draft
from jitchat.errors import FileRefused
from jitchat.files.mentions import BEHIND, mention_of, mentions_in, mentions_of
from jitchat.files.named import require_named
from jitchat.store.drafts import sent_drafts
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.threads import left_at_exit
from jitchat.tui.chat.highlights import is_there
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening
from jitchat.tui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitchat.session import Session

SEARCHED_PROMPTS = 10_000
"""Maximum earlier prompts searched, the latest ones."""
_PATIENCE = 3
"""Maximum seconds to wait for the clipboard, whose owner is another program that may hang."""


@dataclass(eq=False)
class Drafting(Controller):
    opening: Opening
    _sentence: str = ""
    """The offer made last."""

    def __post_init__(self) -> None:
        self.surfaces.prompt.pictured = self._pictured

    def search_prompts(self, wanted: str = "") -> None:
        """Search earlier prompts for the typed text; the chosen prompt replaces it."""
        from jitchat.tui.dialogs import prompts  # noqa: PLC0415  seldom

        prompt, store = self.surfaces.prompt, self.backend.store

        def load() -> prompts.Searchable:
            return prompts.searchable(sent_drafts(store.database, SEARCHED_PROMPTS))

        def taken(draft: Draft | None) -> None:
            if draft is not None:
                prompt.retype(draft)

        self.host.push(prompts.PromptsScreen(load, wanted or prompt.draft), taken)

    def edit_outside(self) -> None:
        """Edit the draft in the user's own editor; text that arrives meanwhile is not lost."""
        self.host.run(self._edit_outside, "editor", exclusive=True)

    async def _edit_outside(self) -> None:
        from jitchat.tui.editor import edited  # noqa: PLC0415  not on the first frame

        prompt = self.surfaces.prompt
        before = prompt.message
        draft = before.edited(await edited(prompt.app, before.text))
        (prompt.retype if prompt.message == before else prompt.give_back)(draft)

    async def attach(self, path: str = "") -> None:
        """Mention files in the prompt, so that they are sent with its message.

        Raises:
            FileRefused: The path names no file.
        """
        named, session = path.strip("\"'"), self.opening.session
        folder = session.folder if session is not None else None
        if named and folder:
            await asyncio.to_thread(require_named, named, folder)
        prompt = self.surfaces.prompt
        prompt.insert(f"{mention_of(named)} " if named else "@")
        prompt.focus()

    def offer(self, pasted: Prompt.Pasted) -> None:
        """Offer to attach the files that a text from elsewhere mentions."""
        typed = mentions_of(self.surfaces.prompt.message)
        names = [m.name for m in mentions_in(pasted.text) if m.name not in typed]
        if names:
            self.host.run(partial(self._offer, pasted, names), "pasted")

    async def _offer(self, pasted: Prompt.Pasted, names: Sequence[str]) -> None:
        is_found = await asyncio.to_thread(lambda: [is_there(name) for name in names])
        found = [name for name, is_file in zip(names, is_found, strict=True) if is_file]
        if found and self.surfaces.prompt.offer(pasted, found):
            named = ", ".join(one_line(name.rstrip(BEHIND)) for name in found)
            files = plural(len(found), "file")
            self._sentence = f"Tab attaches {files} named in the text: {named}"
            self.host.say(self._sentence)

    def end_offer(self) -> None:
        """Remove the notice of an offer that was taken or has lapsed."""
        if self._sentence and not self.surfaces.prompt.has_offer:
            self.host.end_notices((self._sentence,))
            self._sentence = ""

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
