"""The one way out of every headless command.

Invariant: what others wrote (a model, a file, a server, the user's own arguments) passes
`for_terminal` on its way to the terminal; JSON escapes the same characters instead, so that nothing
of it is lost. Colours are our own, and only for a terminal that wants them.
"""

import codecs
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import IO

import click

from jitchat import __version__
from jitchat.crash import crash_report, place_of
from jitchat.errors import BenchFailed, JitchatError
from jitchat.paths import locate
from jitchat.text.sanitize import CHANGED, for_terminal


class OutputError(JitchatError):
    """Standard output does not take what is written."""


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
    except BrokenPipeError:  # a reader that went away (`| head`) is no failure
        raise
    except OSError as error:
        raise _failed(error) from error


def say_json(value: object) -> None:
    """Print JSON: readable where the output is UTF-8, else ASCII alone."""
    import json  # noqa: PLC0415  needed by some commands only

    text = json.dumps(value, indent=2, ensure_ascii=not _is_utf8(sys.stdout))
    emit(text.translate(_escapes()))


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Draw a bar for who looks at standard error, and nothing for a file or a pipe."""
    if not is_terminal(sys.stderr):
        yield lambda _: None
        return
    with click.progressbar(length=total, label=for_terminal(label), file=sys.stderr) as bar:
        yield bar.update


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether somebody is looking."""
    return stream is not None and stream.isatty()


def _failed(error: OSError) -> OutputError:
    return OutputError(f"The output cannot be written: {error.strerror}.")


def _is_utf8(stream: IO[str] | None) -> bool:
    try:
        return codecs.lookup(getattr(stream, "encoding", None) or "ascii").name == "utf-8"
    except LookupError:
        return False


@cache
def _escapes() -> dict[int, str]:
    """Write what `for_terminal` would change as JSON may, for a terminal may obey or hide it."""
    return {code: _escaped(chr(code)) for code in CHANGED}


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))


_NARROWEST = 12
_GAP = "  "
_TO_THE_RIGHT = ("turn", "tokens", "rank", "score")


def fitted(rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """Make a line of each row, the headings first; `width` in cells, None for what it takes."""
    columns = _columns(rows, width)
    return [_line(row, rows[0], columns) for row in rows]


def _columns(rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Choose the width of each column in cells; 0 for a text that has no room at all."""
    from rich.cells import cell_len  # noqa: PLC0415  not needed for JSON

    *fixed, why, text = (max(map(cell_len, cells)) for cells in zip(*rows, strict=True))
    if width is None:
        return [*fixed, why, text]
    room = max(_NARROWEST, width - sum(fixed) - len(_GAP) * (len(fixed) + 1))
    why = min(why, max(_NARROWEST, room // 2))
    return [*fixed, why, room - why if room - why >= _NARROWEST else 0]


def _line(row: Sequence[str], headings: Sequence[str], columns: Sequence[int]) -> str:
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415  not needed for JSON

    cells: list[str] = []
    for heading, cell, width in zip(headings, row, columns, strict=True):
        if cell_len(cell) > width:
            cells.append(f"{set_cell_size(cell, width - 1)}…" if width else "")
        else:
            blank = " " * (width - cell_len(cell))
            cells.append(blank + cell if heading in _TO_THE_RIGHT else cell + blank)
    return _GAP.join(cells).rstrip()


def tell_defect(error: BaseException) -> int:
    """Write the report, say where it is; the exit code."""
    path = locate(os.environ).crash
    where = place_of(path, crash_report(error, __version__))
    say(
        f"jitchat: a defect stopped it ({type(error).__name__}). What is stored is safe.{where}",
        err=True,
    )
    return 1


def require_yes(*, given: bool) -> None:
    """Ask whether they may be sent; not where `--yes` was given.

    Raises:
        BenchFailed: They may not, or nobody is there to say so.

    """
    if given:
        return
    if not is_terminal(sys.stdin):
        raise BenchFailed(
            "Nothing was sent: there is no terminal to confirm the cost in.",
            "Give --yes to send without being asked.",
        )
    if not click.confirm("Send them?", err=True):
        raise BenchFailed("Nothing was sent.")
