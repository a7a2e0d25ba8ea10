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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from jitchat.errors import BenchFailed, JitchatError, UsageError, reported
from jitchat.text.sanitize import escape_in_json, for_terminal
from jitchat.typed_data import fields_of

if TYPE_CHECKING:
    from rich.table import Table

_Record = TypeVar("_Record")
_GAP = "  "
_MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("·", "yellow")}
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


def print_check(line: str, *, passes: bool | None) -> None:
    """Print the result of a check with its mark; `passes` is None for a warning."""
    mark, colour = _MARKS[passes]
    say_painted((mark, colour), (f" {line}", None))


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
    except OSError as error:
        if err:  # the command goes on without what it would say
            return
        if isinstance(error, BrokenPipeError):
            raise ReaderGone from error
        raise OutputError(f"The output cannot be written: {error.strerror}.") from error


_expected = {"json": False}


def expect_json(*, expected: bool) -> None:
    """Set whether a JSON value is still to be printed, which is an error's if nothing else is."""
    _expected["json"] = expected


def say_failure(code: int, what: str) -> int:
    """Print why a command ended, as JSON if that is expected, and return its exit code."""
    if _expected["json"]:
        with suppress(OutputError):
            say_json({"error": what})
    return code


def say_json(value: object) -> None:
    """Print JSON, in pure ASCII unless the output is UTF-8."""
    expect_json(expected=False)
    try:
        is_utf8 = codecs.lookup(getattr(sys.stdout, "encoding", None) or "ascii").name == "utf-8"
    except LookupError:
        is_utf8 = False
    text = json.dumps(value, indent=2, ensure_ascii=not is_utf8, default=_json_value)
    emit(escape_in_json(text))


def _json_value(value: object) -> object:
    """Convert what JSON has no type for: a date, a mapping, and a dataclass with its fields."""
    if isinstance(value, Mapping):
        return dict(value)
    return value.isoformat() if isinstance(value, date) else fields_of(value)


def tell(fields: object, text: str | Callable[[], object], *, as_json: bool) -> None:
    """Print fields as JSON or, without `as_json`, a text; a function prints its text itself."""
    if as_json:
        say_json(fields)
    elif callable(text):
        text()
    elif text:
        say(text)


def json_fields(record: object, names: str) -> dict[str, Any]:
    """Select attributes of a record for JSON by their names, such as `id turn=source.first`.

    `turn=source.first` selects an attribute of an attribute under a name of its own. Every
    attribute of None is None.
    """
    selected = {}
    for name in names.split():
        key, _, path = name.partition("=")
        value = record
        for attribute in (path or key).split("."):
            value = None if value is None else getattr(value, attribute)
        selected[key] = value
    return selected


def print_records(  # noqa: PLR0913  a name for each part of the output
    records: Sequence[_Record],
    describe: str | Callable[[_Record], dict[str, Any]],
    row_of: Callable[[_Record], Sequence[str]],
    *,
    as_json: bool,
    right: Collection[int] = (),
    none: str = "",
) -> None:
    """Print records as JSON or as aligned columns; `none` is the sentence if there are none.

    `describe` makes the JSON of a record, or names its attributes as in `json_fields`.
    """
    if isinstance(describe, str):
        describe = partial(json_fields, names=describe)
    shown = partial(print_columns, [row_of(record) for record in records], right)
    tell([describe(record) for record in records], shown if records else none, as_json=as_json)


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
    """Show the progress of a download, of which the number of bytes received so far is told."""
    received = 0

    def show(size: int) -> None:
        nonlocal received
        advance(min(size, total) - received)
        received = min(size, total)

    with progress(label, total, lines=total > 0) as advance:
        yield show


def is_terminal(stream: IO[str] | None) -> bool:
    return stream is not None and stream.isatty()


def terminal_width() -> int | None:
    """Return the width in cells, or None if standard output is not a terminal."""
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None


def columns(
    rows: Sequence[Sequence[str]], right: Collection[int] = (), *, cut: bool = False
) -> list[str]:
    """Format rows as lines with aligned columns; those in `right` are right-aligned.

    With `cut`, the last two columns are cut to fit the terminal.
    """
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415  not needed for JSON

    def aligned(cell: str, width: int, is_right: bool) -> str:
        if cell_len(cell) > width:
            return f"{set_cell_size(cell, width - 1)}…" if width else ""
        blank = " " * (width - cell_len(cell))
        return blank + cell if is_right else cell + blank

    widths = [max(cell_len(cell) for cell in cells) for cells in zip(*rows, strict=True)]
    terminal = terminal_width()
    if cut and terminal is not None:
        widths[-2:] = _cut_widths(widths, terminal)
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        aligned_cells = [aligned(*cell, at in right) for at, cell in enumerate(cells)]
        lines.append(_GAP.join(aligned_cells).rstrip())
    return lines


def _cut_widths(widths: Sequence[int], terminal: int) -> tuple[int, int]:
    """Return widths of the last two columns with which a row fits the terminal.

    The last column is dropped if it would be too narrow.
    """
    *fixed, first, _ = widths
    room = max(_NARROWEST, terminal - sum(fixed) - len(_GAP) * (len(fixed) + 1))
    first = min(first, max(_NARROWEST, room // 2))
    last = room - first
    return first, last if last >= _NARROWEST else 0


def print_columns(
    rows: Sequence[Sequence[str]], right: Collection[int] = (), *, cut: bool = False
) -> None:
    for line in columns(rows, right, cut=cut):
        say(line)


def print_tables(tables: Iterable[Table]) -> None:
    """Print tables in the width of the terminal or of a file, separated by blank lines."""
    from rich.console import Console  # noqa: PLC0415  not needed to print help

    console = Console(width=None if is_terminal(sys.stdout) else _FILE_WIDTH)
    for number, table in enumerate(tables):
        with console.capture() as drawn:
            console.print(table)
        emit("\n" * bool(number) + drawn.get().rstrip())


_ANOTHER_FILE = "Choose another file."


def require_writable(path: Path) -> None:
    why = why_unwritable(path)
    if why:
        raise BenchFailed(f"{path} cannot be written: {why}.", _ANOTHER_FILE)


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
    with reported(BenchFailed, f"{path} cannot be written", _ANOTHER_FILE):
        path.write_bytes(content)
    say(f"written to {path}", err=True)


def write_json(path: Path, value: object) -> None:
    write_file(path, (json.dumps(value, indent=2) + "\n").encode())


def may_delete(question: str, *, given: bool) -> bool:
    """Ask whether something may be deleted, unless `--yes` was given."""
    if given:
        return True
    if not is_terminal(sys.stdin):
        raise UsageError(
            "Nothing was deleted: confirmation requires a terminal.",
            "Use --yes to delete without confirmation.",
        )
    return click.confirm(for_terminal(question).cells, err=True)


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
