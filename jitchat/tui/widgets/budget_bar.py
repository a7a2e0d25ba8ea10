"""The budget bar: the whole limit as one stacked bar, and the same figures in words.

Patterns as well as colours, so that it reads without colour. Every kind that has a token has
at least one cell; the rest is to scale. A double line ends the stable prefix.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from jitchat.errors import WindowOverflow
from jitchat.tui.figures import WORKING, tokens
from jitchat.window.window import ContextWindow, Kind

PATTERNS = {
    "system": "█",
    "pinned": "▓",
    "recent": "▚",
    "index": "≡",
    "retrieved": "▒",
    "draft": "▞",
    "free": "·",
    "reserve": "╱",
}
"""By kind of segment, and for what is left: what it is drawn with."""
_BOUNDARY = "║"
"""Between the stable prefix and the rest."""
_LONG = {name: name for name in PATTERNS}
_SHORT = _LONG | {"system": "sys", "recent": "rec", "index": "idx", "retrieved": "ret"}
_STABLE = [kind.value for kind in Kind if kind.is_stable]
_SHORT |= {"reserve": "rsv", "pinned": "pin"}


class BudgetBar(Widget):
    """Draws one window."""

    window: reactive[ContextWindow | None] = reactive(None)
    refusal: reactive[WindowOverflow | None] = reactive(None)
    """Why there is no window, where what must be sent does not fit."""
    working: reactive[bool] = reactive(False)
    """Whether another window is being worked out: a mark in place of the first sign says so."""

    @dataclass
    class KindClicked(Message):
        """The user points at a kind of segment."""

        kind: str

    def show_faded(self, faded: bool) -> None:
        """Whether working it out takes long."""
        self.set_class(faded, "-faded")

    def render(self) -> Content:
        """Two lines: the bar and its legend."""
        if self.refusal is not None:
            return Content.assemble(
                ("█" * self.size.width, "$error"),
                f"\nover the budget by {self.refusal.overshoot:,} tokens: cannot be sent like this",
                f" {WORKING}" if self.working else "",
            )
        if self.window is None:
            return Content("·" * self.size.width)
        shares = self._shares(self.window)
        cells = to_scale(shares, self.size.width - 1)
        bar = [(PATTERNS[name] * count, f"$kind-{name}") for name, count in cells.items()]
        bar.insert(len(_STABLE), (_BOUNDARY, "$foreground"))
        legend = self._legend(shares, _LONG)
        if legend.cell_length > self.size.width:
            legend = self._legend(shares, _SHORT)
        if self.working:
            legend = Content.assemble(WORKING, legend[1:])
        return Content.assemble(*bar, "\n", legend)

    def on_click(self, event: events.Click) -> None:
        """Say which part was clicked."""
        if self.window is None or event.y > 0:
            return
        right = 0
        for name, count in to_scale(self._shares(self.window), self.size.width - 1).items():
            right += count + (name == _STABLE[-1])
            if event.x < right:
                self.post_message(self.KindClicked(name))
                return

    def _shares(self, window: ContextWindow) -> dict[str, int]:
        found = {kind.value: window.tokens_of(kind) for kind in Kind}
        return found | {"free": window.free, "reserve": window.budget.reserve}

    def _legend(self, shares: dict[str, int], names: dict[str, str]) -> Content:
        """The figures; in few letters where the line is short."""
        exact = self.window is not None and self.window.is_sure
        gap, between = ("  ", " ") if names is _LONG else (" ", "")
        parts: list[tuple[str, str]] = []
        for name, count in shares.items():
            if count or name != "pinned":
                figure = tokens(count, exact=exact or name == "reserve")
                parts += [(PATTERNS[name], f"$kind-{name}")]
                parts += [(f"{between}{names[name]} {figure}{gap}", "")]
        return Content.assemble(*parts)


def to_scale(shares: dict[str, int], width: int) -> dict[str, int]:
    """`width` cells by share: at least one for all that is there, `free` gives the difference."""
    total = max(1, sum(shares.values()))
    cells = {name: max(1, count * width // total) if count else 0 for name, count in shares.items()}
    order = ["free", *sorted((name for name in shares if name != "free"), key=shares.__getitem__)]
    for name in (order[0], *reversed(order[1:])):
        spare = width - sum(cells.values())
        cells[name] = max(1 if shares[name] else 0, cells[name] + spare) if shares[name] else 0
    return cells
