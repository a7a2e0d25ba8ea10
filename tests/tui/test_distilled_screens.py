"""Pictures of a distilling mode: before anything is distilled, and with observations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.statements import Observation, Priority, Source
from jitchat.tui.widgets.inspector import Inspector
from jitchat.values import Mode
from jitchat.window import reasons
from jitchat.window.budget import Budget
from tests.support import observe
from tests.tui.drawn import blocks, part
from tests.tui.support import TestBackend, demo_app, ready, type_text, until
from tests.tui.test_screens import QUESTION

if TYPE_CHECKING:
    from tests.tui.conftest import Picture

LINES = (
    Observation("The deploy window is Tuesday 02:00 UTC.", Source(6, 9), Priority.HIGH),
    Observation("The cake for the launch has no nuts in it.", Source(23, 24), Priority.LOW),
)


async def test_what_stands_for_turns_is_seen_in_bar_inspector_and_conversation(
    picture: Picture, backend: TestBackend
) -> None:
    async with demo_app(backend).run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        screen.session.take_budget(Budget(size=1_500))  # type: ignore[union-attr]
        screen.choices.use_mode("observe")
        await type_text(pilot, QUESTION)
        note = screen.query_one("#inspector-note")
        await until(pilot, lambda: reasons.NOTHING_DISTILLED in str(note.render()), "the note")
        observe(screen.session.memory, 56, *LINES)  # type: ignore[union-attr]
        await type_text(pilot, " And the cake?")
        inspector = screen.query_one(Inspector)
        await until(pilot, lambda: inspector.point_at("observations"), "the observations")
        assert reasons.NOTHING_DISTILLED not in str(note.render())
        assert screen.previews.window is not None
        assert screen.previews.window.mode is Mode.OBSERVE
        headers = [part(each, "header") for each in blocks(screen)]
        assert any("#56" in each and each.endswith("· observed") for each in headers)
        assert any("#60" in each and each.endswith("· recent") for each in headers)
        await picture(pilot, "observed", "wide", "small")
