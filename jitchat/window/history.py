"""The turns that a window can use, each with its price.

Invariant: `before[i]` is the cost of all turns before index i, so that any block's price is
one subtraction, however long the conversation is.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, compress
from typing import Protocol

from jitchat.turn_list import chosen, common_start, joined, positions_of
from jitchat.values import NO_TOOL_USE, Role, ToolUse, Turn
from jitchat.window.exchange import carried_use, is_shown, unit_at
from jitchat.window.render import verbatim

LONGEST_EXCHANGE = 6
"""In turns. Some conversations have only one speaker, or long runs of tool turns: there, an
exchange is considered to end after this many turns."""


class Price(Protocol):
    """Returns the tokens of a text as a message; `use` is the message's tool use."""

    def __call__(self, text: str, use: ToolUse = NO_TOOL_USE, /) -> int: ...


@dataclass(frozen=True, slots=True)
class History:
    """A snapshot; `following` and `extended` make the next one. In order of position."""

    turns: Sequence[Turn] = ()
    costs: tuple[int, ...] = ()
    """Tokens of each turn as a message of its own."""
    before: tuple[int, ...] = (0,)
    """Cumulative costs: one more entry than there are turns."""
    positions: tuple[int, ...] = ()
    """The position of each turn, ascending, with gaps. Stored because it is searched."""
    wholes: Mapping[int, int] = field(default_factory=dict)
    """By position of a turn that windows carry in a shorter form: tokens of the whole turn."""
    taken_out: Mapping[int, int] = field(default_factory=dict)
    """By position of a turn that `without` removed: what the turn costs at full text."""
    whole: "History | None" = field(default=None, compare=False)
    """The history that `without` removed turns from; None if it removed none."""
    unshown: Sequence[Turn] = ()
    """The turns among the others that no window shows."""

    def extended(self, turns: Iterable[Turn], price: Price) -> "History":
        """Add turns at the end; those that no window shows are `unshown`."""
        given = list(turns)
        added = [turn for turn in given if is_shown(turn)]
        unshown = joined(self.unshown, [turn for turn in given if not is_shown(turn)])
        if not added:
            return replace(self, unshown=unshown) if given else self
        previous = [self.turns[-1] if self.turns else None, *added[:-1]]
        costs = [cost_of(turn, last, price) for turn, last in zip(added, previous, strict=True)]
        sums = accumulate(costs, initial=self.before[-1])
        places = (turn.position for turn in added)
        wholes = {
            turn.position: whole_cost_of(turn, last, price)
            for turn, last in zip(added, previous, strict=True)
            if turn.use.form is not None
        }
        return History(
            turns=joined(self.turns, added),
            costs=(*self.costs, *costs),
            before=(*self.before[:-1], *sums),
            positions=(*self.positions, *places),
            wholes={**self.wholes, **wholes},
            unshown=unshown,
        )

    @classmethod
    def of(
        cls, turns: Sequence[Turn], costs: Sequence[int], wholes: Sequence[int] = ()
    ) -> "History":
        """Make the history of turns with known costs; a cost of 0 means that no window shows it.

        `wholes` are the costs of whole turns, 0 for one that is sent whole; empty if all are.
        """
        shown, unshown = chosen(turns, costs), chosen(turns, [not cost for cost in costs])
        kept = tuple(filter(None, costs))
        sums, positions = tuple(accumulate(kept, initial=0)), tuple(positions_of(shown))
        stored = zip(positions_of(turns), wholes, strict=False)
        whole_costs = {place: cost for place, cost in stored if cost}
        return cls(shown, kept, sums, positions, whole_costs, unshown=unshown)

    def following(self, turns: Iterable[Turn], price: Price) -> "History":
        """Make the history of `turns`; the turns that both start with keep their prices."""
        given = list(turns)
        wanted = [turn for turn in given if is_shown(turn)]
        size = common_start(self.turns, wanted)
        same = self
        if size < len(self.turns):
            before, positions = self.before[: size + 1], self.positions[:size]
            last = positions[-1] if positions else 0
            wholes = {place: cost for place, cost in self.wholes.items() if place <= last}
            same = History(self.turns[:size], self.costs[:size], before, positions, wholes)
        made = same.extended(wanted[size:], price)
        unshown = tuple(turn for turn in given if not is_shown(turn))
        return made if unshown == made.unshown else replace(made, unshown=unshown)

    def without(self, positions: Collection[int], price: Price) -> "History":
        """Remove turns, for windows that must not have them. The result cannot be extended.

        The turn after a removed one may now be the first of its day, so it is priced again.
        """
        found = (self.find(position) for position in positions)
        out = frozenset(index for index in found if index is not None)
        if not out:
            return self
        kept = [index not in out for index in range(len(self.turns))]
        taken_out = {self.positions[index]: self.whole_cost(index) for index in sorted(out)}
        wholes = {place: cost for place, cost in self.wholes.items() if place not in taken_out}
        priced = list(self.costs)
        for index, last in self._after(out):
            turn = self.turns[index]
            priced[index] = cost_of(turn, last, price)
            if turn.position in wholes:
                wholes[turn.position] = whole_cost_of(turn, last, price)
        costs = tuple(compress(priced, kept))
        return History(
            turns=chosen(self.turns, kept),
            costs=costs,
            before=tuple(accumulate(costs, initial=0)),
            positions=tuple(compress(self.positions, kept)),
            wholes=wholes,
            taken_out=taken_out,
            whole=self,
            unshown=self.unshown,
        )

    def whole_cost(self, index: int) -> int:
        """Return what the turn at an index costs at full text."""
        return self.wholes.get(self.positions[index], self.costs[index])

    def held_back(self, end: int) -> int:
        """Tokens by which turns before an index exceed the forms in which they are sent."""
        found = (self.find(position) for position in self.wholes)
        indices = [index for index in found if index is not None and index < end]
        return sum(self.whole_cost(index) - self.costs[index] for index in indices)

    def _after(self, out: Collection[int]) -> Iterator[tuple[int, Turn | None]]:
        """Yield the indices that follow those of `out`, each with the turn then before it."""
        last = None
        for index in sorted(out):
            if index - 1 not in out:
                last = self.turns[index - 1] if index else None
            if index + 1 < len(self.turns) and index + 1 not in out:
                yield index + 1, last

    @property
    def total(self) -> int:
        return self.before[-1]

    def last(self) -> Turn | None:
        return self.turns[-1] if self.turns else None

    def find(self, position: int) -> int | None:
        """Find the index of the turn at `position`; None if this history does not have it."""
        index = bisect_left(self.positions, position)
        found = index < len(self.positions) and self.positions[index] == position
        return index if found else None

    def exchange_at(self, index: int) -> int:
        """Find the first index from `index` on at which an exchange starts: the user speaks.

        If none starts within `LONGEST_EXCHANGE` turns, the first index that does not separate a
        call from its result.
        """
        searched = range(index, min(index + LONGEST_EXCHANGE, len(self.turns)))
        whole = index
        while whole < len(self.turns) and self.turns[whole].use.answers is not None:
            whole += 1
        return next((place for place in searched if self._opens(place)), whole)

    def exchanges_back(self, count: int) -> int:
        """Find the index at which the last `count` exchanges start."""
        index = len(self.turns)
        least = max(0, index - count * LONGEST_EXCHANGE)
        while index > least and count > 0:
            index -= 1
            count -= self._opens(index)
        return unit_at(self.turns, index).start if index < len(self.turns) else index

    def with_units(self, out: Mapping[int, str], reason: str) -> dict[int, str]:
        """Add the rest of their units to positions with reasons; `reason` is that of the others."""
        found = (self.find(position) for position in out)
        units = [unit_at(self.turns, index) for index in found if index is not None]
        others = {self.positions[index] for unit in units for index in unit}
        return dict.fromkeys(others, reason) | dict(out)

    def _opens(self, index: int) -> bool:
        """Whether the user speaks at `index` after another role."""
        is_user = self.turns[index].role is Role.USER
        return is_user and (index == 0 or self.turns[index - 1].role is not Role.USER)


def cost_of(turn: Turn, previous: Turn | None, price: Price) -> int:
    """Price a turn as a separate message, following the turn `previous`."""
    text = verbatim(turn, previous)
    return price(text, carried_use(turn.use)) if turn.use else price(text)


def whole_cost_of(turn: Turn, previous: Turn | None, price: Price) -> int:
    """Price all of a turn that windows carry in a shorter form."""
    return cost_of(replace(turn, use=replace(turn.use, form=None)), previous, price)
