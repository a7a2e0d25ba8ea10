"""The history on screen: what was sent under what `full` would have been, and what that saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Static

from jitchat.session_options import SessionOptions
from jitchat.tui.views.history import NOTHING, HistoryView
from jitchat.tui.views.sent_windows import SentWindowsView
from jitchat.tui.views.view import GoTo
from jitchat.tui.widgets.transcript import Transcript
from tests.tui.support import SMALL, TestBackend, chat, demo_app, ready, until
from tests.tui.views.archived_sends import PRICES, send_all

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.tui.conftest import Picture


async def opened(pilot: Pilot[None]) -> HistoryView:
    await pilot.press("alt+h")
    view = pilot.app.screen
    assert isinstance(view, HistoryView)
    await until(
        pilot, lambda: view.history or view.query_one("#view-nothing").display, "the history"
    )
    await pilot.pause()
    return view


def shown(view: HistoryView, name: str) -> list[str]:
    return str(view.query_one(f"#history-{name}", Static).content).splitlines()


async def nothing_is_shown_and_no_key_fails(pilot: Pilot[None]) -> None:
    view = await opened(pilot)
    assert str(view.query_one("#view-nothing", Static).content) == NOTHING
    await pilot.press("down", "end", "enter", "g", "y", "pageup", "escape")


async def test_the_sends_are_gone_through_under_what_full_would_have_been(
    backend: TestBackend, picture: Picture
) -> None:
    backend.options = SessionOptions(budget=SMALL, prices=PRICES)
    app = demo_app(backend)
    async with app.run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        session = screen.session
        assert session
        await nothing_is_shown_and_no_key_fails(pilot)
        assert app.screen is screen

        count, before = send_all(session), list(session.memory.turns)
        view = await opened(pilot)
        assert view.focused is view.table.list
        assert shown(view, "saved")[0].startswith(f"{count} sends · ~")
        assert " sent · full would have been cheaper: ~$0.0" in shown(view, "saved")[1]
        assert shown(view, "legend")[0].startswith("█ system  ▓ pinned  ▚ recent")
        assert shown(view, "note")[0].startswith(f"send {count} of {count} · #59 · 2026-11-03 ")
        assert " = 32,768 limit · full would be ~" in shown(view, "note")[1]

        await pilot.press("down", "down", "down")
        await picture(pilot, "view", "small", "wide")
        await pilot.press("end")
        assert shown(view, "saved")[0].startswith(f"sends 1 to 1 of {count} · ~")
        assert shown(view, "note")[0].startswith(f"send 1 of {count} · #1 · ")
        await pilot.press("up")
        assert view.table.row is not None
        assert view.table.row.number == 2
        await pilot.press("y")
        copied = app.clipboard.splitlines()
        assert copied[0] == shown(view, "saved")[0]
        assert copied[-count].split()[:3] == ["1", "#1", "jit"]

        await pilot.press("enter")
        sends = app.screen
        assert isinstance(sends, SentWindowsView)
        await until(pilot, lambda: told(sends).startswith("send 2 of "), "its window")
        sends.dismiss(None)
        await until(pilot, lambda: app.screen is view, "the history again")
        await pilot.press("enter")
        app.screen.dismiss(GoTo(3))
        await until(pilot, lambda: chosen(pilot) == 3, "the turn")
        assert app.screen is screen
        await opened(pilot)
        await pilot.press("home", "g")
        await until(pilot, lambda: chosen(pilot) == 59, "the last turn")
        assert session.memory.turns == before


def told(view: SentWindowsView) -> str:
    return str(view.query_one("#send-summary", Static).content)


def chosen(pilot: Pilot[None]) -> int:
    turn = chat(pilot).query_one(Transcript).chosen
    return turn.position if turn is not None else 0
