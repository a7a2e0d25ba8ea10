"""The memory document on screen: its lines and their turns, its versions, the user's changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.widgets import Input

from jitchat.store.documents import DocumentStore
from jitchat.synthesis.session_end import IDLE
from jitchat.tui.app import JitchatApp
from jitchat.tui.chat import ending
from jitchat.tui.dialogs.exact import ExactScreen
from jitchat.tui.views.document import NONE_YET, DocumentView
from jitchat.values import Mode
from tests.support import ScriptedProvider, conversation_of
from tests.tui.support import TestBackend, chat, demo_app, idle, notices, ready, type_text, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from jitchat.tui.chat.screen import ChatScreen

PORT = "The gateway's port is 8443."


def documents(backend: TestBackend) -> DocumentStore:
    return DocumentStore(backend.store.database, "default", backend.store.now)


async def say(pilot: Pilot[None], text: str) -> ChatScreen:
    screen = await ready(pilot)
    await type_text(pilot, text)
    await pilot.press("enter")
    await until(pilot, lambda: screen.previews.sent is not None and not screen.busy, "the reply")
    await idle(pilot)
    return screen


async def settled(pilot: Pilot[None]) -> DocumentView:
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
    view = pilot.app.screen
    assert isinstance(view, DocumentView)
    return view


async def opened(pilot: Pilot[None]) -> DocumentView:
    await pilot.press("ctrl+o", "d")
    await until(pilot, lambda: isinstance(pilot.app.screen, DocumentView), "the view")
    return await settled(pilot)


async def press(pilot: Pilot[None], *keys: str) -> DocumentView:
    await pilot.press(*keys)
    return await settled(pilot)


async def command(pilot: Pilot[None], text: str) -> None:
    chat(pilot).surfaces.prompt.insert(text)
    await pilot.pause()
    await pilot.press("enter")


async def end(pilot: Pilot[None]) -> None:
    await command(pilot, "/end")
    await until(pilot, lambda: any("ersion" in each for each in notices(pilot)), "the document")
    await pilot.pause()


def lines(view: DocumentView) -> list[str]:
    assert view.shown is not None
    return [f"{row.change}{row.line.text}" for row in view.shown.rows]


def place_of(view: DocumentView, text: str) -> int:
    """Where a line stands in the list, whatever its number is by now."""
    items = view.table._items
    return next(
        at for at, row in enumerate(items) if getattr(row, "line", None) and row.line.text == text
    )


async def test_end_writes_the_document_and_the_view_shows_edits_and_undoes_it(
    backend: TestBackend,
) -> None:
    backend.provider = ScriptedProvider(script=("The gateway uses port 8443.",))
    app = demo_app(backend)
    async with app.run_test(size=(160, 48)) as pilot:
        view = await opened_empty(pilot)
        await pilot.press("escape")
        screen = await say(pilot, PORT)
        screen.choices.use_mode(Mode.DOCUMENT)
        await end(pilot)
        assert "3 store operations" in notices(pilot)[-1]
        assert len(documents(backend).versions()) == 1

        view = await opened(pilot)
        assert PORT in lines(view)
        assert "version 1 of 1 · built in" in view.sum
        assert "3 store operations" in view.sum
        row = next(row for row in view.shown.rows if row.line.text == PORT)
        assert row.is_used
        assert view.table.rows

        view.table.list.highlighted = place_of(view, PORT)
        view = await press(pilot, "p")
        assert next(r for r in view.shown.rows if r.line.text == PORT).line.is_pinned
        view = await press(pilot, "e")
        field = view.query_one("#document-edit", Input)
        assert field.display
        assert field.value == PORT
        field.value = "The gateway's port is 9641."
        view = await press(pilot, "enter")
        assert "The gateway's port is 9641." in lines(view)
        assert not field.display
        assert "version 3 of 3 · you" in view.sum
        view = await press(pilot, "d")
        assert "−The gateway's port is 8443." in lines(view)
        assert "+The gateway's port is 9641." in lines(view)
        view = await press(pilot, "d", "left")
        assert "version 2 of 3" in view.sum
        await press(pilot, "x")
        assert any("Only the current version" in each for each in notices(pilot))
        view = await press(pilot, "right", "u")
        assert PORT in lines(view)
        assert "version 4 of 4 · undo" in view.sum

        view.table.list.highlighted = place_of(view, PORT)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is chat(pilot), "the chat")


async def opened_empty(pilot: Pilot[None]) -> DocumentView:
    await ready(pilot)
    view = await opened(pilot)
    assert str(view.query_one("#view-nothing").render()) == NONE_YET
    await pilot.press("left", "right", "enter", "e", "p", "x", "d", "y")
    return await settled(pilot)


async def test_leaving_a_conversation_writes_its_session_and_a_line_opens_its_turns(
    backend: TestBackend,
) -> None:
    app = demo_app(backend)
    async with app.run_test(size=(160, 48)) as pilot:
        await say(pilot, PORT)
        assert documents(backend).versions() == []
        await pilot.press("ctrl+n")
        await until(pilot, lambda: documents(backend).versions(), "the document")
        screen = await ready(pilot)
        assert screen.session is not None
        view = await opened(pilot)
        view.table.list.highlighted = place_of(view, PORT)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ExactScreen), "the turns")
        await pilot.press("escape", "escape")


async def test_closing_the_app_writes_the_session(backend: TestBackend, monkeypatch) -> None:
    monkeypatch.setattr(ending, "CLOSING_SECONDS", 60.0)
    async with demo_app(backend).run_test(size=(160, 48)) as pilot:
        await say(pilot, PORT)
    assert PORT in [line.text for line in documents(backend).latest().lines]


async def test_a_conversation_that_was_only_looked_at_is_in_no_document(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=(160, 48)) as pilot:
        await ready(pilot)
    assert documents(backend).versions() == []


async def test_twenty_idle_minutes_end_the_session(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(160, 48)) as pilot:
        screen = await say(pilot, PORT)
        screen.ending._look()
        assert documents(backend).versions() == []
        screen.ending._active_at -= IDLE.total_seconds()
        screen.ending._look()
        await until(pilot, lambda: documents(backend).versions(), "the document")


async def test_a_temporary_conversation_says_so(backend: TestBackend) -> None:
    made = replace(conversation_of(backend.store, []), is_temporary=True)
    backend.store.database.execute("UPDATE conversations SET temporary = 1")
    async with JitchatApp(backend, made).run_test(size=(160, 48)) as pilot:
        await until(pilot, lambda: chat(pilot).session is not None, "the session")
        await command(pilot, "/end")
        await until(pilot, lambda: any("emporary" in each for each in notices(pilot)), "the notice")
        view = await opened(pilot)
        assert "temporary" in str(view.query_one("#view-nothing").render())
