"""Setting up a new run: the presets, and what the chosen one asks, sends and costs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import OptionList, Static

from jitchat.lab import note
from jitchat.lab.costs import Answerer, estimate_run, fitted, sentence
from jitchat.lab.experiment import PRESETS, Experiment, RunWanted, preset
from jitchat.lab.filler import Talk
from jitchat.lab.run_file import short
from jitchat.lab.stats import percent
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.tui.drawing import Content
from jitchat.tui.lab.lab_screen import labelled
from jitchat.tui.widgets.row_list import PointedList
from jitchat.values import ASSUMED, USUAL_MODES, Mode

_NAME = 10
"""Columns of the label before each part."""
_IN_PRESET_LINE = frozenset({"lengths", "depths", "cells"})
_PICK = "/model in the chat changes it"
_MODES_KEY = " · M changes the modes"
_PARALLEL = (1, 2, 4, 8)
_READER = "reader"
"""The provider whose presets are shown until the model is known."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    experiment: Experiment
    answerer: Answerer | None
    """None until the model is known."""
    parallel: int = 1
    judge: str = ""
    """The model that judges; empty if only rules do."""
    title: str = ""
    """The title of the user's conversation, if that is the filler and the title is known."""

    @property
    def own(self) -> str:
        """The title or id of the user's conversation; empty for synthetic talk."""
        return self.title or self.experiment.conversation or ""

    @property
    def is_free(self) -> bool:
        """Whether the run is known to be free and to stay on this machine.

        A judge may be remote; a picker is included in what is known about the model.
        """
        return self.answerer is not None and self.answerer.is_here and not self.judge

    @property
    def own_sentence(self) -> str:
        sent = "Your own conversation is sent, as far as each window includes it"
        return f"{sent}: {one_line(self.own)}" if self.own else ""

    @property
    def judge_sentence(self) -> str:
        if not self.judge:
            return ""
        requests = plural(self.experiment.size, "request")
        return f"{one_line(self.judge)}: up to {requests} more, not included in the cost"


def preset_line(number: int, experiment: Experiment) -> Content:
    """Write `1  quick     420 cells  4 lengths, 1k to 48k · 5 depths · 7 kinds`."""
    lengths = experiment.lengths
    parts = (
        f"{plural(len(lengths), 'length')}, {short(lengths[0])} to {short(lengths[-1])}",
        plural(len(experiment.depths), "depth"),
        plural(len(experiment.kinds), "kind"),
        *([plural(len(modes), "mode")] if (modes := experiment.modes) != USUAL_MODES else []),
        *([f"near {', '.join(map(str, near))}"] if (near := experiment.near) != (None,) else []),
        *(["long answers"] if experiment.talk is Talk.LONG else []),
        *([f"{experiment.repeats} times"] if experiment.repeats > 1 else []),
        *([f"seed {experiment.seed}"] if experiment.seed != 1 else []),
    )
    name, cells = (f"{number}  {experiment.preset:<10}", "bold"), plural(experiment.size, "cell")
    return Content.assemble(name, f"{cells:>12}   {' · '.join(parts)}")


def answerer_line(answerer: Answerer) -> str:
    """Write `qwen3-8b of ollama · limit 32,768 · reserve 2,048`."""
    is_named = answerer.model != answerer.provider
    who = f"{answerer.model} of {answerer.provider}" if is_named else answerer.provider
    assumed = f" ({ASSUMED})" if answerer.is_assumed else ""
    return f"{one_line(who)} · limit {answerer.limit:,}{assumed} · reserve {answerer.reserve:,}"


def plan_text(plan: PlannedRun, width: int, *, is_brief: bool = False) -> Content:
    """Write which model is asked what, and what that sends.

    The brief form leaves out what the preset's line already shows.
    """
    parts = (part for part in _parts(plan) if not is_brief or part[0] not in _IN_PRESET_LINE)
    return labelled(((name, text, "") for name, text in parts), _NAME, width)


def _parts(plan: PlannedRun) -> Iterator[tuple[str, str]]:
    asked, answerer = plan.experiment, plan.answerer
    who = f"{answerer_line(answerer)} · {_PICK}" if answerer else "finding the model…"
    yield "answers", who
    yield "lengths", f"{', '.join(map(short, asked.lengths))} tokens"
    yield "depths", ", ".join(map(percent, asked.depths))
    yield "kinds", ", ".join(asked.kinds)
    if asked.near != (None,):
        yield "near", f"{', '.join(map(str, asked.near))} near-duplicates of each fact"
    times = "once" if asked.repeats == 1 else f"{asked.repeats} times"
    key = _MODES_KEY if asked.preset in PRESETS else ""
    yield "cells", f"{asked.size:,}: each {times} in {', '.join(asked.modes)}{key}"
    if asked.talk is Talk.LONG:
        yield "talk", "synthetic, with long answers in between"
    if plan.own:
        yield "within", f"a copy of your conversation {one_line(plan.own)}"
    if answerer is not None:
        yield "sends", sentence(estimate_run(asked, answerer))
    if plan.judge:
        yield "judge", plan.judge_sentence
    if answerer is not None and not answerer.is_reader:
        yield "at once", f"{plural(plan.parallel, 'request')} · P changes it"


