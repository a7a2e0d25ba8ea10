"""A program on a pseudo-terminal, timed from the outside: what a person would wait for."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ASKED, ANSWER = b"\x1b[5n", b"\x1b[0n"
"""What a terminal is asked, and answers once it has read all before it."""
_NEAR = 1_000
"""Bytes in which a text is that has only begun to be drawn."""
_STYLE = re.compile(rb"\x1b\[[\d;]*m")
COOKED = termios.ECHO | termios.ICANON | termios.ISIG


def heed_signals(*, ignored: Sequence[signal.Signals] = ()) -> None:
    """Ignore these and heed the others, whatever this process inherited (nohup: SIGHUP ignored)."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)


def begin(ignored: Sequence[signal.Signals]) -> None:
    """Heed signals; a terminal on standard input is the one that the process is hung up with."""
    heed_signals(ignored=ignored)
    if os.isatty(0):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def start(
    command: Sequence[str],
    environ: Mapping[str, str],
    files: Sequence[int],
    ignored: Sequence[signal.Signals] = (),
) -> subprocess.Popen[bytes]:
    """Run a command on these files, which are 0, 1 and 2."""
    return subprocess.Popen(
        command,
        stdin=files[0],
        stdout=files[1],
        stderr=files[2],
        env=dict(environ),
        preexec_fn=partial(begin, ignored),  # noqa: PLW1509  a few system calls
    )


class Terminal:
    """Runs a command on a terminal of 120 columns and watches what it draws."""

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        rows: int = 40,
        ignored: Sequence[signal.Signals] = (),
        start: Callable[..., Any] = start,
        *,
        answers: bool = True,
    ) -> None:
        self.answers = answers
        self.drawn = bytearray()
        """All of it, unlike `seen`."""
        self._unread = b""
        self._master, slave = pty.openpty()
        self._set_size(slave, rows, 120)
        self.started = time.perf_counter()
        self._process = start(command, environ, (slave, slave, slave), ignored)
        os.close(slave)
        self.seen = b""

    def wait_for(self, text: str, timeout: float = 60.0) -> float:
        """Seconds since now until `text` is drawn; it is taken out of what was seen."""
        begun, wanted = time.perf_counter(), text.encode()
        start = 0
        while wanted not in _STYLE.sub(b"", self.seen[start:]):
            start = max(0, len(self.seen) - _NEAR)
            self._read(begun + timeout)
        self.seen = _STYLE.sub(b"", self.seen).partition(wanted)[2]
        return time.perf_counter() - begun

    def until_drawn(self, timeout: float = 5.0) -> float:
        """Seconds since now until anything is drawn."""
        begun, known = time.perf_counter(), len(self.seen)
        while len(self.seen) == known:
            self._read(begun + timeout)
        return time.perf_counter() - begun

    def type(self, keys: str) -> None:
        """Press keys."""
        self.type_bytes(keys.encode())

    def type_bytes(self, keys: bytes) -> None:
        """Have bytes come as if they were typed, whatever they are."""
        self.seen = b""
        os.write(self._master, keys)

    def answer(self, pieces: Sequence[bytes] = (ANSWER,)) -> None:
        """Tell that all was read."""
        for piece in pieces:
            os.write(self._master, piece)
            time.sleep(0.05)

    def until_asked(self, timeout: float = 30.0) -> None:
        """Read until the program asks whether all was read."""
        deadline = time.perf_counter() + timeout
        while ASKED not in self.seen:
            self._read(deadline)
        self.seen = self.seen.partition(ASKED)[2]

    def drain(self, seconds: float) -> None:
        """Read what is drawn for a while."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            self._take(min(0.05, max(0.0, end - time.perf_counter())))

    def until_quiet(self, pause: float = 0.2, timeout: float = 30.0) -> float:
        """Seconds from now until the last of what is drawn without such a pause."""
        begun = last = time.perf_counter()
        known = len(self.seen)
        while time.perf_counter() - last < pause:
            self._read(begun + timeout)
            if len(self.seen) > known:
                known, last = len(self.seen), time.perf_counter()
        return last - begun

    def resize(self, rows: int, columns: int) -> None:
        """Give it another size, as a person does with a window."""
        self.seen = b""
        self._set_size(self._master, rows, columns)
        self._process.send_signal(signal.SIGWINCH)

    @staticmethod
    def _set_size(terminal: int, rows: int, columns: int) -> None:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def processor_seconds(self) -> float:
        """What the program has used of a core so far (Linux)."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_megabytes(self) -> float:
        """Memory of the program now (Linux)."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    def open_files(self) -> int:
        """How many files the program has open (Linux)."""
        return len([*Path(f"/proc/{self._process.pid}/fd").iterdir()])

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def is_cooked(self) -> bool:
        """Whether lines are read and echoed, as a shell leaves its terminal."""
        modes = termios.tcgetattr(self._master)[3]
        return modes & COOKED == COOKED

    def send_signal(self, number: int) -> None:
        """Send the program a signal."""
        self._process.send_signal(number)

    def stop_and_continue(self, *meanwhile: signal.Signals) -> None:
        """Stop the program with SIGSTOP, send it these signals, and have it go on."""
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOWAIT)
        self.seen = b""
        for number in (*meanwhile, signal.SIGCONT):
            self._process.send_signal(number)

    def hang_up(self, timeout: float = 30.0) -> int:
        """Close the terminal under the program; its exit code."""
        os.close(self._master)
        return self._process.wait(timeout)

    def wait(self, timeout: float = 10.0) -> int:
        """Wait for the end of the program, without taking anything from it; its exit code."""
        return self._process.wait(timeout)

    def until_exit(self, keys: str = "", timeout: float = 30.0) -> tuple[int, bytes]:
        """Press keys now and then until the program ends; its exit code and all it drew."""
        deadline = time.perf_counter() + timeout
        press_at = 0.0
        while self._process.poll() is None:
            if time.perf_counter() > deadline:
                self.stop()
                raise TimeoutError(self.seen[-2000:].decode("utf-8", "replace"))
            self._take(0.2)
            is_due = keys and time.perf_counter() >= press_at and b"\x1b[?1049h" in self.seen
            # a program that ends reads no keys, and a write to a full terminal would never return
            if is_due and select.select((), (self._master,), (), 0)[1]:
                os.write(self._master, keys.encode())
                press_at = time.perf_counter() + 0.2
        self._take(0.1)
        return self._process.returncode, self.seen

    def close(self) -> None:
        """Give the terminal back."""
        os.close(self._master)

    def stop(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def _read(self, deadline: float) -> None:
        if time.perf_counter() > deadline:
            raise TimeoutError(self.seen[-2000:].decode("utf-8", "replace"))
        self._take(0.05)

    def _take(self, wait: float) -> None:
        if select.select([self._master], [], [], wait)[0]:
            with suppress(OSError):  # Linux reports the end of a terminal so
                self._see(os.read(self._master, 1 << 16))

    def _see(self, drawn: bytes) -> None:
        self.seen += drawn
        self.drawn += drawn
        self._unread += drawn
        *before, self._unread = self._unread.split(ASKED)
        if self.answers and before:
            os.write(self._master, ANSWER * len(before))
