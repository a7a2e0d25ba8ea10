"""Start a jitchat as a user would: `python -m tests.start_app PROGRAM`.

On a pseudo-terminal, in a folder of its own: it sends a message, waits for the reply and quits.
Needs nothing but Python.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from tests.benchmarks.terminal import Terminal

MESSAGE = "what did we settle on for the deploy window?"
REPLY = "Decision: the deploy window is Tuesday 02:00 UTC."
QUERY = """
    SELECT r.content FROM turns m JOIN turns r
    ON r.conversation = m.conversation AND r.position = m.position + 1
    WHERE m.content = ? AND r.status = 'complete'
"""
PATIENCE = 60.0
"""Seconds."""


def reply_in(database: Path) -> str:
    """Return the stored reply; empty if there is none yet."""
    if not database.exists():
        return ""
    with closing(sqlite3.connect(database, timeout=PATIENCE)) as connection:
        row = connection.execute(QUERY, (MESSAGE,)).fetchone()
    return "" if row is None else str(row[0])


def main() -> None:
    program = Path(sys.argv[1]).absolute()
    with tempfile.TemporaryDirectory() as home:
        database = Path(home) / "started.db"
        environ = dict(os.environ) | {"JITCHAT_HOME": home, "TERM": "xterm-256color"}
        started = time.perf_counter()
        terminal = Terminal([str(program), "--db", str(database)], environ)
        terminal.wait_for("ype a message", PATIENCE)
        terminal.type(MESSAGE)
        terminal.drain(0.5)
        terminal.type("\r")
        while not (reply := reply_in(database)) and time.perf_counter() - started < PATIENCE:
            terminal.drain(0.2)
        terminal.type("\x11")
        code, _ = terminal.until_exit()
        terminal.close()
    if REPLY not in reply or code:
        raise SystemExit(f"{program} ended with {code}; the reply was {reply!r}.")
    print(f"{program}: started, answered and quit in {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
