"""Conversations to resume, and a search through all that was ever said."""

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from jitchat.store.store import ColdStore
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.text.words import fold
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.row_list import PointedList
from jitchat.values import Conversation

Choice = tuple[str, int | None]
"""A conversation's id, and the position of a turn in it."""


class ResumeScreen(Dialog[Choice | None]):
    """Type to search, Enter to open."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss", "Close", id="resume_close"),
        Binding("down", "move('cursor_down')", show=False),
        Binding("up", "move('cursor_up')", show=False),
    ]

    def __init__(self, store: ColdStore) -> None:
        super().__init__()
        self._store = store
        self._known: list[Conversation] = []
        self._choices: list[Choice] = []

    def compose(self) -> ComposeResult:
        with box("Conversations", "type to search every turn · Enter open · Esc close"):
            yield Input(placeholder="Search titles and everything that was said…", id="wanted")
            yield PointedList(id="choices")

    def on_mount(self) -> None:
        self._known = self._store.conversations()
        self._fill("")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        self._fill(event.value)

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _choose(self) -> None:
        index = self.query_one(PointedList).highlighted
        if index is not None and index < len(self._choices):
            self.dismiss(self._choices[index])

    async def action_move(self, way: str) -> None:
        """Move the highlight while typing goes on."""
        await self.query_one(PointedList).run_action(way)

    def _fill(self, wanted: str) -> None:
        titles = {conversation.id: conversation.title for conversation in self._known}
        lines: list[Content] = []
        self._choices = []
        for conversation in self._known:
            if fold(wanted) in fold(conversation.title):
                size, touched = plural(conversation.turns, "turn"), conversation.updated_at
                about = f"  {size} · {touched:%d %b %Y, %H:%M} · {conversation.id}"
                title = one_line(conversation.title)
                lines.append(Content.assemble((title, "bold"), (about, MUTED)))
                self._choices.append((conversation.id, None))
        for id_, position, excerpt, _ in self._store.search(wanted) if wanted.strip() else ():
            title = one_line(titles.get(id_, id_))
            place, where = (f" #{position} ", "bold"), (f"  in {title}", MUTED)
            lines.append(Content.assemble(place, one_line(excerpt), where))
            self._choices.append((id_, position))
        choices = self.query_one(PointedList)
        choices.set_options(map(Option, lines))
        choices.highlighted = 0 if lines else None
