"""When turns are observed, and when observations are reflected on. Pure.

Turns are observed as soon as another exchange of the size of the last ones would not fit the
history's share of the limit. The previous exchange is never observed.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jitchat.statements import Observations
from jitchat.text.blocks import blocks_of
from jitchat.values import Turn
from jitchat.window.exchange import unit_at
from jitchat.window.history import History

_STEP = 0.1
"""The share of the history's allowance that is observed at a time: each step changes the window."""
LARGEST_BATCH = 10_000
"""Maximum tokens of turns observed together: from larger batches, observations get worse."""
_LOOKED_AT = 4
"""Exchanges from which the size of the next one is estimated."""
_LEAST_FREE = 0.03
"""The share of the history's allowance that is kept free at least."""
LEVELS = (0.9, 0.75, 0.6, 0.4)
"""Target sizes of a reflection, as shares of the observations' maximum, each level stronger."""
DENSEST, _SPARSEST = 0.6, 0.25
"""Bounds of the room for observations, as a share of their turns' tokens."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    observe: float = 0.30
    """The history's share of the limit: turns and observations together."""
    reflect: float = 0.50
    """The observations' share of that."""

    def history(self, limit: int) -> int:
        """Return the allowance of turns and observations together, in tokens."""
        return int(limit * self.observe)

    def observations(self, limit: int) -> int:
        """Return the tokens above which observations are reflected on."""
        return int(limit * self.observe * self.reflect)


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a conversation: its turns and their observations."""

    history: History
    observations: Observations
    observed: int
    """Tokens of the observations."""

    @property
    def start(self) -> int:
        """The index of the first turn that is not observed."""
        return bisect_right(self.history.positions, self.observations.through)

    @property
    def raw(self) -> int:
        """Tokens of the turns that are not observed."""
        return self.history.total - self.history.before[self.start]

    def costs(self, turns: Sequence[Turn]) -> Iterator[int]:
        """Price turns as separate messages; those that no window shows cost nothing."""
        for turn in turns:
            index = self.history.find(turn.position)
            yield self.history.costs[index] if index is not None else 0


@dataclass(frozen=True, slots=True)
class Observe:
    """Turns that are due to be observed, in batches of one pass each."""

    batches: tuple[tuple[Turn, ...], ...]
    density: float
    """Maximum size of their observations, as a share of the turns' tokens."""


@dataclass(frozen=True, slots=True)
class Reflect:
    """The observations are due to be rewritten."""

    rooms: tuple[int, ...]
    """Tokens for the rewritten observations, the weakest level first."""
    most: int
    """Tokens that they should not exceed; stronger levels are tried while they do."""


Due = Observe | Reflect | None


def due(standing: Standing, thresholds: Thresholds, limit: int, *, may_reflect: bool = True) -> Due:
    """Decide what is due; without `may_reflect`, observations are not reflected on."""
    most, allowance = thresholds.observations(limit), thresholds.history(limit)
    if standing.observed > most and may_reflect:
        return _reflect(most)
    used = standing.raw + standing.observed
    if used + _expected(standing.history, allowance) <= allowance:
        return None
    wanted = max(int(allowance * _STEP), used - allowance)
    return _observe(standing, wanted, most)


def all_due(standing: Standing, thresholds: Thresholds, limit: int) -> Due:
    """Return what is observed on the user's request: all turns before the previous exchange."""
    return _observe(standing, standing.history.total, thresholds.observations(limit))


def _reflect(most: int) -> Reflect:
    return Reflect(tuple(int(most * level) for level in LEVELS), most)


def _observe(standing: Standing, wanted: int, most: int) -> Observe | None:
    """Observe the oldest turns before the previous exchange, at least `wanted` tokens of them."""
    history, start = standing.history, standing.start
    chosen = _oldest(history, start, history.exchanges_back(1), wanted)
    if not chosen:
        return None
    tokens = history.before[chosen[-1].stop] - history.before[start]
    density = min(DENSEST, max(_SPARSEST, (most - standing.observed) / max(1, tokens)))
    return Observe(tuple(_batches(history, chosen)), density)


def _expected(history: History, allowance: int) -> int:
    """Estimate the next exchange by the largest of the last ones."""
    largest, end = 0, len(history.turns)
    for back in range(1, _LOOKED_AT + 1):
        start = history.exchanges_back(back)
        largest = max(largest, history.before[end] - history.before[start])
        end = start
    return max(int(allowance * _LEAST_FREE), largest)


def _oldest(history: History, start: int, end: int, wanted: int) -> list[range]:
    """Take the oldest units until they have `wanted` tokens; none that extends beyond `end`."""
    chosen, at = list[range](), start
    while at < end and history.before[at] - history.before[start] < wanted:
        unit = unit_at(history.turns, at)
        if unit.stop > end:
            break
        chosen.append(range(at, unit.stop))
        at = unit.stop
    return chosen


def _batches(history: History, units: Sequence[range]) -> list[tuple[Turn, ...]]:
    """Group units into batches; a unit that is larger than a batch is a batch by itself."""
    made, size = list[list[Turn]](), 0
    for unit in units:
        tokens = history.before[unit.stop] - history.before[unit.start]
        if not made or size + tokens > LARGEST_BATCH:
            made.append([])
            size = 0
        made[-1] += history.turns[unit.start : unit.stop]
        size += tokens
    return [tuple(turns) for turns in made]


def pieces(text: str, most: int) -> list[str]:
    """Split a message that is too large to observe at once, at its blocks.

    `most` is in characters; a block that is larger is cut.
    """
    made = [""]
    for block in blocks_of(text):
        part = text[block.start : block.end]
        while part:
            if made[-1] and len(made[-1]) + len(part) > most:
                made.append("")
            made[-1] += part[:most]
            part = part[most:]
    return [piece for piece in made if piece]
