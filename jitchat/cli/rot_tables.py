"""A run of the rot lab on paper: its tables, and those of two runs beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from jitchat.cli.bench_options import print_table
from jitchat.cli.output import emit
from jitchat.rot.report import tables
from jitchat.rot.tally import Tallies, tallied

if TYPE_CHECKING:
    from rich.table import Table

    from jitchat.cli.rot_files import RotFiles
    from jitchat.rot.cells import Result
    from jitchat.rot.run import Run


def print_run(run: Run, results: Sequence[Result], files: RotFiles) -> Tallies:
    """Print the tables of a run, and write it to files; what was counted for them."""
    tallies = tallied(results)
    if not files.takes_stdout:
        print_tables(tables(run, tallies))
    files.write(run, results)
    return tallies


def print_tables(found: Iterable[Table]) -> None:
    """Print tables, a blank line between two."""
    for number, table in enumerate(found):
        if number:
            emit("")
        print_table(table)
