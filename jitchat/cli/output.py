"""The only output of headless commands: sentences, columns, tables, JSON, files.

Invariant: text from elsewhere (a model, a file, a server, the user's arguments) passes through
`for_terminal` on its way to a terminal; a pipe or a file gets the text itself. JSON escapes the
same characters instead. Only jitchat adds colours, and only for a terminal that supports them.
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
"""Width of a table written to a file, in columns."""


class OutputError(JitchatError):
    """Standard output cannot be written."""


class ReaderGone(OutputError):
    """The reader of standard output is gone, as with `| head`; not reported as a failure."""

    exit_code = 141
    """The shells' exit code for a process ended by SIGPIPE."""

    def __init__(self) -> None:
        super().__init__("Nobody reads the output any more.")


def say(text: str, *, err: bool = False, newline: bool = True) -> None:
    """Print text of any origin."""
    say_painted((text, None), err=err, newline=newline)


def say_painted(*parts: tuple[str, str | None], err: bool = False, newline: bool = True) -> None:
    """Print texts of any origin, each with its colour or None."""
    if not is_terminal(sys.stderr if err else sys.stdout):
        _write("".join(text for text, _ in parts), colour=True, err=err, newline=newline)
        return
    safe = ((for_terminal(text).cells, colour) for text, colour in parts)
    painted = (click.style(text, fg=colour) if colour else text for text, colour in safe)
    emit("".join(painted), err=err, newline=newline)


def warn(sentence: object) -> None:
    """Print a sentence on standard error, prefixed with the program's name."""
    say(f"jitchat: {sentence}", err=True)


def emit(text: str, *, err: bool = False, newline: bool = True) -> None:
    """Print text known to be safe; its colours are for a terminal that supports them."""
    _write(text, colour=False if os.environ.get("NO_COLOR") else None, err=err, newline=newline)


def _write(text: str, *, colour: bool | None, err: bool, newline: bool) -> None:
    """Write a text; characters that the output cannot encode become `?`.

    With `colour`, click keeps escape sequences, of which a text in a pipe may be full.
    """
    stream = sys.stderr if err else sys.stdout
    if stream is None:
        return
    encoding = stream.encoding or "utf-8"
    fitting = text.encode(encoding, "replace").decode(encoding)
    try:
        click.echo(fitting, file=stream, nl=newline, color=colour)
    except BrokenPipeError as error:
        raise ReaderGone from error
    except OSError as error:
        raise OutputError(f"The output cannot be written: {error.strerror}.") from error


def say_json(value: object) -> None:
    """Print JSON, in pure ASCII unless the output is UTF-8."""
    try:
        is_utf8 = codecs.lookup(getattr(sys.stdout, "encoding", None) or "ascii").name == "utf-8"
    except LookupError:
        is_utf8 = False
    text = json.dumps(value, indent=2, ensure_ascii=not is_utf8)
    emit(escape_in_json(text))


@contextmanager
def progress(label: str, total: int, *, lines: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on standard error; if it is not a terminal, print lines or nothing."""
    if not is_terminal(sys.stderr):
        yield _tenths(label, total) if lines else lambda _: None
        return
    with click.progressbar(length=total, label=for_terminal(label).cells, file=sys.stderr) as bar:
        yield bar.update


def _tenths(label: str, total: int) -> Callable[[int], None]:
    """Print the progress now, and again at each tenth of the total."""
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
    """Show a progress bar of bytes on standard error; print lines if it is not a terminal."""
    if not is_terminal(sys.stderr):
        yield _byte_lines(total)
        return
    from rich import progress as bars  # noqa: PLC0415  only for downloads
    from rich.console import Console  # noqa: PLC0415

    bar_columns = (
        "{task.description}", bars.BarColumn(), bars.DownloadColumn(),
        bars.TransferSpeedColumn(), bars.TimeRemainingColumn(),
    )  # fmt: skip
    with bars.Progress(*bar_columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(for_terminal(label).cells, total=total or None)
        yield lambda size: bar.update(task, completed=min(size, total))


def _byte_lines(total: int) -> Callable[[int], None]:
    """Print a line at each tenth of the total; nothing if the total is unknown."""
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
    """Return the width in cells, or None if standard output is not a terminal."""
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None


def columns(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Format rows as lines with aligned columns; those in `right` are right-aligned."""
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
    """Format rows as aligned lines; in a terminal, the last two columns are cut to fit."""
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
    """Print tables in the width of the terminal or of a file, separated by blank lines."""
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
    """Say why a file cannot be written, without touching it; empty if it can."""
    try:
        try:
            path.stat()
            place = path
        except FileNotFoundError:
            place = path.parent
            place.stat()
    except OSError as error:
        return error.strerror or "the folder is not accessible"
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
    return BenchFailed(f"{path} cannot be written: {why}.", "Choose another file.")


def require_yes(*, given: bool) -> None:
    """Ask whether the requests may be sent, unless `--yes` was given."""
    if given:
        return
    if not is_terminal(sys.stdin):
        raise BenchFailed(
            "Nothing was sent: confirming the cost requires a terminal.",
            "Use --yes to send without confirmation.",
        )
    if not click.confirm("Send these requests?", err=True):
        raise BenchFailed("Nothing was sent.")
