"""What a run of the lab asks: which lengths, depths, kinds and modes, and how often."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product
from math import prod

from jitchat.lab.facts import USUAL_KINDS, Kind
from jitchat.lab.filler import Talk
from jitchat.values import USUAL_MODES, Mode, Usage

HARD = (Kind.PARAPHRASED, Kind.UPDATED, Kind.DISTRACTED)
"""What real models stumble over first."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """The grid of a run. The same one gives the same conversations and questions each time."""

    lengths: tuple[int, ...]
    """Tokens of the conversation, ascending."""
    depths: tuple[float, ...]
    """0 to 1, ascending."""
    kinds: tuple[Kind, ...] = USUAL_KINDS
    modes: tuple[Mode, ...] = USUAL_MODES
    repeats: int = 1
    seed: int = 1
    preset: str = "own"
    """The name that it was chosen by, or `own`."""
    conversation: str | None = None
    """The id of the user's own conversation that is the filler; None for made-up talk."""
    near: tuple[int | None, ...] = (None,)
    """Near-duplicates of each fact, ascending; None: as many as its kind has."""
    talk: Talk = Talk.CHAT
    """What the made-up talk in between is like."""
    asks: bool = False
    """Whether the model may ask the store for more in mid-turn, in every mode."""

    def cells(self) -> Iterator["Cell"]:
        """List every cell, the shortest conversation first."""
        repeats = range(1, self.repeats + 1)
        for length, near, repeat in product(self.lengths, self.near, repeats):
            for mode, depth, kind in product(self.modes, self.depths, self.kinds):
                yield Cell(length, depth, kind, repeat, mode, near)

    @property
    def size(self) -> int:
        axes = (self.lengths, self.near, self.depths, self.kinds, self.modes)
        return prod(map(len, axes)) * self.repeats


@dataclass(frozen=True, slots=True)
class RunWanted:
    """A run as it is asked for: what `LabService.begin` takes."""

    experiment: Experiment
    parallel: int = 1
    """Requests at once."""
    judge: str = ""
    """The model that judges; empty where rules alone do."""
    within: float | None = None
    """Seconds that asking may take; None: as long as it takes."""


_HALVES = (0.0, 0.5, 1.0)
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_TENTHS = tuple(number / 10 for number in range(11))
_LENGTHS = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
_DEEP = Experiment(_LENGTHS, _TENTHS, repeats=3)
_FOR_READER = {
    "quick": Experiment((1_000, 4_000, 16_000, 48_000), _QUARTERS),
    "standard": Experiment((1_000, 4_000, 16_000, 64_000, 128_000), _QUARTERS, repeats=3),
    "deep": _DEEP,
}
_FOR_MODELS = {
    "quick": Experiment(_LENGTHS[:4], _HALVES, HARD),
    "standard": Experiment(_LENGTHS[:6], _QUARTERS),
    "deep": _DEEP,
}
_WITHIN_REACH = (Kind.DIRECT, Kind.UPDATED, Kind.DISTRACTED)
"""What a model of 135 million weights answers where it sees nothing else."""
_FOR_PROVIDER = {
    "reader": _FOR_READER,
    "local": {
        "quick": Experiment((2_000, 4_000), (0.25, 0.75), _WITHIN_REACH, near=(2,)),
        "standard": Experiment(
            (1_000, 2_000, 4_000), (0.0, 0.25, 0.5, 0.75), _WITHIN_REACH, near=(0, 2, 6)
        ),
        "deep": _DEEP,
    },
}
"""Presets of providers that have their own."""
PRESETS = tuple(_FOR_MODELS)


def preset(name: str, provider: str = "") -> Experiment:
    """Find a preset: the reader answers at once, so that it is asked more, and at more lengths.

    `costs.fitted` makes it fit the model that answers.

    Raises:
        LookupError: There is none of that name; `PRESETS` lists them.

    """
    return replace(_FOR_PROVIDER.get(provider, _FOR_MODELS)[name], preset=name)


@dataclass(frozen=True, slots=True)
class Cell:
    length: int
    """Tokens of the conversation, as the model's counter counts its messages."""
    depth: float
    """How much of the conversation is ahead of the fact, 0 to 1."""
    kind: Kind
    repeat: int
    """From 1: the same again with another fact, in another conversation."""
    mode: Mode
    near: int | None = None
    """Near-duplicates of the fact, about others; None: as many as its kind has."""


class Verdict(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"
    UNFIT = "does not fit"
    """The window of its mode is larger than the model takes: that is a result, too."""
    FAILED = "failed"
    """The request failed twice: nothing is known of the answer."""


@dataclass(frozen=True, slots=True)
class Result:
    cell: Cell
    verdict: Verdict
    rule: str
    """Why, as a short phrase: `says 7443`, `says the old value, 7440`, `the judge says so` …"""
    question: str
    expected: str
    answer: str
    """Empty where none came."""
    conversation: str
    """Its id in the store of the run."""
    said: int
    """The position of the question."""
    needed: tuple[int, ...] = ()
    """The positions of the turns that the answer needs; none where it was never said."""
    held: int | None = None
    """How many of them the window held, whole or as an excerpt; None where none was sent."""
    window_id: int | None = None
    """The archive's key of the window that was sent; None where none was."""
    tokens: int | None = None
    """Of that window, as it was counted when it was sent."""
    usage: Usage | None = None
    """As the provider reported it; None where it did not."""
    to_first: float | None = None
    """Seconds from its leaving to the first token; None where none came."""
    seconds: float | None = None
    """Seconds from its leaving to the end; None where it did not leave."""
    cost: float | None = None
    """In US dollars; None where that is not known."""
    note: str = ""
    """Why it failed, or does not fit; else empty."""

    @property
    def has_evidence(self) -> bool | None:
        """Whether the window held every turn that the answer needs; None where none was sent."""
        return None if self.held is None else self.held >= len(self.needed)
