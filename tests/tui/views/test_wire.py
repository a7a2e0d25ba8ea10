"""The wire view shows, copies and saves the very request, and never the key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest
from textual.widgets import Input

from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.tui.views.wire import WireText, WireView
from jitchat.tui.widgets.input_lines import SaveLine
from jitchat.tui.widgets.prompt import Prompt
from jitchat.window.budget import Budget
from jitchat.window.window import Kind
from tests.providers.dialects import DIALECTS
from tests.providers.streams import KEY, endpoint
from tests.session.test_posted import Server
from tests.support import sent_window
from tests.tui.support import TestBackend, demo_app, idle, ready, type_text, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


QUESTION = "what did we settle on for the deploy window?"


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Prompt, "cursor_blink", False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server(backend: TestBackend) -> Server:
    """Answers in the app, by HTTP."""
    made = Server(DIALECTS[0])
    where = endpoint(key_variable="SOME_KEY", base_url="https://models.test/v1")
    protocol = protocol_named("openai")
    backend.provider = HttpProvider(where, protocol, httpx.MockTransport(made))
    return made


async def opened(pilot: Pilot[None]) -> WireView:
    """The view, once something is on it."""
    await pilot.press("f3")
    await until(pilot, lambda: isinstance(pilot.app.screen, WireView), "the view")
    view = pilot.app.screen
    assert isinstance(view, WireView)
    text = view.query_one(WireText)
    await until(pilot, lambda: text.rows or not view.box.display, "the request")
    await pilot.pause()
    return view


def told(view: WireView) -> str:
    return str(view.query_one("#wire-summary").render())


def drawn(view: WireView) -> list[str]:
    text = view.query_one(WireText)
    return [text.render_line(y).text for y in range(text.size.height)]


async def test_the_next_request_is_shown_copied_and_saved_without_the_key(
    backend, server, tmp_path, picture
):
    async with demo_app(backend).run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        view = await opened(pilot)
        wire = backend.provider.wire(
            screen.previews.window.messages(),
            screen.session.request_options(screen.previews.window),
        )
        assert told(view).startswith(f"Not sent yet: {len(wire.body):,} bytes, body ")
        text = view.query_one(WireText)
        assert view.focused is text
        lines = drawn(view)
        assert lines[0].rstrip().endswith(f"│ POST {wire.url}")
        assert any(line.startswith("S ") for line in lines)
        pretty = len(text.rows)
        edge = next(number for number, row in enumerate(text.rows) if row.end is None)
        text.scroll_to(y=edge - 10, animate=False, immediate=True)
        await picture(pilot, "draft", "wide", "small")

        await pilot.press("y")
        assert pilot.app.clipboard == wire.body.decode()
        await pilot.press("c")
        assert "${SOME_KEY}" in pilot.app.clipboard
        await pilot.press("n")
        kinds = [row.kind for row in text.rows[round(text.scroll_y) :] if row.kind]
        assert kinds[0] is not None
        await pilot.press("end")
        assert "│ }" in [line[-len("│ }") :] for line in map(str.rstrip, drawn(view))]
        await pilot.press("p")
        await until(pilot, lambda: len(text.rows) != pretty, "the raw form")

        await save(pilot, view, "s", "body.json")
        await save(pilot, view, "k", "command.sh")
        assert (tmp_path / "body.json").read_bytes() == wire.body
        assert (tmp_path / "body.json").stat().st_mode & 0o777 == 0o600
        assert "${SOME_KEY}" in (tmp_path / "command.sh").read_text()
        shown = "\n".join(map(repr, (text.rows, pilot.app.clipboard, *drawn(view))))
        files = "".join(
            path.read_text() for path in ((tmp_path / "body.json"), (tmp_path / "command.sh"))
        )
        assert KEY not in shown + files

        (tmp_path / "mine.txt").write_text("mine")
        await pilot.press("s")
        name_it(view, "mine.txt")
        await pilot.press("enter")
        note = view.query_one("#save-note")
        await until(pilot, lambda: "already exists" in str(note.render()), "the warning")
        assert (tmp_path / "mine.txt").read_text() == "mine"
        await pilot.press("escape")
        assert view.focused is text
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen, "the chat")
    assert server.bodies == []


def name_it(view: WireView, name: str) -> None:
    view.query_one(SaveLine).query_one(Input).value = name


async def save(pilot: Pilot[None], view: WireView, key: str, name: str) -> None:
    await pilot.press(key)
    name_it(view, name)
    await pilot.press("enter")
    await until(pilot, lambda: not view.query_one(SaveLine).display, f"{name}")


async def test_the_request_that_was_sent_is_shown_as_it_left(backend, server):
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        await pilot.press("enter")
        await until(pilot, lambda: server.bodies, "the request")
        await idle(pilot)
        await pilot.pause()
        turns = screen.session.memory.turns
        screen.previews.sent, screen.previews.sent_for = (
            sent_window(screen.session, turns[-2]),
            turns[-2],
        )
        screen.previews.window = screen.previews.sent
        view = await opened(pilot)
        assert view.copyable().encode() == server.bodies[-1]
        assert told(view).startswith("As sent: ")
        assert told(view).endswith("✓")
        kinds = {row.kind for row in view.query_one(WireText).rows}
        assert {Kind.SYSTEM, Kind.RETRIEVED, Kind.DRAFT, None} <= kinds


async def test_the_reader_is_given_messages_and_nothing_to_show_says_why(backend):
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        view = await opened(pilot)
        assert told(view).startswith("Nothing leaves this machine")
        assert '"role": "system"' in view.copyable()
        await pilot.press("c")
        assert not view.query_one(SaveLine).display
        await pilot.press("escape")
        screen.previews.window = None
        view = await opened(pilot)
        assert '"role": "system"' in view.copyable()
        await pilot.press("escape")
        screen.previews.window = None
        screen.session.take_budget(Budget(2_000, 1_999))
        view = await opened(pilot)
        assert "more than the budget of 1" in str(view.query_one("#view-nothing").render())
        assert view.copyable() == ""
        await pilot.press("s", "k", "p", "n")
        assert not view.query_one(SaveLine).display
