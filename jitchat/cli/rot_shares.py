"""`--fail-under`: the share of a mode's cells that has to be right."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from jitchat.errors import BenchFailed, UsageError

if TYPE_CHECKING:
    from jitchat.rot.experiment import Experiment
    from jitchat.rot.tally import Tallies, Tally

_NEXT_TO_NOTHING = 1e-9


def require_asked(experiment: Experiment, modes: Collection[str]) -> None:
    """Refuse a share of a mode that is not asked.

    Raises:
        UsageError: One of them is not.

    """
    asked = [mode.value for mode in experiment.modes]
    if missing := [mode for mode in modes if mode not in asked]:
        raise UsageError(
            f"--fail-under names {missing[0]}, which is not asked.",
            f"Asked are: {', '.join(asked)}.",
        )


def require_shares(experiment: Experiment, tallies: Tallies, least: Mapping[str, float]) -> None:
    """Hold each mode to its share; a cell that does not fit or failed is not right.

    Raises:
        BenchFailed: One is below it.

    """
    told = list(_below(experiment, tallies, least))
    if told:
        raise BenchFailed(" ".join(told))


def _below(experiment: Experiment, tallies: Tallies, least: Mapping[str, float]) -> Iterator[str]:
    cells = experiment.size // len(experiment.modes)
    for mode in experiment.modes:
        tally = tallies.by_mode.get(mode)
        right = tally.right if tally is not None else 0
        wanted = least.get(mode.value, 0.0)
        if right / cells < wanted - _NEXT_TO_NOTHING:
            yield (
                f"{mode}: {right:,} of {cells:,} cells are right{_without(tally)}, a share of"
                f" {right / cells:.3f}; --fail-under wants {wanted:g}."
            )


def _without(tally: Tally | None) -> str:
    """Say of how many no answer came, and why: ` (2 do not fit, 1 failed)`; empty for none."""
    if tally is None:
        return ""
    told = [f"{tally.unfit:,} {'does' if tally.unfit == 1 else 'do'} not fit"] * bool(tally.unfit)
    told += [f"{tally.failed:,} failed"] * bool(tally.failed)
    return f" ({', '.join(told)})" if told else ""
