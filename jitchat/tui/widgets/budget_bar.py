"""The budget bar: the whole limit as one stacked bar, with a legend of the figures below it.

The bar is to scale: what looks full is full. Next to the inspector, a strip below it magnifies the
used part to the whole width. Kinds differ in pattern as well as colour, so that both are readable
without colour. In the strip, every kind with any tokens has at least one cell, and a double line
ends the stable prefix. The legend begins with the share of the limit that is used.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from jitchat.errors import WindowOverflow
from jitchat.tui.drawing import MUTED, Content, kind_style
from jitchat.tui.figures import SIGNS, WORKING, share_figure, tokens
from jitchat.window.render import apportion
from jitchat.window.window import ContextWindow, Kind

_Name = TypeVar("_Name")
PATTERNS = {name: signs.pattern for name, signs in SIGNS.items()}
STYLES = {kind: kind_style(kind.value) for kind in Kind}
_BOUNDARY = "║"
"""The end of the stable prefix."""
_MAGNIFIED = "used "
"""The label of the strip."""
_REST = ("free", "reserve")
_SHARE = "share"
"""The legend's entry for the share of the limit, and the strip's label."""
SELDOM = PATTERNS.keys() - {"system", "recent", "index", "retrieved", "draft", "free", "reserve"}
"""Kinds that the legend names only if the window has them."""


class BudgetBar(Widget):
    window: reactive[ContextWindow | None] = reactive(None)
    refusal: reactive[WindowOverflow | None] = reactive(None)
    """Why there is no window, if what must be sent does not fit."""
    working: reactive[bool] = reactive(False)
    """Whether another window is being planned: marked in place of the first sign."""

    @dataclass
    class KindClicked(Message):
        kind: str

    _legend_cells: Mapping[str, int] = {}
    """The width of each kind's entry in the legend, including its pattern."""

    def magnify(self, magnified: bool) -> None:
        """Show or hide the strip."""
        self.set_class(magnified, "-magnified")
        self.refresh()

    @property
    def _is_magnified(self) -> bool:
        return self.has_class("-magnified")

    def render(self) -> Content:
        working = WORKING if self.working else " "
        if self.refusal is not None:
            return Content.assemble(
                ("█" * self.size.width, "$error"),
                f"\n{working}over budget by {self.refusal.over} tokens; cannot be sent",
            )
        if self.window is None:
            return Content("·" * self.size.width)
        shares = _shares(self.window)
        bar = _drawn(at_true_scale(shares, self.size.width).items())
        lines = [bar]
        if self._is_magnified:
            strip = _drawn(self._strip_cells(self.window))
            lines.append(Content.assemble((_MAGNIFIED, MUTED), strip))
        lines.append(Content.assemble(working, self._fitting_legend(self.window)))
        return Content("\n").join(lines)

    def _strip_cells(self, window: ContextWindow) -> list[tuple[str, int]]:
        """Divide the strip among the kinds in the stable prefix, and among those after it."""
        stable = len(window.stable)
        sizes = {(is_new, kind.value): 0 for is_new in (False, True) for kind in Kind}
        for number, segment in enumerate(window.segments):
            sizes[number >= stable, segment.kind.value] += segment.tokens
        cells = to_scale(sizes, self.size.width - len(_MAGNIFIED) - len(_BOUNDARY))
        drawn = [(name, count) for (_, name), count in cells.items()]
        return [*drawn[: len(Kind)], (_BOUNDARY, 1), *drawn[len(Kind) :]]

    def _fitting_legend(self, window: ContextWindow) -> Content:
        """Draw the first variant that fits: with full names, with short ones, without zeros.

        If none fits, leave out what the bar shows as well, then the smallest kinds. The share of
        the limit always stays.
        """
        room = self.size.width - 1
        legend = self._draw_legend(window)
        if legend.cell_length > room:
            legend = self._draw_legend(window, short=True)
        shares = _shares(window)
        used = sorted((name for name in shares if name not in _REST), key=lambda n: shares[n])
        out: list[str] = []
        for name in ("", *_REST, *used):
            if legend.cell_length <= room:
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
        share = f"{share_figure(window)}{after or ' '}"
        parts, cells = [(share, "bold")], {_SHARE: 1 + len(share)}
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
        cells = list(self._legend_cells.items())
        if event.y == 0:
            cells = list(at_true_scale(_shares(self.window), self.size.width).items())
        elif event.y == 1 and self._is_magnified:
            cells = [(_SHARE, len(_MAGNIFIED)), *self._strip_cells(self.window)]
        for (name, _), right in zip(cells, accumulate(count for _, count in cells), strict=True):
            if event.x < right:
                if name in PATTERNS:
                    self.post_message(self.KindClicked(name))
                return


def _shares(window: ContextWindow) -> dict[str, int]:
    used = {kind.value: window.tokens_of(kind) for kind in Kind}
    return used | {"free": window.free, "reserve": window.budget.reserve}


def _drawn(cells: Iterable[tuple[str, int]]) -> Content:
    parts = []
    for name, count in cells:
        style = "$foreground" if name == _BOUNDARY else kind_style(name)
        parts.append((PATTERNS.get(name, name) * count, style))
    return Content.assemble(*parts)


def at_true_scale(shares: Mapping[str, int], width: int) -> dict[str, int]:
    """Divide `width` cells by share, with at least one for the used part as a whole.

    The kinds of the used part share its cells by size; a small one may have none.
    """
    total = max(1, sum(shares.values()))
    used = {name: count for name, count in shares.items() if name not in _REST}
    tokens_used = sum(used.values())
    filled = max(round(tokens_used * width / total), 1 if tokens_used else 0)
    reserve = min(round(shares["reserve"] * width / total), width - filled)
    cells = dict(zip(used, apportion(filled, list(used.values())), strict=True))
    return cells | {"free": width - filled - reserve, "reserve": reserve}


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


def to_scale(shares: dict[_Name, int], width: int) -> dict[_Name, int]:
    """Divide `width` cells by share, with at least one for each share above zero.

    The cells for small shares are taken from `free`, and if that is too little, from the largest.
    """
    total = max(1, sum(shares.values()))
    cells = {name: max(1, count * width // total) if count else 0 for name, count in shares.items()}
    for name in sorted(shares, key=lambda name: (name == "free", shares[name]), reverse=True):
        spare = width - sum(cells.values())
        cells[name] = max(1 if shares[name] else 0, cells[name] + spare) if shares[name] else 0
    return cells
