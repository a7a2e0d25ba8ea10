"""A conversation on the desk: opened, indexed, and with the window that would be sent.

Workers talk to the session and post messages; the handlers own what is on screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen
from textual.worker import get_current_worker

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.text.safe import repaired
from jitchat.tui import collector
from jitchat.tui.backend import Backend
from jitchat.tui.figures import send_sentence
from jitchat.tui.messages import BacklogMoved, PreviewReady, SessionReady, SessionRefused
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.model_fetch import ModelFetch
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.top_line import TopLine
from jitchat.tui.widgets.transcript import Transcript
from jitchat.turn import Conversation, Mode, Role, Status, Turn
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from textual.timer import Timer

    from jitchat.memory.embedder import Embedder
    from jitchat.session import Session

WIDE = 110
"""Columns from which the inspector stands beside the transcript."""
SHOWN_FIRST = 40
"""Turns that are read before the whole conversation is."""
PREVIEW_AFTER = 0.08
"""Seconds of silence after a key until the next window is planned anew."""
READER_PLACEHOLDER = "Ask about what was said. reader is no language model: F1 says how to add one"


class DeskScreen(Screen[None]):
    """Transcript, inspector, budget bar and prompt over one session."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  Textual's own shape

    def __init__(self, backend: Backend, conversation: Conversation) -> None:
        super().__init__()
        self.backend = backend
        self.conversation = conversation
        self.mode = Mode(backend.settings.chat.mode)
        self.session: Session | None = None
        self.sent: ContextWindow | None = None
        """The window that was sent, while it is what the screen shows."""
        self.window: ContextWindow | None = None
        """The window on screen, sent or not; None while it cannot be planned."""
        self.planned = 0
        """How many plans were shown or refused."""
        self.indexed = False
        """Whether every turn has its place in the hot index."""
        self._serial = 0
        self._timer: Timer | None = None
        self._jump: int | None = None

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
            yield Inspector()
        yield BudgetBar()
        yield Prompt()
        yield HintLine()

    async def on_mount(self) -> None:
        """Show what can be shown at once; the rest is loaded behind the first frame."""
        self.query_one(TopLine).show_mode(self.mode)
        self.query_one(Inspector).set_class(not self.backend.settings.screen.inspector, "-hidden")
        self.query_one(Prompt).focus()
        await self.open(self.conversation)

    async def open(self, conversation: Conversation, at: int | None = None) -> None:
        """Another conversation, at its end or at one of its turns."""
        self.conversation, self._jump = conversation, at
        self.session = self.sent = self.window = None
        self.indexed = False
        collector.release()
        store = self.backend.store
        turns = store.turns(conversation.id, after=max(0, conversation.turns - SHOWN_FIRST))
        await self.query_one(Transcript).show(turns)
        self.query_one(TopLine).show_title(conversation.title, conversation.turns)
        self.query_one(TopLine).show_status("opening…")
        self.query_one(Prompt).use_history(store.said(Role.USER, 100))
        self.call_after_refresh(self._load, conversation)

    @work(thread=True, exclusive=True, group="load")
    def _load(self, conversation: Conversation) -> None:
        try:
            session = self.backend.open_session(conversation)
        except JitchatError as error:
            self.post_message(SessionRefused(error))
            return
        if not get_current_worker().is_cancelled:
            self.post_message(SessionReady(session))

    @on(SessionReady)
    async def _ready(self, message: SessionReady) -> None:
        """The conversation can be talked to."""
        self.session = message.session
        turns = message.session.memory.turns
        transcript = self.query_one(Transcript)
        if self._jump is not None:
            await transcript.show(turns, self._jump)
        else:
            transcript.know(turns)
        self.show_status()
        self._return_unanswered(turns)
        self.plan_now()
        self._catch_up(message.session, None)
        if self.backend.may_fetch_model:
            self.query_one(ModelFetch).start()

    @on(SessionRefused)
    def _refused(self, message: SessionRefused) -> None:
        """It cannot; the conversation can still be read."""
        collector.settle()
        self.query_one(TopLine).show_status("cannot send")
        self.tell(message.error)

    def _return_unanswered(self, turns: list[Turn]) -> None:
        """A message whose request died with the app goes back into the prompt."""
        prompt = self.query_one(Prompt)
        if turns and turns[-1].status is Status.UNANSWERED and not prompt.text:
            prompt.give_back(turns[-1].content)

    @work(thread=True, exclusive=True, group="backlog")
    def _catch_up(self, session: Session, embedder: Embedder | None) -> None:
        worker, indexed = get_current_worker(), 0
        error: JitchatError | None = None
        try:
            for entries in session.memory.catch_up(embedder):
                if worker.is_cancelled:
                    return
                indexed += len(entries)
                self.post_message(BacklogMoved(indexed, finished=False))
            error = session.memory.failure
        except JitchatError as refused:
            error = refused
        self.post_message(BacklogMoved(indexed, finished=True, error=error))

    @on(BacklogMoved)
    def _backlog_moved(self, message: BacklogMoved) -> None:
        """Indexing goes on behind; the window follows when it is done."""
        self.indexed = message.finished
        if not message.finished:
            self.query_one(TopLine).show_status(f"indexing… {message.indexed:,} turns done")
            return
        collector.settle()
        self.show_status()
        if message.error is not None:
            self.tell(message.error)
        if message.indexed:
            self.plan_now()

    @on(ModelFetch.Ended)
    def _fetch_ended(self, message: ModelFetch.Ended) -> None:
        """A model that came is used as soon as every turn has its vector."""
        if message.asked or message.fetched:
            self.notify(message.sentence, markup=False)
        if message.fetched and self.session is not None:
            self._change_embedder(self.session)

    @work(thread=True, group="embedder")
    def _change_embedder(self, session: Session) -> None:
        embedder = self.backend.better_embedder()
        if embedder is not None:
            self.app.call_from_thread(self._catch_up, session, embedder)

    def show_status(self) -> None:
        """Who answers, and what embeds and counts."""
        if self.session is not None:
            provider, counter = self.session.provider, self.session.counter
            model = "" if provider.model == provider.name else f" {provider.model}"
            sign = "" if counter.exact else "~"
            known = f"{provider.name}{model} · {self.session.memory.embedder.id}"
            self.query_one(TopLine).show_status(f"{known} · {sign}{counter.name}")
            if provider.name == "reader":
                self.query_one(Prompt).placeholder = READER_PLACEHOLDER

    @on(Prompt.Changed)
    def _draft_changed(self) -> None:
        self.attend()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(PREVIEW_AFTER, self.plan_now)

    def attend(self) -> None:
        """The user types, or reads what comes: work behind the screen steps back."""
        if self.session is not None:
            self.session.memory.pace.attend()

    def plan_now(self, *, afresh: bool = False) -> None:
        """Plan the window for what is in the prompt, off the event loop.

        An empty prompt leaves the window that was sent on screen, unless `afresh`.
        """
        draft = self.query_one(Prompt).draft
        if self.session is None or self.busy or (self.sent and not draft and not afresh):
            return
        self._serial += 1
        self._plan(self.session, draft, self.mode, self._serial)

    @work(thread=True, exclusive=True, group="plan")
    def _plan(self, session: Session, draft: str, mode: Mode, serial: int) -> None:
        outcome: ContextWindow | JitchatError
        try:
            outcome = session.preview(repaired(draft), mode)
        except JitchatError as error:
            outcome = error
        if not get_current_worker().is_cancelled:
            self.post_message(PreviewReady(serial, outcome))

    @on(PreviewReady)
    def _preview_ready(self, message: PreviewReady) -> None:
        """Show it, unless the draft has moved on."""
        if message.serial != self._serial or self.busy:
            return
        if self.window is None:
            collector.settle()
        self.sent = self.window = None
        self.planned = message.serial
        if isinstance(message.outcome, JitchatError):
            self._show_refusal(message.outcome)
        else:
            self.show_window(message.outcome, sent=False)

    def _show_refusal(self, error: JitchatError) -> None:
        """No window: no surface keeps the figures of another one."""
        bar = self.query_one(BudgetBar)
        bar.window, bar.refusal = None, error if isinstance(error, WindowOverflow) else None
        self.query_one(Inspector).refuse(error)
        self.query_one(HintLine).show_cost(error.what)
        self.query_one(Transcript).mark({})

    def show_window(self, window: ContextWindow, *, sent: bool) -> None:
        """One window on every surface."""
        self.window = window
        self.query_one(BudgetBar).refusal = None
        self.query_one(BudgetBar).window = window
        self.query_one(Inspector).show(window, sent=sent)
        self.query_one(HintLine).show_cost(send_sentence(window))
        self.query_one(Transcript).mark(window.kind_of_turns())

    def tell(self, error: JitchatError) -> None:
        """An error, as long as it takes to read it."""
        self.notify(str(error), severity="error", timeout=12, markup=False)
