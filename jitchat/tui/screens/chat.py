"""The chat: what the user sends, what comes back, and every action there is."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from textual import on, work
from textual.worker import get_current_worker

from jitchat.errors import JitchatError
from jitchat.events import ReplyDelta, SendFailed, TurnStored, UsageReported, WindowBuilt
from jitchat.text.safe import shortened
from jitchat.tui.backend import Backend
from jitchat.tui.figures import ledger_note, usage_sentence
from jitchat.tui.keys import bindings
from jitchat.tui.messages import SendEnded, SessionReady, SessionRefused, SessionReported
from jitchat.tui.screens.helped import HelpedScreen
from jitchat.tui.telling import telling
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.model_fetch import ModelFetch
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.top_line import ModeTab, TopLine
from jitchat.tui.widgets.transcript import Transcript
from jitchat.turn import Conversation, Mode, Role, Turn

if TYPE_CHECKING:
    from textual.worker import Worker

    from jitchat.events import Event
    from jitchat.session import Session

NEW_TITLE = "New conversation"
TITLE_WIDTH = 60


class ChatScreen(HelpedScreen):
    """Where people spend their time."""

    BINDINGS = bindings()

    def __init__(self, backend: Backend, conversation: Conversation) -> None:
        super().__init__(backend, conversation)
        self._waiting: str | None = None
        self._sending: Worker[None] | None = None
        self._said: Turn | None = None
        self._answered = False

    @property
    def busy(self) -> bool:
        """Whether a reply is on its way."""
        return self._sending is not None

    @on(Prompt.Submitted)
    def _submitted(self, message: Prompt.Submitted) -> None:
        if self.session is not None and not self.busy:
            self._start(self.session, message.text)
        elif self.session is None and self.refusal is None and self._waiting is None:
            self._waiting = message.text
            self.query_one(HintLine).show_cost("opening the conversation, then sending…")
        else:
            self.query_one(Prompt).give_back(message.text)
            self._say_why_not()

    def _say_why_not(self) -> None:
        if self.refusal is not None:
            self.tell(self.refusal)
        else:
            self._waits()

    @on(Prompt.Changed)
    def _key_drawn(self) -> None:
        if self.busy:
            self.call_after_refresh(self.query_one(Transcript).draw_behind_key)

    @on(SessionReady)
    def _send_waiting(self, message: SessionReady) -> None:
        if self._waiting is not None and message.opening == self.opening:
            draft, self._waiting = self._waiting, None
            self._start(message.session, draft)

    @on(SessionRefused)
    def _refused_to_wait(self, message: SessionRefused) -> None:
        if message.opening == self.opening:
            self._return_waiting()

    def _return_waiting(self) -> None:
        if self._waiting is not None:
            self.query_one(Prompt).give_back(self._waiting)
            self._waiting = None

    async def leave(self) -> None:
        """What waits to be sent is for the conversation that is left: back with it."""
        self._return_waiting()
        await super().leave()

    def _start(self, session: Session, draft: str) -> None:
        self.query_one(HintLine).show_keys(busy=True)
        self._said, self._answered = None, False
        self._sending = self._send(session, draft, self.mode)

    @work(group="send")
    async def _send(self, session: Session, draft: str, mode: Mode) -> None:
        worker, cancelled, error = get_current_worker(), True, None
        try:
            async with aclosing(session.send(draft, mode)) as events:
                async for event in events:
                    self.post_message(SessionReported(worker, event))
            cancelled = False
        except JitchatError as refused:
            error = refused
        finally:
            self.post_message(SendEnded(worker, session, draft, cancelled, error))

    @on(SessionReported)
    async def _reported(self, message: SessionReported) -> None:
        """Draw what happened; of a message that is over, only what went wrong with it."""
        self.attend()
        if message.worker is self._sending:
            await self._draw(message.event)
        elif isinstance(message.event, SendFailed):
            self.tell(message.event.error)

    async def _draw(self, event: Event) -> None:
        transcript, hint = self.query_one(Transcript), self.query_one(HintLine)
        match event:
            case TurnStored(turn) if turn.role is Role.USER:
                self._said = turn
                await transcript.put(turn)
                hint.show_cost("looking for what is needed…")
            case WindowBuilt(window, _):
                self.sent = window
                self.show_window(window, sent=True)
            case ReplyDelta(text):
                self._answered = True
                place = self._said.position + 1 if self._said else 0
                await transcript.stream(text, place, typing=self.query_one(Prompt).typing)
            case UsageReported(usage, _):
                hint.show_cost(usage_sentence(usage))
            case TurnStored(turn):
                await self._answer_stored(turn)
            case SendFailed(error, draft):
                self.tell(error)
                if not self._answered:
                    self.query_one(Prompt).give_back(draft)

    async def _answer_stored(self, turn: Turn) -> None:
        await self.query_one(Transcript).put(turn)
        if self.session is not None:
            await self.query_one(Transcript).take_in(self.session.memory.turns)
        await self._free()

    @on(SendEnded)
    async def _ended(self, message: SendEnded) -> None:
        """A send that brought no stored reply is over; a cancelled one keeps what came.

        After a stored reply the prompt is free already, and may have sent the next message.
        """
        if message.worker is not self._sending or message.session is not self.session:
            return
        place = self._said.position if self._said else 0
        for turn in message.session.memory.turns[-2:]:
            if place and turn.position >= place:
                await self.query_one(Transcript).put(turn)
        await self.query_one(Transcript).end_stream()
        if message.error is not None:
            self.tell(message.error)
        if message.cancelled and not self._answered:
            self.query_one(Prompt).give_back(message.draft)
        await self._free()

    @telling
    async def _free(self) -> None:
        """Ready for the next message."""
        self._sending = None
        self.query_one(HintLine).show_keys(busy=False)
        opening = self.opening
        named = await asyncio.to_thread(self._named, self.conversation, self._said)
        if opening == self.opening:
            self.conversation = named
            self.query_one(TopLine).show_title(named.title, named.turns)

    def _named(self, conversation: Conversation, said: Turn | None) -> Conversation:
        """The conversation as it is stored; a new one is named by its first message."""
        store = self.backend.store
        if conversation.title == NEW_TITLE and said is not None:
            store.rename(conversation.id, shortened(said.content, TITLE_WIDTH))
        return store.conversation(conversation.id)

    @on(ModeTab.Chosen)
    def _mode_chosen(self, message: ModeTab.Chosen) -> None:
        self.action_use_mode(message.mode.value)

    @on(BudgetBar.KindClicked)
    def _kind_clicked(self, message: BudgetBar.KindClicked) -> None:
        self.query_one(Inspector).remove_class("-hidden")
        self.query_one(Inspector).point_at(message.kind)

    @on(Inspector.RowOpened)
    def _row_opened(self, message: Inspector.RowOpened) -> None:
        self._show_exact(message.title, message.text, message.note)

    @on(Inspector.LeftOutOpened)
    def _left_out_opened(self, message: Inspector.LeftOutOpened) -> None:
        turns = self.session.memory.turns if self.session else []
        text = next((turn.content for turn in turns if turn.position == message.row.turn), "")
        self._show_exact(f"left out #{message.row.turn}", text, ledger_note(message.row))

    def _show_exact(self, title: str, text: str, note: str) -> None:
        from jitchat.tui.screens.exact import ExactScreen  # noqa: PLC0415  not on the first frame

        self.app.push_screen(ExactScreen(title, text, note))

    @on(Prompt.ScrollAsked)
    def _scroll_asked(self, message: Prompt.ScrollAsked) -> None:
        transcript = self.query_one(Transcript)
        if message.pages > 0:
            transcript.scroll_page_down()
        else:
            transcript.scroll_page_up()

    @on(Prompt.QuitAsked)
    async def _quit_asked(self) -> None:
        await self.app.action_quit()

    def action_cycle_mode(self) -> None:
        """full → recency → jit; bar and inspector follow, without a request."""
        modes = list(Mode)
        self.action_use_mode(modes[(modes.index(self.mode) + 1) % len(modes)].value)

    def action_use_mode(self, mode: str) -> None:
        """Use a mode from now on."""
        self.mode = Mode(mode)
        self.query_one(TopLine).show_mode(self.mode)
        self.plan_now(afresh=True)

    def action_toggle_inspector(self) -> None:
        """Show or hide the inspector."""
        inspector = self.query_one(Inspector)
        inspector.toggle_class("-hidden")
        if inspector.has_class("-hidden") and inspector.has_focus_within:
            self.query_one(Prompt).focus()

    def action_cancel(self) -> None:
        """Stop the reply; with none under way, back to the prompt."""
        if self._sending is not None:
            self._sending.cancel()
        else:
            self.query_one(Prompt).focus()

    @telling
    async def action_new_conversation(self) -> None:
        """An empty conversation; one that is empty already is used again."""
        if self._waits():
            return
        store = self.backend.store
        empty = next((each for each in store.conversations() if not each.turns), None)
        await self.open(empty or store.create(NEW_TITLE))

    def action_resume(self) -> None:
        """Choose another conversation."""
        from jitchat.tui.screens.resume import ResumeScreen  # noqa: PLC0415  not on the first frame

        if not self._waits():
            self.app.push_screen(ResumeScreen(self.backend.store), self._resumed)

    @telling
    async def _resumed(self, chosen: tuple[str, int | None] | None) -> None:
        if chosen is not None:
            await self.open(self.backend.store.conversation(chosen[0]), chosen[1])
            self.query_one(Prompt).focus()

    def action_fetch_model(self) -> None:
        """Fetch the better embedding model, or stop fetching it."""
        fetch = self.query_one(ModelFetch)
        if fetch.running:
            fetch.stop()
        else:
            fetch.start(asked=True)

    def action_help(self) -> None:
        """Keys and words."""
        from jitchat.tui.screens.help import HelpScreen  # noqa: PLC0415  not on the first frame

        self.app.push_screen(HelpScreen(self.backend.hint()))

    def _waits(self) -> bool:
        """Whether a reply is under way; says so, for nothing is sent or left meanwhile."""
        if self.busy:
            self.notify("A reply is on its way. Esc stops it.", markup=False)
        return self.busy
