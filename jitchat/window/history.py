"""The turns that a window may draw on, each with its price.

Invariant: `before[i]` is the cost of all turns ahead of index i, so that any block's price is
one subtraction, however long the conversation is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate

from jitchat.turn import Role, Status, Turn
from jitchat.window.render import verbatim


@dataclass(frozen=True, slots=True)
class History:
    """A snapshot; `extended` makes the next one. Turns are in order of position."""

    turns: tuple[Turn, ...] = ()
    costs: tuple[int, ...] = ()
    """Tokens of each turn as a message of its own."""
    before: tuple[int, ...] = (0,)
    """Cumulative costs: one more than there are turns."""

    def extended(self, turns: Iterable[Turn], price: Callable[[str], int]) -> History:
        """With more turns at the end. Unanswered ones are left out: no window shows them."""
        added = [turn for turn in turns if turn.status is not Status.UNANSWERED]
        if not added:
            return self
        ahead = [self.turns[-1] if self.turns else None, *added[:-1]]
        costs = [price(verbatim(turn, last)) for turn, last in zip(added, ahead, strict=True)]
        sums = accumulate(costs, initial=self.before[-1])
        return History((*self.turns, *added), (*self.costs, *costs), (*self.before[:-1], *sums))

    def until(self, position: int) -> History:
        """Without the turns from `position` on."""
        last = self.last()
        if last is None or last.position < position:
            return self
        size = bisect_left(self.turns, position, key=lambda turn: turn.position)
        return History(self.turns[:size], self.costs[:size], self.before[: size + 1])

    @property
    def total(self) -> int:
        """Tokens of all turns."""
        return self.before[-1]

    def last(self) -> Turn | None:
        """The latest turn."""
        return self.turns[-1] if self.turns else None

    def find(self, position: int) -> int | None:
        """The index of the turn at `position`, or None if it is not here."""
        index = bisect_left(self.turns, position, key=lambda turn: turn.position)
        found = index < len(self.turns) and self.turns[index].position == position
        return index if found else None

    def exchange_at(self, index: int) -> int:
        """The first index from `index` on at which an exchange starts: the user speaks."""
        while 0 < index < len(self.turns) and not self._opens(index):
            index += 1
        return index

    def exchanges_back(self, count: int) -> int:
        """The index at which the last `count` exchanges start."""
        index = len(self.turns)
        while index > 0 and count > 0:
            index -= 1
            count -= self._opens(index)
        return index

    def _opens(self, index: int) -> bool:
        """Whether the user speaks at `index`, after somebody else did."""
        is_user = self.turns[index].role is Role.USER
        return is_user and (index == 0 or self.turns[index - 1].role is not Role.USER)
