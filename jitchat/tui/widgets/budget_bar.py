"""The budget bar: the whole limit as one stacked bar, with a legend of the figures below it.

Kinds differ in pattern as well as colour, so that the bar is readable without colour. Every kind
with any tokens has at least one cell; the rest is to scale. The used part always takes most of the
width: if it is small, the scale breaks after it, and the free part is written as a figure. A double
line ends the stable prefix.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from jitchat.errors import WindowOverflow
from jitchat.synthesis.policy import Thresholds
from jitchat.tui.drawing import Content
from jitchat.tui.figures import WORKING, tokens
from jitchat.tui.palette import kind_style
from jitchat.values import Mode
from jitchat.window.window import ContextWindow, Kind


class Signs(NamedTuple):
    """How a part of the limit is marked, so that it is recognised without colour."""

    pattern: str
    """The character that fills its part of a bar."""
    letter: str
    """Marks its rows in the wire; empty for what is not sent."""
    short: str
    """Its name in a short line."""


SIGNS = {
    "system": Signs("█", "S", "sys"),
    "tools": Signs("▌", "L", "tls"),
    "standing": Signs("▀", "N", "std"),
    "document": Signs("▄", "M", "doc"),
    "observations": Signs("╪", "O", "obs"),
    "pinned": Signs("▓", "P", "pin"),
    "recent": Signs("▚", "R", "rec"),
    "files": Signs("▣", "E", "fil"),
    "facts": Signs("◆", "F", "fct"),
    "documents": Signs("▤", "B", "docs"),
    "index": Signs("≡", "I", "idx"),
    "retrieved": Signs("▒", "T", "ret"),
    "draft": Signs("▞", "D", "draft"),
    "tool calls": Signs("▙", "C", "call"),
    "tool results": Signs("▜", "A", "res"),
    "requested": Signs("░", "Q", "req"),
    "free": Signs("·", "", "free"),
    "reserve": Signs("╲", "", "rsv"),
}
"""By the name of a kind of segment, for the free part and for the reserve."""
PATTERNS = {name: signs.pattern for name, signs in SIGNS.items()}
STYLES = {kind: kind_style(kind.value) for kind in Kind}
_BOUNDARY = "║"
"""The end of the stable prefix."""
_BREAK = "╱╱"
"""The break in the scale: what follows is drawn shorter than to scale."""
_MARK = "┃"
"""A threshold of `observe`."""
_BEFORE_HISTORY = ("system", "tools", "standing", "document")
_USED = 0.75
"""Minimum share of the width for the used part."""
_REST = ("free", "reserve")
SELDOM = PATTERNS.keys() - {"system", "recent", "index", "retrieved", "draft", "free", "reserve"}
"""Kinds that the legend names only if the window has them."""
_STABLE = [kind.value for kind in Kind if kind.is_stable]


class BudgetBar(Widget):
    window: reactive[ContextWindow | None] = reactive(None)
    refusal: reactive[WindowOverflow | None] = reactive(None)
    """Why there is no window, if what must be sent does not fit."""
    thresholds: reactive[Thresholds | None] = reactive(None)
    """When turns are observed and observations rewritten: marked in `observe`."""
    working: reactive[bool] = reactive(False)
    """Whether another window is being planned: marked in place of the first sign."""

    @dataclass
    class KindClicked(Message):
        kind: str

    _legend_cells: Mapping[str, int] = {}
    """The width of each kind's entry in the legend, including its pattern."""

    def show_faded(self, faded: bool) -> None:
        self.set_class(faded, "-faded")

    def render(self) -> Content:
        if self.refusal is not None:
            return Content.assemble(
                ("█" * self.size.width, "$error"),
                f"\nover budget by {self.refusal.over} tokens; cannot be sent",
                f" {WORKING}" if self.working else "",
            )
        if self.window is None:
            return Content("·" * self.size.width)
        shares = _shares(self.window)
        bar: list[tuple[str, str]] = []
        for name, count in in_two_scales(shares, self.size.width - 1).items():
            if name == "free" and _is_broken(shares):
                bar += _broken_free(self.window, count, has_figure=not self._has_marks)
            else:
                bar.append((PATTERNS[name] * count, kind_style(name)))
            if name == _STABLE[-1]:
                bar.append((_BOUNDARY, "$foreground"))
        legend = self._fitting_legend(self.window)
        if self.working:
            legend = Content.assemble(WORKING, legend[1:])
        return Content.assemble(self._marked(Content.assemble(*bar), shares), "\n", legend)

    @property
    def _has_marks(self) -> bool:
        """Whether the bar shows the thresholds of `observe`."""
        is_observe = self.window is not None and self.window.mode is Mode.OBSERVE
        return is_observe and self.thresholds is not None

    def _marked(self, bar: Content, shares: Mapping[str, int]) -> Content:
        """Draw the thresholds of `observe` over the bar."""
        window, known = self.window, self.thresholds
        if window is None or known is None or not self._has_marks:
            return bar
        limit = window.budget.limit
        before = sum(shares[name] for name in _BEFORE_HISTORY)
        cells = in_two_scales(dict(shares), self.size.width - 1)
        for tokens_of in (known.observations, known.history):
            cell = _cell_of(before + tokens_of(limit), shares, cells)
            bar = bar[:cell] + Content.styled(_MARK, "$foreground") + bar[cell + 1 :]
        return bar

    def _fitting_legend(self, window: ContextWindow) -> Content:
        """Draw the first variant that fits: with full names, with short ones, without zeros.

        If none fits, leave out what the bar shows as well, then the smallest kinds.
        """
        legend = self._draw_legend(window)
        if legend.cell_length > self.size.width:
            legend = self._draw_legend(window, short=True)
        shares = _shares(window)
        used = sorted((name for name in shares if name not in _REST), key=lambda n: shares[n])
        out: list[str] = []
        for name in ("", *_REST, *used):
            if legend.cell_length <= self.size.width:
                break
            out.append(name)
            legend = self._draw_legend(window, short=True, seldom=tuple(PATTERNS), out=out)
        return legend

    def _draw_legend(
        self,
        window: ContextWindow,
        *,
        short: bool = False,
        seldom: Collection[str] = SELDOM,
        out: Sequence[str] = (),
    ) -> Content:
        """Name the kinds, except those in `out`, and those in `seldom` that have no tokens."""
        before, after = ("", " ") if short else (" ", "  ")
        parts, cells = [], {}
        for name, count in _shares(window).items():
            if name not in out and (count or name not in seldom):
                figure = tokens(count, exact=window.is_sure or name == "reserve")
                shown = SIGNS[name].short if short else name
                text = f"{before}{shown} {figure}{after}"
                cells[name] = 1 + len(text)
                parts += [(PATTERNS[name], kind_style(name)), (text, "")]
        self._legend_cells = cells
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        if self.window is None:
            return
        cells = self._legend_cells
        if event.y == 0:
            cells = in_two_scales(_shares(self.window), self.size.width - 1)
            cells[next((name for name in reversed(_STABLE) if cells[name]), _STABLE[-1])] += 1
        for name, right in zip(cells, accumulate(cells.values()), strict=True):
            if event.x < right:
                self.post_message(self.KindClicked(name))
                return


