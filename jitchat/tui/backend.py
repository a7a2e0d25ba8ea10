"""What the app needs from whoever starts it: it builds nothing below itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the first frame does not wait for the session's imports
    from jitchat.memory.embedder import Embedder
    from jitchat.memory.store import ColdStore
    from jitchat.session import Session
    from jitchat.settings import Settings
    from jitchat.turn import Conversation


class Backend(Protocol):
    """Made by the composition root. What is marked slow is called from a thread."""

    settings: Settings
    store: ColdStore
    crash: Path
    """Where the report of a defect goes."""
    warning: str
    """What the user should know of the settings, once a session is open; mostly empty."""

    def open_session(self, conversation: Conversation) -> Session:
        """Slow: loads the embedder and the vocabulary the first time.

        Raises:
            JitchatError: What the settings ask for cannot be had.
        """

    @property
    def may_fetch_model(self) -> bool:
        """Whether a better embedder is missing, and allowed to be fetched."""

    async def fetch_model(self, on_progress: Callable[[int], None]) -> tuple[bool, str]:
        """Download the embedding model, telling the bytes so far; cancelling stops it.

        Returns whether it is here now, and that in a sentence.
        """

    def better_embedder(self) -> Embedder | None:
        """Slow: the embedder that was downloaded, if it is here now."""

    def hint(self) -> str:
        """How to add a real model, in a few words."""
