"""Asking in all modes at once: the answers stream beside each other, and one is gone on with."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from textual import on, work
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker

from jitchat.asking import Asking
from jitchat.errors import JitchatError
from jitchat.events import Event
from jitchat.tui.batches import Batches
from jitchat.tui.telling import telling
from jitchat.tui.views.answer_column import AnswerColumn
from jitchat.tui.views.ask_all_drawing import confirmation, plain
from jitchat.tui.views.comparing import ComparingView
from jitchat.tui.views.subject import Branched, Subject, asked_of
from jitchat.tui.views.what_if_rows import Comparison
from jitchat.turn import Mode

_NOTHING = "There is nothing to ask. Type a message, then ask all three with Alt+A."


@dataclass
class Heard(Message):
    """Something happened to one of the answers."""

    mode: Mode
    event: Event


@dataclass
class AskEnded(Message):
    """All of the answers are over."""

    error: JitchatError | None
    """Why nothing was asked, or what could not be stored."""


class AskAllView(ComparingView):
    """The same message, answered in each mode."""

    CSS_PATH = ["view.tcss", "ask_all.tcss"]  # noqa: RUF012  Textual's own shape
    NAME = "Ask all three"
    EXPLAINED = "One message, asked in each mode at once; all of its answers are kept."
    FILLS = True
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "close", "Stop, close", id="ask_all_close"),
        Binding("enter", "go_on", "Go on with it", id="ask_all_go_on", priority=True),
        Binding("1,f", "look_at('full')", "Full", id="ask_all_full"),
        Binding("2,r", "look_at('recency')", "Recency", id="ask_all_recency"),
        Binding("3,j", "look_at('jit')", "Jit", id="ask_all_jit"),
        Binding("tab", "next(1)", "Next", id="ask_all_next", show=False),
        Binding("shift+tab", "next(-1)", "Back", id="ask_all_back", show=False),
        Binding("y", "ask", "Ask", id="ask_all_yes"),
        Binding("n", "decline", "Do not ask", id="ask_all_no"),
        Binding("y", "copy", "Copy", id="ask_all_copy"),
    ]

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._note = Static(id="ask-all-note")
        self._columns = {mode: AnswerColumn(mode) for mode in Mode}
        self._asking: Asking | None = None
        self._asker: Worker[None] | None = None
        """What asks, until it is over."""
        self._confirms = False
        """Whether the user is asked about the price."""

    @property
    def looked_at(self) -> Mode:
        """The answer that is looked at."""
        return next(
            (mode for mode, each in self._columns.items() if each.has_class("-on")), Mode.JIT
        )

    def body(self) -> Iterable[Widget]:
        """A note, and the answers."""
        yield self._note
        yield Container(*self._columns.values(), id="ask-all-answers")

    def on_mount(self) -> None:
        """Ask, after a question where it may cost something."""
        self.action_look_at(Mode.JIT.value)
        draft, _ = asked_of(self.subject)
        if not draft.strip():
            self.query_one("#ask-all-answers").display = False
            self.show_nothing(_NOTHING)
            return
        self.name_message(draft)
        prices = self.subject.session.options.prices
        if prices is not None and prices.is_free:
            self.action_ask()
        else:
            self._tell("planning…")
            self.compare()

    def show_comparison(self, comparison: Comparison) -> None:
        """Ask whether it may cost that much."""
        for side in comparison.sides:
            told = side.overflow or f"{side.figures[0]} tokens · {side.figures[2]}"
            self._columns[side.mode].announce(told)
        self._confirms = True
        self._tell(confirmation(comparison.cost))
        self.refresh_bindings()

    def check_action(
        self,
        action: str,
        parameters: tuple[object, ...],  # noqa: ARG002  Textual's own shape
    ) -> bool | None:
        """Y asks where that is the question, and copies elsewhere."""
        if action in ("ask", "decline"):
            return self._confirms
        return not self._confirms if action in ("copy", "go_on") else True

    def action_decline(self) -> None:
        """Ask nobody."""
        self.dismiss(None)

    def action_ask(self) -> None:
        """Ask now, unless a reply is on its way: that message is being asked already."""
        if self.subject.is_busy():
            self.notify("A reply is on its way. Ask when it is there.", markup=False)
            return
        self._confirms = False
        draft, once = asked_of(self.subject)
        self._asking = Asking(self.subject.session, draft, once)
        self._tell("Esc stops all three and keeps what came.")
        self._asker = self._ask(self._asking)
        self.refresh_bindings()

    @work(group="ask")
    async def _ask(self, asking: Asking) -> None:
        batches = {mode: Batches(partial(self._hand_on, mode)) for mode in Mode}
        error: JitchatError | None = None
        try:
            await asking.run(lambda mode, event: batches[mode].take(event))
        except JitchatError as refused:
            error = refused
        finally:
            for batch in batches.values():
                batch.flush()
            self.post_message(AskEnded(error or asking.error))

    def _hand_on(self, mode: Mode, event: Event) -> None:
        self.post_message(Heard(mode, event))

    @on(Heard)
    async def _heard(self, message: Heard) -> None:
        self.subject.session.memory.pace.attend()
        if self._asking is not None:
            column = self._columns[message.mode]
            column.show(self._asking.answers[message.mode])
            await column.take(message.event)

    @on(AskEnded)
    async def _ended(self, message: AskEnded) -> None:
        """Show each answer whole, and say with which the conversation goes on."""
        self._asker = None
        if message.error is not None:
            self.tell(message.error)
        if self._asking is not None:
            for mode, answer in self._asking.answers.items():
                await self._columns[mode].finish(answer)
            self._tell(self._how_it_goes_on(self._asking))
        self.refresh_bindings()

    def _how_it_goes_on(self, asking: Asking) -> str:
        by_position = {place: mode for mode, place in asking.replies.items()}
        if asking.goes_on is None:
            rest = "is kept as it was" if self.subject.sent is not None else "stays in the prompt"
            return f"None of the three was answered. The message {rest}."
        mode, others = by_position[asking.goes_on], len(asking.replies) > 1
        more = ", Enter with the one that you look at" if others else ""
        return f"Esc goes on with the answer in {mode}{more}."

    def copyable(self) -> str:
        """Write every answer, with its figures."""
        answers = self._asking.answers.values() if self._asking is not None else ()
        return "\n\n".join(map(plain, answers))

    @on(AnswerColumn.Clicked)
    def _column_clicked(self, message: AnswerColumn.Clicked) -> None:
        self.action_look_at(message.mode.value)

    def action_look_at(self, mode: str) -> None:
        """Have one of the answers under the keys, and in a small terminal in view."""
        for each in self._columns.values():
            each.set_class(each.mode == mode, "-on")
        self._columns[Mode(mode)].scroll.focus()

    def action_next(self, step: int) -> None:
        """To the answer beside it."""
        modes = list(Mode)
        self.action_look_at(modes[(modes.index(self.looked_at) + step) % len(modes)].value)

    @telling
    async def action_go_on(self) -> None:
        """Go on with the answer that is looked at."""
        if self._asking is None:
            return
        position = self._asking.replies.get(self.looked_at)
        if self._asker is not None:
            self.notify("Answers are on their way. Esc stops them.", markup=False)
        elif position is None:
            self.notify(f"Nothing came in {self.looked_at}: choose another.", markup=False)
        else:
            await asyncio.to_thread(self.subject.session.memory.switch_to, position)
            self.dismiss(Branched(position, clears_draft=self.subject.sent is None))

    def action_close(self) -> None:
        """Stop what is on its way; else leave, with the answer that the note names."""
        asking = self._asking
        if self._asker is not None:
            self._asker.cancel()
        elif asking is None or asking.said is None:
            self.dismiss(None)
        else:
            has_reply = asking.goes_on is not None
            place = asking.goes_on or asking.said.position
            is_draft = self.subject.sent is None
            self.dismiss(Branched(place, clears_draft=has_reply and is_draft))

    def action_another(self, name: str) -> None:
        """On to another view, unless the chat has to follow these answers first."""
        if self._asker is None and (self._asking is None or self._asking.said is None):
            super().action_another(name)
        else:
            self.notify("Enter or Esc goes on with an answer first.", markup=False)

    def _tell(self, told: str) -> None:
        self._note.update(Content(told))
