"""The budget bar: the whole limit as one stacked bar, and the same figures in words.

Patterns as well as colours, so that it reads without colour. Every kind that has a token has at
least one cell; the rest is to scale. What is used has most of the width however little it is: then
the scale breaks behind it, and what is free is told in figures. A double line ends the stable
prefix.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from jitchat.errors import WindowOverflow
from jitchat.synthesis.policy import Thresholds
from jitchat.tui.figures import WORKING, tokens
from jitchat.tui.palette import kind_style
from jitchat.values import Mode
from jitchat.window.window import ContextWindow, Kind

PATTERNS = {
    "system": "█",
    "tools": "▌",
    "standing": "▀",
    "document": "▄",
    "observations": "╪",
    "pinned": "▓",
    "recent": "▚",
    "files": "▣",
    "facts": "◆",
    "documents": "▤",
    "index": "≡",
    "retrieved": "▒",
    "draft": "▞",
    "tool calls": "▙",
    "tool results": "▜",
    "requested": "░",
    "free": "·",
    "reserve": "╲",
}
"""By kind of segment, and for what is left: what it is drawn with."""
_BOUNDARY = "║"
"""Between the stable prefix and the rest."""
_BREAK = "╱╱"
"""Where the scale breaks: what follows is shorter than it would be."""
_MARK = "┃"
"""Where a threshold of `observe` is."""
_AHEAD_OF_HISTORY = ("system", "tools", "standing", "document")
_USED = 0.75
"""The share of the width that what is used has at least."""
_REST = ("free", "reserve")
SHORT = {"system": "sys", "tools": "tls", "standing": "std", "document": "doc"}
SHORT |= {"observations": "obs", "pinned": "pin", "recent": "rec", "facts": "fct"}
SHORT |= {"index": "idx", "retrieved": "ret", "tool calls": "call", "tool results": "res"}
SHORT |= {"requested": "req", "reserve": "rsv", "files": "fil", "documents": "docs"}
"""Names of kinds where the line is short."""
SELDOM = (
    *("tools", "standing", "document", "observations", "pinned", "files", "facts", "documents"),
    *("tool calls", "tool results", "requested"),
)
"""Kinds that the legend names only where there are any."""
_STABLE = [kind.value for kind in Kind if kind.is_stable]


class BudgetBar(Widget):
    window: reactive[ContextWindow | None] = reactive(None)
    refusal: reactive[WindowOverflow | None] = reactive(None)
    """Why there is no window, where what must be sent does not fit."""
    thresholds: reactive[Thresholds | None] = reactive(None)
    """Beyond which turns are observed, and observations rewritten: marked in `observe`."""
    working: reactive[bool] = reactive(False)
    """Whether another window is being worked out: a mark in place of the first sign says so."""

    @dataclass
    class KindClicked(Message):
        kind: str

    _legend_cells: Mapping[str, int] = {}
    """By kind, with the pattern."""

    def show_faded(self, faded: bool) -> None:
        self.set_class(faded, "-faded")

    def render(self) -> Content:
        if self.refusal is not None:
            return Content.assemble(
                ("█" * self.size.width, "$error"),
                f"\nover the budget by {self.refusal.overshoot:,} tokens: cannot be sent like this",
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
        """Whether the thresholds of `observe` are drawn over the bar."""
        is_observe = self.window is not None and self.window.mode is Mode.OBSERVE
        return is_observe and self.thresholds is not None

    def _marked(self, bar: Content, shares: Mapping[str, int]) -> Content:
        """Draw the thresholds of `observe` over the bar."""
        window, known = self.window, self.thresholds
        if window is None or known is None or not self._has_marks:
            return bar
        limit = window.budget.limit
        ahead = sum(shares[name] for name in _AHEAD_OF_HISTORY)
        cells = in_two_scales(dict(shares), self.size.width - 1)
        for tokens_of in (known.observations, known.history):
            cell = _cell_of(ahead + tokens_of(limit), shares, cells)
            bar = bar[:cell] + Content.styled(_MARK, "$foreground") + bar[cell + 1 :]
        return bar

    def _fitting_legend(self, window: ContextWindow) -> Content:
        """Draw the first form that has room: with whole names, with short ones, without zeros.

        Where none has, what goes is what the bar tells as well, and then the smallest kinds.
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
        seldom: Sequence[str] = SELDOM,
        out: Sequence[str] = (),
    ) -> Content:
        """Name the kinds but those `out` of it, those that are `seldom` there where they are."""
        before, after = ("", " ") if short else (" ", "  ")
        parts, cells = [], {}
        for name, count in _shares(window).items():
            if name not in out and (count or name not in seldom):
                figure = tokens(count, exact=window.is_sure or name == "reserve")
                shown = SHORT.get(name, name) if short else name
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
    """Find the cell in which so many tokens from the window's start end."""
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
    """Draw what is free behind a break: its figure is written where the room would be.

    Not where marks are drawn over it: the legend has it, too.
    """
    whole = f"{_BREAK} {tokens(window.free, exact=window.is_sure)} free "
    forms = (whole, _BREAK) if has_figure else (_BREAK,)
    text = next((text for text in forms if len(text) <= cells), "")
    return [(text, "$foreground"), (PATTERNS["free"] * (cells - len(text)), "$kind-free")]


def in_two_scales(shares: dict[str, int], width: int) -> dict[str, int]:
    """`width` cells by share, of which what is used has `_USED` at least, in a scale of its own."""
    if not _is_broken(shares):
        return to_scale(shares, width)
    rest = {name: shares[name] for name in _REST}
    used = {name: count for name, count in shares.items() if name not in rest}
    wide = round(width * _USED)
    return to_scale(used, wide) | to_scale(rest, width - wide)


def _is_broken(shares: dict[str, int]) -> bool:
    """Whether what is used has more room than is its by the scale of the limit."""
    used = sum(shares.values()) - sum(shares[name] for name in _REST)
    return 0 < used < _USED * sum(shares.values())


def to_scale(shares: dict[str, int], width: int) -> dict[str, int]:
    """`width` cells by share, at least one for all that is there.

    `free` gives the difference, and the largest ones where there is not enough of it.
    """
    total = max(1, sum(shares.values()))
    cells = {name: max(1, count * width // total) if count else 0 for name, count in shares.items()}
    for name in sorted(shares, key=lambda name: (name == "free", shares[name]), reverse=True):
        spare = width - sum(cells.values())
        cells[name] = max(1 if shares[name] else 0, cells[name] + spare) if shares[name] else 0
    return cells
