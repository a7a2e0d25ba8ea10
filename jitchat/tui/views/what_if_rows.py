"""What the modes would send for one message, read off their windows once, in a thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.errors import WindowOverflow
from jitchat.text.safe import shortened
from jitchat.tui.figures import part_figure, used_figure
from jitchat.turn import Mode, Turn
from jitchat.window.aligned import AlignedRow, aligned
from jitchat.window.budget import Budget
from jitchat.window.spending import window_cost, windows_cost
from jitchat.window.steering import Once
from jitchat.window.window import ContextWindow, Kind

if TYPE_CHECKING:
    from jitchat.planning import Planned
    from jitchat.session import Session

TEXT_WIDTH = 80
"""Characters of a turn in its row, at most."""


@dataclass(frozen=True, slots=True)
class Side:
    """One mode's window in figures, as they stand on screen."""

    mode: Mode
    used: int = 0
    """In tokens."""
    sizes: tuple[tuple[Kind, int], ...] = ()
    """Tokens of each kind that is there."""
    figures: tuple[str, ...] = ()
    """As `FIGURES` names them; empty for a window that does not fit."""
    overflow: str = ""
    """Why there is no window."""


FIGURES = ("tokens", "of full", "price", "stable", "free", "reserve")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The windows of all modes for one question."""

    said: Turn
    """The turn that the draft is, or would be."""
    budget: Budget
    sides: tuple[Side, ...]
    rows: tuple[AlignedRow, ...]
    texts: Mapping[int, str]
    """How the turns of the rows begin, by position."""
    cost: str
    """What sending all of those windows would cost, without the answers."""

    @property
    def widest(self) -> int:
        """Tokens of the largest window: the scale of the bars."""
        return max((side.used for side in self.sides), default=0)

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that fit."""
        return tuple(side.mode for side in self.sides if not side.overflow)


def compare(session: Session, draft: str, once: Once) -> Comparison:
    """Plan the windows and align them; takes a thread's time."""
    question, planned = session.compare(draft, once)
    price = _price_of(session)
    windows = [each for each in planned.values() if isinstance(each, ContextWindow)]
    rows = aligned(windows)
    wanted = {turn for row in rows for turn in row.turns[:1]}
    known = [*session.memory.turns, question.said]
    return Comparison(
        said=question.said,
        budget=once.budget or session.options.budget,
        sides=tuple(side_of(mode, each, price) for mode, each in planned.items()),
        rows=rows,
        texts={
            turn.position: shortened(turn.content, TEXT_WIDTH)
            for turn in known
            if turn.position in wanted
        },
        cost=windows_cost(windows, price),
    )


def side_of(mode: Mode, planned: Planned, price: Callable[[int], float | None]) -> Side:
    """Read the figures off a window."""
    if isinstance(planned, WindowOverflow):
        return Side(mode, overflow=_why_not(planned))
    sizes = {kind: planned.tokens_of(kind) for kind in Kind}
    figures = (
        used_figure(planned),
        f"{(1 - planned.saving) * 100:.0f} %",
        "no charge" if price(planned.used) == 0 else window_cost(planned, price),
        part_figure(planned, planned.stable_tokens),
        part_figure(planned, planned.free),
        f"{planned.budget.reserve:,}",
    )
    present = tuple((kind, tokens) for kind, tokens in sizes.items() if tokens)
    return Side(mode, planned.used, present, figures)


def _why_not(overflow: WindowOverflow) -> str:
    return f"does not fit: {overflow.overshoot:,} tokens over the budget"


def _price_of(session: Session) -> Callable[[int], float | None]:
    prices = session.options.prices
    return prices.of_input if prices is not None else lambda _: None
