"""Pictures of the ledger view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Static

from tests.tui.support import TestBackend, demo_app, ready, type_text
from tests.tui.views.test_ledger import QUESTION, opened, settled

if TYPE_CHECKING:
    from tests.tui.conftest import Picture


async def test_parts_that_no_score_has_give_their_column_to_the_reasons(
    picture: Picture, backend: TestBackend
) -> None:
    async with demo_app(backend).run_test(size=(160, 48)) as pilot:
        await ready(pilot)
        await type_text(pilot, QUESTION)
        view, table = await opened(pilot)
        best = str(table.list.options[0].prompt)
        assert best.endswith("best lexical match on “deploy, window”")
        head = str(view.query_one(".turn-table-header", Static).content)
        assert " le co ne " in head
        assert " da " not in head, "no score has a date"
        assert head.index("verdict") == best.index("retrieved")
        await picture(pilot, "draft", "wide", "small")
        await pilot.press("slash", *"#20", "enter")
        await settled(pilot)
        await picture(pilot, "why-not")
