"""What a new run asks: the rows of the pane in which it is set up."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from textual import events, on
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static

from jitchat.lab.costs import estimated, sentence
from jitchat.lab.experiment import PRESETS, Experiment, RunWanted, preset
from jitchat.lab.report import READER_CAVEAT
from jitchat.lab.run_file import short
from jitchat.lab.service import Answerer
from jitchat.lab.stats import percent
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.tui.lab.curve import LEAST as CURVE
from jitchat.tui.lab.heatmap import HEAD, HIGH, Grid
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.row_list import PointedList
from jitchat.values import ASSUMED

LEAST = (60, 18)
"""Columns and rows of the terminal without which nothing is shown but that."""
SHORT = 31
"""Rows of the terminal below which what can be read elsewhere is left out."""
_BORDER, _SIDES = 2, 4
"""Rows of the frame; its cells and those of its padding."""
_FIXED = 4
"""Rows for what is told of the run, for its progress, a blank one, and the keys."""
_BESIDE = (96, 13)
"""Cells and rows from which curve, figures and cells stand beside each other."""
_ROOMY = 18
"""Rows that these have before the squares become higher."""


class Page(StrEnum):
    """What takes turns below the maps, where there is no room for all of it."""

    CELLS = "cells"
    CURVE = "curve"
    FIGURES = "figures"
    CAVEAT = "no language model"


_ROWS = {Page.CELLS: 7, Page.CURVE: 2 + CURVE, Page.FIGURES: 5}
"""That each has before the maps are scrolled, with the line of their names."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How the rows are given out."""

    maps: int
    """Rows of the heatmaps."""
    is_beside: bool
    """Whether curve, figures and cells are all shown; else they take turns."""
    is_tight: bool
    """Whether there is no room for blank rows among them."""
    has_caveat: bool
    """Whether the caveat has rows of its own; else it takes turns with the others."""


def planned(width: int, height: int, grid: Grid, caveat: str, page: Page) -> Plan:
    """Give out the rows of a terminal while a page is looked at; an empty `caveat` needs none."""
    inside, rows = width - _SIDES, height - _BORDER - _FIXED
    caveat_rows = _height(caveat, inside)
    flat, high = (HEAD + each * len(grid.depths) for each in (1, HIGH))
    left = rows - caveat_rows - flat
    is_beside = inside >= _BESIDE[0] and left >= _BESIDE[1]
    has_caveat = bool(caveat) and (is_beside or left >= _ROWS[Page.CELLS])
    free = rows - (caveat_rows if has_caveat else 0)
    below = _ROWS.get(page, caveat_rows)
    maps = min(flat, max(HEAD + 1, free - below))
    if free - high >= _ROOMY or (not is_beside and free - high >= 2 * _ROWS[Page.CELLS]):
        maps = high
    return Plan(maps, is_beside, free - maps < _ROOMY, has_caveat)


def _height(caveat: str, inside: int) -> int:
    """Tell how many rows a caveat takes, with the blank one ahead of it."""
    return len(textwrap.wrap(caveat, inside - 2)) + 1 if caveat else 0


def too_small(width: int, height: int) -> str:
    """Say that it needs more room; empty where it has enough."""
    if width >= LEAST[0] and height >= LEAST[1]:
        return ""
    return f"The rot lab needs {LEAST[0]} × {LEAST[1]} cells. Here are {width} × {height}."


_NAME = 10
"""Cells of what stands ahead of each part."""
_TOLD_ABOVE = frozenset({"lengths", "depths", "cells"})
_PICK = "Ctrl+L in the chat picks another"


