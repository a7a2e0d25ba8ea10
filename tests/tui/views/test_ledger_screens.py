"""Pictures of the ledger view."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from jitchat.tui.widgets.prompt import Prompt
from tests.tui.support import TestBackend, demo_app, ready, type_text
from tests.tui.views.test_ledger import QUESTION, opened, settled


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Prompt, "cursor_blink", False)


async def opened_on_a_draft(pilot: Pilot[None]) -> None:
    await ready(pilot)
    await type_text(pilot, QUESTION)
    await opened(pilot)


async def asked_why_not(pilot: Pilot[None]) -> None:
    await opened_on_a_draft(pilot)
    await pilot.press("slash", *"#20", "enter")
    await settled(pilot)


@pytest.mark.parametrize(
    ("size", "run"),
    [((80, 24), opened_on_a_draft), ((160, 48), opened_on_a_draft), ((80, 24), asked_why_not)],
    ids=["small", "wide", "why-not"],
)
def test_ledger(
    snap_compare: Callable[..., bool], backend: TestBackend, size: tuple[int, int], run: object
) -> None:
    assert snap_compare(demo_app(backend), terminal_size=size, run_before=run)
