"""What workers of the lab report to its screens. Workers carry; handlers decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.message import Message

from jitchat.errors import JitchatError
from jitchat.rot.cells import Result
from jitchat.rot.compare import Comparison
from jitchat.rot.desk import Answerer
from jitchat.rot.events import LabEvent
from jitchat.rot.run import Run
from jitchat.rot.tally import Tally
from jitchat.tui.rot.lab_work import Opened
from jitchat.turn import Mode


@dataclass
class LabReported(Message):
    """Things happened in a run, in this order."""

    events: Sequence[LabEvent]


@dataclass
class LabEnded(Message):
    """Nothing more is asked."""

    kept: Sequence[Result] = ()
    """All that the file holds then; empty where it cannot be read."""
    error: JitchatError | None = None
    """Why it broke off."""


@dataclass
class AnswererTold(Message):
    """Who would answer, or why nobody can."""

    outcome: Answerer | JitchatError


@dataclass
class RunsListed(Message):
    """All runs that are kept, and how many cells of each are decided."""

    outcome: Sequence[tuple[Run, int]] | JitchatError


@dataclass
class RunSummed(Message):
    """What came of one of them, by mode."""

    run: str
    """Its id."""
    modes: Mapping[Mode, Tally]


@dataclass
class RunReady(Message):
    """A run can be shown; or not, and why."""

    outcome: Opened | JitchatError


@dataclass
class RunsCompared(Message):
    """Two runs were compared; or not, and why."""

    outcome: Comparison | JitchatError


@dataclass
class RunForgotten(Message):
    """A run is gone, or could not be deleted."""

    outcome: JitchatError | None
