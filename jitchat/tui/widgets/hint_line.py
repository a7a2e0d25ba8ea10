"""What can be done on a screen: its keys in one line, each of them to be clicked, too.

Textual's own footer is a widget a key; to mount those takes longer than all else of a view.

A short notice takes the place of the figures for some seconds.
"""

import time
from collections.abc import Mapping, Sequence
from math import ceil
from time import monotonic

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.timer import Timer
from textual.widgets import Static

from jitchat.text.sanitize import one_line
from jitchat.tui.figures import WORKING


class KeyLine(Static):
    """Follows the bindings of its screen, and of what has the focus there."""

    def __init__(self) -> None:
        super().__init__(classes="key-line")

    def on_mount(self) -> None:
        """Draw it, and whenever other keys count."""
        self.screen.bindings_updated_signal.subscribe(self, self._draw)

    def on_resize(self) -> None:
        """A short line leaves out blanks."""
        self._draw(self.screen)

    def _draw(self, screen: Screen[object]) -> None:
        keys = self._keys(screen)
        line = _line(keys, " ", "   ")
        if line.cell_length > self.content_size.width:
            line = _line(keys, ":", " ")
        self.update(line)

    def _keys(self, screen: Screen[object]) -> dict[str, tuple[str, str]]:
        """By action: its first key, and what it does."""
        told: dict[str, tuple[str, str]] = {}
        for node, binding, enabled, _ in screen.active_bindings.values():
            if binding.show and enabled:
                owner = "screen" if node is screen else "focused"
                key = self.app.get_key_display(binding)
                told.setdefault(f"{owner}.{binding.action}", (key, binding.description))
        return told


def _line(keys: Mapping[str, tuple[str, str]], within: str, between: str) -> Content:
    parts: list[tuple[str, Style | str]] = []
    for action, (key, description) in keys.items():
        click = Style.from_meta({"@click": action})
        parts += [(key, click + Style(bold=True)), (f"{within}{description}", click)]
        parts.append((between, ""))
    return Content.assemble(*parts)


FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAMES_A_SECOND = 8
LONG = 3
"""Seconds from which a wait needs an explanation."""


class Waiting:
    """A wait, or none."""

    def __init__(self) -> None:
        self._what = self._why = ""
        self._since = 0.0

    def begin(self, what: str, why: str = "") -> None:
        """Wait for something; `why` it may take long is said once it does."""
        self._what, self._why, self._since = what, why, monotonic()

    def end(self) -> None:
        """It came, or nothing does."""
        self._what = ""

    @property
    def is_on(self) -> bool:
        """Whether anything is waited for."""
        return bool(self._what)

    @property
    def frame(self) -> str:
        """The sign for this moment; the next one is another."""
        return FRAMES[int(self._passed * FRAMES_A_SECOND) % len(FRAMES)]

    @property
    def sentence(self) -> str:
        """`waiting for the first token · 9 s`; empty where nothing is waited for."""
        seconds = int(self._passed)
        why = f", {self._why}" if self._why and seconds >= LONG else ""
        return f"{self._what}{why} · {seconds} s" if self._what else ""

    @property
    def _passed(self) -> float:
        return max(0.0, monotonic() - self._since)


Key = tuple[str, str, str]
"""A key, what it does, and the action that a click on it runs."""

_MODE, _HELP = ("⇧⇥", "mode", "screen.cycle_mode"), ("F1", "help", "screen.help")
_INSPECT = ("F2", "inspect", "screen.toggle_inspector")
_SEND = ("⏎", "send", "screen.submit")
IDLE = (_SEND, _MODE, ("^L", "model", "screen.models"), _INSPECT, _HELP)
EDITING = (("⏎", "send as a fork", "screen.submit"), ("Esc", "leave it", "screen.cancel"))
_STOP = ("Esc", "stop", "screen.cancel")
BUSY = (_STOP, _MODE, _INSPECT, _HELP)
ASKING = (("⏎", "yes", "screen.answer(True)"), ("Esc", "no", "screen.answer(False)"))
AWAITED = "waiting for the first token"
LOADING = "the server may still be loading the model"