class PresetList(PointedList):
    """A line per preset; below the last one is the list of runs."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "select", "Run", id="rot_run"),
        Binding("tab", "app.focus_next", "Runs", id="rot_to_runs"),
    ]

    def action_cursor_down(self) -> None:
        if self.highlighted == self.option_count - 1:
            self.screen.focus_next()
        else:
            super().action_cursor_down()

    def action_cursor_up(self) -> None:
        if self.highlighted:
            super().action_cursor_up()

    def on_click(self, event: events.Click) -> None:
        """Select a line; a click never sends."""
        event.prevent_default()
        if event.y < self.option_count:
            self.highlighted = event.y


class SetupPane(Vertical):
    def __init__(self, wanted: RunWanted | None, titles: Mapping[str, str]) -> None:
        super().__init__(id="setup")
        self._wanted = wanted or RunWanted(preset(PRESETS[0], _READER))
        self._titles = titles
        asked = self._wanted.experiment
        presets = [preset(name, who) for name in PRESETS for who in (_READER, "", "local")]
        self._own = None if asked in presets else asked
        """The user's own grid, listed after the presets; None if there is none."""
        self._list = PresetList(id="presets", compact=True)
        self._text, self._caveat = Static(id="setup-text"), Static(id="setup-caveat")
        self.answerer: Answerer | None = None
        """The model that is asked; None until it is known."""
        self.parallel = self._wanted.parallel
        self._modes = USUAL_MODES
        """The modes in which presets are asked."""

    def compose(self) -> ComposeResult:
        yield self._list
        yield self._text
        yield self._caveat

    def on_mount(self) -> None:
        self._fill()
        asked = self._wanted.experiment
        self._list.highlighted = len(PRESETS) if self._own else PRESETS.index(asked.preset)
        self._list.focus()

    def on_resize(self) -> None:
        self._draw()

    def show(self, answerer: Answerer) -> None:
        """Set the model; the reader has its own presets."""
        self.answerer = answerer
        self._fill()

    @property
    def plan(self) -> PlannedRun:
        return self.plan_of(self._experiments[self._list.highlighted or 0], self._wanted.judge)

    def plan_of(self, asked: Experiment, judge: str) -> PlannedRun:
        title = self._titles.get(asked.conversation or "", "")
        return PlannedRun(asked, self.answerer, self.parallel, judge, title)

    def choose(self, number: int) -> None:
        """Select a line, counted from 0."""
        if number < len(self._experiments):
            self._list.highlighted = number
            self._list.focus()

    def next_parallel(self) -> None:
        """Cycle the number of parallel requests; the reader does not use it."""
        if self.answerer is not None and not self.answerer.is_reader:
            more = (number for number in _PARALLEL if number > self.parallel)
            self.parallel = next(more, _PARALLEL[0])
            self._draw()

    def next_modes(self) -> None:
        """Toggle between asking presets in all modes and in the usual ones."""
        self._modes = tuple(Mode) if self._modes == USUAL_MODES else USUAL_MODES
        self._fill()

    @property
    def _experiments(self) -> list[Experiment]:
        answerer = self.answerer
        who = answerer.provider if answerer is not None else _READER
        named = [replace(preset(name, who), modes=self._modes) for name in PRESETS]
        if answerer is not None:
            named = [fitted(each, answerer) for each in named]
        return [*named, self._own] if self._own is not None else named

    def _fill(self) -> None:
        row = self._list.highlighted
        numbered = enumerate(self._experiments, start=1)
        self._list.set_options([preset_line(number, asked) for number, asked in numbered])
        self._list.highlighted = row
        self._draw()

    @on(OptionList.OptionHighlighted)
    def _draw(self) -> None:
        if self.size.width:
            is_brief = self.screen.has_class("-short")
            self._text.update(plan_text(self.plan, self.size.width - 2, is_brief=is_brief))
        is_reader = self.answerer is not None and self.answerer.is_reader
        self._caveat.set_class(is_reader, "-on")
        self._caveat.update(Content(note("reader") if is_reader else ""))
