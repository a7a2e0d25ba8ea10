"""The download of a better embedding model: visible while it runs, and stopped by its key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import work
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from jitchat.tui.backend import Backend

if TYPE_CHECKING:
    from textual.worker import Worker

_MEGABYTE = 1 << 20


class ModelFetch(Static):
    """Says how far the download is; takes no room when there is none."""

    @dataclass
    class Ended(Message):
        """The download is over: whether the model is here, and what to tell about it."""

        fetched: bool
        sentence: str
        asked: bool
        """Whether the user asked for it, rather than the settings."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(id="model-fetch")
        self._backend = backend
        self._worker: Worker[None] | None = None
        self.display = False

    def start(self, *, asked: bool = False) -> None:
        """Begin, unless it runs already."""
        if self._worker is None:
            self.display = True
            self._show(0)
            self._worker = self._fetch(asked)

    def stop(self) -> None:
        """End it; what was fetched so far is kept for the next time."""
        if self._worker is not None:
            self._worker.cancel()

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._worker is not None

    @work(group="fetch")
    async def _fetch(self, asked: bool) -> None:
        fetched, sentence = False, "The download of the embedding model was stopped."
        try:
            fetched, sentence = await self._backend.fetch_model(self._show)
        finally:
            self._worker = None
            self.display = False
            self.post_message(self.Ended(fetched, sentence, asked))

    def _show(self, received: int) -> None:
        self.update(Content(f"fetching model, {received / _MEGABYTE:.0f} MB · F5 stops"))
