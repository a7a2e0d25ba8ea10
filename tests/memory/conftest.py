"""A short talk that is stored and indexed."""

from __future__ import annotations

import pytest

from jitchat.memory.cold.store import ColdStore
from jitchat.memory.memory import Memory
from tests.memory.support import TALK, index
from tests.support import conversation_of, talk


@pytest.fixture
def memory(store: ColdStore) -> Memory:
    made = Memory(store, conversation_of(store, talk(*TALK)))
    index(made)
    return made
