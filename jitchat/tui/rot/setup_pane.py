"""What to run: the presets, and of the chosen one all that it asks and sends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
from jitchat.tui.rot.setup_rows import asked_told, preset_line

_AT_ONCE = (1, 2, 4, 8)


class PresetList(OptionList):
    """A line a preset; below the last one is the list of runs."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "select", "Run", id="rot_run"),
        Binding("tab", "app.focus_next", "Runs", id="rot_to_runs"),
    ]

    def action_cursor_down(self) -> None:
        """Go to the line below, or out of the list."""
        if self.highlighted == len(PRESETS) - 1:
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
        line = event.y
        if line < len(PRESETS):
            self.highlighted = line


class SetupPane(Vertical):
    """Follows the preset under the cursor, and who answers."""

    @dataclass
    class Chosen(Message):
        """What is to be run."""

        experiment: Experiment

    def __init__(self) -> None:
        super().__init__(id="setup")
        self._list = PresetList(id="presets", compact=True)
        self._told, self._caveat = Static(id="setup-told"), Static(id="setup-caveat")
        self._answerer: Answerer | None = None
        self.parallel = 1
        """Requests at once."""

    def compose(self) -> Iterable[Widget]:
        """Presets, what the chosen one asks, and how to read the reader's answers."""
        yield self._list
        yield self._told
        yield self._caveat

    def on_mount(self) -> None:
        """The first one is chosen."""
        self._fill()
        self._list.highlighted = 0
        self._list.focus()

    def on_resize(self) -> None:
        """Lines break where the pane ends."""
        self._tell()

    def show(self, answerer: Answerer | None) -> None:
        """Tell who answers: the reader has presets of its own."""
        self._answerer = answerer
        if answerer is not None and answerer.is_reader:
            self.parallel = 1
        self._fill()

    @property
    def experiment(self) -> Experiment:
        """What the chosen preset asks."""
        return self._experiment(PRESETS[self._list.highlighted or 0])

    def choose(self, number: int) -> None:
        """Choose a preset, counted from 0."""
        self._list.highlighted = number
        self._list.focus()

    def next_parallel(self) -> None:
        """Send more at once, or one after the other again; the reader has no use for that."""
        if self._answerer is not None and not self._answerer.is_reader:
            self.parallel = _AT_ONCE[(_AT_ONCE.index(self.parallel) + 1) % len(_AT_ONCE)]
            self._tell()

    def _experiment(self, name: str) -> Experiment:
        return preset(name, is_reader=self._answerer is None or self._answerer.is_reader)

    def _fill(self) -> None:
        here = self._list.highlighted
        named = enumerate(PRESETS, start=1)
        self._list.set_options(
            [preset_line(number, self._experiment(name)) for number, name in named]
        )
        self._list.highlighted = here
        self._tell()

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._tell()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Chosen(self.experiment))

    def _tell(self) -> None:
        if self.size.width:
            is_short, room = self.screen.has_class("-short"), self.size.width - 2
            told = asked_told(
                self.experiment, self._answerer, self.parallel, room, is_brief=is_short
            )
            self._told.update(told)
        is_reader = self._answerer is not None and self._answerer.is_reader
        self._caveat.set_class(is_reader, "-on")
        self._caveat.update(Content(READER_CAVEAT if is_reader else ""))