def _cell_of(at: int, shares: Mapping[str, int], cells: Mapping[str, int]) -> int:
    """Return the cell that contains the token at this offset from the window's start."""
    place = 0
    for name, count in shares.items():
        if at < count:
            place += at * cells[name] // count
            break
        at -= count
        place += cells[name] + (name == _STABLE[-1])
    return min(place, sum(cells.values()))


def _shares(window: ContextWindow) -> dict[str, int]:
    used = {kind.value: window.tokens_of(kind) for kind in Kind}
    return used | {"free": window.free, "reserve": window.budget.reserve}


def _broken_free(window: ContextWindow, cells: int, *, has_figure: bool) -> list[tuple[str, str]]:
    """Draw the free part after a break in the scale, with its figure if that fits.

    Without the figure if marks are drawn over the bar; the legend has it too.
    """
    whole = f"{_BREAK} {tokens(window.free, exact=window.is_sure)} free "
    forms = (whole, _BREAK) if has_figure else (_BREAK,)
    text = next((text for text in forms if len(text) <= cells), "")
    return [(text, "$foreground"), (PATTERNS["free"] * (cells - len(text)), "$kind-free")]


def in_two_scales(shares: dict[str, int], width: int) -> dict[str, int]:
    """Divide `width` cells by share, with a separate scale for the used part if it is small."""
    if not _is_broken(shares):
        return to_scale(shares, width)
    rest = {name: shares[name] for name in _REST}
    used = {name: count for name, count in shares.items() if name not in rest}
    wide = round(width * _USED)
    return to_scale(used, wide) | to_scale(rest, width - wide)


def _is_broken(shares: dict[str, int]) -> bool:
    """Whether the used part is drawn wider than to scale."""
    used = sum(shares.values()) - sum(shares[name] for name in _REST)
    return 0 < used < _USED * sum(shares.values())


def stacked(sizes: Mapping[Kind, int], widest: int, width: int) -> Content:
    """Draw sizes as one bar of at most `width` cells, which `widest` tokens would fill."""
    shares = {kind.value: sizes.get(kind, 0) for kind in Kind}
    free = max(0, widest - sum(shares.values()))
    cells = to_scale(shares | {"free": free}, max(len(Kind), width))
    return Content.assemble(*((PATTERNS[kind] * cells[kind], STYLES[kind]) for kind in Kind))


def legend(kinds: Collection[Kind]) -> Content:
    """Name kinds after their patterns."""
    named = [kind for kind in Kind if kind in kinds]
    parts = (Content.assemble((PATTERNS[kind], STYLES[kind]), f" {kind}  ") for kind in named)
    return Content("").join(parts)


def to_scale(shares: dict[str, int], width: int) -> dict[str, int]:
    """Divide `width` cells by share, with at least one for each share above zero.

    The cells for small shares are taken from `free`, and if that is too little, from the largest.
    """
    total = max(1, sum(shares.values()))
    cells = {name: max(1, count * width // total) if count else 0 for name, count in shares.items()}
    for name in sorted(shares, key=lambda name: (name == "free", shares[name]), reverse=True):
        spare = width - sum(cells.values())
        cells[name] = max(1 if shares[name] else 0, cells[name] + spare) if shares[name] else 0
    return cells
