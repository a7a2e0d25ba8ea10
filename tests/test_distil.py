"""Ahead of a measurement everything is distilled that a mode sends, and nothing for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.distil import distil
from jitchat.values import Mode
from jitchat.window.tokens import EstimateCounter
from tests.support import demo_session

if TYPE_CHECKING:
    from jitchat.statements import Distilled
    from jitchat.store.store import ColdStore

COUNTER = EstimateCounter()


async def distilled(store: ColdStore, mode: Mode) -> Distilled:
    memory = demo_session(store).memory
    await distil(memory, mode, COUNTER, 32_768)
    return memory.distilled(61)


@pytest.mark.parametrize("mode", [mode for mode in Mode if not mode.distils])
async def test_a_mode_that_sends_turns_has_nothing_distilled(store: ColdStore, mode: Mode) -> None:
    found = await distilled(store, mode)
    assert (found.observations.lines, found.document.lines, found.in_document) == ((), (), 0)


async def test_for_observe_every_turn_but_the_last_exchange_is_observed(store: ColdStore) -> None:
    found = await distilled(store, Mode.OBSERVE)
    assert found.observations.through == 58
    assert any("02:00" in line.text for line in found.observations.lines)
    assert found.in_document == 0


async def test_for_document_every_turn_is_in_the_document(store: ColdStore) -> None:
    found = await distilled(store, Mode.DOCUMENT)
    assert found.in_document == 60
    assert any("02:00" in line.text for line in found.document.lines)
    assert found.observations.lines == ()


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.DOCUMENT])
async def test_what_is_distilled_already_stays_as_it_is(store: ColdStore, mode: Mode) -> None:
    memory = demo_session(store).memory
    await distil(memory, mode, COUNTER, 32_768)
    once = memory.distilled(61)
    await distil(memory, mode, COUNTER, 32_768)
    assert memory.distilled(61) == once
