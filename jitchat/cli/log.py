"""The log of background work: one line per memory document, without any of its text."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from jitchat.paths import make_private, opened_private

_MOST_BYTES = 1_000_000
_FORMAT = "%(asctime)s %(name)s %(message)s"


class _PrivateFile(RotatingFileHandler):
    """A log file that only its owner can read, created with the first line."""

    def _open(self) -> TextIOWrapper:
        make_private(Path(self.baseFilename).parent)
        return opened_private(Path(self.baseFilename))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  logging's name
        """Drop a line that cannot be written: nothing depends on the log."""


@contextmanager
def kept_log(path: Path) -> Iterator[None]:
    """Write jitchat's own log lines to a file while the context is open."""
    handler = _PrivateFile(path, maxBytes=_MOST_BYTES, backupCount=1, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter(_FORMAT))
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
