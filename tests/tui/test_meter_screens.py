"""Pictures of the meter's states; `pytest --snapshot-update` takes them anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.providers.catalogue.table import Prices
from jitchat.session_options import SessionOptions
from jitchat.store.models import ModelLessons
from jitchat.tui.widgets.prompt import Prompt
from jitchat.values import Usage
from jitchat.window.budget import Budget
from tests.tui.support import TestBackend, chat, demo_app, ready, type_text
from tests.tui.test_meter import QUESTION, ask, reporting
from tests.window.reports import Server

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore
    from tests.tui.conftest import Picture

SMALL, LARGE = (80, 24), (120, 36)
PRICES = Prices(0.25, 2.0, 0.025, source="table of 2026-11")


@pytest.fixture
def learnt(backend: TestBackend, store: ColdStore) -> TestBackend:
    """Ten replies taught how the provider counts."""
    model = ModelLessons(store.database, "http://localhost:9/v1", "scripted-1")
    for sample in Server().samples(10):
        model.add_sample("estimate", sample)
    reporting(backend, Usage(1_103, 210, 480, 0, 120), PRICES)
    backend.options = SessionOptions(budget=Budget(size=1_500), prices=PRICES, learnt=model)
    return backend


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
async def test_calibrated_before_and_reported_after_the_reply(
    picture: Picture, learnt: TestBackend, size: tuple[int, int]
) -> None:
    async with demo_app(learnt).run_test(size=size) as pilot:
        await ready(pilot)
        await type_text(pilot, QUESTION)
        await picture(pilot, "calibrated")
        chat(pilot).query_one(Prompt).clear()
        await ask(pilot)
        await picture(pilot, "reported")
