"""The runs that the lab keeps: `jitchat rot list`, `show`, `compare`, `forget`; their files."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from jitchat.cli import output
from jitchat.cli.options import Flags, SharingCommand, location_options, option, options_as
from jitchat.errors import StoreError, UsageError
from jitchat.lab import compare, experiment, report, run_file, stats
from jitchat.text.sanitize import one_line
from jitchat.values import Mode

_ENDINGS = {"text": "txt"}
"""Of a file in a format, where that is not the format's name."""
_STDOUT = Path("-")
"""Standard output in place of a file: then the tables are not printed there."""
_file = partial(option, type=click.Path(path_type=Path), metavar="OUT")


@dataclass(frozen=True, slots=True)
class RotFiles:
    """The files that were asked for, by format; None where one was not."""

    json: Path | None = _file(  # noqa: RUF009  it makes a field
        "Write the run here, as JSON: every cell and every setting. `-` is standard output."
    )
    csv: Path | None = _file("Write its cells here, as CSV.")  # noqa: RUF009  see json
    svg: Path | None = _file("Draw its heatmaps and curves here, as SVG.")  # noqa: RUF009  see json
    text: Path | None = _file("Draw them here in characters.")  # noqa: RUF009  see json

    def named(self) -> list[tuple[str, Path]]:
        return [(name, path) for name, path in asdict(self).items() if path is not None]

    def require_writable(self) -> None:
        named = self.named()
        for _, path in named:
            if path != _STDOUT:
                output.require_writable(path)
        if len({path.absolute() for _, path in named}) < len(named):
            options = " and ".join(f"--{name}" for name, _ in named)
            raise UsageError(f"{options}: two of them name one file.", "Name another.")


def print_run(
    run: run_file.Run, results: Sequence[experiment.Result], files: RotFiles
) -> stats.Tallies:
    """Print the tables of a run, and write it to files; what was counted for them."""
    from jitchat.lab.export.files import exported  # noqa: PLC0415  loads every format

    tallies = stats.count_results(results)
    if all(path != _STDOUT for _, path in files.named()):
        output.print_tables(report.tables(run, tallies))
    for name, path in files.named():
        content = exported(_ENDINGS.get(name, name), run, results)
        if path == _STDOUT:
            output.emit(content.decode(), newline=False)
        else:
            output.write_file(path, content)
    return tallies


def as_begun(flags: Flags, wanted: str) -> Flags:
    """Have the model of a run answer, where the flags name none."""
    if {"provider.name", "provider.model"} & flags.given.keys():
        return flags
    with _opened(flags, wanted) as file:
        run = file.run
    given: dict[str, Any] = {"provider.name": run.provider}
    if not run.is_reader:
        given["provider.model"] = run.model
    return Flags(given=given).over(flags)


def _opened(flags: Flags, wanted: str) -> closing[run_file.RunFile]:
    return closing(run_file.Runs(flags.paths().rot).open(wanted))


@click.command("list", cls=SharingCommand)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@location_options
def list_command(flags: Flags, as_json: bool) -> None:
    """List the runs, the latest first, with their shares of right answers."""
    runs = run_file.Runs(flags.paths().rot).each(_summary)
    if as_json:
        output.say_json([_fields(*run) for run in runs])
    elif runs:
        output.print_columns([_cells(*run) for run in runs], right=(1,))
    else:
        output.say("There are no runs yet. `jitchat rot` makes one.")


def _summary(file: run_file.RunFile) -> tuple[run_file.Run, int, Mapping[Mode, stats.Tally]]:
    """Read what is listed of a run: how many cells are decided, and its shares."""
    shares: Mapping[Mode, stats.Tally] = {}
    with suppress(StoreError):  # it is listed all the same
        shares = stats.count_results(file.results()).by_mode
    return file.run, file.count(), shares


def _cells(run: run_file.Run, decided: int, shares: Mapping[Mode, stats.Tally]) -> tuple[str, ...]:
    listed = ", ".join(f"{mode} {_share(shares.get(mode))}" for mode in run.experiment.modes)
    return run.id, f"{decided:,}/{run.experiment.size:,}", listed, one_line(run.title)


def _share(tally: stats.Tally | None) -> str:
    """Write the share of right answers, with how many came: `76 % of 140`; a dash for none."""
    if tally is None or not tally.answered:
        return stats.NOTHING
    return f"{stats.percent(tally.share)} of {tally.answered:,}"


def _fields(run: run_file.Run, decided: int, shares: Mapping[Mode, stats.Tally]) -> dict[str, Any]:
    """Turn it into what JSON knows; a share is 0 to 1, and null where no answer came."""
    tallies = [(mode, shares.get(mode)) for mode in run.experiment.modes]
    return {
        "id": run.id,
        "title": run.title,
        "provider": run.provider,
        "model": run.model,
        "cells": run.experiment.size,
        "decided": decided,
        "shares": {mode.value: tally.share if tally else None for mode, tally in tallies},
        "answered": {mode.value: tally.answered if tally else 0 for mode, tally in tallies},
        "begun_at": run.begun_at.isoformat(),
        "ended_at": run.ended_at.isoformat() if run.ended_at is not None else None,
    }


@click.command("show", cls=SharingCommand)
@click.argument("run", metavar="RUN")
@options_as("files", RotFiles)
@location_options
def show_command(flags: Flags, run: str, files: RotFiles) -> None:
    """Print the tables of a run again, and write it to files.

    RUN is its id, or `last`.
    """
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
    with _opened(flags, before) as first, _opened(flags, after) as second:
        if first.run.id == second.run.id:
            raise UsageError(f"A and B are both {first.run.id}.", "Name two runs.")
        earlier, later = sorted((first, second), key=lambda file: file.run.begun_at)
        comparison = compare.compare_runs(
            earlier.run, earlier.results(), later.run, later.results()
        )
    output.print_tables(report.comparison_tables(comparison))


@click.command("forget", cls=SharingCommand)
@click.argument("run", metavar="RUN")
@click.option("--yes", is_flag=True, help="Forget it without asking.")
@location_options
def forget_command(flags: Flags, run: str, yes: bool) -> None:
    """Delete a run, with its conversations and answers.

    RUN is its id, or `last`.
    """
    try:
        with _opened(flags, run) as file:
            run, name = file.run.id, f"{file.run.id}, {one_line(file.run.title)},"
    except StoreError:
        name = f"{run}, which cannot be read,"
    if not yes:
        if not output.is_terminal(sys.stdin):
            raise UsageError(
                "Nothing was forgotten: there is no terminal to confirm it in.",
                "Give --yes to forget it without being asked.",
            )
        if not click.confirm(f"Forget {name} with all its answers?", err=True):
            raise click.ClickException("Nothing was forgotten.")
    run_file.Runs(flags.paths().rot).forget(run)
    output.say(f"{name} is forgotten.", err=True)
