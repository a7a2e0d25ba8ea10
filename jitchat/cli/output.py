"""The one way out of every headless command.

Invariant: what others wrote (a model, a file, a server, the user's own arguments) passes
`visible` on its way to the terminal; JSON escapes the same characters instead, so that nothing
of it is lost. Colours are our own, and only for a terminal that wants them.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import IO

import click

from jitchat.errors import JitchatError
from jitchat.text.safe import CHANGED, visible


class OutputError(JitchatError):
    """Standard output does not take what is written."""


def say(text: str, *, err: bool = False, newline: bool = True) -> None:
    """Print text of whatever origin."""
    emit(visible(text), err=err, newline=newline)


def warn(sentence: object) -> None:
    """Print a sentence that is no part of the output."""
    say(f"jitchat: {sentence}", err=True)


def painted(text: str, colour: str | None) -> str:
    """Make text of whatever origin safe and, given a colour, coloured; for `emit`."""
    return click.style(visible(text), fg=colour) if colour else visible(text)


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
    with click.progressbar(length=total, label=visible(label), file=sys.stderr) as bar:
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
    """Write what `visible` would change as JSON may: a terminal may obey it, or not show it."""
    return {code: _escaped(chr(code)) for code in CHANGED}


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))
