"""The experiment of a lab run: its lengths, depths, kinds, modes and repeats; cells and results."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import product
from math import prod

from jitchat.lab import read_data
from jitchat.lab.facts import USUAL_KINDS, Kind
from jitchat.lab.filler import Talk
from jitchat.typed_data import read
from jitchat.values import USUAL_MODES, Mode, Usage


@dataclass(frozen=True, slots=True)
class Experiment:
    """The grid of a run. The same grid gives the same conversations and questions each time."""

    lengths: tuple[int, ...]
    """Tokens of the conversation, ascending."""
    depths: tuple[float, ...]
    """0 to 1, ascending."""
    kinds: tuple[Kind, ...] = USUAL_KINDS
    modes: tuple[Mode, ...] = USUAL_MODES
    repeats: int = 1
    seed: int = 1
    preset: str = "own"
    """The name of the preset, or `own`."""
    conversation: str | None = None
    """The id of the user's conversation that is used as filler; None for generated filler."""
    near: tuple[int | None, ...] = (None,)
    """Numbers of near-duplicates of each fact, ascending; None for the kind's usual number."""
    talk: Talk = Talk.CHAT
    """The style of generated filler."""
    asks: bool = False
    """Whether `request_context` is offered, in every mode."""

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
    """The options of a new run: the arguments of `LabService.begin`."""

    experiment: Experiment
    parallel: int = 1
    """Maximum parallel requests."""
    judge: str = ""
    """The model that judges; empty if only rules do."""


PRESETS = ("quick", "standard", "deep")


@cache
def preset(name: str, provider: str = "") -> Experiment:
    """Return a preset of a provider, or of models in general.

    `costs.fitted` fits a preset to the model.

    Raises:
        LookupError: There is no preset with this name; `PRESETS` lists them.

    """
    presets = read_data("presets")
    fields = presets.get(provider, {}).get(name) or presets["models"][name]
    return read(Experiment, {**fields, "preset": name})


@dataclass(frozen=True, slots=True)
class Cell:
    length: int
    """Tokens of the conversation, as the model's counter counts its messages."""
    depth: float
    """The share of the conversation before the fact, 0 to 1."""
    kind: Kind
    repeat: int
    """From 1; each repeat has a different fact in a different conversation."""
    mode: Mode
    near: int | None = None
    """Near-duplicates of the fact, about others; None for the kind's usual number."""


class Verdict(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"
    UNFIT = "does not fit"
    """The mode's window is larger than the model's limit: that is a result, too."""
    FAILED = "failed"
    """The request failed twice: there is no answer."""


@dataclass(frozen=True, slots=True)
class Result:
    cell: Cell
    verdict: Verdict
    rule: str
    """The reason for the verdict, as a short phrase: `says 7443`, `says the old value 7440` …"""
    question: str
    expected: str
    answer: str
    """Empty if there is none."""
    conversation: str
    """The conversation's id in the run's store."""
    said: int
    """The position of the question."""
    needed: tuple[int, ...] = ()
    """The positions of the turns that the answer needs; empty if the fact was never said."""
    held: int | None = None
    """Number of needed turns in the window, whole or as an excerpt; None if none was sent."""
    window_id: int | None = None
    """The archive's key of the window that was sent; None if none was sent."""
    tokens: int | None = None
    """Tokens of that window, as counted when it was sent."""
    usage: Usage | None = None
    """As reported by the provider; None if it was not."""
    to_first: float | None = None
    """Seconds from sending to the first token; None if none was received."""
    seconds: float | None = None
    """Seconds from sending to the end; None if nothing was sent."""
    cost: float | None = None
    """In US dollars; None if unknown."""
    note: str = ""
    """Why the request failed or does not fit; otherwise empty."""

    @property
    def has_evidence(self) -> bool | None:
        """Whether the window held every turn that the answer needs; None if none was sent."""
        return None if self.held is None else self.held >= len(self.needed)
