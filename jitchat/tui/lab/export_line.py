"""Writing a run to a file that the user names, or in every format to a folder."""

from collections.abc import Sequence
from pathlib import Path

from jitchat.errors import JitchatError
from jitchat.lab.experiment import Result
from jitchat.lab.export.files import FORMATS, exported
from jitchat.lab.run_file import Run
from jitchat.text.sanitize import shortened
from jitchat.tui.widgets.save_line import SaveLine, save

_ENDINGS = f".{', .'.join([*FORMATS][:-1])} or .{[*FORMATS][-1]}"
_ASKS = f"Write this run to a file that ends in {_ENDINGS}; a folder gets all of them."


class ExportLine(SaveLine):
    """Hidden until a run is to be written."""

    _run: Run
    _results: Sequence[Result]

    def ask_to_write(self, run: Run, results: Sequence[Result]) -> None:
        """Ask where to write a run with these results."""
        self._run, self._results = run, results
        self.ask_for(_ASKS, f"rot-{run.id}.svg")

    def write(self, name: str, *, over: bool) -> Path:
        ending = Path(name).suffix.removeprefix(".").lower()
        if ending in FORMATS:
            return save(name, exported(ending, self._run, self._results), over=over)
        folder = _folder(name)
        for ending in FORMATS:
            file = folder / f"rot-{self._run.id}.{ending}"
            save(str(file), exported(ending, self._run, self._results), over=over)
        return folder.absolute()


def _folder(name: str) -> Path:
    """Find a folder, or make it.

    Raises:
        JitchatError: It is no folder, and cannot be one.

    """
    folder = Path(name).expanduser()
    if folder.suffix and not folder.is_dir():
        what = f"{shortened(name, 60)} is neither a folder nor a format that can be written."
        raise JitchatError(what, f"End the name in {_ENDINGS}.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"{shortened(name, 60)} cannot be made: {error.strerror}."
        raise JitchatError(what, "Name another folder.") from None
    return folder
