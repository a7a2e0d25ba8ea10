"""How long a prompt cache lives, as far as it is known."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jitchat.providers.catalogue.table import cache_life


@pytest.mark.parametrize("model", ["claude-fable-5", "anthropic/Claude-Sonnet-5", "claude"])
def test_a_claude_forgets_after_five_minutes_wherever_it_is_hosted(model):
    assert cache_life(model) == timedelta(minutes=5)


@pytest.mark.parametrize("model", ["gpt-5-mini", "reader", ""])
def test_of_other_models_it_is_not_known(model):
    assert cache_life(model) is None
