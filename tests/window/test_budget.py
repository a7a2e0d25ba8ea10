"""What a window may spend."""

from __future__ import annotations

from dataclasses import fields, replace

from jitchat.window.budget import SHARES, Budget, Shares

ROOMY = Budget(limit=8_000, reserve=500, size=2_000)


def test_a_size_is_never_more_than_the_model_takes():
    assert ROOMY.most == 2_000
    assert ROOMY.of_size(9_999).most == ROOMY.budget == 7_500


def test_shares_leave_most_of_a_window_to_what_the_message_needs():
    shares = [getattr(SHARES, each.name) for each in fields(Shares)]
    assert sum(shares) - SHARES.distilled < 2 / 3, "in jit, there is no head"
    assert ROOMY.share(SHARES.standing) == 125


def test_what_is_recalled_leaves_room_for_what_follows():
    for size in (1_000, 4_000, 8_000, 16_000, 64_000):
        budget = Budget(limit=1_000_000, size=size)
        assert 0 < budget.recalled <= size / 2


def test_a_limit_that_was_learnt_keeps_the_size():
    assert ROOMY.limited(4_000, "learnt") == replace(ROOMY, limit=4_000, limit_source="learnt")
