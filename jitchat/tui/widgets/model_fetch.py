"""The download of a better embedding model: visible while it runs, and stopped by its key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import work
from textual.content import Content
from textual.message import Message
from textual.widgets import Static
from textual.worker import Worker

if TYPE_CHECKING:
    from jitchat.tui.backend import Backend

_MEGABYTE = 1 << 20
_AHEAD = 2
"""Blank cells ahead of it."""


class ModelFetch(Static):
    """Says how far the download is; takes no room when there is none."""

    @dataclass
    class Ended(Message):
        fetched: bool
        """Whether the model is here."""
        sentence: str
        asked: bool
        """Whether the user asked for it, rather than the settings."""

    class Moved(Message):
        """It takes another room than before."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(id="model-fetch")
        self._backend = backend
        self._worker: Worker[None] | None = None
        self._is_brief = False
        self._received = 0
        self.display = False
        self.cells = 0
        """What it takes of the line, with the blanks ahead of it."""

    def be_brief(self, *, brief: bool) -> None:
        """Use fewer words, where there is little room."""
        if brief is not self._is_brief:
            self._is_brief = brief
            self._show(self._received)

    def start(self, *, asked: bool = False) -> None:
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
        return self._worker is not None

    @work(group="fetch")
    async def _fetch(self, asked: bool) -> None:
        fetched, sentence = False, "The download of the embedding model was stopped."
        try:
            fetched, sentence = await self._backend.fetch_model(self._show)
        finally:
            self._worker = None
            self.display = False
            self._show(0)
            self.post_message(self.Ended(fetched, sentence, asked))

    def _show(self, received: int) -> None:
        self._received = received
        size = f"{received / _MEGABYTE:.0f} MB"
        brief, whole = f"fetching {size} · F5", f"fetching model, {size} · F5 stops"
        content = Content(brief if self._is_brief else whole)
        self.update(content)
        cells = content.cell_length + _AHEAD if self.display else 0
        if cells != self.cells:
            self.cells = cells
            self.post_message(self.Moved())
