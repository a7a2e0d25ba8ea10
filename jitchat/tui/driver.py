"""The terminal as the app reads and writes it, on everything but Windows.

It may go away while the app runs, which ends the app; bytes that are no UTF-8 become U+FFFD; and
what was typed before the app took the terminal over is read as it was meant.
"""

from __future__ import annotations

import fcntl
import os
import selectors
import signal
import struct
import termios
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

from jitchat.tui.terminal import InputReader

HUNG_UP = 128 + signal.SIGHUP
"""The exit code of a program whose terminal went away."""
_MOST = 4096
_LEAVE = (
    b"\x1b[?2004l\x1b[?7h\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"
    b"\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
)
"""What Textual writes as it leaves, for when it cannot."""


class _Lasting:
    """A file that takes what is written although nobody is there any more."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()


class TerminalDriver(LinuxDriver):
    """Textual's, with its own way of reading."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401  Textual's own
        super().__init__(*arguments, **named)
        self._file: Any = _Lasting(self._file)

    def run_input_thread(self) -> None:
        """Turn what is typed into events, until the app or its terminal is gone."""
        parser, decode = XTermParser(), InputReader().decode
        cooked = _waiting(self.fileno)
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(0.1):
                    data = self._read(cooked)
                    cooked = max(0, cooked - len(data))
                    if not data:
                        self._app.call_later(self._app.exit, None, HUNG_UP)
                        return
                    for event in parser.feed(decode(data)):
                        self.process_message(event)
                for event in parser.tick():
                    self.process_message(event)

    def _read(self, cooked: int) -> bytes:
        """Read what was typed; of the bytes that came `cooked`, Enter is a line feed."""
        try:
            data = os.read(self.fileno, _MOST)
        except OSError:
            return b""
        return data[:cooked].replace(b"\n", b"\r") + data[cooked:]


def restorer() -> Callable[[], None]:
    """Make what restores the terminal as it is now, at once, from whichever thread."""
    try:
        attributes = termios.tcgetattr(0)
    except termios.error:
        return lambda: None

    def restore() -> None:
        with suppress(OSError):
            os.set_blocking(2, False)  # it may take nothing any more
            os.write(2, _LEAVE)
        with suppress(OSError):
            os.set_blocking(2, True)
        with suppress(OSError, termios.error):
            termios.tcsetattr(0, termios.TCSANOW, attributes)

    return restore


def _waiting(terminal: int) -> int:
    """Count the bytes that can be read now."""
    try:
        return int(struct.unpack("i", fcntl.ioctl(terminal, termios.FIONREAD, b"\0" * 4))[0])
    except OSError:
        return 0
