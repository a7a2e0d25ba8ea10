"""The widgets of the chat, and what is drawn on several of them at once: the window on screen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget
from textual.widgets import Static

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.tui.figures import indexing_sentence, send_sentences
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.model_fetch import ModelFetch
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.top_line import Answering, TopLine
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import Usage
from jitchat.window.cost import window_cost
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.index.indexer import Progress
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

TALL = 30
"""Rows from which the inspector begins open where it stands below the transcript."""


class Surfaces:
    """Where a window is shown: top line, transcript, inspector, budget bar and hint line."""

    def __init__(self, backend: Backend) -> None:
        self.model_fetch = ModelFetch(backend)
        self.top = TopLine(self.model_fetch)
        self.transcript = Transcript()
        self.inspector = Inspector(in_chat=True)
        self.bar = BudgetBar()
        self.offer = Static(id="offer")
        """What could answer in place of the reader."""
        self.prompt = Prompt()
        self.hint = HintLine()
        self.below: list[Widget] = []
        """What stands below the hint line, such as the bar of the tour."""

    def compose(self) -> ComposeResult:
        yield self.top
        with Container(id="panes"):
            yield self.transcript
            yield self.inspector
        yield self.bar
        yield self.offer
        yield self.prompt
        yield self.hint
        yield from self.below

    def set_out(self, *, inspector: bool, is_wide: bool, rows: int) -> None:
        """Open the inspector as the settings say; in a small terminal it waits to be opened."""
        is_shown = inspector and (is_wide or rows >= TALL)
        self.inspector.set_class(not is_shown, "-hidden")
        self.prompt.focus()

    def toggle_inspector(self) -> None:
        self.inspector.toggle_class("-hidden")
        if self.inspector.has_class("-hidden") and self.inspector.has_focus_within:
            self.prompt.focus()

    def show_status(self, session: Session, progress: Progress | None) -> None:
        """Show who answers and what embeds and counts, behind what the hot index lacks."""
        state = "vectors missing" if session.memory.index.lacks_vectors else ""
        self.show_state(indexing_sentence(progress) if progress is not None else state, session)

    def show_state(self, state: str, session: Session) -> None:
        """Show what goes on, ahead of who answers."""
        provider, counter = session.provider, session.counter
        model = "" if provider.model == provider.name else provider.model
        sign = "" if counter.exact else "~"
        embedder = session.memory.index.embedder.id
        who = Answering(provider.name, model, embedder, f"{sign}{counter.name}")
        self.top.show_status(state, who)

    def show_window(
        self, window: ContextWindow, session: Session | None, *, sent: bool, usage: Usage | None
    ) -> None:
        """Show one window everywhere, with what was reported for it."""
        self.bar.refusal = None
        self.bar.window = window
        self.inspector.show(window, sent=sent, usage=usage)
        self.hint.show_cost(*send_sentences(window, _price(window, session)))
        self.transcript.mark(window.kind_of_turns())

    def show_refusal(self, error: JitchatError) -> None:
        """Say everywhere why there is no window."""
        self.clear_window(error.what)
        if isinstance(error, WindowOverflow):
            self.bar.refusal = error
        self.inspector.refuse(error)

    def clear_window(self, hint: str = "") -> None:
        """Show no figures of any window."""
        self.bar.window = self.bar.refusal = None
        self.inspector.clear()
        self.hint.show_cost(hint)
        self.transcript.mark({})

    def show_working(self, working: bool) -> None:
        """Mark the window on screen as one that is about to be replaced."""
        self.bar.working = working
        self.inspector.show_working(working)
        self.hint.show_working(working)

    def show_faded(self, faded: bool) -> None:
        for surface in (self.bar, self.inspector, self.hint):
            surface.show_faded(faded)

    def prefix_hint(self, notes: Iterable[str]) -> None:
        """Put notes ahead of what sending costs."""
        for note in filter(None, notes):
            self.hint.show_cost(*(f"{note} · {sentence}" for sentence in self.hint.sentences))

    def show_inspector_at(self, kind: str) -> None:
        self.inspector.remove_class("-hidden")
        self.inspector.point_at(kind)


def _price(window: ContextWindow, session: Session | None) -> str:
    """Say what sending costs; nothing where nothing is charged."""
    prices = session.options.prices if session is not None else None
    if prices is None:
        return window_cost(window, lambda _: None)
    return "" if prices.is_free else window_cost(window, prices.of_input)
