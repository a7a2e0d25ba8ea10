"""How the process ends, without waiting for anything that has nothing to store.

SIGTERM, SIGHUP and SIGQUIT end it as Ctrl+C does, and with the signal's exit code: what is on its
way is cancelled, what came is kept, the store closed and the terminal restored. Where that takes
longer than `LONGEST`, the process ends without it: what was committed is durable, and a reply that
was growing is interrupted.
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
"""What shells add to a signal's number."""

_received: list[int] = []
_restorers: list[Callable[[], object]] = []
_leaves_threads = threading.Event()


def handle_signals() -> None:
    """Handle them from now on; one that the parent has set to be ignored, as nohup does, stays.

    Until `heed_interrupts`, Ctrl+C ends the process at once.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _leave_at_once)
    for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def heed_interrupts() -> None:
    """Have Ctrl+C raise KeyboardInterrupt from now on, for something may have to be closed.

    While modules are loaded it must not: that would leave one half made, and a traceback.
    """
    if signal.getsignal(signal.SIGINT) is _leave_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def restore_with(restorer: Callable[[], object]) -> None:
    """Have the terminal restored by this where the end takes too long; called in any thread."""
    _restorers.append(restorer)


def exit_code(code: int) -> int:
    """The signal's exit code where one ended the process, else `code`."""
    return _BASE + _received[0] if _received else code


def leave_threads() -> None:
    """Have `leave` wait for no thread: those that are left only read and compute."""
    _leaves_threads.set()


def leave(code: int) -> NoReturn:
    if _leaves_threads.is_set():
        os._exit(code)
    sys.exit(code)


def _end(number: int, frame: FrameType | None) -> None:
    """Interrupt the main thread; a hang-up can bring several signals, of which the first counts."""
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
    os._exit(exit_code(_BASE + number))


def _end_now() -> None:
    for restore in _restorers:
        restore()
    os._exit(exit_code(0))
