"""Pictures of the views of a reply: the turn that it lacked, the cases, what mattered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.providers.catalogue.table import Prices
from jitchat.providers.reader import ReaderProvider
from jitchat.session_options import SessionOptions
from jitchat.store.regression_cases import Case, CaseKind, Cases
from jitchat.tui.views.leave_one_out import LeaveOneOutView
from jitchat.tui.views.missing_turn import MissingTurnView
from jitchat.tui.views.regression_cases import RegressionCasesView
from tests.tui.support import SMALL, TestBackend, chat, demo_app
from tests.tui.views.test_missing_turn import QUESTION, opened, sent, settled

if TYPE_CHECKING:
    from tests.tui.conftest import Picture


async def test_reply(picture: Picture, backend: TestBackend) -> None:
    backend.provider = ReaderProvider(lambda messages, _, text: (1_000, 20))
    backend.options = SessionOptions(budget=SMALL, prices=Prices(0.0, 0.0))
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        await sent(pilot, QUESTION)
        await opened(pilot, "alt+m", LeaveOneOutView)
        await settled(pilot)
        await picture(pilot, "mattered", "wide", "small")
        await pilot.press("escape")
        await opened(pilot, "alt+w", MissingTurnView)
        await pilot.press(*"#20", "enter")
        await settled(pilot)
        await pilot.press(*["backspace"] * 3, "down")
        await settled(pilot)
        await picture(pilot, "miss", "wide", "small")
        await pilot.press("escape")
        session = chat(pilot).session
        assert session is not None
        turns, store = session.memory.turns, session.memory.store
        for noted in Cases(store.database).of():
            Cases(store.database).remove(noted)
        for wanted, kind in ((9, CaseKind.KEPT), (20, CaseKind.MISS)):
            Cases(store.database).put(Case(turns[60], turns[wanted - 1], kind, 1, store.now()))
        await opened(pilot, ("ctrl+o", "k"), RegressionCasesView)
        await pilot.press("end")
        await picture(pilot, "cases", "wide", "small")
