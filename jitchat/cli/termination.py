"""Ending the process without waiting for work that has nothing to store.

SIGTERM, SIGHUP and others end it like Ctrl+C, but with the signal's exit code: requests are
cancelled, partial replies are stored, the store is closed and the terminal restored. If this takes
longer than `LONGEST`, the process ends anyway: committed data is durable, and an unfinished reply
is marked as interrupted at the next start.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

LONGEST = 1.5
"""Seconds."""
_BASE = 128
"""Added to a signal's number for the exit code, by the shells' convention."""

_ENDING = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGXCPU")
_received: list[int] = []
_restorers: list[Callable[[], object]] = []
_leaves_threads = threading.Event()


def handle_signals() -> None:
    """Install the handlers; a signal that the parent process ignores (nohup) stays ignored.

    Until `heed_interrupts` is called, Ctrl+C ends the process at once.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _leave_at_once)
    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def heed_interrupts() -> None:
    """Make Ctrl+C raise KeyboardInterrupt from now on, so that resources are closed.

    It must not do so while modules are imported: that would leave one half initialised, and print a
    traceback.
    """
    if signal.getsignal(signal.SIGINT) is _leave_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def restore_with(restorer: Callable[[], object]) -> None:
    """Register a function that restores the terminal if ending takes too long, in any thread."""
    _restorers.append(restorer)


def exit_code(code: int) -> int:
    """Return the signal's exit code if one ended the process, else `code`."""
    return _BASE + _received[0] if _received else code


def leave_threads() -> None:
    """Make `leave` end without waiting for threads: those still running only read and compute."""
    _leaves_threads.set()


def leave(code: int) -> NoReturn:
    if _leaves_threads.is_set():
        os._exit(code)
    sys.exit(code)


def _end(number: int, frame: FrameType | None) -> None:
    """Interrupt the main thread; a hang-up can send several signals, and the first one counts."""
    if _received:
        return
    _received.append(number)
    timer = threading.Timer(LONGEST, _end_now)
    timer.daemon = True
    timer.start()
    interrupt = signal.getsignal(signal.SIGINT)
    if not callable(interrupt):  # ignored, as in the background of a script
        raise KeyboardInterrupt
    interrupt(signal.SIGINT, frame)


def _leave_at_once(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  a handler's shape
    if "--json" in sys.argv:
        os.write(1, b'{"error": "Interrupted."}\n')
    os._exit(exit_code(_BASE + number))


def _end_now() -> None:
    for restore in _restorers:
        restore()
    os._exit(exit_code(0))
