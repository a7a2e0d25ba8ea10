"""An app that is quit while another process writes to the database, and as long as that takes."""

from __future__ import annotations

import signal
import sqlite3
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from jitchat.store.database import LOCKED, WAIT_SECONDS
from tests.faults.test_terminal_ends import JITCHAT, require_restored

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.benchmarks.terminal import Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
DRAFT = "zebra thought"


@pytest.mark.parametrize("key", ["", "\x0e"], ids=["at rest", "while a new conversation waits"])
@pytest.mark.parametrize("how", ["keys", "signal", "closed"])
def test_the_app_ends_soon_and_keeps_the_draft(
    fork: Callable[..., Terminal], home: Path, key: str, how: str
) -> None:
    terminal = fork(JITCHAT)
    terminal.wait_for("estimate")  # the status line of an open conversation
    with closing(sqlite3.connect(home / "cold.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        terminal.type(DRAFT)
        terminal.wait_for("thought")
        if key:
            terminal.type(key)
            terminal.wait_for(LOCKED[:20])
        soon = WAIT_SECONDS / 2
        if how == "closed":
            assert terminal.hang_up(soon) == 128 + signal.SIGHUP
        else:
            terminal.type("\x11" if how == "keys" else "")
            if how == "signal":
                terminal.send_signal(signal.SIGTERM)
            code, drawn = terminal.until_exit(timeout=soon)
            assert code == (0 if how == "keys" else 128 + signal.SIGTERM)
            require_restored(terminal, drawn)
    assert not (home / "crash.txt").exists()

    terminal = fork(JITCHAT)
    terminal.wait_for(DRAFT)
    terminal.type("\x11")
    assert terminal.until_exit()[0] == 0
    terminal.close()
