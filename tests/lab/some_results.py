"""A small run with every kind of outcome, and the same with hostile texts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from jitchat.lab.experiment import Cell, Experiment, Result, Verdict
from jitchat.lab.facts import Kind
from jitchat.lab.run_file import Run
from jitchat.values import Mode, Usage

if TYPE_CHECKING:
    from collections.abc import Callable

EXPERIMENT = Experiment(
    lengths=(1_000, 4_000, 16_000, 48_000),
    depths=(0.0, 0.25, 0.5, 0.75, 1.0),
    kinds=(Kind.DIRECT, Kind.UPDATED, Kind.DISTRACTED, Kind.ABSENT),
    seed=7,
)
RUN = Run(
    id="r1",
    experiment=EXPERIMENT,
    provider="ollama",
    model="qwen3-8b",
    embedder="builtin-256",
    limit=32_768,
    reserve=2_048,
    counter="o200k_base",
    version="0.9",
    begun_at=datetime(2026, 11, 24, 15, 40, tzinfo=UTC),
    ended_at=datetime(2026, 11, 24, 15, 42, tzinfo=UTC),
    settings=(("window.recent", "384"), ("window.retrieved", "1536")),
)
READER_RUN = replace(RUN, provider="reader", model="reader")


def result(cell: Cell, verdict: Verdict = Verdict.RIGHT, **changes: object) -> Result:
    """A result of a cell, with all that one that was answered has."""
    is_sent = verdict is not Verdict.UNFIT
    made = Result(
        cell,
        verdict,
        rule="says 7443" if verdict is Verdict.RIGHT else "",
        question="What is the code of the boat shed?",
        expected="7443",
        answer="It is 7443." if verdict is Verdict.RIGHT else "",
        conversation="c1",
        said=41,
        needed=() if cell.kind is Kind.ABSENT else (9,),
        held=_held(cell, verdict),
        tokens=cell.length + 100 if is_sent else None,
        usage=Usage(cell.length + 90, 12, cell.length // 2) if is_sent else None,
        to_first=0.25 if is_sent else None,
        seconds=cell.length / 10_000 if is_sent else None,
        cost=0.0001 if is_sent else None,
    )
    return replace(made, **changes)


def _held(cell: Cell, verdict: Verdict) -> int | None:
    """How many of the needed turns a window of that mode holds; `recency` may guess."""
    if verdict in (Verdict.UNFIT, Verdict.FAILED) or cell.kind is Kind.ABSENT:
        return None if verdict is Verdict.UNFIT else 0
    is_there = cell.depth == 1 or cell.length == 1_000
    return 1 if cell.mode is not Mode.RECENCY or is_there else 0


def results(forgets: Callable[[Cell], Verdict] | None = None) -> list[Result]:
    """A result of every cell, by a rule; the small run's own rule if none is given."""
    return [result(cell, (forgets or _verdict)(cell)) for cell in EXPERIMENT.cells()]


def _verdict(cell: Cell) -> Verdict:
    """`full` loses the middle of long conversations, `recency` all but their end."""
    if cell.mode is Mode.FULL and cell.length > 30_000:
        return Verdict.UNFIT
    if cell.mode is Mode.JIT and cell.length == 4_000 and cell.kind is Kind.UPDATED:
        return Verdict.FAILED if cell.depth in (0.25, 0.5) else Verdict.RIGHT
    is_wrong = {
        Mode.FULL: cell.kind is not Kind.DIRECT and cell.length * _middle(cell.depth) > 6_000,
        Mode.RECENCY: cell.depth < 1 and cell.length > 1_000 and cell.kind is not Kind.ABSENT,
        Mode.JIT: cell.kind is Kind.DISTRACTED and cell.length > 10_000 and cell.depth < 0.5,
    }
    return Verdict.WRONG if is_wrong[cell.mode] else Verdict.RIGHT


def _middle(depth: float) -> float:
    return 1 - 2 * abs(depth - 0.5) + (0.4 if depth == 0.75 else 0)
