"""A terminal driver that fixes Textual's keyboard input and terminal handling.

- Alt+Enter as most terminals send it (ESC CR) is recognised; Textual reads Enter.
- Alt with a letter (ESC and the letter) is recognised even if another key follows at once, as over
  a slow line; Textual reads the ESC as `^`, and both as text.
- Bytes that are not UTF-8 become U+FFFD; in Textual they end the input thread and the app.
- An Esc inside a paste is part of it; Textual reads it and what follows as keys.
- Lines that arrive at once are a paste; Textual reads each line break as Enter.
- The wait for bytes after Esc is shorter, because Esc stops a reply.
- The app ends if the terminal disappears.
- Keys typed before the app took over the terminal are read correctly.
- After SIGSTOP the app takes over the terminal again, and on exit still restores the settings
  from before it started.
"""

import codecs
import fcntl
import os
import re
import selectors
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from string import ascii_lowercase
from typing import IO, Any

from textual import constants, events
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

ESCAPE_SECONDS = 0.025
"""Wait for the rest of a key sequence after Esc; on a slow line, set ESCDELAY (milliseconds)."""


@dataclass(frozen=True, slots=True)
class _Key:
    """Replaces a member of Textual's enum `Keys`."""

    value: str


def widen_input() -> None:
    """Add the missing keys to Textual's tables; can be called more than once."""
    from textual import _ansi_sequences  # noqa: PLC0415  importing does nothing

    table: dict[str, Any] = _ansi_sequences.ANSI_SEQUENCES_KEYS  # type: ignore[assignment]
    table["\x1b\r"] = (_Key("alt+enter"),)
    for letter in ascii_lowercase:  # none of which begins a longer sequence
        table.setdefault(f"\x1b{letter}", (_Key(f"alt+{letter}"),))
    if "ESCDELAY" not in os.environ:
        constants.ESCAPE_DELAY = ESCAPE_SECONDS  # type: ignore[misc]


_PASTE, _PASTE_END = "\x1b[200~", "\x1b[201~"


_LINES = re.compile(rb"[^\r\n][\r\n]+([^\r\n])?")
"""Text and the end of its line; the group is text of the next line."""
_KEYS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BURST_SECONDS = 0.05
"""Longest pause within lines that are sent at once. A sender with Nagle's algorithm pauses for the
0.04 s by which Linux delays acknowledgements (`TCP_DELACK_MIN`). Between two keys of a person,
0.24 s pass on average (Dhakal et al. 2018, 136 million keystrokes)."""


class InputReader:
    """Makes keys and pastes of the bytes from a terminal."""

    def __init__(self) -> None:
        self.parser = XTermParser()
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._is_paste = False
        self._pasted = ""
        self._before = ""
        """The end of the typed text, which may be the start of the mark that begins a paste."""
        self._held = ""
        """The end of the pasted text, which may be the start of the mark that ends a paste."""
        self.ahead = b""
        """The last byte of a text that arrived less than `_BURST_SECONDS` before."""

    def lines_in(self, data: bytes) -> re.Match[bytes] | None:
        """Find the end of a line that arrived at once with its text, which nobody types that fast.

        Terminals without bracketed paste send a paste like this; more of it may follow.
        """
        is_text = not self._is_paste and not _KEYS.search(data)
        return _LINES.search(self.ahead + data) if is_text else None

    def events(self, data: bytes) -> Iterator[Message]:
        """Yield the events of the complete characters and sequences received so far."""
        rest = self._held + self._decode(data)
        self._held = ""
        lines = self.lines_in(data)
        self.ahead = b"" if _KEYS.search(data) else data[-1:]
        if lines is not None and lines[1]:
            yield events.Paste(rest)
            return
        while rest:
            keys, rest = self._after_paste(rest) if self._is_paste else self._typed(rest)
            for event in self.parser.feed(keys) if keys else ():
                yield events.Paste(self._pasted) if isinstance(event, events.Paste) else event

    def _typed(self, text: str) -> tuple[str, str]:
        """Split after the mark that begins a paste; nothing is held back, because Esc is a key."""
        found = (self._before + text).find(_PASTE)
        self._is_paste = found >= 0
        self._pasted = ""
        end = found + len(_PASTE) - len(self._before) if self._is_paste else len(text)
        self._before = "" if self._is_paste else (self._before + text)[1 - len(_PASTE) :]
        return text[:end], text[end:]

    def _after_paste(self, text: str) -> tuple[str, str]:
        """Take the pasted text, in which the parser would find keys, and split after its end.

        What may be the start of the mark that ends the paste is held back.
        """
        inside, mark, rest = text.partition(_PASTE_END)
        self._is_paste = not mark
        if not mark:
            halves = (_PASTE_END[:size] for size in range(len(_PASTE_END) - 1, 0, -1))
            self._held = next((half for half in halves if inside.endswith(half)), "")
            inside = inside.removesuffix(self._held)
        self._pasted += inside
        return mark, rest


