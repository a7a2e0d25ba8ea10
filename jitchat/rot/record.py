"""Runs and results as plain data, and back: what is kept and what is exported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from dataclasses import fields as dataclass_fields
from datetime import datetime
from types import NoneType
from typing import Any, TypeVar

from jitchat.rot.cells import Cell, Result, Verdict
from jitchat.rot.experiment import Experiment
from jitchat.rot.kinds import Kind
from jitchat.rot.run import Run
from jitchat.turn import Mode, Usage

Fields = Mapping[str, Any]
"""As JSON knows it."""
_Made = TypeVar("_Made", Run, Result)
_NUMBER = (int, float)
_PLAIN: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "int | None": (int, NoneType),
    "float": _NUMBER,
    "float | None": (*_NUMBER, NoneType),
}
"""By what a field is declared as: what it may hold."""


def run_fields(run: Run) -> dict[str, Any]:
    """Give a run as plain data."""
    times = {name: _written(getattr(run, name)) for name in ("begun_at", "ended_at")}
    return asdict(run) | times


def run_from(fields: Fields) -> Run:
    """Make a run of what `run_fields` gave.

    Raises:
        ValueError, TypeError, LookupError: It is nothing that it gave.

    """
    ended, begun = fields["ended_at"], datetime.fromisoformat(fields["begun_at"])
    if begun.tzinfo is None:
        raise ValueError("a moment without a time zone")
    made = {
        "experiment": Experiment.from_fields(fields["experiment"]),
        "begun_at": begun,
        "ended_at": None if ended is None else datetime.fromisoformat(ended),
        "settings": tuple((str(name), str(value)) for name, value in fields["settings"]),
    }
    return _required(Run(**{**fields, **made}))


def result_fields(result: Result) -> dict[str, Any]:
    """Give a result as plain data."""
    return asdict(result)


def result_from(fields: Fields) -> Result:
    """Make a result of what `result_fields` gave.

    Raises:
        ValueError, TypeError, LookupError: It is nothing that it gave.

    """
    usage = fields["usage"]
    made = {
        "cell": _cell_from(fields["cell"]),
        "verdict": Verdict(fields["verdict"]),
        "needed": tuple(fields["needed"]),
        "usage": None if usage is None else Usage(**usage),
    }
    return _required(Result(**{**fields, **made}))


def cell_key(cell: Cell) -> str:
    """Name a cell: `4000 0.25 updated 1 jit`."""
    return f"{cell.length} {cell.depth:g} {cell.kind} {cell.repeat} {cell.mode}"


def _required(made: _Made) -> _Made:
    """Check that plain fields hold what they are declared to hold: JSON does not."""
    for each in dataclass_fields(made):
        kinds = _PLAIN.get(str(each.type))
        if kinds is not None and not isinstance(getattr(made, each.name), kinds):
            raise TypeError(f"{each.name} is no {each.type}")
    return made


def _cell_from(fields: Fields) -> Cell:
    kind, mode = Kind(fields["kind"]), Mode(fields["mode"])
    return Cell(int(fields["length"]), float(fields["depth"]), kind, int(fields["repeat"]), mode)


def _written(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
