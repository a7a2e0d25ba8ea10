"""A run of the rot lab on paper: its tables, and those of two runs beside each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jitchat.cli.bench_options import print_table, unwritable, why_unwritable
from jitchat.cli.output import emit, say
from jitchat.errors import UsageError
from jitchat.lab.experiment import Result
from jitchat.lab.report import tables
from jitchat.lab.run_file import Run
from jitchat.lab.stats import Tallies, count_results

if TYPE_CHECKING:
    from rich.table import Table


def print_run(run: Run, results: Sequence[Result], files: RotFiles) -> Tallies:
    """Print the tables of a run, and write it to files; what was counted for them."""
    tallies = count_results(results)
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


_FORMATS = {
    "json": "Write the run here, as JSON: every cell and every setting. `-` is standard output.",
    "csv": "Write its cells here, as CSV.",
    "svg": "Draw its heatmaps and curves here, as SVG.",
    "text": "Draw them here in characters.",
}
_STDOUT = Path("-")
"""Standard output in place of a file: then the tables are not printed there."""
_ENDINGS = {"text": "txt"}
"""Of a file in a format, where that is not the format's name."""


@dataclass(frozen=True, slots=True)
class RotFiles:
    """The files that were asked for; None where one was not."""

    json: Path | None = None
    csv: Path | None = None
    svg: Path | None = None
    text: Path | None = None

    def named(self) -> list[tuple[str, Path]]:
        """List format and file of those that were asked for."""
        found = ((name, getattr(self, name)) for name in _FORMATS)
        return [(name, path) for name, path in found if path is not None]

    @property
    def takes_stdout(self) -> bool:
        """Whether one of them goes to standard output, which is then that one's alone."""
        return _STDOUT in (path for _, path in self.named())

    def require_writable(self) -> None:
        """Refuse what will not take the figures, before there are any.

        Raises:
            BenchFailed: A file cannot be written.
            UsageError: Two formats are to go to one file.

        """
        named = self.named()
        for _, path in named:
            if path != _STDOUT and (why := why_unwritable(path)):
                raise unwritable(path, why)
        if len({path.absolute() for _, path in named}) < len(named):
            options = " and ".join(f"--{name}" for name, _ in named)
            raise UsageError(f"{options}: two of them name one file.", "Name another.")

    def write(self, run: Run, results: Sequence[Result]) -> None:
        """Write a run to each of them.

        Raises:
            BenchFailed: One cannot be written.

        """
        from jitchat.lab.export.files import exported  # noqa: PLC0415  not needed to print help

        for name, path in self.named():
            made = exported(_ENDINGS.get(name, name), run, results)
            if path == _STDOUT:
                emit(made.decode(), newline=False)
                continue
            try:
                path.write_bytes(made)
            except OSError as error:
                raise unwritable(path, str(error.strerror)) from error
            say(f"written to {path}", err=True)


def file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json, --csv, --svg and --text; the command gets them as `files`."""

    @wraps(command)
    def with_files(*args: object, **values: Any) -> object:  # noqa: ANN401  as click calls it
        given = {name: values.pop(name) for name in _FORMATS}
        return command(*args, files=RotFiles(**given), **values)

    wrapped: Callable[..., Any] = with_files
    for name, text in reversed(_FORMATS.items()):
        file = click.Path(path_type=Path)
        wrapped = click.option(f"--{name}", type=file, metavar="OUT", help=text)(wrapped)
    return wrapped
