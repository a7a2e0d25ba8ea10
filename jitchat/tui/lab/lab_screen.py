"""The base of the lab's screens: a frame with a title and keys, and a note if it is too small."""

import textwrap
from collections.abc import Iterable

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.geometry import Size
from textual.message import Message
from textual.widgets import Static

from jitchat.text.sanitize import one_line
from jitchat.tui.actions import bindings_everywhere
from jitchat.tui.dismissed_once import DismissedOnce
from jitchat.tui.drawing import MUTED, Content
from jitchat.tui.widgets.hint_line import KeyLine

SHORT = 31
"""With fewer terminal rows, what is shown elsewhere is left out."""
_LEAST = (60, 18)
"""With fewer terminal columns or rows, only a note is shown."""


def labelled(parts: Iterable[tuple[str, str, str]], label: int, width: int) -> Content:
    """Write texts, each with a label before it and a style, wrapped at `width`."""
    lines: list[tuple[str, str]] = []
    for name, text, style in parts:
        broken = textwrap.wrap(text, max(10, width - label)) or [""]
        lines.append((f"{name:<{label}}", MUTED))
        lines.append((f"\n{'':<{label}}".join(broken) + "\n", style))
    return Content.assemble(*lines).rstrip()


class LabBox(Vertical):
    """Reports its size, which can change without a terminal resize."""

    class Resized(Message):
        pass

    def on_resize(self) -> None:
        self.post_message(self.Resized())


class LabScreen(DismissedOnce[bool]):
    """A screen of the lab; it is dismissed with True to resume its run."""

    CSS_PATH = ["lab.tcss"]  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "close", "Close", id="rot_close"),
        Binding("f1", "app.help", "Help", show=False, id="help"),
        *bindings_everywhere(),
    ]
    NAME = "Rot lab"
    """Its title, also in the palette."""

    def __init__(self) -> None:
        super().__init__(classes="view lab")

    def compose(self) -> ComposeResult:
        with LabBox(id="view-frame") as frame:
            frame.border_title = self.NAME
            yield from self.body()
            yield KeyLine()
        yield Static(id="lab-small")

    def body(self) -> ComposeResult:
        """Compose the content above the keys."""
        raise NotImplementedError

    def entitle(self, subject: str) -> None:
        self.query_one(LabBox).border_title = Content(one_line(f"{self.NAME} · {subject}"))

    @property
    def room(self) -> Size:
        """The size of the frame; there may be something below it."""
        return self.query_one(LabBox).outer_size

    def on_lab_box_resized(self) -> None:
        self.fit()

    def fit(self) -> None:
        """Lay out the content after the frame was resized."""

    @property
    def lack_of_room(self) -> str:
        """Say that more room is needed; empty if there is enough."""
        width, height = self.size
        if width >= _LEAST[0] and height >= _LEAST[1]:
            return ""
        return f"The rot lab needs {_LEAST[0]} × {_LEAST[1]} cells; there are {width} × {height}."

    def on_resize(self) -> None:
        self.set_class(bool(self.lack_of_room), "-small")
        self.set_class(self.size.height < SHORT, "-short")
        self.query_one("#lab-small", Static).update(self.lack_of_room)

    def lacks_room(self) -> bool:
        if self.lack_of_room:
            self.notify(self.lack_of_room, markup=False)
        return bool(self.lack_of_room)

    def action_close(self) -> None:
        self.dismiss(False)
