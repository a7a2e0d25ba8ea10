"""SIGTERM, SIGHUP and SIGQUIT: jitchat ends as it does on Ctrl+C, and with the signal's exit code.

So each of them cancels what is on its way, keeps what came, closes the store and restores the
terminal. Where that takes longer than `LONGEST`, the process ends without it: what was committed
is durable, and a reply that was growing is interrupted.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

LONGEST = 1.5
"""Seconds."""
_BASE = 128
"""What shells add to a signal's number."""

_received: list[int] = []
_restorers: list[Callable[[], object]] = []


def handle_signals() -> None:
    """Handle them from now on; one that the parent has set to be ignored, as nohup does, stays."""
    for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def restore_with(restorer: Callable[[], object]) -> None:
    """Have the terminal restored by this where the end takes too long; called in any thread."""
    _restorers.append(restorer)


def exit_code(code: int) -> int:
    """The signal's exit code where one ended the process, else `code`."""
    return _BASE + _received[0] if _received else code


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


def _end_now() -> None:
    for restore in _restorers:
        restore()
    os._exit(exit_code(0))
