"""The views are ready before the first one is opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.tui.chat import views
from jitchat.tui.views import view
from tests.tui.support import TestBackend, demo_app, until

if TYPE_CHECKING:
    import pytest


async def test_the_styles_of_all_views_are_read_behind_the_chat(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "PREPARE_AFTER", 0.001)
    monkeypatch.setattr(views, "PREPARE_EVERY", 0.001)
    files = {str(file) for file in Path(view.__file__).parent.glob("*.tcss")}
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        sheet = pilot.app.stylesheet
        await until(pilot, lambda: all(map(sheet.has_source, files)), "the styles of every view")
