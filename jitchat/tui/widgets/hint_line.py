"""The last line: clickable keys, and the state of the next window or of the running request.

Textual's own footer has one widget per key; mounting them takes longer than the rest of a view.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from time import monotonic

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.reactive import reactive
from textual.screen import Screen
from textual.style import Style
from textual.widgets import Static

from jitchat.text.sanitize import one_line
from jitchat.tui.alarm import Alarm
from jitchat.tui.drawing import Content
from jitchat.tui.figures import WORKING
from jitchat.tui.key_names import KeyNames

Key = tuple[str, str, str]
"""A key, its label, and the action that a click runs."""


class KeyLine(Static):
    """The keys of a view: the bindings of its screen and of the focused widget."""

    def __init__(self) -> None:
        super().__init__(classes="key-line")

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._draw)

    def on_resize(self) -> None:
        self._draw(self.screen)

    def _draw(self, screen: Screen[object]) -> None:
        keys: dict[str, Key] = {}
        """By action; only its first key is shown."""
        for node, binding, enabled, _ in screen.active_bindings.values():
            if binding.show and enabled:
                action = f"{'screen' if node is screen else 'focused'}.{binding.action}"
                key = self.app.get_key_display(binding)
                keys.setdefault(action, (key, binding.description, action))
        lines = [clickable(keys.values(), word=" {}", after=" " * gap) for gap in (3, 2, 1)]
        room = self.content_size.width
        self.update(next((line for line in lines if line.cell_length <= room), lines[-1]))


def clickable(
    keys: Iterable[Key], *, key: str = "{}", word: str = "{}", after: str = ""
) -> Content:
    """Draw clickable keys; `key` and `word` are formats, `after` is the text after each pair."""
    parts: list[tuple[str, Style | str]] = []
    for spelling, label, action in keys:
        click = Style.from_meta({"@click": action})
        parts += [(key.format(spelling), click + Style(bold=True)), (word.format(label), click)]
        parts.append((after, ""))
    return Content.assemble(*parts)


FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAMES_A_SECOND = 8
LONG = 3
"""Seconds after which a wait is explained."""

_MODE, _HELP = ("mode", "mode", "screen.do('mode')"), ("help", "help", "app.help")
_INSPECT = ("inspector", "inspect", "screen.toggle_inspector")
_SEND = ("⏎", "send", "screen.submit")
_MENU, _MODEL = ("menu", "menu", "screen.menu"), ("models", "model", "screen.do('models')")
IDLE = (_SEND, _MODE, _MENU, _MODEL, _INSPECT, _HELP)
"""As in the next ones, an action's id in place of its key, which the user may have changed."""
EDITING = (("⏎", "send as a fork", "screen.submit"), ("cancel", "cancel", "screen.cancel"))
_STOP = ("cancel", "stop", "screen.cancel")
BUSY = (_STOP, _MODE, _MENU, _INSPECT, _HELP)
ASKING = (("⏎", "yes", "screen.answer(True)"), ("Esc", "no", "screen.answer(False)"))
_INSPECTED = Style.from_meta({"@click": "screen.toggle_inspector"})
_TURN = re.compile(r"(?<!\S)#(\d+)")
_LIST_KEYS = "Tab or Enter completes; Esc closes the list"
AWAITED = "waiting for the first token"
LOADING = "the server may still be loading the model"


@dataclass(frozen=True, slots=True)
class _Wait:
    what: str
    why: str
    """Why it may take long; shown after `LONG` seconds."""
    since: float

    @property
    def seconds(self) -> float:
        return max(0.0, monotonic() - self.since)

    def sentence(self) -> str:
        """`waiting for the first token · 9 s`."""
        why = f", {self.why}" if self.why and self.seconds >= LONG else ""
        return f"{self.what}{why} · {int(self.seconds)} s"


