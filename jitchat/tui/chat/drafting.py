"""Fill the draft from other sources: an earlier prompt, an external editor, files, pictures.

MCP servers offer resources and prompts, which are inserted as text.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from jitchat.draft import Draft
from jitchat.errors import FileRefused
from jitchat.files.named import BEHIND, mention_of, mentions_in, mentions_of, require_named
from jitchat.store.drafts import sent_drafts
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.threads import left_at_exit
from jitchat.tools.mcp.elicitation import Field
from jitchat.tools.mcp.spec import ServerFailed
from jitchat.tui.chat.completion import is_there
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening
from jitchat.tui.chat.tools import Tools
from jitchat.tui.dialogs.choice import Offered, offered_screen
from jitchat.tui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitchat.session import Session
    from jitchat.tools.mcp.server import Server, ServerState

_NAMED = re.compile(r"(?<!\S)([^\s=]+)=")


@dataclass(eq=False)
class Offers(Controller):
    """Lists resources and prompts, has the user fill in their arguments, and fetches them."""

    tools: Tools

    def __post_init__(self) -> None:
        self._prompts: dict[str, tuple[Offered, ...]] = {}
        """Known prompts by server."""

    async def learn(self, state: ServerState) -> None:
        """Learn a server's prompts, so that they can be typed as commands."""
        self._prompts.pop(state.name, None)
        for server in self.tools.ready():
            if server.name == state.name:
                with suppress(ServerFailed):
                    self._prompts[server.name] = tuple(await _prompts(server))
        sentences = {name: _sentence(each) for name, each in self._typed().items()}
        self.surfaces.prompts = replace(self.surfaces.prompts, sentences=sentences)

    def pick(self, what: str, given: str = "") -> None:
        """Let the user pick a resource or a prompt, and insert its text into the prompt.

        `given` contains the arguments of a prompt, as `name=value`.
        """
        self.host.run(partial(self._pick, what, given), "offered", exclusive=True)

    def take_prompt(self, name: str, given: str) -> None:
        """Insert the text of a server's prompt that was typed as a command."""
        if (offered := self._typed().get(name)) is not None:
            self.host.run(partial(self._take, offered, given), "offered", exclusive=True)

    async def _pick(self, what: str, given: str) -> None:
        found = await asyncio.gather(*(self._listed(what, each) for each in self.tools.ready()))
        offered = [each for listed in found for each in listed]
        if not offered:
            starting = ", ".join(map(one_line, self.tools.starting()))
            more = f" Still starting: {starting}." if starting else ""
            self.host.say(f"No MCP server offers {what}.{more}")
            return
        taken = await self.host.wait_for(offered_screen(what.capitalize(), offered))
        if taken is not None:
            await self._take(taken, given)

    async def _listed(self, what: str, server: Server) -> Sequence[Offered]:
        try:
            return await (_prompts if what == "prompts" else _resources)(server)
        except ServerFailed as error:
            self.host.warn(one_line(error.what))
            return ()

    async def _take(self, offered: Offered, given: str) -> None:
        values: Mapping[str, str] = read_arguments(offered, given)
        lacking = [each for each in offered.arguments if each.required and each.name not in values]
        if lacking or (offered.arguments and not values):
            filled = await self._filled_in(offered, values)
            if filled is None:
                return
            values = filled
        self.surfaces.prompt.paste(await self._text_of(offered, values))

    async def _filled_in(
        self, offered: Offered, values: Mapping[str, str]
    ) -> Mapping[str, str] | None:
        """Have the user fill in the arguments; None if the form is cancelled."""
        from jitchat.tui.dialogs.form import FormScreen  # noqa: PLC0415  seldom

        fields = [
            Field(
                name=each.name,
                title=each.name,
                kind="string",
                description=each.description,
                required=each.required,
                default=values.get(each.name),
            )
            for each in offered.arguments
        ]
        title = f"{offered.server}: {offered.title}"
        answer = await self.host.wait_for(FormScreen(title, offered.description, fields))
        if answer.action != "accept":
            return None
        return {name: str(value) for name, value in answer.values}

    async def _text_of(self, offered: Offered, values: Mapping[str, str]) -> str:
        """Fetch the text for the prompt.

        Raises:
            ServerFailed: The server does not return it.
        """
        server = self.tools.server(offered.server)
        if offered.is_prompt:
            return await server.prompt(offered.name, values)
        return f"{offered.title}: {await server.read(offered.name, values)}"

    def _typed(self) -> dict[str, Offered]:
        """Return the prompts by their commands; one with a space in its name can only be picked."""
        listed = (each for offered in self._prompts.values() for each in offered)
        named = {f"{each.server}:{each.name}": each for each in listed}
        return {
            name: each for name, each in named.items() if name == "".join(one_line(name).split())
        }


def read_arguments(offered: Offered, given: str) -> dict[str, str]:
    """Parse `city=New York state=NY`; a single argument can be given without its name."""
    known = [each.name for each in offered.arguments]
    named = [each for each in _NAMED.finditer(given) if each[1] in known]
    if not named and len(known) == 1 and given.strip():
        return {known[0]: given.strip()}
    ends = [*(each.start() for each in named[1:]), len(given)]
    return {
        each[1]: given[each.end() : end].strip() for each, end in zip(named, ends, strict=False)
    }


def _sentence(offered: Offered) -> str:
    takes = f"takes {offered.takes}" if offered.arguments else ""
    return " · ".join(filter(None, (takes, one_line(offered.description))))


async def _resources(server: Server) -> list[Offered]:
    return [
        Offered(server.name, each.uri, each.name, each.description, each.arguments)
        for each in await server.resources()
    ]


async def _prompts(server: Server) -> list[Offered]:
    return [
        Offered(server.name, each.name, each.name, each.description, each.arguments, is_prompt=True)
        for each in await server.prompts()
    ]


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
