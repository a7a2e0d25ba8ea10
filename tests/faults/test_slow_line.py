"""A line that is slower than what is drawn, and a terminal that takes nothing any more."""

from __future__ import annotations

import os
import signal
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from tests.benchmarks.terminal import ANSWER, ASKED, Terminal
from tests.faults.test_terminal_ends import LEFT
from tests.glass import Glass

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.faults.fork_server import ForkServer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
ROWS, COLUMNS = 40, 120
KEYS = ("hello, 日本 👍🏽\r", "\x1bOQ", "\x1b[5~", "\x1bOP", "\x1b", "again\r", "/", "\x15")
"""Two messages, the inspector, a page up, the help, and the list of commands."""


@pytest.fixture
def start(home: Path, forks: ForkServer) -> Callable[..., Terminal]:
    """Starts an app that opens a conversation without turns."""
    home.mkdir()
    database = Database(home / "cold.db")
    ColdStore(database).create("A talk")
    database.close()
    (home / "config.toml").write_text('[embedder]\nname = "none"\n')
    environ = dict(os.environ) | {"TERM": "xterm-256color", "JITCHAT_DB": str(home / "cold.db")}
    command = [sys.executable, "-m", "jitchat", "--provider", "reader"]
    return partial(Terminal, command, environ, start=forks.start)


def seen_by(terminal: Terminal) -> str:
    """What a person sees of all that was drawn so far."""
    glass = Glass(ROWS, COLUMNS)
    glass.write(terminal.drawn.decode())
    return glass.text


def at_rest(terminal: Terminal) -> str:
    """What is seen once it stays as it is."""
    seen, before = seen_by(terminal), ""
    while seen != before:
        terminal.drain(1)
        before, seen = seen, seen_by(terminal)
    return seen


def test_a_frame_waits_for_the_answer_to_the_one_before(start: Callable[..., Terminal]) -> None:
    terminal = start()
    terminal.wait_for("estimate")
    terminal.drain(1)
    terminal.answers = False
    terminal.type("a")
    terminal.until_asked()
    for key in "bcdefg":
        terminal.type(key)
        terminal.drain(0.05)
    assert terminal.seen == b""
    terminal.answer([b"\x1b", b"[0", b"n"])
    terminal.until_asked()  # what changed meanwhile is one frame
    assert "▌ abcdefg\n" in seen_by(terminal).replace("  ", "")
    terminal.stop()


def test_a_terminal_that_gives_no_answers_is_drawn_on(start: Callable[..., Terminal]) -> None:
    terminal = start(answers=False)
    terminal.wait_for("estimate")
    terminal.drain(1.5)
    for word in ("first", "second"):
        terminal.type(f"{word} ")
        terminal.drain(0.5)
        assert word in seen_by(terminal)
    assert terminal.drawn.count(ASKED) == 2
    terminal.type("\x11")
    assert terminal.until_exit()[0] == 0
    terminal.close()


@pytest.mark.parametrize("answers", [True, False], ids=["answers", "gives no answers"])
def test_the_app_ends_although_the_terminal_takes_nothing(
    start: Callable[..., Terminal], answers: bool
) -> None:
    terminal = start(answers=answers)
    terminal.wait_for("estimate")
    terminal.drain(1.5)
    for columns in range(COLUMNS, COLUMNS + 10):
        terminal.resize(ROWS, columns)
        time.sleep(0.1)
    terminal.type("\x11")
    assert terminal.wait() == 0
    terminal.drain(0.5)
    assert [each for each in LEFT if each not in terminal.seen] == []
    assert terminal.is_cooked
    assert ANSWER not in terminal.drawn
    terminal.close()


@pytest.mark.long("whole")
def test_what_is_on_the_screen_is_what_would_be_drawn_anew(start: Callable[..., Terminal]) -> None:
    terminal = start()
    terminal.wait_for("estimate")
    for key in KEYS:
        terminal.type(key)
        before = at_rest(terminal)
        terminal.send_signal(signal.SIGCONT)  # it draws all anew
        terminal.wait_for("\x1b[?1049h")
        assert at_rest(terminal) == before, key
    terminal.stop()
