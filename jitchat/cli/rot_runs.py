"""`jitchat rot show`, `compare` and `forget`: a run that is kept."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from jitchat.cli.options import Flags, SharingCommand, location_options
from jitchat.cli.output import is_terminal, say
from jitchat.cli.rot_files import RotFiles, file_options
from jitchat.errors import StoreError, UsageError

if TYPE_CHECKING:
    from jitchat.rot.run_file import RunFile
    from jitchat.rot.runs import Runs


@click.command("show", cls=SharingCommand)
@click.argument("run", metavar="RUN")
@file_options
@location_options
def show_command(flags: Flags, run: str, files: RotFiles) -> None:
    """Print the tables of a run again, and write it to files.

    RUN is its id, or `last`.
    """
    from jitchat.cli.rot_tables import print_run  # noqa: PLC0415  loads rich

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
    from jitchat.cli.rot_tables import print_tables  # noqa: PLC0415  loads rich
    from jitchat.rot.compare import compared  # noqa: PLC0415
    from jitchat.rot.report import comparison_tables  # noqa: PLC0415

    with _opened(flags, before) as first, _opened(flags, after) as second:
        if first.run.id == second.run.id:
            raise UsageError(f"A and B are both {first.run.id}.", "Name two runs.")
        earlier, later = sorted((first, second), key=lambda file: file.run.begun_at)
        found = compared(earlier.run, earlier.results(), later.run, later.results())
    print_tables(comparison_tables(found))


@click.command("forget", cls=SharingCommand)
@click.argument("run", metavar="RUN")
@click.option("--yes", is_flag=True, help="Forget it without asking.")
@location_options
def forget_command(flags: Flags, run: str, yes: bool) -> None:
    """Delete a run, with its conversations and answers.

    RUN is its id, or `last`.
    """
    from jitchat.rot.runs import Runs  # noqa: PLC0415  loads the database's libraries

    runs = Runs(flags.paths().rot)
    name, told = _named(runs, run)
    if not yes:
        _require_yes(told)
    runs.forget(name)
    say(f"{told} is forgotten.", err=True)


@contextmanager
def _opened(flags: Flags, wanted: str) -> Iterator[RunFile]:
    from jitchat.rot.runs import Runs  # noqa: PLC0415  loads the database's libraries

    file = Runs(flags.paths().rot).open(wanted)
    try:
        yield file
    finally:
        file.close()


def _named(runs: Runs, wanted: str) -> tuple[str, str]:
    """Find a run's id, and how it is told; one that cannot be read can be forgotten, too."""
    from jitchat.text.safe import one_line  # noqa: PLC0415  not needed to print help

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
