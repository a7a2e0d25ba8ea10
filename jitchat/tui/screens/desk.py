"""The desk: a transcript, a prompt, and the window that would be sent, on every surface.

Workers talk to the session and post messages; the handlers own what is on screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.store.pins import Drafts
from jitchat.tui.commands import addressed_in, message_in
from jitchat.tui.draft_keeper import DraftKeeper
from jitchat.tui.figures import indexing_sentence, send_sentences
from jitchat.tui.notices import notify_error
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.model_fetch import ModelFetch
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.top_line import Answering, TopLine
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import Mode, Turn, Usage
from jitchat.window.savings import window_cost
from jitchat.window.steering import NO_MORE
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.index.indexer import Progress
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

WIDE = 110
"""Columns from which the inspector stands beside the transcript."""
TALL = 30
"""Rows from which it begins open where it stands below."""


class DeskScreen(Screen[None]):
    """Transcript, inspector, budget bar and prompt over one session."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  Textual's own shape

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self.backend = backend
        self._prompt = Prompt()
        self.keeper = DraftKeeper(
            Drafts(backend.store.database), self.to_keep, backend.settings.secrets
        )
        self.mode = Mode(backend.settings.chat.mode)
        self.session: Session | None = None
        self.sent: ContextWindow | None = None
        """The window that was sent, while it is what the screen shows."""
        self.sent_for: Turn | None = None
        """The user's turn that it was sent for, or the last one that was."""
        self.window: ContextWindow | None = None
        """The window on screen, sent or not; None while it cannot be planned."""
        self.once = NO_MORE
        """What holds for the draft alone."""
        self.once_mode: Mode | None = None
        """The mode for the next message alone; None for the usual one."""
        self.indexed = False
        """Whether every turn has its place in the hot index."""
        self.progress: Progress | None = None
        """How far that is, while turns are being indexed."""

    @property
    def draft(self) -> str:
        """What would be sent: what is in the prompt, without a mode ahead; empty for a command."""
        return addressed_in(message_in(self.query_one(Prompt).draft)).text

    def to_keep(self) -> str:
        """What was typed and not sent."""
        return "\n".join(filter(None, (*self._prompt.submitted, self._prompt.draft)))

    @property
    def next_mode(self) -> Mode:
        """The mode that it would be sent in."""
        return addressed_in(self.query_one(Prompt).draft).mode or self.once_mode or self.mode

    @property
    def busy(self) -> bool:
        """Whether a reply is on its way."""
        return False

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        # Textual sets this class on the first resize, and styles every widget once more for it.
        width = self.app.size.width
        self.set_class(width >= WIDE, "-wide", update=False)
        self.set_class(width < WIDE, "-narrow", update=False)
        yield TopLine(ModelFetch(self.backend))
        with Container(id="panes"):
            yield Transcript()
            yield Inspector(in_chat=True)
        yield BudgetBar()
        yield self._prompt
        yield HintLine()

    def set_out(self) -> None:
        """As the settings have it; in a small terminal the inspector waits to be opened."""
        self.show_mode()
        is_small = self.has_class("-narrow") and self.app.size.height < TALL
        is_shown = self.backend.settings.screen.inspector and not is_small
        self.query_one(Inspector).set_class(not is_shown, "-hidden")
        self.query_one(Prompt).focus()

    def show_mode(self) -> None:
        """Which mode comes next, and whether for one message only."""
        addressed = addressed_in(self.query_one(Prompt).draft).mode or self.once_mode
        self.query_one(TopLine).show_mode(addressed or self.mode, once=addressed is not None)

    def show_status(self) -> None:
        """Who answers, and what embeds and counts; before it what is not yet as it should be."""
        if self.session is not None:
            self.show_state(self._index_state(self.session), self.session)

    def show_state(self, state: str, session: Session) -> None:
        """What goes on, ahead of who answers."""
        provider, counter = session.provider, session.counter
        model = "" if provider.model == provider.name else provider.model
        sign = "" if counter.exact else "~"
        embedder = session.memory.embedder.id
        who = Answering(provider.name, model, embedder, f"{sign}{counter.name}")
        self.query_one(TopLine).show_status(state, who)

    def _index_state(self, session: Session) -> str:
        """What the hot index lacks; mostly nothing."""
        if self.progress is not None:
            return indexing_sentence(self.progress)
        return "vectors missing" if session.memory.lacks_vectors else ""

    def attend(self) -> None:
        """The user types, or reads what comes: work behind the screen steps back."""
        if self.session is not None:
            self.session.memory.pace.attend()

    def show_holds(self) -> None:
        """What the user decided about turns, in the transcript."""
        if self.session is not None:
            self.query_one(Transcript).hold(self.session.steering)

    def show_refusal(self, error: JitchatError) -> None:
        """Say on every surface why there is no window."""
        self.show_nothing(error.what)
        if isinstance(error, WindowOverflow):
            self.query_one(BudgetBar).refusal = error
        self.query_one(Inspector).refuse(error)

    def show_nothing(self, hint: str = "") -> None:
        """No window: no surface keeps the figures of another one."""
        bar = self.query_one(BudgetBar)
        bar.window = bar.refusal = None
        self.query_one(Inspector).clear()
        self.query_one(HintLine).show_cost(hint)
        self.query_one(Transcript).mark({})

    def show_window(self, window: ContextWindow, *, sent: bool, usage: Usage | None = None) -> None:
        """One window on every surface, with what was reported for it."""
        self.window = window
        self.query_one(BudgetBar).refusal = None
        self.query_one(BudgetBar).window = window
        self.query_one(Inspector).show(window, sent=sent, usage=usage)
        self.query_one(HintLine).show_cost(*send_sentences(window, self._cost_of(window)))
        self.query_one(Transcript).mark(window.kind_of_turns())

    def _cost_of(self, window: ContextWindow) -> str:
        """Tell what sending costs; nothing is said where nothing is charged."""
        prices = self.session.options.prices if self.session is not None else None
        if prices is not None and prices.is_free:
            return ""
        return window_cost(window, prices.of_input if prices is not None else _unknown)

    def tell(self, error: JitchatError) -> None:
        """Show an error of ours."""
        notify_error(self, error)


def _unknown(_: int) -> None:
    """The price of a model of which nobody knows one."""
