"""In which order a run with a budget of time asks, and what it may still begin. Pure.

A round asks for one fact in every mode, so that the modes are compared as pairs. The rounds walk
along diagonals of the grid: each step goes on by one on every axis, so that after any number of
rounds the counts of two values of an axis differ by one at the most.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from jitchat.lab.experiment import Cell, Experiment
from jitchat.values import Mode


def rounds(experiment: Experiment) -> Iterator[list[Cell]]:
    """List every cell, a fact in all modes at a time; the same experiment gives the same order."""
    repeats = range(1, experiment.repeats + 1)
    axes = (experiment.lengths, experiment.depths, experiment.kinds, experiment.near, repeats)
    for length, depth, kind, near, repeat in spread(axes, experiment.seed):
        yield [Cell(length, depth, kind, repeat, mode, near) for mode in experiment.modes]


def spread(axes: Sequence[Sequence[Any]], seed: int) -> Iterator[tuple[Any, ...]]:
    """List the product of the axes, each of them evenly after any number of places.

    A diagonal (the multiples of (1, 1, …), modulo the sizes) has each value of an axis equally
    often, and so has each of its cosets, which are drawn one after the other. The first place is
    the first of each axis: what is short is measured first.
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
    """How long cells took so far, by mode and length, and what the next one is expected to."""

    def __init__(self) -> None:
        self._took: dict[Mode, dict[int, list[float]]] = {}

    def take(self, mode: Mode, length: int, seconds: float) -> None:
        self._took.setdefault(mode, {}).setdefault(length, []).append(seconds)

    def expected(self, mode: Mode, length: int) -> float:
        """Give the mean of the mode at that length, in seconds; 0 where nothing is known of it.

        Where the mode was asked at other lengths only, it is that of the nearest one; in `full`,
        which reads all of a conversation, in proportion.
        """
        took = self._took.get(mode)
        if not took:
            return 0.0
        near = min(took, key=lambda known: abs(known - length))
        mean = sum(took[near]) / len(took[near])
        return mean * length / near if mode is Mode.FULL else mean