def preset_line(number: int, experiment: Experiment) -> Content:
    """Write `1  quick     420 cells  4 lengths, 1k to 48k · 5 depths · 7 kinds`."""
    lengths = experiment.lengths
    asked = (
        f"{plural(len(lengths), 'length')}, {short(lengths[0])} to {short(lengths[-1])}",
        plural(len(experiment.depths), "depth"),
        plural(len(experiment.kinds), "kind"),
        *([f"{experiment.repeats} times"] if experiment.repeats > 1 else []),
        *([f"seed {experiment.seed}"] if experiment.seed != 1 else []),
    )
    cells = f"{experiment.size:,} cells"
    return Content.assemble(
        (f"{number}  {experiment.preset:<10}", "bold"), f"{cells:>12}   {' · '.join(asked)}"
    )


@dataclass(frozen=True, slots=True)
class Sending:
    """What would be asked of whom."""

    experiment: Experiment
    answerer: Answerer | None
    """None while it is not known who answers."""
    parallel: int = 1
    """Requests at once."""
    judge: str = ""
    """The model that judges; empty where rules alone do."""
    title: str = ""
    """Of the user's own conversation, where that is the filler and its title is known."""

    @property
    def own(self) -> str:
        """The title of the user's own conversation, else its id; empty where talk is made up."""
        return self.title or self.experiment.conversation or ""

    @property
    def is_free(self) -> bool:
        """Whether it is known to cost nothing and to leave this machine nowhere.

        A judge may be anywhere; the picker is part of what is known of who answers.
        """
        return self.answerer is not None and self.answerer.is_here and not self.judge


def asked_told(sending: Sending, width: int, *, is_brief: bool = False) -> Content:
    """Write who is asked what, and what that sends.

    The brief form leaves out what the line of the preset tells, too.
    """
    parts: list[tuple[str, str]] = []
    room = max(20, width - _NAME)
    for name, told in _parts(sending):
        if is_brief and name in _TOLD_ABOVE:
            continue
        lines = f"\n{'':<{_NAME}}".join(textwrap.wrap(told, room))
        parts += [(f"{name:<{_NAME}}", MUTED), (f"{lines}\n", "")]
    return Content.assemble(*parts).rstrip()


def own_told(sending: Sending) -> str:
    """Say that the user's own words are sent; empty where talk is made up."""
    if not sending.own:
        return ""
    return f"Your own conversation is sent, as far as each window holds it: {one_line(sending.own)}"


def judge_told(sending: Sending) -> str:
    """Say what a judge is sent; empty without one."""
    if not sending.judge:
        return ""
    requests = plural(sending.experiment.size, "request")
    return f"{one_line(sending.judge)}: up to {requests} more, whose cost is not counted here"


def who_told(answerer: Answerer) -> str:
    """Write `qwen3-8b of ollama · limit 32,768 · reserve 2,048`."""
    is_named = answerer.model != answerer.provider
    who = f"{answerer.model} of {answerer.provider}" if is_named else answerer.provider
    assumed = f" ({ASSUMED})" if answerer.is_assumed else ""
    return f"{one_line(who)} · limit {answerer.limit:,}{assumed} · reserve {answerer.reserve:,}"


def _parts(sending: Sending) -> Iterator[tuple[str, str]]:
    experiment, answerer = sending.experiment, sending.answerer
    who = f"{who_told(answerer)} · {_PICK}" if answerer is not None else "looking who answers…"
    yield "answers", who
    yield "lengths", f"{', '.join(map(short, experiment.lengths))} tokens"
    yield "depths", ", ".join(map(percent, experiment.depths))
    yield "kinds", ", ".join(experiment.kinds)
    times = "once" if experiment.repeats == 1 else f"{experiment.repeats} times"
    yield "cells", f"{experiment.size:,}: each {times} in {', '.join(experiment.modes)}"
    if sending.own:
        yield "within", f"a copy of your conversation {one_line(sending.own)}"
    if answerer is not None:
        yield "sends", sentence(estimated(experiment, answerer))
    if told := judge_told(sending):
        yield "judge", told
    if answerer is not None and not answerer.is_reader:
        yield "at once", f"{plural(sending.parallel, 'request')} · P changes that"


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
