"""While nothing comes, the last line says for how long, and what is short is said there."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from textual import constants

from jitchat.store import database
from jitchat.tui.app import JitchatApp
from jitchat.tui.dialogs.models import ModelsScreen
from jitchat.tui.widgets import hint_line
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.transcript import Transcript
from jitchat.window.window import Kind
from tests.support import ScriptedProvider
from tests.tui.support import TestBackend, chat, demo_app, idle, notices, ready, type_text, until

if TYPE_CHECKING:
    from textual.pilot import Pilot
    from textual.widget import Widget

    from jitchat.store.store import ColdStore


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that a wait believes have passed."""
    now = [100.0]
    monkeypatch.setattr(hint_line, "monotonic", lambda: now[0])
    return now


def shown(pilot: Pilot[None], name: str = "#cost") -> str:
    return str(chat(pilot).query_one(name).render()).strip()


async def sent(pilot: Pilot[None], provider: ScriptedProvider) -> HintLine:
    await ready(pilot)
    await type_text(pilot, "which port is it?")
    await pilot.press("enter")
    await until(pilot, lambda: provider.requests, "the request")
    await until(pilot, lambda: shown(pilot).startswith("waiting"), "the wait")
    return chat(pilot).query_one(HintLine)


async def test_the_wait_for_the_first_token_is_counted_until_it_comes(
    backend: TestBackend, moment: list[float]
) -> None:
    gate = asyncio.Event()
    provider = backend.provider = ScriptedProvider(script=(gate, "9464."))
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        hint = await sent(pilot, provider)
        assert shown(pilot).startswith("waiting for the first token · 0 s · in ~")
        moment[0] += 9.4
        hint._tick()
        assert shown(pilot).startswith("waiting for the first token · 9 s · in ~")
        assert shown(pilot, "#working") == ""
        assert "Esc  stop" in shown(pilot, "#keys") or "Esc stop" in shown(pilot, "#keys")
        gate.set()
        await idle(pilot)
        assert "waiting" not in shown(pilot)
        assert not hint._ticks.is_set


async def test_a_sign_moves_meanwhile_and_a_long_wait_says_that_a_local_server_may_load_its_model(
    backend: TestBackend, moment: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "TEXTUAL_ANIMATIONS", "full")
    provider = backend.provider = ScriptedProvider((asyncio.Event(),), "ollama", "qwen3:8b")
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        hint = await sent(pilot, provider)
        signs = set()
        for _ in range(len(hint_line.FRAMES)):
            moment[0] += 1 / hint_line.FRAMES_A_SECOND
            hint._tick()
            signs.add(shown(pilot, "#working"))
        assert signs == {*hint_line.FRAMES}
        assert "loading" not in shown(pilot)
        moment[0] = 142.5
        hint._tick()
        told = "waiting for the first token, the server may still be loading the model · 42 s"
        assert shown(pilot).startswith(told)
        await pilot.press("escape")
        await idle(pilot)
        await until(pilot, lambda: not shown(pilot, "#working"), "the end of the sign")


async def test_a_notice_stands_in_the_last_line_or_over_the_screen_where_it_leaves_figures_alone(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=(80, 24), notifications=True) as pilot:
        screen = await ready(pilot)
        before = shown(pilot)
        screen.notify("Prompt cleared. Ctrl+_ restores it.", markup=False)
        assert shown(pilot) == "Prompt cleared. Ctrl+_ restores it."
        assert not pilot.app._notifications
        assert "F1" in shown(pilot, "#keys")
        warning = "Your draft is kept in “Another conversation”: Ctrl+R leads back to it."
        screen.notify(warning, severity="warning", markup=False)
        assert shown(pilot) == warning, "in place of a notice before it, and of keys"
        assert shown(pilot, "#keys") == ""
        assert not pilot.app._notifications
        screen.notify("Copied.", markup=False)
        await until(pilot, lambda: "Copied." in notices(pilot), "over the screen")
        assert shown(pilot) == warning, "it is to be read"
        pilot.app.clear_notifications()
        chat(pilot).query_one(HintLine)._end_notice()
        assert shown(pilot) == before

        screen.notify("One that is long. " * 9, markup=False)
        await until(pilot, lambda: len(notices(pilot)) == 1, "it")
        screen.notify("Another that is long. " * 9, markup=False)
        await until(pilot, lambda: notices(pilot)[-1:] == ["Another that is long. " * 9], "it")
        assert len(notices(pilot)) == 1
        screen.notify("It failed.", severity="error", markup=False)
        await until(pilot, lambda: len(notices(pilot)) == 2, "the error over the screen, too")

        screen.query_one(Inspector).remove_class("-hidden")
        for size in ((80, 24), (160, 48)):
            pilot.app.clear_notifications()
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: not screen.query("Toast"), "no notice")
            await the_notice_leaves_figures_alone(pilot, size)


