"""What to run: the presets, and of the chosen one all that it asks and sends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from textual import events, on
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static

from jitchat.rot.caveat import READER_CAVEAT
from jitchat.rot.desk import Answerer
from jitchat.rot.experiment import PRESETS, Experiment, preset
from jitchat.tui.rot.setup_rows import Sending, asked_told, preset_line
from jitchat.tui.widgets.pointed_list import PointedList

if TYPE_CHECKING:
    from jitchat.rot.experiment import RunWanted

_AT_ONCE = (1, 2, 4, 8)
_UNTITLED: Mapping[str, str] = MappingProxyType({})


class PresetList(PointedList):
    """A line a preset; below the last one is the list of runs."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "select", "Run", id="rot_run"),
        Binding("tab", "app.focus_next", "Runs", id="rot_to_runs"),
    ]

    def action_cursor_down(self) -> None:
        """Go to the line below, or out of the list."""
        if self.highlighted == self.option_count - 1:
            self.screen.focus_next()
        else:
            super().action_cursor_down()

    def action_cursor_up(self) -> None:
        """Go to the line above; above the first one is nothing."""
        if self.highlighted:
            super().action_cursor_up()

    def on_click(self, event: events.Click) -> None:
        """Choose a line; nothing is sent by a click on it."""
        event.prevent_default()
        if event.y < self.option_count:
            self.highlighted = event.y


class SetupPane(Vertical):
    """Follows the preset under the cursor, and who answers."""

    @dataclass
    class Chosen(Message):
        """What is to be run."""

        sending: Sending

    def __init__(
        self, wanted: RunWanted | None = None, titles: Mapping[str, str] = _UNTITLED
    ) -> None:
        """`wanted` is chosen at first; None: the first preset."""
        super().__init__(id="setup")
        self._wanted, self._titles = wanted, titles
        self._own = wanted.experiment if wanted is not None and not _is_preset(wanted) else None
        """A grid of the user's own, behind the presets; None where there is none."""
        self._list = PresetList(id="presets", compact=True)
        self._told, self._caveat = Static(id="setup-told"), Static(id="setup-caveat")
        self.answerer: Answerer | None = None
        """Who is asked; None while that is not known."""
        self.parallel = wanted.parallel if wanted is not None else 1
        """Requests at once."""
        self.judge = wanted.judge if wanted is not None else ""
        """The model that judges; empty where rules alone do."""

    def compose(self) -> Iterable[Widget]:
        """Presets, what the chosen one asks, and how to read the reader's answers."""
        yield self._list
        yield self._told
        yield self._caveat

    def on_mount(self) -> None:
        """What was asked for is chosen, or the first one."""
        self._fill()
        asked = self._wanted.experiment.preset if self._wanted is not None else PRESETS[0]
        self._list.highlighted = len(PRESETS) if self._own else PRESETS.index(asked)
        self._list.focus()

    def on_resize(self) -> None:
        """Lines break where the pane ends."""
        self._tell()

    def show(self, answerer: Answerer | None) -> None:
        """Tell who answers: the reader has presets of its own."""
        self.answerer = answerer
        self._fill()

    @property
    def sending(self) -> Sending:
        """What the chosen line asks, and of whom."""
        asked = self._experiments[self._list.highlighted or 0]
        title = self._titles.get(asked.conversation or "", "")
        return Sending(asked, self.answerer, self.parallel, self.judge, title)

    def choose(self, number: int) -> None:
        """Choose a line, counted from 0."""
        if number < len(self._experiments):
            self._list.highlighted = number
            self._list.focus()

    def next_parallel(self) -> None:
        """Send more at once, or one after the other again; the reader has no use for that."""
        if self.answerer is not None and not self.answerer.is_reader:
            more = (each for each in _AT_ONCE if each > self.parallel)
            self.parallel = next(more, _AT_ONCE[0])
            self._tell()

    @property
    def _experiments(self) -> list[Experiment]:
        """The presets of who answers, and the user's own grid."""
        is_reader = self.answerer is None or self.answerer.is_reader
        named = [preset(name, is_reader=is_reader) for name in PRESETS]
        return [*named, self._own] if self._own is not None else named

    def _fill(self) -> None:
        here = self._list.highlighted
        numbered = enumerate(self._experiments, start=1)
        self._list.set_options([preset_line(number, each) for number, each in numbered])
        self._list.highlighted = here
        self._tell()

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._tell()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Chosen(self.sending))

    def _tell(self) -> None:
        if self.size.width:
            is_short, room = self.screen.has_class("-short"), self.size.width - 2
            told = asked_told(self.sending, room, is_brief=is_short)
            self._told.update(told)
        is_reader = self.answerer is not None and self.answerer.is_reader
        self._caveat.set_class(is_reader, "-on")
        self._caveat.update(Content(READER_CAVEAT if is_reader else ""))


def _is_preset(wanted: RunWanted) -> bool:
    """Whether it is a preset as it stands, of whoever answers."""
    asked = wanted.experiment
    known = (preset(asked.preset, is_reader=each) for each in (True, False))
    return asked.preset in PRESETS and asked in known
