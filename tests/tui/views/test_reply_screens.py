"""Pictures of the views of a reply: the turn that it lacked, the cases, what mattered."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from jitchat.memory.cold.cases import Case, CaseKind, Cases
from jitchat.providers.reader.reader import ReaderProvider
from jitchat.tui.views.cases import CasesView
from jitchat.tui.views.mattered import MatteredView
from jitchat.tui.views.miss import MissView
from jitchat.tui.widgets.prompt import Prompt
from tests.tui.support import TestBackend, chat, demo_app
from tests.tui.views.test_miss import QUESTION, opened, sent, settled


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Prompt, "cursor_blink", False)


async def noted(pilot: Pilot[None]) -> None:
    await sent(pilot, QUESTION)
    await opened(pilot, "alt+w", MissView)
    await pilot.press(*"#20", "enter")
    await settled(pilot)
    await pilot.press(*["backspace"] * 3, "down")
    await settled(pilot)


async def tried(pilot: Pilot[None]) -> None:
    await sent(pilot, QUESTION)
    session = chat(pilot).session
    assert session is not None
    turns, store = session.memory.turns, session.memory.store
    for wanted, kind in ((9, CaseKind.KEPT), (20, CaseKind.MISS)):
        Cases(store.database).put(Case(turns[60], turns[wanted - 1], kind, 1, store.now()))
    await opened(pilot, "alt+k", CasesView)
    await pilot.press("end")


async def without_each(pilot: Pilot[None]) -> None:
    await sent(pilot, QUESTION)
    await opened(pilot, "alt+m", MatteredView)
    await settled(pilot)


@pytest.mark.parametrize("size", [(80, 24), (160, 48)], ids=["small", "wide"])
@pytest.mark.parametrize("run", [noted, tried, without_each])
def test_reply(
    snap_compare: Callable[..., bool], backend: TestBackend, size: tuple[int, int], run: object
) -> None:
    if run is without_each:
        backend.provider = ReaderProvider(lambda messages, text: (1_000, 20))
    assert snap_compare(demo_app(backend), terminal_size=size, run_before=run)
