"""Random actions in a terminal while replies stream in: nothing fails, is lost or grows."""

from __future__ import annotations

import json
import math
import random
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from jitchat.tui.actions import ACTIONS
from jitchat.values import Status
from tests.benchmarks.terminal import Terminal
from tests.faults.streaming import StreamHandler, streaming
from tests.providers.streams import DONE, STOP, delta, event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

LEFT_OUT = {"delete", "temporary", "suspend", "editor", "quit", "rot", "models"}
"""What deletes, hands over the terminal, computes for minutes, or has another server answer.

Quitting has its own step.
"""
SIZES = ((40, 120), (24, 80), (14, 50), (48, 160))
"""Rows and columns."""
ROOM = ("--limit", "1000000")
"""So that each mode can send."""
FUNCTION_KEYS = (*"PQRS", *(f"{code}~" for code in (15, 17, 18, 19, 20, 21, 23, 24)))
"""The ends of what F1 to F12 send."""
PALETTE = 0.4
"""Seconds to wait for the palette, and for what it finds."""
AFTER_ESC = 0.15
"""Seconds after which a key does not belong to Esc."""
MORE_FILES, MORE_MEGABYTES = 8, 40
"""By how much the open files and the memory may grow in the second half; in half an hour the memory
grew by 21 MB."""
STOPPING = ("\x1b", "\x11")
"""Esc and Ctrl+Q."""
REPLY = 1.5
"""Seconds in which most replies come to their end."""
LATE = 5.0
"""Seconds by which the app may be late to take a key or a part of a reply."""
_SAID = "SELECT content FROM turns WHERE role = 'user' UNION ALL SELECT text FROM drafts"
_NUMBER = re.compile(r"in reply (\d+) ")
_REPLIES = "SELECT content, status FROM turns WHERE role = 'assistant'"
PAUSES = (0.0, 0.02, 0.1, 0.4)


def key_bytes(key: str) -> str:
    """What a terminal sends for a key."""
    modifier, _, name = key.rpartition("+")
    if modifier == "ctrl":
        return chr(ord(name) & 0x1F)
    if modifier == "alt":
        return f"\x1b{name}"
    if re.fullmatch(r"f\d+", name):
        end = FUNCTION_KEYS[int(name[1:]) - 1]
        return f"\x1bO{end}" if len(end) == 1 else f"\x1b[{end}"
    return {"shift+tab": "\x1b[Z", "escape": "\x1b"}[key]


@dataclass
class Reply:
    """What the server wrote in answer to one request."""

    number: int
    message: str
    """The number of the message."""
    begun: float
    text: str = ""
    ended: float = math.inf
    """When the server had written all of it, or found that the app had hung up."""
    is_whole: bool = False

    def is_kept_by(self, stored: Mapping[int, tuple[str, str]], soak: Soak) -> bool:
        """Whether it is stored whole; what was stopped while it came is its beginning, or nothing.

        `stored` has texts and statuses of turns by the number of the reply in them. A key that was
        pressed before the message was sent cannot have stopped its reply.
        """
        text, status = stored.get(self.number, ("", Status.CANCELLED))
        if status == Status.COMPLETE:
            return self.is_whole and text == self.text
        first = max(self.begun - LATE, soak.sent.get(self.message, 0.0))
        is_stopped = any(first <= moment <= self.ended + LATE for moment in soak.stops)
        return is_stopped and status == Status.CANCELLED and self.text.startswith(text)


class Handler(StreamHandler):
    """Streams paragraphs that name their reply and the message they answer."""

    def answer(self, body: bytes) -> None:
        if not body:
            return  # it was stopped in between
        asked = re.findall(r"message-(\d+) ", str(json.loads(body)["messages"][-1]["content"]))
        self.server.asked.update(asked)
        reply = Reply(next(self.server.numbers), (asked or [""])[-1], time.monotonic())
        self.server.replies.append(reply)
        try:
            for part in range(random.randint(3, 60)):
                text = f"Berth {part} is free in reply {reply.number} to {reply.message}. "
                text += "\n\n" * (part % 4 == 0)
                reply.text += text  # before the app can have it
                self.wfile.write(event(delta(text)).encode())
                time.sleep(random.random() / 50)
            self.wfile.write("".join([event(STOP), DONE]).encode())
            reply.is_whole = True
        except OSError:
            self.close_connection = True  # it was stopped
        reply.ended = time.monotonic()


@pytest.fixture
def server() -> Iterator[Any]:
    with streaming(Handler, asked=set(), replies=[], numbers=count(1)) as made:
        yield made