HUNG_UP = 128 + signal.SIGHUP
"""Exit code of a program whose terminal disappeared."""
_MOST = 4096
_IDLE = 0.1
"""Seconds between two checks whether the app has ended."""
_LEAVE = (
    b"\x1b[?2004l\x1b[?7h\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"
    b"\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
)
"""The sequences that Textual writes on exit, written here if Textual cannot."""


class _DetachedFile:
    """A file that ignores write errors after the terminal has disappeared."""

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
        self._file: Any = _DetachedFile(self._file)
        self._is_on = False
        """Whether the app has the terminal."""
        self._came = 0.0
        """When input was read last."""

    def start_application_mode(self) -> None:
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._is_on = not self._must_signal_resume

    def stop_application_mode(self) -> None:
        self._is_on = False
        super().stop_application_mode()

    def _sigcont_application(self, *_: object) -> None:
        """Schedule the restart; the signal may have interrupted a write to the terminal."""
        with suppress(RuntimeError):  # the loop is closed: the app has ended
            self._loop.call_soon_threadsafe(self._restart)

    def _restart(self) -> None:
        """Take over the terminal again, which was not released before SIGSTOP.

        Textual's own handler would save the current terminal settings as those to restore on exit,
        but after SIGSTOP these are still the app's.
        """
        if not self._auto_restart:
            return
        if self._is_on:
            self.suspend_application_mode()
            self._must_signal_resume = True
        if self._must_signal_resume:
            self.resume_application_mode()

    def run_input_thread(self) -> None:
        reader = InputReader()
        cooked = _waiting(self.fileno)
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(_patience(reader.parser)):
                    data = self._read_lines(reader, selector, cooked)
                    cooked = max(0, cooked - len(data))
                    if not data:
                        self._loop.call_soon_threadsafe(self._app.exit, None, HUNG_UP)
                        return
                    for event in reader.events(data):
                        self.process_message(event)
                for event in reader.parser.tick():
                    self.process_message(event)

    def _read_lines(
        self, reader: InputReader, selector: selectors.BaseSelector, cooked: int
    ) -> bytes:
        """Read input, with all of the lines that are sent at once."""
        if time.monotonic() - self._came > _BURST_SECONDS:
            reader.ahead = b""
        data = more = self._read(cooked)
        while more and reader.lines_in(data) and selector.select(_BURST_SECONDS):
            more = self._read(0)
            data += more
        self._came = time.monotonic()
        return data

    def _read(self, cooked: int) -> bytes:
        """Read input; in the first `cooked` bytes, from cooked mode, Enter is a line feed."""
        try:
            data = os.read(self.fileno, _MOST)
        except OSError:
            return b""
        return data[:cooked].replace(b"\n", b"\r") + data[cooked:]


def _patience(parser: XTermParser) -> float:
    """Return how many seconds to wait for input; after Esc, only for the rest of the sequence."""
    return _IDLE if parser._timeout_time is None else constants.ESCAPE_DELAY  # noqa: SLF001


def restorer() -> Callable[[], None]:
    """Return a function that restores the terminal's current settings, from any thread."""
    try:
        attributes = termios.tcgetattr(0)
    except termios.error:
        return lambda: None

    def restore() -> None:
        with suppress(OSError):
            os.set_blocking(2, False)  # the terminal may no longer accept output
            os.write(2, _LEAVE)
        with suppress(OSError):
            os.set_blocking(2, True)
        with suppress(OSError, termios.error):
            termios.tcsetattr(0, termios.TCSANOW, attributes)

    return restore


def _waiting(terminal: int) -> int:
    """Return the number of bytes that can be read now."""
    try:
        return int(struct.unpack("i", fcntl.ioctl(terminal, termios.FIONREAD, b"\0" * 4))[0])
    except OSError:
        return 0
