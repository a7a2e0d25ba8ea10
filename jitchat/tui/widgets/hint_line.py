"""The last line: what can be done by its keys, each of which can be clicked, and what goes on.

Textual's own footer is a widget a key; to mount those takes longer than all else of a view.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
from jitchat.tui.key_names import KeyNames

Key = tuple[str, str, str]
"""A key, what it does, and the action that a click on it runs."""


class KeyLine(Static):
    """The keys of a view: the bindings of its screen, and of what has the focus there."""

    def __init__(self) -> None:
        super().__init__(classes="key-line")

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._draw)

    def on_resize(self) -> None:
        self._draw(self.screen)

    def _draw(self, screen: Screen[object]) -> None:
        keys: dict[str, Key] = {}
        """By action; its first key stands for all of them."""
        for node, binding, enabled, _ in screen.active_bindings.values():
            if binding.show and enabled:
                action = f"{'screen' if node is screen else 'focused'}.{binding.action}"
                key = self.app.get_key_display(binding)
                keys.setdefault(action, (key, binding.description, action))
        forms = [clickable(keys.values(), word=" {}", behind=" " * gap) for gap in (3, 2, 1)]
        room = self.content_size.width
        self.update(next((line for line in forms if line.cell_length <= room), forms[-1]))


def clickable(
    keys: Iterable[Key], *, key: str = "{}", word: str = "{}", behind: str = ""
) -> Content:
    """Draw keys that can be clicked: the forms of a key and its word, and the text behind each."""
    parts: list[tuple[str, Style | str]] = []
    for spelt, does, action in keys:
        click = Style.from_meta({"@click": action})
        parts += [(key.format(spelt), click + Style(bold=True)), (word.format(does), click)]
        parts.append((behind, ""))
    return Content.assemble(*parts)


FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAMES_A_SECOND = 8
LONG = 3
"""Seconds from which a wait needs an explanation."""

_MODE, _HELP = ("mode", "mode", "screen.do('mode')"), ("help", "help", "app.help")
_INSPECT = ("inspector", "inspect", "screen.toggle_inspector")
_SEND = ("⏎", "send", "screen.submit")
_MENU, _MODEL = ("menu", "menu", "screen.menu"), ("models", "model", "screen.do('models')")
IDLE = (_SEND, _MODE, _MENU, _MODEL, _INSPECT, _HELP)
"""Like the next three: the id of an action in place of its key, which the user may have changed."""
EDITING = (("⏎", "send as a fork", "screen.submit"), ("cancel", "leave it", "screen.cancel"))
_STOP = ("cancel", "stop", "screen.cancel")
BUSY = (_STOP, _MODE, _MENU, _INSPECT, _HELP)
ASKING = (("⏎", "yes", "screen.answer(True)"), ("Esc", "no", "screen.answer(False)"))
_INSPECTED = Style.from_meta({"@click": "screen.toggle_inspector"})
_TURN = re.compile(r"(?<!\S)#(\d+)")
_LIST_KEYS = "Tab or Enter takes it; Esc closes the list"
AWAITED = "waiting for the first token"
LOADING = "the server may still be loading the model"


@dataclass(frozen=True, slots=True)
class _Wait:
    what: str
    why: str
    """Why it may take long; said once it does."""
    since: float

    @property
    def seconds(self) -> float:
        return max(0.0, monotonic() - self.since)

    def sentence(self) -> str:
        """`waiting for the first token · 9 s`."""
        why = f", {self.why}" if self.why and self.seconds >= LONG else ""
        return f"{self.what}{why} · {int(self.seconds)} s"


class HintLine(Horizontal):
    """The chat's last line: the window as a sentence, or what goes on; keys on the right.

    While the inspector is open, the sentence is of figures, else it is plain and can be clicked.

    Ahead of the cost come, in this order: a question, a notice, the time until a request is sent
    again, and what is waited for.
    """

    def __init__(self, keys: KeyNames | None = None) -> None:
        super().__init__(id="hint-line")
        self._key_names = keys or KeyNames()
        self._mark, self._cost = Static(id="working"), Static(id="cost")
        self._keys = Static(id="keys")
        self._question = ""
        self.notice = ""
        """What is shown for some seconds ahead of the figures, or in their place; mostly empty."""
        self._warns = False
        """Whether the notice is a warning."""
        self._notice_ends: Timer | None = None
        self._retry: tuple[float, str] | None = None
        """The moment when the request is sent again, and why it is."""
        self._wait: _Wait | None = None
        self._ticks: Timer | None = None
        """Runs while something is waited for."""
        self.sentences: tuple[str, ...] = ("",)
        """What is shown of the cost, or of what is going on, the longest form first."""
        self.plain: tuple[str, ...] = ()
        """The window without figures, in the same way; none where `sentences` are not of one."""
        self.lesson = ""
        """Behind what is plain: how to see more; empty once that was followed."""
        self._is_plain = False
        self._command = ""
        self._is_listed = False
        """Whether a list above the prompt shows the commands that fit."""
        self._proposal: tuple[str, ...] = ()
        """Forms of what is proposed while nothing is typed, the longest first; mostly none."""
        self._ahead = ""
        """Says which turn is edited, if one is."""
        self._is_busy = False
        self._pane: tuple[Key, ...] = ()
        """The keys of the pane that has the focus; none in the prompt."""
        self._drawn: tuple[Content, tuple[Key, ...]] = Content(), ()

    def compose(self) -> ComposeResult:
        yield self._mark
        yield self._cost
        yield self._keys

    def on_resize(self) -> None:
        self._draw()

    def show_cost(self, sentence: str, *shorter: str, plain: tuple[str, ...] = ()) -> None:
        """Show the first form that has room; of `plain`, while the inspector is shut."""
        self.sentences, self.plain = (sentence, *shorter), plain
        self._retry = None
        self._draw()

    def show_usage(self, sentence: str) -> None:
        """Show what was reported for the window; what is plain stays."""
        self.show_cost(sentence, plain=self.plain)

    def put_ahead(self, note: str) -> None:
        """Put a note ahead of what is shown, in every form; the last is the note alone."""
        forms, plain = (
            (*(f"{note} · {form}" for form in told if form), note) if told else ()
            for told in (self.sentences, self.plain)
        )
        self.show_cost(*forms, plain=plain)

    def show_plain(self, *, is_plain: bool) -> None:
        """Show the window without figures, or with them."""
        self._is_plain = is_plain
        self._draw()

    def show_proposal(self, *forms: str) -> None:
        """Propose something in place of the figures, in the first form that has room."""
        self._proposal = forms
        self._draw()

    def show_command(self, hint: str) -> None:
        """Explain the command that is typed, in place of the figures; empty where none is."""
        self._command = hint
        self._draw()

    def show_listed(self, *, is_listed: bool) -> None:
        """Name the keys of the list that shows the commands that fit, in place of those."""
        if is_listed != self._is_listed:
            self._is_listed = is_listed
            self._draw()

    def show_notice(self, notice: str, seconds: float, *, warns: bool = False) -> bool:
        """Show a notice for so long; figures that have room beside it stay.

        False, and nothing, where it has no room, or would stand in place of another warning.
        """
        line = one_line(notice)
        is_long = "\n" in notice or cell_len(line) > self._width - len(self._ahead)
        if is_long or (self._warns and line != self.notice):
            return False
        if self._notice_ends is not None:
            self._notice_ends.stop()
        self.notice, self._warns = line, warns
        self._notice_ends = self.set_timer(seconds, self._end_notice)
        self._draw()
        return True

    def _end_notice(self) -> None:
        self.notice, self._warns, self._notice_ends = "", False, None
        self._draw()

    def wait(self, what: str, why: str = "") -> None:
        """Say what is waited for and for how long, ahead of the figures, until `arrive`.

        `why` that may take long is said once it does.
        """
        self._wait, self._retry = _Wait(what, why, monotonic()), None
        self._tick_every(1.0 if self._is_still else 1 / FRAMES_A_SECOND)

    def count_down(self, seconds: float, why: str) -> None:
        self.arrive()
        self.sentences, self._retry = ("",), (monotonic() + seconds, why)
        self._tick_every(0.25)

    def arrive(self) -> None:
        """End a wait: what was waited for is here, or nothing comes."""
        if self._ticks is not None:
            self._ticks.stop()
            self._ticks = self._wait = self._retry = None
            self._mark.update("", layout=False)
            self._draw()

    @property
    def _is_still(self) -> bool:
        return self.app.animation_level == "none"

    def _tick_every(self, seconds: float) -> None:
        if self._ticks is not None:
            self._ticks.stop()
        self._ticks = self.set_interval(seconds, self._tick)
        self._tick()

    def _tick(self) -> None:
        if self._retry is not None and monotonic() >= self._retry[0]:
            self.wait(AWAITED)
        elif self._wait is not None and not self._is_still:
            frame = FRAMES[int(self._wait.seconds * FRAMES_A_SECOND) % len(FRAMES)]
            self._mark.update(frame, layout=False)
        self._draw()

    def show_working(self, working: bool) -> None:
        """Mark the figures while another window is worked out than the one that they are of."""
        self._mark.update(WORKING if working else "", layout=False)

    def show_faded(self, faded: bool) -> None:
        self._cost.set_class(faded, "-faded")

    def show_edit(self, position: int | None) -> None:
        self._ahead = f"editing #{position} · " if position is not None else ""
        self._is_busy = False
        self.show_cost(*self.sentences, plain=self.plain)

    def show_keys(self, *, busy: bool) -> None:
        self._is_busy = busy
        self._draw()

    def show_question(self, question: str) -> None:
        """Ask something that Enter answers; empty for nothing any more."""
        self._question = question
        self._draw()

    def show_pane(self, keys: tuple[Key, ...]) -> None:
        """Show the keys of the pane that has the focus, ahead of all else; none: the prompt."""
        self._pane = keys
        self._draw()

    def _draw(self) -> None:
        sentence = self._sentence()
        taken = 0 if self._pane and not self._question else sentence.cell_length
        keys = fitting(self._keys_now(), self._width - taken)
        is_whole = bool(self.notice) or (self._shows_plain and not self._pane)
        if is_whole and not self._question and sentence.cell_length > self._room():
            keys = ()  # rather than cut what is told
        drawn_sentence, drawn_keys = self._drawn
        self._drawn = sentence, keys
        if not sentence.is_same(drawn_sentence):
            self._cost.update(sentence, layout=False)
        if keys != drawn_keys:
            self._keys.update(clickable(keys, key=" {} "))

    def _sentence(self) -> Content:
        if self._question:
            return Content.styled(self._question, "bold")
        is_plain = self._shows_plain
        command = _LIST_KEYS if self._command and self._is_listed else self._command
        told = [command] if command else self._proposal or self.sentences
        forms = [one_line(form) for form in (self._plain_forms() if is_plain else told)]
        if self.notice:
            beside = () if is_plain else forms
            gap = " " if self._wait is not None else ""  # apart from the sign that moves
            notice = f"{gap}{self.notice}"
            forms = [*(f"{notice} · {form}" for form in beside if form), notice]
        elif self._retry is not None:
            until, why = self._retry
            return Content(f"again in {ceil(until - monotonic())} s · {one_line(why)}")
        elif self._wait is not None:
            wait = f" {self._wait.sentence()}"
            forms = [*(f"{wait} · {form}" for form in forms if form), wait]
        room = self._room()
        fits = next((form for form in forms if cell_len(form) <= room), forms[-1])
        shown = leading_on(fits) if is_plain else Content(fits)
        if self._warns:
            shown = shown.stylize("$text-warning", 0, len(self.notice) + 1)
        return Content.assemble((self._ahead, "bold"), shown)

    @property
    def _shows_plain(self) -> bool:
        return self._is_plain and bool(self.plain) and not (self._command or self._proposal)

    def _plain_forms(self) -> tuple[str, ...]:
        whole = self.plain[:-1] if self.lesson else ()  # the last one says the least
        taught = (f"{form} · {self.lesson}" for form in whole)
        return (*taught, *self.plain)

    @property
    def _width(self) -> int:
        """Cells of the line, without the mark at its start."""
        return self.content_size.width - 1

    def _room(self) -> int:
        """Cells of a sentence beside the keys that stay."""
        keys = self._keys_now()
        least = keys if self._pane else fitting(keys, 0)
        return self._width - len(self._ahead) - _width(least)

    def _keys_now(self) -> tuple[Key, ...]:
        if self._question:
            return ASKING
        if self._pane:
            return (*(named((_STOP,), self._key_names) if self._is_busy else ()), *self._pane)
        keys = BUSY if self._is_busy else EDITING if self._ahead else IDLE
        return named(keys, self._key_names)


def leading_on(sentence: str) -> Content:
    """Have a click on a sentence open the inspector, and one on `#7` lead to the turn."""
    content = Content(sentence).stylize(_INSPECTED)
    for turn in _TURN.finditer(sentence):
        shows = Style.from_meta({"@click": f"screen.show_turn({turn[1]})"})
        content = content.stylize(shows, turn.start(), turn.end())
    return content


def named(keys: Iterable[Key], names: KeyNames) -> tuple[Key, ...]:
    """Write keys as they are in use, in place of the ids of their actions."""
    bound = (each for each in keys if not names.is_unbound(each[0]))
    return tuple((names.short(key) or key, word, action) for key, word, action in bound)


def fitting(keys: Sequence[Key], room: int) -> tuple[Key, ...]:
    """Leave out what does not fit, from the last but one on; the first and the last stay.

    The menu leads to all that is left out: it goes when nothing else does any more.
    """
    kept = list(keys)
    while len(kept) > 2 and _width(kept) > room:
        between = kept[1:-1]
        others = [key for key in between if key[2] != _MENU[2]]
        kept.remove((others or between)[-1])
    return tuple(kept)


def _width(keys: Sequence[Key]) -> int:
    return sum(len(key) + len(word) + 2 for key, word, _ in keys)
