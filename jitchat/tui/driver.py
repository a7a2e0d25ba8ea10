"""A terminal driver that fixes Textual's keyboard input and terminal handling.

- Alt+Enter as most terminals send it (ESC CR) is recognised; Textual reads Enter.
- Alt with a letter (ESC and the letter) is recognised even if another key follows at once, as over
  a slow line; Textual reads the ESC as `^`, and both as text.
- Bytes that are not UTF-8 become U+FFFD; in Textual they end the input thread and the app.
- An Esc inside a paste is part of it; Textual reads it and what follows as keys.
- Lines that arrive at once are a paste; Textual reads each line break as Enter.
- The wait for bytes after Esc is shorter, because Esc stops a reply.
- The app ends if the terminal disappears, and at once on a line of any speed; what the terminal has
  not taken by then is dropped.
- Its answers to the question of `frames` are no keys.
- Keys typed before the app took over the terminal are read correctly.
- After SIGSTOP the app takes over the terminal again, and on exit still restores the settings
  from before it started.
"""

import codecs
import fcntl
import os
import re
import select
import selectors
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

from textual import constants, events
from textual._xterm_parser import XTermParser
from textual.drivers._writer_thread import WriterThread
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Region
from textual.message import Message

from jitchat.tui.frames import ANSWER, Frames

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
_BEGUN = tuple(ANSWER[:size] for size in range(1, len(ANSWER)))
"""Starts of an answer. Esc is the first, so that it is not read before the answer is here."""
_ESC = b"\x1b[27u"
"""The key itself, whatever comes after it."""
_STEP = 0.01
"""Seconds between two looks at the terminal, where it may be as fast as any."""
_ANSWERS_WITHIN = 0.3
"""Seconds to wait for the rest of an answer; on exit for the last one, and to restore all."""
_CUT_OFF = "\x18\x1b[?2026l\x1b[0m"
"""The end of a sequence, an update and a style that what was dropped had begun."""
_LEAVE = (
    b"\x1b[?2004l\x1b[?7h\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"
    b"\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
)
"""The sequences that Textual writes on exit, written here if Textual cannot."""


class _Output:
    """Writes what the terminal takes until a moment, and drops the rest."""

    def __init__(self, fileno: int) -> None:
        self.until = float("inf")
        try:  # not to block, which other programs on the terminal may want
            flags = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK
            self._fileno = os.open(os.ttyname(fileno), flags)
        except OSError:
            self._fileno = os.dup(fileno)

    def write(self, text: str) -> None:
        rest = text.encode("utf-8", "replace")
        with suppress(OSError):  # the terminal has disappeared
            while rest and time.monotonic() < self.until:
                select.select((), (self._fileno,), (), _IDLE)
                with suppress(BlockingIOError):
                    rest = rest[os.write(self._fileno, rest[:_MOST]) :]

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        os.close(self._fileno)


class TerminalDriver(LinuxDriver):
    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401  Textual's own
        super().__init__(*arguments, **named)
        self._file: Any = self._file
        self._terminal = self._file.fileno()
        self._output: _Output | None = None
        self._is_on = False
        """Whether the app has the terminal."""
        self._came = 0.0
        """When input was read last."""
        self.frames = Frames(self._repaint, self._is_behind)

    def _repaint(self, *regions: Region) -> None:
        if self._app.screen_stack:
            self._app.screen.refresh(*regions)

    def _is_behind(self) -> bool:
        return self._writer_thread is not None and not self._writer_thread._queue.empty()  # noqa: SLF001

    def start_application_mode(self) -> None:
        self._output = _Output(self._terminal)
        self._file = self._output
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._is_on = not self._must_signal_resume
        if self._writer_thread is not None:  # else the app is in the background
            self.write(self.frames.begin())

    def close(self) -> None:
        super().close()
        if self._output is not None:
            self._output.close()
            self._output = None

    def stop_application_mode(self) -> None:
        self._is_on = False
        self._drop_rest()
        super().stop_application_mode()

    def _drop_rest(self) -> None:
        """Give the terminal time to take what is written, and drop the rest."""
        until = time.monotonic() + _ANSWERS_WITHIN
        while self.frames.is_unanswered and time.monotonic() < until:
            time.sleep(_STEP)
        if self.frames.is_unanswered and self._writer_thread is not None:
            self._file.until = 0.0
            self._writer_thread.stop()
            with suppress(termios.error):
                termios.tcflush(self._terminal, termios.TCOFLUSH)
            self._file.until = time.monotonic() + _ANSWERS_WITHIN
            self._writer_thread = WriterThread(self._file)
            self._writer_thread.start()
            self.write(_CUT_OFF)

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
                    if data is None:
                        self._loop.call_soon_threadsafe(self._app.exit, None, HUNG_UP)
                        return
                    cooked = max(0, cooked - len(data))
                    for event in reader.events(data) if data else ():
                        self.process_message(event)
                for event in reader.parser.tick():
                    self.process_message(event)

    def _read_lines(
        self, reader: InputReader, selector: selectors.BaseSelector, cooked: int
    ) -> bytes | None:
        """Read input, with all of the lines that are sent at once; None at its end."""
        if time.monotonic() - self._came > _BURST_SECONDS:
            reader.ahead = b""
        data = more = self._read(cooked)
        while data and more and reader.lines_in(data) and selector.select(_BURST_SECONDS):
            more = self._read(0)
            data += more or b""
        if data:
            self._came = time.monotonic()
        return data

    def _read(self, cooked: int) -> bytes | None:
        """Read input, without the terminal's answers; None at its end.

        In the first `cooked` bytes, from cooked mode, Enter is a line feed.
        """
        data = self._read_some()
        while self.frames.awaits_answer and data.endswith(_BEGUN):
            is_late = not self._comes(constants.ESCAPE_DELAY)
            more = self._read_some() if self._comes(_ANSWERS_WITHIN) else b""
            if not more:
                break
            if is_late and data.endswith(b"\x1b") and not more.startswith(b"["):
                data = data[:-1] + _ESC
            data += more
        if not data:
            return None
        if ANSWER in data:
            self.frames.answers += data.count(ANSWER)
            self._loop.call_soon_threadsafe(self.frames.answer)
            data = data.replace(b"\x1b" + ANSWER, _ESC).replace(ANSWER, b"")
        return data[:cooked].replace(b"\n", b"\r") + data[cooked:]

    def _comes(self, seconds: float) -> bool:
        return bool(select.select((self.fileno,), (), (), seconds)[0])

    def _read_some(self) -> bytes:
        try:
            return os.read(self.fileno, _MOST)
        except OSError:
            return b""


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
        with suppress(OSError, termios.error):
            termios.tcflush(2, termios.TCOFLUSH)
            os.set_blocking(2, False)  # the terminal may no longer accept output
            os.write(2, _CUT_OFF.encode() + _LEAVE)
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