class HintLine(Horizontal):
    """Cost on the left, keys on the right."""

    def __init__(self) -> None:
        super().__init__(id="hint-line")
        self._mark = Static(id="working")
        self._cost = Static(id="cost")
        self._keys = Static(id="keys")
        self._countdown: Timer | None = None
        self._waiting = Waiting()
        self._ticks: Timer | None = None
        self.notice = ""
        """What is said for some seconds in place of the figures; mostly empty."""
        self._notice_ends: Timer | None = None
        self._edited: int | None = None
        self._sentences: tuple[str, ...] = ("",)
        self._told_wait = ""
        self._busy = False
        self._question = ""
        self._pane: tuple[Key, ...] = ()
        """The keys of the pane that has the focus; none in the prompt."""
        self._told = Content()
        self._drawn: tuple[Key, ...] = ()

    def compose(self) -> ComposeResult:
        """A mark and two texts."""
        yield self._mark
        yield self._cost
        yield self._keys

    def on_mount(self) -> None:
        """Idle at first."""
        self.show_keys(busy=False)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is shown of the cost, or of what is going on, the longest form first."""
        return self._sentences

    def show_cost(self, sentence: str, *shorter: str) -> None:
        """What the next request costs, or what is going on; the first form that has room."""
        if self._countdown is not None:
            self._countdown.stop()
            self._countdown = None
        self._sentences = (sentence, *shorter)
        self._tell_sentence()

    def show_notice(self, notice: str, seconds: float) -> bool:
        """Say something in place of the figures for so long, if there is room for it."""
        told = one_line(notice)
        if "\n" in notice or cell_len(told) > self._room():
            return False
        if self._notice_ends is not None:
            self._notice_ends.stop()
        self.notice = told
        self._notice_ends = self.set_timer(seconds, self._end_notice)
        self._tell_sentence()
        return True

    def _end_notice(self) -> None:
        self.notice, self._notice_ends = "", None
        self._tell_sentence()

    def wait(self, what: str, why: str = "") -> None:
        """Say what is waited for and for how long, ahead of the figures, until `arrive`.

        `why` that may take long is said once it does.
        """
        self._waiting.begin(what, why)
        if self._ticks is None:
            every = 1.0 if self._is_still else 1 / FRAMES_A_SECOND
            self._ticks = self.set_interval(every, self._tick)
        self._tick()

    def arrive(self) -> None:
        """What was waited for is here, or nothing comes."""
        if self._ticks is not None:
            self._ticks.stop()
            self._ticks = None
            self._waiting.end()
            self._mark.update("", layout=False)
            self._tell_sentence()

    @property
    def _is_still(self) -> bool:
        return self.app.animation_level == "none"

    def _tick(self) -> None:
        if not self._is_still:
            self._mark.update(self._waiting.frame, layout=False)
        if self._told_wait != self._waiting.sentence:
            self._tell_sentence()

    def show_working(self, working: bool) -> None:
        """Whether another window is being worked out than the one that it tells of."""
        self._mark.update(WORKING if working else "", layout=False)

    def show_faded(self, faded: bool) -> None:
        """Whether that takes long."""
        self._cost.set_class(faded, "-faded")

    def show_edit(self, position: int | None) -> None:
        """Which turn is edited; None for none any more."""
        self._edited = position
        self.show_cost(*self._sentences)
        self.show_keys(busy=False)

    def count_down(self, seconds: float, why: str) -> None:
        """Tell when the request is sent again, until something else is shown."""
        until = time.monotonic() + seconds

        def tick() -> None:
            if self._question:
                return
            left = max(0, ceil(until - time.monotonic()))
            if left:
                self._tell(Content(f"again in {left} s · {one_line(why)}"))
            else:
                self.show_cost("")
                self.wait(AWAITED)

        self.arrive()
        self.show_cost("")
        tick()
        self._countdown = self.set_interval(0.25, tick)

    def show_keys(self, *, busy: bool) -> None:
        """The keys for this state."""
        self._busy = busy
        self._draw_keys()

    def show_question(self, question: str) -> None:
        """Ask something that Enter answers; empty for nothing any more."""
        if question != self._question:
            self._question = question
            self._draw_all()

    def show_pane(self, keys: tuple[Key, ...]) -> None:
        """The keys of the pane that has the focus, ahead of all else; none: it is the prompt."""
        if keys != self._pane:
            self._pane = keys
            self._draw_all()

    def _draw_all(self) -> None:
        if self._countdown is None or self._question:
            self._tell_sentence()
        self._draw_keys()

    def on_resize(self) -> None:
        """Other words and keys find room."""
        self._draw_all()

    def _tell_sentence(self) -> None:
        if self._question:
            self._tell(Content.styled(self._question, "bold"))
            return
        ahead, told = self._ahead, [one_line(sentence) for sentence in self._sentences]
        self._told_wait = self._waiting.sentence
        if self.notice:
            told = [self.notice]
        elif self._told_wait:
            wait = f" {self._told_wait}"  # apart from the sign that moves
            told = [*(f"{wait} · {each}" for each in told if each), wait]
        room = self._room()
        fits = next((each for each in told if cell_len(each) <= room), told[-1])
        self._tell(Content.assemble((ahead, "bold"), fits))

    @property
    def _ahead(self) -> str:
        return f"editing #{self._edited} · " if self._edited is not None else ""

    def _room(self) -> int:
        """Cells of a sentence beside the keys that stay."""
        return self.content_size.width - 1 - len(self._ahead) - _width(self._least_keys())

    def _least_keys(self) -> tuple[Key, ...]:
        return self._keys_now() if self._pane else fitting(self._keys_now(), 0)

    def _keys_now(self) -> tuple[Key, ...]:
        if self._question:
            return ASKING
        if self._pane:
            return (*((_STOP,) if self._busy else ()), *self._pane)
        idle = IDLE if self._edited is None else EDITING
        return BUSY if self._busy else idle

    def _tell(self, told: Content) -> None:
        self._cost.update(told, layout=False)
        if self._told.cell_length != told.cell_length:
            self._told = told
            self._draw_keys()

    def _draw_keys(self) -> None:
        """As many keys as the sentence leaves room for."""
        told = 0 if self._pane and not self._question else self._told.cell_length
        keys = fitting(self._keys_now(), self.content_size.width - 1 - told)
        if keys != self._drawn:
            self._drawn = keys
            self._keys.update(Content.assemble(*(part for key in keys for part in _parts(key))))


def _parts(key: Key) -> tuple[tuple[str, Style], ...]:
    name, word, action = key
    click = Style.from_meta({"@click": action})
    return (f" {name} ", click + Style(bold=True)), (word, click)


def fitting(keys: Sequence[Key], room: int) -> tuple[Key, ...]:
    """Leave out what does not fit, from the last but one on; the first and the last stay."""
    kept = list(keys)
    while len(kept) > 2 and _width(kept) > room:
        del kept[-2]
    return tuple(kept)


def _width(keys: Sequence[Key]) -> int:
    return sum(len(key) + len(word) + 2 for key, word, _ in keys)