async def the_notice_leaves_figures_alone(pilot: Pilot[None], size: tuple[int, int]) -> None:
    """On the chat and on two views."""
    screen = chat(pilot)
    screen.notify("It failed, for a reason that takes a while to tell. " * 2, severity="error")
    await until(pilot, lambda: screen.query("Toast"), "the notice")
    await pilot.pause()
    (toast,) = screen.query("Toast")
    assert screen.size == size
    for each in ("#top-line", "#inspector", "BudgetBar", "#prompt", "#hint-line"):
        assert not toast.region.overlaps(screen.query_one(each).region), (each, size)
    for key in ("f4", "f7"):
        await pilot.press(key)
        view = pilot.app.screen
        await until(pilot, lambda view=view: view.query("Toast"), "the notice in the view")
        await pilot.pause()
        (toast,) = view.query("Toast")
        assert toast.region.y > size[1] // 2, (key, size)
        await pilot.press("escape")


async def test_what_could_answer_is_offered_until_something_is_typed_and_words_can_be_clicked(
    models: TestBackend,
) -> None:
    async with demo_app(models).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        line = screen.query_one("#offer")
        await until(pilot, lambda: "press Ctrl+L" in str(line.render()), "the offer")
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: line.size.width <= 80, "the new width")
        assert line.display
        assert line.size.height == 1
        assert "reader" in str(screen.query_one(Prompt).placeholder)
        screen.query_one(Prompt).insert("w")
        await until(pilot, lambda: not screen.query_one("#offer").display, "the line gone")
        screen.query_one(Prompt).clear()
        await pilot.resize_terminal(140, 40)
        await until(pilot, lambda: screen.query_one("#keys").size.width > 40, "the new width")
        await ready(pilot)
        assert not screen.query_one("#offer").display

        inspector, keys = screen.query_one(Inspector), str(screen.query_one("#keys").render())
        await pilot.click("#keys", offset=(keys.index("inspect") + 1, 0))
        await until(pilot, lambda: inspector.has_class("-hidden"), "the inspector shut")
        legend = screen.query_one(BudgetBar).render().plain.splitlines()[1]
        await pilot.click(BudgetBar, offset=(legend.index("recent") + 1, 1))
        await until(pilot, lambda: inspector.has_focus_within, "the inspector")
        assert screen.previews.window.kind_of_turns()[inspector.chosen] is Kind.RECENT
        await pilot.click("#status", offset=(3, 0))
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelsScreen), "the list")


@pytest.mark.parametrize(
    ("size", "is_open"), [((80, 24), False), ((80, 30), True), ((120, 24), True)]
)
async def test_in_few_rows_the_inspector_waits_to_be_opened(
    backend: TestBackend, store: ColdStore, size: tuple[int, int], is_open: bool
) -> None:
    app = JitchatApp(backend, store.create("New conversation"))
    async with app.run_test(size=size) as pilot:
        inspector = (await ready(pilot)).query_one(Inspector)
        assert inspector.display is is_open
        await pilot.press("f2")
        assert inspector.display is not is_open


def is_marked(pane: Widget) -> bool:
    if isinstance(pane, Transcript):
        return pane.render_line(0).text.startswith("▌")
    return pane.styles.border_left[0] == "outer"


async def test_the_pane_and_the_row_that_have_the_focus_are_marked_without_colours(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        for name in ("#prompt", "#transcript", "#inspector"):
            others = {"#prompt", "#transcript", "#inspector"} - {name}
            focused = screen.query_one(name)
            assert focused.has_focus_within
            assert is_marked(focused)
            assert not any(is_marked(screen.query_one(each)) for each in others)
            await pilot.press("f6")
        screen.query_one(Inspector).point_at("recent")
        await pilot.pause()
        rows = screen.query_one("#segments")
        drawn = [rows.render_line(y) for y in range(rows.size.height)]
        (here,) = [line for line in drawn if line.text.startswith("▸")]
        assert here.text.startswith("▸recent")
        assert any(part.style and part.style.reverse for part in here)


async def test_a_send_says_that_the_database_is_locked_and_ends_with_the_error(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAIT_SECONDS", 0.3)
    monkeypatch.setattr(database, "SAID_AFTER", 0.01)
    path = backend.store.database.path
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        async with demo_app(backend).run_test(size=(140, 40)) as pilot:
            await ready(pilot)
            await type_text(pilot, "which port is it?")
            other.execute("BEGIN IMMEDIATE")
            await pilot.press("enter")
            await until(pilot, lambda: database.LOCKED in notices(pilot), "the lock")
            await until(pilot, lambda: "locked by another" in str(notices(pilot)), "the error")
            await idle(pilot)
            assert not shown(pilot).startswith("retrieving")
            assert chat(pilot).surfaces.prompt.text == "which port is it?"
            other.execute("ROLLBACK")
