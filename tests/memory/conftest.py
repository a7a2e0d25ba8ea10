"""A short talk that is stored and indexed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.memory import Memory
from tests.memory.support import TALK, index
from tests.support import conversation_of, talk

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore


@pytest.fixture
def memory(store: ColdStore) -> Memory:
    made = Memory(store, conversation_of(store, talk(*TALK)))
    index(made)
    return made