@contextmanager
def busy_core() -> Iterator[None]:
    """Something else that always has work."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


class Soak:
    """An app in a terminal, started again each time it was quit."""

    def __init__(self, environ: dict[str, str], server: Any, seed: int) -> None:
        self._environ, self._server = environ, server
        self._chance = random.Random(seed)
        self._actions = [each for each in ACTIONS if each.id not in LEFT_OUT]
        self.sent: dict[str, float] = {}
        """When a message was sent, by its number."""
        self._is_covered = False
        """Whether something may be open over the chat."""
        self.done: list[str] = []
        """The steps since the start of the app."""
        self.stops: list[float] = []
        """When a key that stops a reply was pressed."""
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "jitchat", *self._server.flags, *ROOM]
        self.done = []
        self._terminal = Terminal(command, self._environ)
        self._terminal.wait_for("estimate")  # the status line of an open conversation

    def run(self, seconds: float, *, quits: bool = False) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            steps = [self.act, self.act, self.act, self.send, self.send, self.stop, self.resize]
            step = self._chance.choice([*steps, self.switch, *([self.quit] * quits)])
            self.done.append(step.__name__)
            step()
            self._terminal.drain(self._chance.choice(PAUSES))
            assert self._terminal.is_running, self.failure()

    def act(self) -> None:
        action = self._chance.choice(self._actions)
        self.done[-1] = action.id
        if action.keys and self._chance.random() < 0.9:
            self.press(key_bytes(action.keys.split(",")[0]))
        elif action.title and self._chance.random() < 0.3:  # a command would go into the draft
            self.uncover()
            for keys in ("\x10", action.title, "\r"):
                self.press(keys)
                self._terminal.drain(PALETTE)
        self._is_covered = True

    def send(self) -> None:
        """Send a message, and stop it at once, soon or not."""
        self.uncover()
        number = len(self.sent) + 1
        self.sent[str(number)] = time.monotonic()
        at_once = self._chance.choice(("", "", "", "\x1b"))
        self.press(f" message-{number} \r{at_once}")
        self._terminal.drain(self._chance.choice((AFTER_ESC, AFTER_ESC, REPLY)))

    def stop(self) -> None:
        self.press("\x1b")
        self._terminal.drain(AFTER_ESC)

    def resize(self) -> None:
        self._terminal.resize(*self._chance.choice(SIZES))

    def switch(self) -> None:
        """Open one of the last conversations."""
        self.uncover()
        for keys in ("\x12", "\x1b[B" * self._chance.randrange(3), "\r"):
            self.press(keys)
            self._terminal.drain(AFTER_ESC)
        self._is_covered = True

    def uncover(self) -> None:
        """Close what may be open over the chat."""
        for _ in range(4 * self._is_covered):
            self.stop()
        self._is_covered = False

    def quit(self) -> None:
        self.end()
        self.start()

    def end(self) -> None:
        """Quit, from wherever the app is."""
        self.press("\x11")
        code, _ = self._terminal.until_exit()
        assert code == 0, self.failure()
        self._terminal.close()

    def press(self, keys: str) -> None:
        if keys.endswith(STOPPING):
            self.stops.append(time.monotonic())
        self._terminal.type(keys)

    def failure(self) -> str:
        drawn = self._terminal.seen[-3000:].decode("utf-8", "replace")
        return f"after {', '.join(self.done[-12:])}: {drawn}"

    def sizes(self) -> tuple[int, float]:
        """The open files and the megabytes of memory, once nothing is going on."""
        self.uncover()
        self._terminal.drain(2.0)
        return self._terminal.open_files(), self._terminal.resident_megabytes()


def test_random_actions(
    server: Any, environ: dict[str, str], home: Path, rounds: Callable[[int, int], int]
) -> None:
    """Two thirds of the time in one process, and a third in processes that are quit."""
    third = rounds(4, 600)
    with busy_core():
        soak = Soak(environ, server, seed=third)
        soak.run(third)
        files, megabytes = soak.sizes()
        soak.run(third)
        more_files, more_megabytes = soak.sizes()
        soak.run(third, quits=True)
        soak.end()
    print(f"{files} then {more_files} files, {megabytes:.0f} then {more_megabytes:.0f} MB")
    assert not (home / "crash.txt").exists()
    assert more_files <= files + MORE_FILES
    assert more_megabytes <= megabytes + MORE_MEGABYTES
    with closing(sqlite3.connect(home / "cold.db")) as connection:
        said = " ".join(row[0] for row in connection.execute(_SAID))
        replies = connection.execute(_REPLIES).fetchall()
    assert server.asked, "no message was sent"
    assert [each for each in server.asked if f"message-{each} " not in f"{said} "] == []
    stored = {int(number): kept for kept in replies for number in _NUMBER.findall(kept[0])[:1]}
    assert len(stored) == len(replies)
    assert [each for each in server.replies if not each.is_kept_by(stored, soak)] == []
