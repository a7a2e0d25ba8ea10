"""Writing what is on screen to a file that the user names. Nothing is overwritten unasked."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from jitchat.errors import JitchatError
from jitchat.text.safe import shortened


class AlreadyThere(JitchatError):
    """There is a file of that name."""


def save(name: str, content: bytes, *, over: bool = False) -> Path:
    """Write a file that only the user can read; `over` replaces one that is there. Slow.

    Raises:
        AlreadyThere: There is one.
        JitchatError: It cannot be written.

    """
    try:
        path = Path(name).expanduser()
        (_replace if over else _create)(path, content)
    except FileExistsError:
        what = f"{shortened(name, 60)} is there already."
        raise AlreadyThere(what, "Enter replaces it; or name another.") from None
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        what = f"{shortened(name, 60)} cannot be written: {shortened(reason, 80)}."
        raise JitchatError(what, "Name another file.") from None
    return path.absolute()


def _create(path: Path, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(content)


def _replace(path: Path, content: bytes) -> None:
    """Put a new file in its place: a link is not followed, and nobody else could open it before."""
    handle, made = tempfile.mkstemp(prefix=".jitchat.", dir=path.parent)  # O_EXCL, 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(made).replace(path)
    except BaseException:  # a part of it is of no use to anybody
        with suppress(OSError):
            Path(made).unlink()
        raise
