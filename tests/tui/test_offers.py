"""MCP resources and prompts: picked or typed, filled in, inserted into the prompt as text."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Input, OptionList

from jitchat.tools.mcp.server import Phase, ServerState
from jitchat.tools.mcp.spec import ServerFailed
from jitchat.tools.mcp.values import Argument, Prompt, Resource
from jitchat.tui.chat.drafting import read_arguments
from jitchat.tui.chat.tools import Tools
from jitchat.tui.dialogs.choice import ChoiceScreen, Offered
from jitchat.tui.dialogs.form import FormScreen
from tests.tools.support import ScriptedServers, ScriptedTools
from tests.tui.support import demo_app, notices, ready, type_text, until

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.tui.conftest import Picture
    from tests.tui.support import TestBackend

NAME, PLACE = Argument("name", "of whom", required=True), Argument("place")
GREET = Prompt("greet", "Greets somebody", (NAME, PLACE))
TIDES = Resource("tide://today", "tides", "High and low water")
BERTH = Resource("berth://{number}", "berth", "Who lies there", "", (Argument("number", "", True),))
STEER = "\x1b[2Jclear\u202e"


@dataclass
class Harbour(ScriptedTools):
    """A server with tools, resources and prompts."""

    state: ServerState = field(default_factory=lambda: ServerState("scripted", Phase.READY))
    large: int = 0

    async def resources(self) -> list[Resource]:
        return [TIDES, BERTH]

    async def read(self, uri: str, values: Mapping[str, str] | None = None) -> str:
        return f"{uri} {dict(values or {})}\n{STEER}{'~' * self.large}"

    async def prompts(self) -> list[Prompt]:
        return [GREET, Prompt("plain")]

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> str:
        return f"{name} {dict(arguments)}"


@dataclass
class HarbourServers(ScriptedServers):
    tools: Harbour = field(default_factory=Harbour)

    def states(self) -> tuple[ServerState, ...]:
        return (self.tools.state,)


async def begin(pilot, backend: TestBackend):
    screen = await ready(pilot)
    screen.post_message(Tools.Changed(backend.servers.tools.state))
    await until(pilot, lambda: screen.surfaces.prompts.sentences, "the prompts")
    return screen


async def opened(pilot, kind: type):
    await until(pilot, lambda: isinstance(pilot.app.screen, kind), kind.__name__)
    await pilot.pause()
    return pilot.app.screen


async def test_a_prompt_is_typed_with_its_arguments(backend: TestBackend) -> None:
    backend.servers = HarbourServers()
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await begin(pilot, backend)
        await type_text(pilot, "/scripted:greet name=Ada Byron place=Kiel")
        await pilot.press("enter")
        said = "greet {'name': 'Ada Byron', 'place': 'Kiel'}"
        await until(pilot, lambda: screen.surfaces.prompt.text == said, "the text")


async def test_what_a_prompt_lacks_is_asked_for_by_a_form(
    backend: TestBackend, picture: Picture
) -> None:
    backend.servers = HarbourServers()
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await begin(pilot, backend)
        await type_text(pilot, "/scripted:greet place=Kiel")
        await pilot.press("enter")
        form = await opened(pilot, FormScreen)
        name, place = form.query(Input)
        assert (name.value, place.value) == ("", "Kiel")
        await pilot.press("ctrl+d")
        assert pilot.app.screen is form
        await picture(pilot, "form", "small")
        name.value = "Ada"
        await pilot.press("ctrl+s")
        said = "greet {'name': 'Ada', 'place': 'Kiel'}"
        await until(pilot, lambda: screen.surfaces.prompt.text == said, "the text")


async def test_a_cancelled_form_changes_nothing(backend: TestBackend) -> None:
    backend.servers = HarbourServers()
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await begin(pilot, backend)
        await type_text(pilot, "/scripted:greet")
        await pilot.press("enter")
        await opened(pilot, FormScreen)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen, "the chat")
        assert screen.surfaces.prompt.text == ""


@pytest.mark.parametrize(("row", "typed", "uri"), [(0, "", TIDES.uri), (1, "7", BERTH.uri)])
async def test_a_resource_is_attached_without_control_characters(
    backend: TestBackend, row: int, typed: str, uri: str
) -> None:
    backend.servers = HarbourServers()
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await begin(pilot, backend)
        await screen.action_do("resource")
        picker = await opened(pilot, ChoiceScreen)
        picker.query_one(OptionList).highlighted = row
        await pilot.press("enter")
        if typed:
            form = await opened(pilot, FormScreen)
            form.query_one(Input).value = typed
            await pilot.press("enter")
        await until(pilot, lambda: uri in screen.surfaces.prompt.text, "the text")
        text = screen.surfaces.prompt.text
        assert ("'number': '7'" in text) is bool(typed)
        assert text.endswith("\n[2Jclear\u202e")


async def test_a_large_resource_is_folded_to_a_marker(backend: TestBackend) -> None:
    backend.servers = HarbourServers(Harbour(large=200_000))
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await begin(pilot, backend)
        await screen.action_do("resource")
        await opened(pilot, ChoiceScreen)
        await pilot.press("enter")
        await until(pilot, lambda: "…]" in screen.surfaces.prompt.text, "the marker")
        assert len(screen.surfaces.prompt.draft) > 200_000


async def test_a_server_that_starts_or_fails_is_named(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.servers = servers = HarbourServers()

    async def fails() -> list[Resource]:
        raise ServerFailed("scripted answered with an error.", "")

    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await begin(pilot, backend)
        monkeypatch.setattr(servers.tools, "resources", fails)
        await screen.action_do("resource")
        await until(pilot, lambda: "with an error" in " ".join(notices(pilot)), "the failure")
        servers.tools.state = replace(servers.tools.state, phase=Phase.STARTING)
        await screen.action_do("resource")
        await until(pilot, lambda: "Still starting: scripted." in " ".join(notices(pilot)), "it")


@pytest.mark.parametrize(
    ("arguments", "given", "read"),
    [
        ((NAME, PLACE), "name=Ada Byron place=Kiel", {"name": "Ada Byron", "place": "Kiel"}),
        ((NAME, PLACE), "place=a=b", {"place": "a=b"}),
        ((NAME, PLACE), "Ada", {}),
        ((NAME,), "Ada Byron", {"name": "Ada Byron"}),
        ((NAME,), "", {}),
        ((), "Ada", {}),
    ],
)
def test_text_typed_after_a_prompt_is_parsed_as_its_arguments(arguments, given, read) -> None:
    assert read_arguments(Offered("harbour", "greet", "greet", "", arguments), given) == read
