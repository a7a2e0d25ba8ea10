"""`jitchat tokens` without a model: every model whose server taught how it counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jitchat.cli.opening import opened_store
from jitchat.cli.options import Flags
from jitchat.cli.output import say, say_json
from jitchat.cli.tokens import correction_fields, correction_sentence
from jitchat.memory.cold.learnt import LearntModels
from jitchat.text.counts import counted
from jitchat.text.safe import one_line
from jitchat.window.calibration import Calibration

AT = 10_000
"""Where the band is told, in tokens of one's own."""


@dataclass(frozen=True, slots=True)
class _Learnt:
    """What one model of one server taught about one counter."""

    server: str
    model: str
    counter: str
    samples: int
    learnt: Calibration


def list_models(flags: Flags, *, as_json: bool) -> None:
    """Print them, by server."""
    with opened_store(flags.paths()) as store:
        models = LearntModels(store.database)
        found = [
            _Learnt(server, model, counter, len(samples), Calibration.of(samples))
            for server, model, counter in models.counted()
            if (samples := models.of(server, model).samples(counter))
        ]
    if as_json:
        say_json([_fields(each) for each in found])
    elif found:
        _print_table([_cells(each) for each in found])
    else:
        say("No server taught anything yet: each reply whose tokens it reports is a sample.")


def _fields(each: _Learnt) -> dict[str, Any]:
    return {
        "server": each.server,
        "model": each.model,
        "counter": each.counter,
        "samples": each.samples,
        "correction": correction_fields(each.learnt),
        "band": {str(AT): each.learnt.band(AT)} if each.learnt.samples else None,
    }


def _cells(each: _Learnt) -> Sequence[str]:
    learnt = each.learnt
    told = f"{correction_sentence(learnt)}, ± {learnt.band(AT):,} at {AT:,} tokens"
    return (
        one_line(each.model),
        one_line(each.server),
        one_line(each.counter),
        counted(each.samples, "sample"),
        told if learnt.samples else "no correction yet",
    )


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        say("  ".join(cells).rstrip())
