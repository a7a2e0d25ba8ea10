"""The menu of views, one letter each, for keyboards and terminals without function keys or Alt.

While a question is shown above the prompt, its answers are the first entries, one digit each.
"""

from collections.abc import Iterable

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.events import Key
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from jitchat.tui.actions import ANSWERS, BY_ID, MENU, Action
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import Content
from jitchat.tui.key_names import KeyNames
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.row_list import PointedList

_TITLE = max(len(action.title) for action in BY_ID.values() if action.letter) + 2
_KEYS = 8
"""Width of the column of direct keys."""


class MenuScreen(Dialog[str | None]):
    """Returns what the chosen action runs; None if none was chosen."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss(None)", "Close", id="menu_close")
    ]

    def __init__(self, keys: KeyNames, offered: Iterable[str] = ()) -> None:
        """`offered` are the ids of the actions that answer the current question."""
        super().__init__()
        self._key_names = keys
        answers = [BY_ID[identity] for identity in offered if identity in ANSWERS]
        self._first = len(answers)
        self._actions = [*answers, *MENU.values()]

    def compose(self) -> ComposeResult:
        with box("Views", "press a letter, or Enter · Esc close"):
            rows = (row(action, self._key_names.short(action.id)) for action in self._actions)
            yield PointedList(*map(Option, rows), id="menu")

    def on_mount(self) -> None:
        """Put the cursor after the answers, so that Enter does not give one by accident."""
        menu = self.query_one(OptionList)
        menu.highlighted = self._first
        menu.focus()
        menu.scroll_home(animate=False)

    def on_key(self, event: Key) -> None:
        """Run the action with this letter; the key that opened the menu closes it."""
        letter = (event.character or "").lower()
        chosen = next((a for a in self._actions if a.letter == letter), None)
        if chosen is not None or event.key in self._key_names.all_of("menu"):
            event.stop()
            self.dismiss(chosen.run if chosen is not None else None)

    @on(OptionList.OptionSelected)
    def _choose(self, message: OptionList.OptionSelected) -> None:
        self.dismiss(self._actions[message.option_index].run)


def row(action: Action, key: str) -> Content:
    """Write an action: its letter, its title, its direct key, its help."""
    return Content.assemble(
        (f"{action.letter} ", "bold $text-primary"),
        f" {action.title:<{_TITLE}}",
        (f"{key:<{_KEYS}}", MUTED),
        (action.help, MUTED),
    )
