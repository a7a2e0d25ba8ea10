"""What a window may spend."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitchat.window.budget import Budget

ROOMY = Budget(limit=8_000, reserve=500, recent=400, retrieved=200, index=60)


def test_a_budget_of_another_size_keeps_its_allowances():
    resized = ROOMY.of_size(1_234)
    assert resized.budget == 1_234
    assert replace(resized, limit=ROOMY.limit) == ROOMY


@pytest.mark.parametrize(
    ("whole", "allowed"), [(0, 650), (14_000, 650), (20_000, 920), (100_000, 1_536)]
)
def test_recalled_turns_get_a_share_of_a_short_conversation(whole: int, allowed: int):
    assert Budget().retrieved_of(whole) == allowed


def test_a_smaller_allowance_for_recalled_turns_is_kept_to():
    assert Budget(retrieved=300).retrieved_of(1_000_000) == 300
