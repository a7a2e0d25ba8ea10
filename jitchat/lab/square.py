"""What a square of a heat map shows, on screen and in an exported page."""

from dataclasses import dataclass

from jitchat.lab.colours import colour_of
from jitchat.lab.stats import Tally, points


@dataclass(frozen=True, slots=True)
class Square:
    kind: str
    """`share`, `unfit`, `failed`, or `none` if no cell has a result."""
    text: str
    """The share of right answers in per cent, or a sign for why there is none."""
    colour: str = ""
    """The colour of the share, as `#rrggbb`."""


def square_of(tally: Tally | None) -> Square:
    if tally is None or not tally.cells:
        return Square("none", "·")
    if tally.share is not None:
        return Square("share", points(tally.share), colour_of(tally.share))
    return Square("unfit", "n/f") if tally.unfit else Square("failed", "!")
