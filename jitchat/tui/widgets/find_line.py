"""The line for searching the conversation: the text and the number of the current match."""

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.widgets import Input, Static

from jitchat.tui.drawing import Content
from jitchat.tui.widgets.hint_line import clickable

_KEYS = clickable(
    (
        ("⏎", " next", "screen.find_match(1)"),
        ("↑", " previous", "screen.find_match(-1)"),
        ("Esc", " close", "screen.find_close"),
    ),
    after="  ",
)


class FindLine(Horizontal):
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("down,ctrl+g", "screen.find_match(1)", "Next match", id="find_next", show=False),
        Binding(
            "up,shift+enter",
            "screen.find_match(-1)",
            "Previous match",
            id="find_before",
            show=False,
        ),
        Binding("escape", "screen.find_close", "Close", id="find_close", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="find-line")
        self._count = Static(id="find-count")
        self.problem = ""
        """What is wrong with the search text, as a sentence; empty if nothing is."""

    def compose(self) -> ComposeResult:
        yield Static("Find", id="find-label")
        yield Input(id="find", compact=True)
        yield self._count
        yield Static(_KEYS, id="find-keys")

    @property
    def wanted(self) -> str:
        return self.query_one(Input).value

    def open(self, wanted: str) -> None:
        """Show the line with the last search selected, so that typing replaces it."""
        self.set_class(True, "-open")
        line = self.query_one(Input)
        line.value = wanted or line.value
        line.action_select_all()
        self.screen.set_focus(line)  # at once: the text may be typed right after the key

    def close(self) -> None:
        self.set_class(False, "-open")

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def show_count(self, number: int, of: int) -> None:
        """Show the number of the current match; 0 of 0 means no match."""
        count = f"{number:,} of {of:,}" if of else "no match" if self.wanted.strip() else ""
        self._count.update(Content(self.problem or count))

    @on(Input.Submitted)
    async def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        await self.run_action("screen.find_match(1)")
