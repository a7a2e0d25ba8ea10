"""Conversations to resume, and a search through all that was ever said."""

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from jitchat.store.store import ColdStore
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.text.words import fold
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.row_list import PointedList
from jitchat.values import Conversation

Choice = tuple[str, int | None]
"""A conversation's id, and the position of a turn in it."""


class ResumeScreen(ModalScreen[Choice | None]):
    """Type to search, Enter to open."""

    CSS_PATH = "dialog.tcss"
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss", "Close", id="resume_close"),
        Binding("down", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
    ]

    def __init__(self, store: ColdStore) -> None:
        super().__init__(classes="dialog")
        self._store = store
        self._known: list[Conversation] = []
        self._choices: list[Choice] = []

    def compose(self) -> ComposeResult:
        """A line to type in, and what was found."""
        with Vertical(classes="box") as box:
            box.border_title = "Conversations"
            box.border_subtitle = "type to search every turn · Enter open · Esc close"
            yield Input(placeholder="Search titles and everything that was said…", id="wanted")
            yield PointedList(id="choices")

    def on_mount(self) -> None:
        """All of them at first."""
        self._known = self._store.conversations()
        self._fill("")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        self._fill(event.value)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._choose(self.query_one(OptionList).highlighted)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self._choose(event.option_index)

    def action_move(self, step: int) -> None:
        """Move the highlight while typing goes on."""
        choices = self.query_one(OptionList)
        if step > 0:
            choices.action_cursor_down()
        else:
            choices.action_cursor_up()

    def _choose(self, index: int | None) -> None:
        if index is not None and index < len(self._choices):
            self.dismiss(self._choices[index])

    def _fill(self, wanted: str) -> None:
        titled = [each for each in self._known if fold(wanted) in fold(each.title)]
        options: list[tuple[Content, Choice]] = [
            (_conversation_line(each), (each.id, None)) for each in titled
        ]
        names = {each.id: each.title for each in self._known}
        for conversation, position, excerpt in self._store.search(wanted) if wanted.strip() else ():
            line = _turn_line(names.get(conversation, conversation), position, excerpt)
            options.append((line, (conversation, position)))
        self._choices = [choice for _, choice in options]
        choices = self.query_one(OptionList)
        choices.set_options([Option(line) for line, _ in options])
        choices.highlighted = 0 if options else None


def _conversation_line(each: Conversation) -> Content:
    return Content.assemble(
        (one_line(each.title), "bold"),
        (f"  {plural(each.turns, 'turn')} · {each.updated_at:%d %b %Y, %H:%M} · {each.id}", MUTED),
    )


def _turn_line(title: str, position: int, excerpt: str) -> Content:
    return Content.assemble(
        (f"  #{position} ", "bold"), one_line(excerpt), (f"  in {one_line(title)}", MUTED)
    )
