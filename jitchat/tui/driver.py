"""What Textual's reading of the keyboard lacks.

- Alt+Enter as most terminals send it (ESC CR), which it takes for Enter.
- Alt with a letter (ESC and the letter) that has another key right behind it, as over a slow line:
  it takes the ESC for a `^`, and both for text.
- Bytes that are no UTF-8 end its input thread, and the app with it: they become U+FFFD.
- An Esc inside of a paste is a key for it, and so is what follows: it becomes a visible ␛.
- A shorter wait for what may follow Esc, which stops a reply.
- The terminal may go away while the app runs, which ends the app.
- What was typed before the app took the terminal over is read as it was meant.
- After SIGSTOP the terminal is taken over anew, and its settings from before the app are still
  those that are restored.
"""

import codecs
import fcntl
import os
import selectors
import signal
import struct
import termios
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from string import ascii_lowercase
from typing import IO, Any

from textual import constants
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

ESCAPE_SECONDS = 0.025
"""What follows Esc in one key is sent with it; for a slow line, ESCDELAY sets milliseconds."""


@dataclass(frozen=True, slots=True)
class _Key:
    """As one of Textual's `Keys`."""

    value: str


def widen_input() -> None:
    """Add the keys to Textual's tables; may be done again."""
    from textual import _ansi_sequences  # noqa: PLC0415  importing does nothing

    table: dict[str, Any] = _ansi_sequences.ANSI_SEQUENCES_KEYS  # type: ignore[assignment]
    table["\x1b\r"] = (_Key("alt+enter"),)
    for letter in ascii_lowercase:  # none of which begins a longer sequence
        table.setdefault(f"\x1b{letter}", (_Key(f"alt+{letter}"),))
    if "ESCDELAY" not in os.environ:
        constants.ESCAPE_DELAY = ESCAPE_SECONDS  # type: ignore[misc]


_PASTE, _PASTE_END = "\x1b[200~", "\x1b[201~"


class InputReader:
    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._is_paste = False
        self._before = ""
        """The end of what was typed, which may begin a paste's mark."""
        self._held = ""
        """The end of what was pasted, which may begin the mark of its end."""

    def decode(self, data: bytes, final: bool = False) -> str:
        """Decode as many of the bytes as are whole characters."""
        rest, text = self._held + self._decode(data, final), ""
        self._held = ""
        while rest:
            part, rest = self._pasted(rest, final=final) if self._is_paste else self._typed(rest)
            text += part
        return text

    def _typed(self, text: str) -> tuple[str, str]:
        """Split behind a paste's mark; nothing is held back, for Esc is a key."""
        found = (self._before + text).find(_PASTE)
        self._is_paste = found >= 0
        end = found + len(_PASTE) - len(self._before) if self._is_paste else len(text)
        self._before = "" if self._is_paste else (self._before + text)[1 - len(_PASTE) :]
        return text[:end], text[end:]

    def _pasted(self, text: str, *, final: bool) -> tuple[str, str]:
        """Split behind the mark of its end; what may be the first half of that waits."""
        inside, mark, rest = text.partition(_PASTE_END)
        self._is_paste = not mark
        if not mark and not final:
            halves = (_PASTE_END[:size] for size in range(len(_PASTE_END) - 1, 0, -1))
            self._held = next((half for half in halves if inside.endswith(half)), "")
            inside = inside.removesuffix(self._held)
        return inside.replace("\x1b", "␛") + mark, rest


HUNG_UP = 128 + signal.SIGHUP
"""The exit code of a program whose terminal went away."""
_MOST = 4096
_IDLE = 0.1
"""Seconds between two looks at whether the app has ended."""
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
    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401  Textual's own
        super().__init__(*arguments, **named)
        self._file: Any = _Lasting(self._file)
        self._is_on = False
        """Whether the app has the terminal."""

    def start_application_mode(self) -> None:
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._is_on = not self._must_signal_resume

    def stop_application_mode(self) -> None:
        self._is_on = False
        super().stop_application_mode()

    def _sigcont_application(self, *_: object) -> None:
        """Go on: soon, for the signal may have come in the middle of writing to the terminal."""
        with suppress(RuntimeError):  # the loop is closed: the app has ended
            self._loop.call_soon_threadsafe(self._go_on)

    def _go_on(self) -> None:
        """Take the terminal over again, which before SIGSTOP nobody gave back.

        Textual's own takes the terminal's settings as they are then for those to restore at the
        end, and after SIGSTOP these are still the app's.
        """
        if not self._auto_restart:
            return
        if self._is_on:
            self.suspend_application_mode()
            self._must_signal_resume = True
        if self._must_signal_resume:
            self.resume_application_mode()

    def run_input_thread(self) -> None:
        parser, decode = XTermParser(), InputReader().decode
        cooked = _waiting(self.fileno)
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(_patience(parser)):
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


def _patience(parser: XTermParser) -> float:
    """Seconds to wait for input: after Esc, no longer than for what belongs to the same key."""
    return _IDLE if parser._timeout_time is None else constants.ESCAPE_DELAY  # noqa: SLF001


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
