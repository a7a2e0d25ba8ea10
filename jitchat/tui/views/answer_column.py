"""One of several answers: its heading, its figures, and its text as it comes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from jitchat.answer import Answer
from jitchat.events import Event, ReasoningFound, ReplyDelta
from jitchat.tui.views.ask_all_drawing import figures_of, state_of, times_of, trouble_of
from jitchat.tui.widgets.reply_body import ReplyBody
from jitchat.turn import Mode


class AnswerColumn(Vertical):
    """Draws one answer; on a narrow screen, its text only while it is the one that is looked at."""

    @dataclass
    class Clicked(Message):
        """The user points at it."""

        mode: Mode

    def __init__(self, mode: Mode) -> None:
        super().__init__(classes="answer")
        self.mode = mode
        self._head, self._figures = Static(classes="answer-head"), Static(classes="answer-figures")
        self._trouble = Static(classes="answer-trouble")
        self._text, self._follows = ReplyBody(""), False
        self.scroll = VerticalScroll(self._text, classes="answer-text")

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield from self._parts()

    def _parts(self) -> Iterable[Widget]:
        return (self._head, self._figures, self._trouble, self.scroll)

    def on_click(self) -> None:
        """Say that it was clicked."""
        self.post_message(self.Clicked(self.mode))

    def announce(self, told: str) -> None:
        """What is known of it before it is asked."""
        self._head.update(self._heading(told))

    def show(self, answer: Answer) -> None:
        """All but the text, as far as it is."""
        head = filter(None, (state_of(answer), times_of(answer)))
        self._head.update(self._heading(" · ".join(head)))
        self._figures.update(Content(figures_of(answer)))
        trouble = trouble_of(answer)
        self._trouble.update(Content(trouble))
        self._trouble.display = bool(trouble)

    async def take(self, event: Event) -> None:
        """Let the text grow by what came."""
        match event:
            case ReplyDelta(text):
                self._text.add(text, typing=False)
                self._follow()
            case ReasoningFound():
                await self._text.finish("")

    async def finish(self, answer: Answer) -> None:
        """Show all of it."""
        self.show(answer)
        await self._text.finish(answer.text)

    def _follow(self) -> None:
        """Keep the end in view once there is more than fits, until the user scrolls."""
        if not self._follows and self.scroll.max_scroll_y:
            self._follows = True
            self.scroll.anchor()

    def _heading(self, told: str) -> Content:
        return Content.assemble((f" {self.mode} ", "reverse bold"), f" {told}")
