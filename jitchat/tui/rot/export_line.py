"""A line that asks where a run is to be written: the ending of the name says in which format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jitchat.errors import JitchatError
from jitchat.rot.cells import Result
from jitchat.rot.export.every import FORMATS, exported
from jitchat.rot.run import Run
from jitchat.text.safe import shortened
from jitchat.tui.saving import save
from jitchat.tui.views.save_line import SaveLine

_ENDINGS = f".{', .'.join([*FORMATS][:-1])} or .{[*FORMATS][-1]}"
_ASKED = f"Write this run to a file that ends in {_ENDINGS}; a folder gets all of them."


class ExportLine(SaveLine):
    """Hidden until a run is to be written."""

    def __init__(self) -> None:
        super().__init__()
        self._run: tuple[Run, Sequence[Result]] | None = None

    def ask_to_write(self, run: Run, results: Sequence[Result]) -> None:
        """Ask where to write a run with these results."""
        self._run = run, results
        self.ask_for(_ASKED, f"rot-{run.id}.svg")

    def write(self, name: str, *, over: bool) -> Path:
        """Write it to a file, or in every format to a folder."""
        if self._run is None:
            raise JitchatError("There is no run to write.")
        ending = Path(name).suffix.removeprefix(".").lower()
        if ending in FORMATS:
            return save(name, exported(ending, *self._run), over=over)
        folder = _folder(name)
        for each in FORMATS:
            file = folder / f"rot-{self._run[0].id}.{each}"
            save(str(file), exported(each, *self._run), over=over)
        return folder.absolute()


def _folder(name: str) -> Path:
    """Find a folder, or make it.

    Raises:
        JitchatError: It is no folder, and cannot be one.

    """
    folder = Path(name).expanduser()
    if folder.suffix and not folder.is_dir():
        what = f"{shortened(name, 60)} is no folder, and in no format that there is."
        raise JitchatError(what, f"End the name in {_ENDINGS}.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"{shortened(name, 60)} cannot be made: {error.strerror}."
        raise JitchatError(what, "Name another folder.") from None
    return folder