class HintLine(Horizontal):
    """The chat's last line: a sentence on the window or the running request; keys on the right.

    The sentence has figures while the inspector is open; otherwise it is plain and clickable.

    The first of these takes precedence: a question, where the link under the mouse leads, a notice,
    the countdown to a retry, a wait.
    """

    question: reactive[str] = reactive("", repaint=False)
    """Enter answers it; empty if nothing is asked."""
    link: reactive[str] = reactive("", repaint=False)
    """The address and title of the link under the mouse."""
    command: reactive[str] = reactive("", repaint=False)
    """What the typed command does, instead of the figures."""
    is_listed: reactive[bool] = reactive(False, repaint=False)
    """Whether the list above the prompt shows matching commands, so that its keys are shown."""
    proposal: reactive[tuple[str, ...]] = reactive((), repaint=False)
    """Variants of a proposal shown instead of the figures, the longest first."""
    is_plain: reactive[bool] = reactive(False, repaint=False)
    """Whether to show the sentence without figures."""
    pane: reactive[tuple[Key, ...]] = reactive((), repaint=False)
    """The keys of the focused pane, before anything else; empty if the prompt has the focus."""

    def __init__(self, keys: KeyNames | None = None) -> None:
        super().__init__(id="hint-line")
        self._key_names = keys or KeyNames()
        self._mark, self._cost = Static(id="working"), Static(id="cost")
        self._keys = Static(id="keys")
        self.notice = ""
        """Shown for some seconds before or instead of the figures; usually empty."""
        self._warns = False
        """Whether the notice is a warning."""
        self._notice_ends = Alarm()
        self._retry: tuple[float, str] | None = None
        """The time of the next try, and its reason."""
        self._wait: _Wait | None = None
        self._ticks = Alarm()
        """Runs during a wait or a countdown."""
        self.sentences: tuple[str, ...] = ("",)
        """Variants of the sentence on the cost or the request, the longest first."""
        self.plain: tuple[str, ...] = ()
        """Variants without figures; empty if `sentences` do not describe a window."""
        self.lesson = ""
        """How to see more, after the plain sentence; empty once the user has done it."""
        self._prefix = ""
        """`editing #12 · ` while a turn is being edited."""
        self._is_busy = False
        self._drawn: tuple[Content, tuple[Key, ...]] = Content(), ()

    def compose(self) -> ComposeResult:
        yield self._mark
        yield self._cost
        yield self._keys

    def on_mount(self) -> None:
        for name in ("question", "link", "command", "is_listed", "proposal", "is_plain", "pane"):
            self.watch(self, name, self._draw, init=False)

    def on_resize(self) -> None:
        self._draw()

    def show_cost(self, sentence: str, *shorter: str, plain: tuple[str, ...] = ()) -> None:
        """Show the first variant that fits; one of `plain` while the inspector is closed."""
        self.sentences, self.plain = (sentence, *shorter), plain
        self._retry = None
        self._draw()

    def show_usage(self, sentence: str) -> None:
        """Show the usage reported for the window, as many parts as fit; the plain variants stay."""
        parts = sentence.split(" · ")
        forms = [" · ".join(parts[:size]) for size in range(len(parts), 0, -1)]
        self.show_cost(*forms, parts[0].partition(" (")[0], plain=self.plain)

    def put_ahead(self, note: str) -> None:
        """Prepend a note to every variant; the last variant is the note alone."""
        sentences, plain = (
            (*(f"{note} · {variant}" for variant in variants if variant), note) if variants else ()
            for variants in (self.sentences, self.plain)
        )
        self.show_cost(*sentences, plain=plain)

    def show_notice(self, notice: str, seconds: float, *, warns: bool = False) -> bool:
        """Show a notice for some seconds, with the figures after it if they fit.

        Return False without showing it if it does not fit or would replace another warning.
        """
        line = one_line(notice)
        is_long = "\n" in notice or cell_len(line) > self._width - len(self._prefix)
        if is_long or (self._warns and line != self.notice):
            return False
        self.notice, self._warns = line, warns
        self._notice_ends.set(self.set_timer(seconds, self._end_notice))
        self._draw()
        return True

    def end_notices(self, sentences: Collection[str]) -> None:
        """Remove the notice if it is one of these."""
        if self.notice in sentences and self._notice_ends.is_set:
            self._end_notice()

    def _end_notice(self) -> None:
        self.notice, self._warns = "", False
        self._notice_ends.stop()
        self._draw()

    def wait(self, what: str, why: str = "") -> None:
        """Show a wait and its duration before the figures, until `arrive`.

        `why` explains a long wait, and is shown after `LONG` seconds.
        """
        self._wait, self._retry = _Wait(what, why, monotonic()), None
        self._tick_every(1.0 if self._is_still else 1 / FRAMES_A_SECOND)

    def explain_wait(self, why: str) -> None:
        """Say at once why the wait goes on, if there is one."""
        if self._wait is not None:
            self._wait = replace(self._wait, what=f"{self._wait.what}, {why}")
            self._draw()

    def count_down(self, seconds: float, why: str) -> None:
        self.arrive()
        self.sentences, self._retry = ("",), (monotonic() + seconds, why)
        self._tick_every(0.25)

    def arrive(self) -> None:
        """End the wait, whether or not anything has arrived."""
        if self._ticks.is_set:
            self._ticks.stop()
            self._wait = self._retry = None
            self._mark.update("", layout=False)
            self._draw()

    @property
    def _is_still(self) -> bool:
        return self.app.animation_level == "none"

    def _tick_every(self, seconds: float) -> None:
        self._ticks.set(self.set_interval(seconds, self._tick))
        self._tick()

    def _tick(self) -> None:
        if self._retry is not None and monotonic() >= self._retry[0]:
            self.wait(AWAITED)
        elif self._wait is not None and not self._is_still:
            frame = FRAMES[int(self._wait.seconds * FRAMES_A_SECOND) % len(FRAMES)]
            self._mark.update(frame, layout=False)
        self._draw()

    def show_working(self, working: bool) -> None:
        """Mark the figures as outdated while another window is being planned."""
        self._mark.update(WORKING if working else "", layout=False)

    def show_edit(self, position: int | None) -> None:
        self._prefix = f"editing #{position} · " if position is not None else ""
        self._is_busy = False
        self.show_cost(*self.sentences, plain=self.plain)

    def show_keys(self, *, busy: bool) -> None:
        self._is_busy = busy
        self._draw()

    def _draw(self) -> None:
        sentence = self._sentence()
        taken = 0 if self.pane and not self.question else sentence.cell_length
        keys = fitting(self._keys_now(), self._width - taken)
        is_whole = bool(self.link or self.notice) or (self._shows_plain and not self.pane)
        if is_whole and not self.question and sentence.cell_length > self._room():
            keys = ()  # rather than cut the sentence
        drawn_sentence, drawn_keys = self._drawn
        self._drawn = sentence, keys
        if not sentence.is_same(drawn_sentence):
            self._cost.update(sentence, layout=False)
        if keys != drawn_keys:
            self._keys.update(clickable(keys, key=" {} "))

    def _sentence(self) -> Content:
        if self.question:
            return Content.styled(self.question, "bold")
        if self.link:
            return Content(one_line(self.link))
        is_plain = self._shows_plain
        command = _LIST_KEYS if self.command and self.is_listed else self.command
        current = [command] if command else self.proposal or self.sentences
        forms = [one_line(form) for form in (self._plain_forms() if is_plain else current)]
        if self.notice:
            figures = () if is_plain else forms
            gap = " " if self._wait is not None else ""  # after the spinner
            notice = f"{gap}{self.notice}"
            forms = [*(f"{notice} · {form}" for form in figures if form), notice]
        elif self._retry is not None:
            until, why = self._retry
            return Content(f"retrying in {ceil(until - monotonic())} s · {one_line(why)}")
        elif self._wait is not None:
            wait = f" {self._wait.sentence()}"
            forms = [*(f"{wait} · {form}" for form in forms if form), wait]
        room = self._room()
        fits = next((form for form in forms if cell_len(form) <= room), forms[-1])
        shown = leading_on(fits) if is_plain else Content(fits)
        if self._warns:
            shown = shown.stylize("$text-warning", 0, len(self.notice) + 1)
        return Content.assemble((self._prefix, "bold"), shown)

    @property
    def _shows_plain(self) -> bool:
        return self.is_plain and bool(self.plain) and not (self.command or self.proposal)

    def _plain_forms(self) -> tuple[str, ...]:
        longer = self.plain[:-1] if self.lesson else ()  # the last one is the shortest
        with_lesson = (f"{form} · {self.lesson}" for form in longer)
        return (*with_lesson, *self.plain)

    @property
    def _width(self) -> int:
        """Width of the line, without the mark at its start."""
        return self.content_size.width - 1

    def _room(self) -> int:
        """Cells for the sentence, next to the keys that always stay."""
        keys = self._keys_now()
        least = keys if self.pane else fitting(keys, 0)
        return self._width - len(self._prefix) - _width(least)

    def _keys_now(self) -> tuple[Key, ...]:
        if self.question:
            return ASKING
        if self.pane:
            return (*(named((_STOP,), self._key_names) if self._is_busy else ()), *self.pane)
        keys = BUSY if self._is_busy else EDITING if self._prefix else IDLE
        return named(keys, self._key_names)


def leading_on(sentence: str) -> Content:
    """Make a click on the sentence open the inspector, and a click on `#7` show that turn."""
    content = Content(sentence).stylize(_INSPECTED)
    for turn in _TURN.finditer(sentence):
        shows = Style.from_meta({"@click": f"screen.show_turn({turn[1]})"})
        content = content.stylize(shows, turn.start(), turn.end())
    return content


def named(keys: Iterable[Key], names: KeyNames) -> tuple[Key, ...]:
    """Replace the ids of actions by their current keys; actions without a key are left out."""
    bound = (each for each in keys if not names.is_unbound(each[0]))
    return tuple((names.short(key) or key, word, action) for key, word, action in bound)


def fitting(keys: Sequence[Key], room: int) -> tuple[Key, ...]:
    """Drop keys that do not fit, starting before the last; the first and the last always stay.

    The menu leads to everything that is dropped, so it is dropped last.
    """
    kept = list(keys)
    while len(kept) > 2 and _width(kept) > room:
        between = kept[1:-1]
        others = [key for key in between if key[2] != _MENU[2]]
        kept.remove((others or between)[-1])
    return tuple(kept)


def _width(keys: Sequence[Key]) -> int:
    return sum(len(key) + len(word) + 2 for key, word, _ in keys)
