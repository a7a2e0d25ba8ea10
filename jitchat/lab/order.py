"""The order of cells in a run with a time limit, and their expected durations. Pure.

A round asks for one fact in every mode, so that the modes can be compared in pairs. The rounds
follow diagonals of the grid: each step advances by one on every axis, so that after any number of
rounds the counts of two values of an axis differ by at most one.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from jitchat.lab.experiment import Cell, Experiment
from jitchat.values import Mode


def rounds(experiment: Experiment) -> Iterator[list[Cell]]:
    """Yield rounds of cells, one fact in all modes; the same experiment gives the same order."""
    repeats = range(1, experiment.repeats + 1)
    axes = (experiment.lengths, experiment.depths, experiment.kinds, experiment.near, repeats)
    for length, depth, kind, near, repeat in spread(axes, experiment.seed):
        yield [Cell(length, depth, kind, repeat, mode, near) for mode in experiment.modes]


def spread(axes: Sequence[Sequence[Any]], seed: int) -> Iterator[tuple[Any, ...]]:
    """Yield the product of the axes, evenly spread over each axis after any number of items.

    A diagonal (the multiples of (1, 1, …), modulo the sizes) has each value of an axis equally
    often, and so has each of its cosets, which are yielded one after another in random order. The
    first item has the first value of each axis: short conversations are measured first.
    """
    sizes = [len(axis) for axis in axes]
    first, *starts = product(*map(range, sizes))
    random.Random(f"{seed} rounds").shuffle(starts)  # noqa: S311  no secret
    seen: set[tuple[int, ...]] = set()
    for start in (first, *starts):
        place = start
        while place not in seen:
            seen.add(place)
            yield tuple(axis[at] for axis, at in zip(axes, place, strict=True))
            place = tuple((at + 1) % size for at, size in zip(place, sizes, strict=True))


class Pace:
    """The durations of cells so far, by mode and length, and the expected duration of the next."""

    def __init__(self) -> None:
        self._took: dict[Mode, dict[int, list[float]]] = {}

    def take(self, mode: Mode, length: int, seconds: float) -> None:
        self._took.setdefault(mode, {}).setdefault(length, []).append(seconds)

    def expected(self, mode: Mode, length: int) -> float:
        """Return the mean duration of a mode at a length, in seconds; 0 if nothing is known.

        If the mode was only asked at other lengths, this is the mean at the nearest one; in `full`,
        which reads the whole conversation, scaled in proportion.
        """
        took = self._took.get(mode)
        if not took:
            return 0.0
        near = min(took, key=lambda known: abs(known - length))
        mean = sum(took[near]) / len(took[near])
        return mean * length / near if mode is Mode.FULL else mean
