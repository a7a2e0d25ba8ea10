"""Pictures of the ledger view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tui.support import TestBackend, demo_app, ready, type_text
from tests.tui.views.test_ledger import QUESTION, opened, settled

if TYPE_CHECKING:
    from tests.tui.conftest import Picture


@pytest.mark.parametrize("size", [(80, 24), (160, 48)], ids=["small", "wide"])
async def test_ledger(picture: Picture, backend: TestBackend, size: tuple[int, int]) -> None:
    async with demo_app(backend).run_test(size=size) as pilot:
        await ready(pilot)
        await type_text(pilot, QUESTION)
        await opened(pilot)
        await picture(pilot, "draft")
        if size == (80, 24):
            await pilot.press("slash", *"#20", "enter")
            await settled(pilot)
            await picture(pilot, "why-not")
