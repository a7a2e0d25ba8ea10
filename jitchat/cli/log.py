"""The log of what is done behind the screen: one line a memory document, without any text of it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from jitchat.paths import make_private, opened_private

_MOST_BYTES = 1_000_000
_FORM = "%(asctime)s %(name)s %(message)s"


class _PrivateFile(RotatingFileHandler):
    """A file that its owner alone may read; it is made with the first line."""

    def _open(self) -> TextIOWrapper:
        make_private(Path(self.baseFilename).parent)
        return opened_private(Path(self.baseFilename))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  logging's name
        """Lose a line that cannot be written: the log is a help, and nothing waits for it."""


@contextmanager
def kept_log(path: Path) -> Iterator[None]:
    """Write our own log lines to a file meanwhile, and nobody else's."""
    handler = _PrivateFile(path, maxBytes=_MOST_BYTES, backupCount=1, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter(_FORM))
    own = logging.getLogger("jitchat")
    before = own.level
    own.addHandler(handler)
    own.setLevel(logging.INFO)
    try:
        yield
    finally:
        own.removeHandler(handler)
        own.setLevel(before)
        with suppress(OSError):
            handler.close()
