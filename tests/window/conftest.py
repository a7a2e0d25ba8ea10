"""The real vocabulary, once a run."""

from __future__ import annotations

import os

import pytest

from jitchat.window.tokens import TokenCounter, counter_for
from tests.support import SHARED


@pytest.fixture(scope="session")
def o200k() -> TokenCounter:
    """o200k_base, where its vocabulary is on this machine."""
    folder = SHARED / "tiktoken"
    if not folder.is_dir():
        pytest.skip("needs tiktoken's vocabularies in ../shared/tiktoken")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        counter = counter_for("gpt-4o", os.environ)
    assert counter.exact
    return counter
