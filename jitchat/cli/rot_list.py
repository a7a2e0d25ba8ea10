"""`jitchat rot list`: the runs that are kept."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from jitchat.cli.options import Flags, SharingCommand, location_options
from jitchat.cli.output import say, say_json
from jitchat.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jitchat.rot.run import Run
    from jitchat.rot.runs import Runs

    Listed = tuple[Run, int, Mapping[str, float | None]]


@click.command("list", cls=SharingCommand)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@location_options
def list_command(flags: Flags, as_json: bool) -> None:
    """List the runs, the latest first, with their shares of right answers."""
    from jitchat.rot.runs import Runs  # noqa: PLC0415  loads the database's libraries

    runs = Runs(flags.paths().rot)
    found = [(run, decided, _shares(runs, run)) for run, decided in runs.all()]
    if as_json:
        say_json([_fields(*each) for each in found])
    elif found:
        _print(found)
    else:
        say("There are no runs yet. `jitchat rot` makes one.")


def _shares(runs: Runs, run: Run) -> Mapping[str, float | None]:
    """Count the right ones among the answers of each mode; None where none came."""
    from jitchat.rot.tally import tallied  # noqa: PLC0415  not needed to print help

    with suppress(StoreError):  # it is listed all the same
        file = runs.open(run.id)
        try:
            by_mode = tallied(file.results()).by_mode
        finally:
            file.close()
        return {mode.value: tally.share for mode, tally in by_mode.items()}
    return {}


def _print(found: Sequence[Listed]) -> None:
    """Print a line a run."""
    from jitchat.rot.figures import percent  # noqa: PLC0415  not needed for JSON
    from jitchat.text.safe import one_line  # noqa: PLC0415

    rows = []
    for run, decided, shares in found:
        told = ", ".join(f"{mode} {percent(shares.get(mode))}" for mode in run.experiment.modes)
        rows.append((run.id, f"{decided:,}/{run.experiment.size:,}", told, one_line(run.title)))
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, cells, told, title in rows:
        say(f"{name:<{wide[0]}}  {cells:>{wide[1]}}  {told:<{wide[2]}}  {title}")


def _fields(run: Run, decided: int, shares: Mapping[str, float | None]) -> dict[str, Any]:
    """Turn it into what JSON knows; a share is 0 to 1, and null where no answer came."""
    return {
        "id": run.id,
        "title": run.title,
        "provider": run.provider,
        "model": run.model,
        "cells": run.experiment.size,
        "decided": decided,
        "shares": {mode.value: shares.get(mode.value) for mode in run.experiment.modes},
        "begun_at": run.begun_at.isoformat(),
        "ended_at": run.ended_at.isoformat() if run.ended_at is not None else None,
    }
