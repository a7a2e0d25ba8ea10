"""`jitchat rot list`: the runs that are kept."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from jitchat.cli.options import Flags, SharingCommand, location_options
from jitchat.cli.output import is_terminal, say, say_json
from jitchat.cli.rot_output import RotFiles, file_options
from jitchat.errors import StoreError, UsageError
from jitchat.lab.compare import compare_runs
from jitchat.lab.run_file import Run, RunFile
from jitchat.lab.runs import Runs
from jitchat.lab.stats import NOTHING, Tally, count_results, percent
from jitchat.text.sanitize import one_line
from jitchat.values import Mode

if TYPE_CHECKING:
    Listed = tuple[Run, int, Mapping[Mode, Tally]]


@click.command("list", cls=SharingCommand)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@location_options
def list_command(flags: Flags, as_json: bool) -> None:
    """List the runs, the latest first, with their shares of right answers."""
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
        shares = count_results(file.results()).by_mode
    return file.run, file.count(), shares


def _print(found: Sequence[Listed]) -> None:
    """Print a line a run."""
    rows = []
    for run, decided, shares in found:
        told = ", ".join(f"{mode} {_told(shares.get(mode))}" for mode in run.experiment.modes)
        rows.append((run.id, f"{decided:,}/{run.experiment.size:,}", told, one_line(run.title)))
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, cells, told, title in rows:
        say(f"{name:<{wide[0]}}  {cells:>{wide[1]}}  {told:<{wide[2]}}  {title}")


def _told(tally: Tally | None) -> str:
    """Write the share of right answers, with how many came: `76 % of 140`; a dash for none."""
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


@click.command("show", cls=SharingCommand)
@click.argument("run", metavar="RUN")
@file_options
@location_options
def show_command(flags: Flags, run: str, files: RotFiles) -> None:
    """Print the tables of a run again, and write it to files.

    RUN is its id, or `last`.
    """
    from jitchat.cli.rot_output import print_run  # noqa: PLC0415  loads rich

    files.require_writable()
    with _opened(flags, run) as file:
        print_run(file.run, file.results(), files)


@click.command("compare", cls=SharingCommand)
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@location_options
def compare_command(flags: Flags, before: str, after: str) -> None:
    """Set two runs beside each other.

    The one that was begun first is the earlier one, however they are named. Only cells that both
    have answers for count. A and B are ids, or `last`.
    """
    from jitchat.cli.rot_output import print_tables  # noqa: PLC0415  loads rich
    from jitchat.lab.report import comparison_tables  # noqa: PLC0415

    with _opened(flags, before) as first, _opened(flags, after) as second:
        if first.run.id == second.run.id:
            raise UsageError(f"A and B are both {first.run.id}.", "Name two runs.")
        earlier, later = sorted((first, second), key=lambda file: file.run.begun_at)
        found = compare_runs(earlier.run, earlier.results(), later.run, later.results())
    print_tables(comparison_tables(found))


@click.command("forget", cls=SharingCommand)
@click.argument("run", metavar="RUN")
@click.option("--yes", is_flag=True, help="Forget it without asking.")
@location_options
def forget_command(flags: Flags, run: str, yes: bool) -> None:
    """Delete a run, with its conversations and answers.

    RUN is its id, or `last`.
    """
    runs = Runs(flags.paths().rot)
    name, told = _named(runs, run)
    if not yes:
        _require_yes(told)
    runs.forget(name)
    say(f"{told} is forgotten.", err=True)


@contextmanager
def _opened(flags: Flags, wanted: str) -> Iterator[RunFile]:
    file = Runs(flags.paths().rot).open(wanted)
    try:
        yield file
    finally:
        file.close()


def _named(runs: Runs, wanted: str) -> tuple[str, str]:
    """Find a run's id, and how it is told; one that cannot be read can be forgotten, too."""
    try:
        file = runs.open(wanted)
    except StoreError:
        return wanted, f"{wanted}, which cannot be read,"
    file.close()
    return file.run.id, f"{file.run.id}, {one_line(file.run.title)},"


def _require_yes(told: str) -> None:
    if not is_terminal(sys.stdin):
        raise UsageError(
            "Nothing was forgotten: there is no terminal to confirm it in.",
            "Give --yes to forget it without being asked.",
        )
    if not click.confirm(f"Forget {told} with all its answers?", err=True):
        raise click.ClickException("Nothing was forgotten.")
