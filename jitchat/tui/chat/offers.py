"""Resources and prompts of MCP servers, inserted into the prompt as text."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from jitchat.text.sanitize import one_line
from jitchat.tools.mcp.elicitation import Field
from jitchat.tools.mcp.spec import ServerFailed
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.tools import Tools
from jitchat.tui.dialogs.choice import Offered, offered_screen

if TYPE_CHECKING:
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
