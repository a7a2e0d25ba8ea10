"""The chat's controllers on a small conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support import TALK, conversation_of, talk
from tests.tui.chat.stage import Stage

if TYPE_CHECKING:
    from tests.tui.support import TestBackend


@pytest.fixture
async def stage(backend: TestBackend) -> Stage:
    """A chat on four turns of talk, about a port and a logo."""
    return await Stage(backend, conversation_of(backend.store, talk(*TALK))).open()
