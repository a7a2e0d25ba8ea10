"""The file for a server's standard error, which never goes to the terminal."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from jitchat.paths import make_private

_LARGEST = 1 << 20
"""Bytes above which the file is replaced at the next start."""
_TAIL = 16 << 10


@contextmanager
def errors_file(path: Path) -> Iterator[TextIO]:
    """Open the file for appending, private to its owner. Raises OSError if that fails."""
    make_private(path.parent)
    with suppress(FileNotFoundError):
        if path.stat().st_size > _LARGEST:
            path.unlink()
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    with os.fdopen(os.open(path, flags, 0o600), "a", encoding="utf-8") as file:
        yield file


def tail(path: Path, lines: int, since: int = 0) -> list[str]:
    """Read the last lines that were written after byte `since`."""
    try:
        with path.open("rb") as file:
            file.seek(max(since, path.stat().st_size - _TAIL))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return text.splitlines()[-lines:]


def size_of(path: Path) -> int:
    """Return the file's size in bytes, or 0 if it does not exist."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
