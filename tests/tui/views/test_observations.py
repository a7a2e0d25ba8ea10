"""Observations on screen: lines with their turns, what a pass dropped, undo, edit; consent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Input

from jitchat.observing import Consent
from jitchat.tui.views.observations import ObservationsView
from jitchat.values import Mode
from jitchat.window.budget import Budget
from jitchat.window.window import Kind
from tests.tui.support import demo_app, idle, notices, ready, type_text, until

if TYPE_CHECKING:
    from tests.tui.conftest import Picture
    from tests.tui.support import TestBackend

SIZE = (120, 36)


async def opened(pilot) -> ObservationsView:
    """The view on a conversation whose turns are observed."""
    screen = await ready(pilot)
    screen.session.take_budget(Budget(9_000, 2_048, 1_500))
    await pilot.press("ctrl+o", "o")
    await until(pilot, lambda: isinstance(pilot.app.screen, ObservationsView), "the view")
    view = pilot.app.screen
    await pilot.press("r")
    await until(pilot, lambda: len(view.table.rows) > 5, "the lines")
    await idle(pilot)
    return view


async def test_lines_are_listed_with_their_turns(backend: TestBackend, picture: Picture) -> None:
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        view = await opened(pilot)
        assert any("Tuesday 02:00 UTC" in row.text for row in view.table.rows)
        assert "tokens per request" in str(view._passes.content)
        await picture(pilot, "lines", "wide", "small")
        await pilot.press("d")
        await until(pilot, lambda: not view.table.rows[0].number, "what was dropped")
        await picture(pilot, "dropped", "wide")
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is not view, "the chat")


async def test_nothing_observed_says_how_it_comes_about(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await ready(pilot)
        await pilot.press("ctrl+o", "o")
        await until(pilot, lambda: isinstance(pilot.app.screen, ObservationsView), "the view")
        await idle(pilot)
        assert "Nothing is observed yet" in str(pilot.app.screen._nothing.content)


async def test_a_line_is_edited_and_taken_out_and_passes_are_undone(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        view = await opened(pilot)
        count = len(view.table.rows)
        await pilot.press("e")
        field = view.query_one("#observations-edit", Input)
        field.value = "Edited by me."
        await pilot.press("enter")
        await until(pilot, lambda: view.table.rows[0].text == "Edited by me.", "the edit")
        await pilot.press("delete")
        await until(pilot, lambda: len(view.table.rows) == count - 1, "one line less")
        await pilot.press("u", "u")
        await until(pilot, lambda: len(view.table.rows) == count, "all lines again")
        await pilot.press("x")
        await until(pilot, lambda: "Nothing is observed" in str(view._nothing.content), "nothing")


async def send(pilot, text: str) -> None:
    await type_text(pilot, text)
    await pilot.press("enter")


async def test_consent_is_asked_in_a_line_that_takes_nothing_typed(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        session = screen.session
        session.take_budget(Budget(9_000, 2_048, 1_500))
        session.observing.consent = Consent.ASK
        screen.choices.use_mode(Mode.OBSERVE.value)
        await send(pilot, "Hello there.")
        await until(pilot, lambda: screen.surfaces.approval.display, "the question")
        await pilot.press(*"jl")
        assert screen.surfaces.prompt.text == "jl"
        assert session.observing.passes() == []
        await pilot.press("alt+j")
        await until(pilot, lambda: bool(session.observing.passes()), "a pass")
        await idle(pilot)
        assert not screen.surfaces.approval.display
        assert any("by the extractor. /observations shows it" in each for each in notices(pilot))
        assert session.observing.consent is Consent.ASK
        bar = screen.surfaces.bar.window
        assert bar is not None
        assert bar.tokens_of(Kind.OBSERVATIONS)


async def test_declined_it_is_not_asked_again(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        session = screen.session
        session.take_budget(Budget(9_000, 2_048, 1_500))
        session.observing.consent = Consent.ASK
        screen.choices.use_mode(Mode.OBSERVE.value)
        await send(pilot, "Hello there.")
        await until(pilot, lambda: screen.surfaces.approval.display, "the question")
        await pilot.press("alt+n")
        assert not screen.surfaces.approval.display
        await send(pilot, "And again.")
        await idle(pilot)
        assert not screen.surfaces.approval.display
        assert session.observing.passes() == []
