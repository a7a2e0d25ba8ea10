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
    from jitchat.rot.run_file import RunFile
    from jitchat.rot.tally import Tally
    from jitchat.turn import Mode

    Listed = tuple[Run, int, Mapping[Mode, Tally]]


@click.command("list", cls=SharingCommand)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@location_options
def list_command(flags: Flags, as_json: bool) -> None:
    """List the runs, the latest first, with their shares of right answers."""
    from jitchat.rot.runs import Runs  # noqa: PLC0415  loads the database's libraries

    found = Runs(flags.paths().rot).each(_listed)
    if as_json:
        say_json([_fields(*each) for each in found])
    elif found:
        _print(found)
    else:
        say("There are no runs yet. `jitchat rot` makes one.")


def _listed(file: RunFile) -> Listed:
    """Read what is listed of a run."""
    shares: Mapping[Mode, Tally] = {}
    with suppress(StoreError):  # it is listed all the same
        shares = file.shares()
    return file.run, file.count(), shares


def _print(found: Sequence[Listed]) -> None:
    """Print a line a run."""
    from jitchat.text.safe import one_line  # noqa: PLC0415  not needed for JSON

    rows = []
    for run, decided, shares in found:
        told = ", ".join(f"{mode} {_told(shares.get(mode))}" for mode in run.experiment.modes)
        rows.append((run.id, f"{decided:,}/{run.experiment.size:,}", told, one_line(run.title)))
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, cells, told, title in rows:
        say(f"{name:<{wide[0]}}  {cells:>{wide[1]}}  {told:<{wide[2]}}  {title}")


def _told(tally: Tally | None) -> str:
    """Write the share of right answers, with how many came: `76 % of 140`; a dash for none."""
    from jitchat.rot.figures import NOTHING, percent  # noqa: PLC0415  not needed for JSON

    if tally is None or not tally.answered:
        return NOTHING
    return f"{percent(tally.share)} of {tally.answered:,}"


def _fields(run: Run, decided: int, shares: Mapping[Mode, Tally]) -> dict[str, Any]:
    """Turn it into what JSON knows; a share is 0 to 1, and null where no answer came."""
    found = [(mode, shares.get(mode)) for mode in run.experiment.modes]
    return {
        "id": run.id,
        "title": run.title,
        "provider": run.provider,
        "model": run.model,
        "cells": run.experiment.size,
        "decided": decided,
        "shares": {mode.value: tally.share if tally else None for mode, tally in found},
        "answered": {mode.value: tally.answered if tally else 0 for mode, tally in found},
        "begun_at": run.begun_at.isoformat(),
        "ended_at": run.ended_at.isoformat() if run.ended_at is not None else None,
    }
