"""A text in the user's own editor, which has the terminal meanwhile."""

import os
import shlex
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from textual.app import App, SuspendNotSupported

from jitchat.children import run_in_terminal
from jitchat.errors import UsageError

_USUAL = ("sensible-editor", "vim", "nano", "vi", "notepad")
"""Where neither variable names one, the first of these that is installed."""
_REMEDY = "Set VISUAL or EDITOR to an editor that waits until the file is closed."
_KEPT = "The draft is as it was."


def editor_command(environment: Mapping[str, str]) -> list[str]:
    """Name the editor, with its arguments.

    Raises:
        UsageError: There is none.

    """
    named = environment.get("VISUAL", "").strip() or environment.get("EDITOR", "").strip()
    try:
        command = shlex.split(named, posix=os.name != "nt")
    except ValueError as error:
        raise UsageError(f"The editor {named!r} cannot be read: {error}.", _REMEDY) from error
    usual = (path for name in _USUAL if (path := shutil.which(name)) is not None)
    command = command or list(filter(None, [next(usual, "")]))
    if not command:
        raise UsageError("There is no editor.", _REMEDY)
    return command


async def edited(app: App[None], text: str) -> str:
    """Have a text edited; replies go on coming meanwhile.

    Raises:
        UsageError: There is no editor, it failed, or the terminal cannot be handed over.

    """
    command = editor_command(os.environ)
    with TemporaryDirectory(prefix="jitchat-") as folder:  # the user's alone, as the file is
        path = _written(text, Path(folder, "message.md"))
        try:
            with app.batch_update(), _interrupts_are_the_editors(), app.suspend():
                code = await run_in_terminal([*command, str(path)])
        except SuspendNotSupported as error:
            what = "This terminal cannot be handed to an editor."
            raise UsageError(what, _KEPT) from error
        except (OSError, ValueError) as error:
            what = f"{command[0]} could not be started: {error}."
            raise UsageError(what, _REMEDY) from error
        if code:
            what = f"{command[0]} failed (exit code {code})."
            raise UsageError(what, _KEPT)
        return _read(path)


def _written(text: str, path: Path) -> Path:
    path.touch(0o600)
    path.write_text(text, "utf-8")
    return path


def _read(path: Path) -> str:
    """Read what was saved, without the end of line that editors put at the end."""
    try:
        return path.read_text("utf-8", "replace").removesuffix("\n")
    except OSError as error:
        raise UsageError(f"What was edited cannot be read: {error.strerror}.", _KEPT) from error


@contextmanager
def _interrupts_are_the_editors() -> Iterator[None]:
    """Go on where Ctrl+C is pressed in the editor; ignored, it would be ignored there, too."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
