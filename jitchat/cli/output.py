"""The one way out of every headless command: sentences, columns, tables, JSON, files.

Invariant: what others wrote (a model, a file, a server, the user's own arguments) passes
`for_terminal` on its way to the terminal; JSON escapes the same characters instead, so that nothing
of it is lost. Colours are our own, and only for a terminal that wants them.
"""

from __future__ import annotations

import codecs
import errno
import json
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from jitchat.errors import BenchFailed, JitchatError
from jitchat.text.sanitize import escape_in_json, for_terminal

if TYPE_CHECKING:
    from rich.table import Table

_GAP = "  "
_NARROWEST = 12
_FILE_WIDTH = 160
"""Columns of a table that goes to a file."""


class OutputError(JitchatError):
    """Standard output does not take what is written."""


class ReaderGone(OutputError):
    """Nobody reads standard output any more, as behind `| head`: that is no failure to tell of."""

    exit_code = 141
    """As shells have it of a process that SIGPIPE ended."""

    def __init__(self) -> None:
        super().__init__("Nobody reads the output any more.")


def say(text: str, *, err: bool = False, newline: bool = True) -> None:
    """Print text of whatever origin."""
    emit(for_terminal(text), err=err, newline=newline)


def warn(sentence: object) -> None:
    """Print a sentence that is no part of the output."""
    say(f"jitchat: {sentence}", err=True)


def painted(text: str, colour: str | None) -> str:
    """Make text of whatever origin safe and, given a colour, coloured; for `emit`."""
    return click.style(for_terminal(text), fg=colour) if colour else for_terminal(text)


def emit(text: str, *, err: bool = False, newline: bool = True) -> None:
    """Print what is known to be safe; characters that the output cannot hold become `?`."""
    stream = sys.stderr if err else sys.stdout
    if stream is None:
        return
    encoding = stream.encoding or "utf-8"
    fitting = text.encode(encoding, "replace").decode(encoding)
    colour = False if os.environ.get("NO_COLOR") else None
    try:
        click.echo(fitting, file=stream, nl=newline, color=colour)
    except BrokenPipeError as error:
        raise ReaderGone from error
    except OSError as error:
        raise OutputError(f"The output cannot be written: {error.strerror}.") from error


def say_json(value: object) -> None:
    """Print JSON: readable where the output is UTF-8, else ASCII alone."""
    try:
        is_utf8 = codecs.lookup(getattr(sys.stdout, "encoding", None) or "ascii").name == "utf-8"
    except LookupError:
        is_utf8 = False
    text = json.dumps(value, indent=2, ensure_ascii=not is_utf8)
    emit(escape_in_json(text))


@contextmanager
def progress(label: str, total: int, *, lines: bool = False) -> Iterator[Callable[[int], None]]:
    """Draw a bar for who looks at standard error; nothing, or `lines`, for a file or a pipe."""
    if not is_terminal(sys.stderr):
        yield _tenths(label, total) if lines else lambda _: None
        return
    with click.progressbar(length=total, label=for_terminal(label), file=sys.stderr) as bar:
        yield bar.update


def _tenths(label: str, total: int) -> Callable[[int], None]:
    """Print how many are done at once, and at each tenth of the way."""
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        before, done = done, done + more
        if not more or 10 * done // total > 10 * before // total:
            say(f"{label}: {done:,} of {total:,}", err=True)

    advance(0)
    return advance


@contextmanager
def byte_progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Draw a bar of the bytes that arrived, of `total`; lines, where nobody looks at it."""
    if not is_terminal(sys.stderr):
        yield _byte_lines(total)
        return
    from rich import progress as bars  # noqa: PLC0415  only where something is downloaded
    from rich.console import Console  # noqa: PLC0415

    columns_of_it = (
        "{task.description}", bars.BarColumn(), bars.DownloadColumn(),
        bars.TransferSpeedColumn(), bars.TimeRemainingColumn(),
    )  # fmt: skip
    with bars.Progress(*columns_of_it, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(for_terminal(label), total=total or None)
        yield lambda size: bar.update(task, completed=min(size, total))


def _byte_lines(total: int) -> Callable[[int], None]:
    """Print a line at each tenth of the way, as far as it can be told."""
    printed = 0

    def show(size: int) -> None:
        nonlocal printed
        tenths = min(10, 10 * size // total) if total else 0
        if tenths > printed:
            printed = tenths
            say(f"{10 * tenths} %", err=True)

    return show


def is_terminal(stream: IO[str] | None) -> bool:
    return stream is not None and stream.isatty()


def terminal_width() -> int | None:
    """The width in cells; None where the output is no terminal."""
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None


def columns(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Make a line of each row, its cells below each other; `right` are aligned to the right."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [
        _GAP.join(
            f"{cell:>{width}}" if at in right else f"{cell:<{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def print_columns(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> None:
    for line in columns(rows, right):
        say(line)


def fitted_columns(rows: Sequence[Sequence[str]], right: Collection[int]) -> list[str]:
    """Make lines that fit a terminal, if there is one: the last two columns give way."""
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415  not needed for JSON

    *fixed, why, text = (max(map(cell_len, cells)) for cells in zip(*rows, strict=True))
    if (width := terminal_width()) is not None:
        room = max(_NARROWEST, width - sum(fixed) - len(_GAP) * (len(fixed) + 1))
        why = min(why, max(_NARROWEST, room // 2))
        text = room - why if room - why >= _NARROWEST else 0

    def cell_of(at: int, cell: str, wide: int) -> str:
        if cell_len(cell) > wide:
            return f"{set_cell_size(cell, wide - 1)}…" if wide else ""
        blank = " " * (wide - cell_len(cell))
        return blank + cell if at in right else cell + blank

    widths = [*fixed, why, text]
    return [_GAP.join(map(cell_of, range(len(widths)), row, widths)).rstrip() for row in rows]


def print_tables(tables: Iterable[Table]) -> None:
    """Print tables as wide as the terminal is, or as a file needs them, a blank line between."""
    from rich.console import Console  # noqa: PLC0415  not needed to print help

    console = Console(width=None if is_terminal(sys.stdout) else _FILE_WIDTH)
    for number, table in enumerate(tables):
        with console.capture() as drawn:
            console.print(table)
        emit("\n" * bool(number) + drawn.get().rstrip())


def require_writable(path: Path) -> None:
    if why := why_unwritable(path):
        raise _unwritable(path, why)


def why_unwritable(path: Path) -> str:
    """Say why a file cannot be written, without touching it; empty where it can."""
    try:
        try:
            path.stat()
            place = path
        except FileNotFoundError:
            place = path.parent
            place.stat()
    except OSError as error:
        return error.strerror or "it cannot be reached"
    if path.is_dir():
        return os.strerror(errno.EISDIR)
    return "" if os.access(place, os.W_OK) else os.strerror(errno.EACCES)


def write_file(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise _unwritable(path, str(error.strerror)) from error
    say(f"written to {path}", err=True)


def write_json(path: Path, value: object) -> None:
    write_file(path, (json.dumps(value, indent=2) + "\n").encode())


def _unwritable(path: Path, why: str) -> BenchFailed:
    return BenchFailed(f"{path} cannot be written: {why}.", "Name another.")


def require_yes(*, given: bool) -> None:
    """Ask whether they may be sent; not where `--yes` was given."""
    if given:
        return
    if not is_terminal(sys.stdin):
        raise BenchFailed(
            "Nothing was sent: there is no terminal to confirm the cost in.",
            "Give --yes to send without being asked.",
        )
    if not click.confirm("Send them?", err=True):
        raise BenchFailed("Nothing was sent.")
