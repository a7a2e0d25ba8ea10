"""Edit a text in the user's own editor, which takes over the terminal meanwhile."""

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
"""If neither variable names an editor, the first of these that is installed."""
_REMEDY = "Set VISUAL or EDITOR to an editor that waits until the file is closed."
_KEPT = "The draft is unchanged."


def editor_command(environment: Mapping[str, str]) -> list[str]:
    """Return the editor's command line.

    Raises:
        UsageError: No editor is set or installed.

    """
    named = environment.get("VISUAL", "").strip() or environment.get("EDITOR", "").strip()
    try:
        command = shlex.split(named, posix=os.name != "nt")
    except ValueError as error:
        raise UsageError(f"The editor {named!r} cannot be parsed: {error}.", _REMEDY) from error
    usual = (path for name in _USUAL if (path := shutil.which(name)) is not None)
    command = command or list(filter(None, [next(usual, "")]))
    if not command:
        raise UsageError("No editor was found.", _REMEDY)
    return command


async def edited(app: App[None], text: str) -> str:
    """Return the text as edited by the user; replies still stream meanwhile.

    Raises:
        UsageError: There is no editor, it failed, or the app cannot give up the terminal.

    """
    command = editor_command(os.environ)
    with TemporaryDirectory(prefix="jitchat-") as folder:  # only the user can read folder and file
        path = _written(text, Path(folder, "message.md"))
        try:
            with app.batch_update(), _interrupts_go_to_editor(), app.suspend():
                code = await run_in_terminal([*command, str(path)])
        except SuspendNotSupported as error:
            what = "An editor cannot be opened in this terminal."
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
    """Read the saved file without the final newline that editors add."""
    try:
        return path.read_text("utf-8", "replace").removesuffix("\n")
    except OSError as error:
        raise UsageError(f"The edited text cannot be read: {error.strerror}.", _KEPT) from error


@contextmanager
def _interrupts_go_to_editor() -> Iterator[None]:
    """Ignore Ctrl+C meant for the editor; not with SIG_IGN, which the editor would inherit."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
