"""A terminal that is killed, hung up, closed or missing, and keys that come before the app does."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.benchmarks.terminal import Terminal
from tests.faults.streaming import StreamHandler, streaming
from tests.providers.streams import DONE, STOP, delta, event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.faults.fork_server import ForkServer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
JITCHAT = [sys.executable, "-m", "jitchat"]
LEFT = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?2004l")
GOAL = 2.0
"""Seconds from the signal to the end."""


class Handler(StreamHandler):
    """Answers with one word; the end of the reply waits for the server's `go_on`."""

    def answer(self, body: bytes) -> None:
        self._write(event(delta("zebra")))
        self.server.go_on.wait()
        self._write("".join([event(STOP), DONE]))

    def _write(self, text: str) -> None:
        try:
            self.wfile.write(text.encode())
        except OSError:
            self.close_connection = True


@pytest.fixture
def server() -> Iterator[Any]:
    with streaming(Handler, go_on=threading.Event()) as made:
        yield made
        made.go_on.set()


def start_a_reply(terminal: Terminal) -> None:
    """See to it that a reply has begun to come."""
    terminal.wait_for("estimate")  # the status line of an open conversation
    terminal.type_bytes(b"ok \xff\xfe tail \xe2\x82\xac\r")
    terminal.wait_for("zebra")


def rows(home: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(home / "cold.db")) as connection:
        return connection.execute(query).fetchall()


_REPLIES = "SELECT count(*) FROM turns WHERE content LIKE '%zebra%' AND status = 'complete'"


def last_turn(home: Path) -> tuple[object, ...]:
    return rows(home, "SELECT content, status FROM turns ORDER BY position DESC LIMIT 1")[0]


def require_restored(terminal: Terminal, drawn: bytes) -> None:
    assert [each for each in LEFT if each not in drawn] == []
    assert terminal.is_cooked
    terminal.close()


@pytest.mark.parametrize(
    "name", ["SIGTERM", "SIGQUIT", pytest.param("SIGHUP", marks=pytest.mark.long("whole"))]
)
def test_a_signal_keeps_the_reply_and_restores_the_terminal(
    server: Any, fork: Callable[..., Terminal], home: Path, name: str
) -> None:
    terminal = fork([*JITCHAT, *server.flags])
    start_a_reply(terminal)
    number = getattr(signal, name)
    begun = time.perf_counter()
    terminal.send_signal(number)
    code, drawn = terminal.until_exit()
    assert time.perf_counter() - begun < GOAL
    assert code == 128 + number
    require_restored(terminal, drawn)
    assert last_turn(home) == ("zebra", "cancelled")
    assert not Path(f"{home}/cold.db-wal").exists(), "the store was not closed"
    (said,) = rows(home, "SELECT content FROM turns WHERE role = 'user'")
    assert said == ("ok \ufffd\ufffd tail \u20ac",), "what is no text is replaced, the rest read"


@pytest.mark.parametrize("heard", [True, False], ids=["with SIGHUP", "where SIGHUP is ignored"])
def test_a_closed_terminal_ends_the_app_and_keeps_the_reply(
    server: Any, fork: Callable[..., Terminal], home: Path, heard: bool
) -> None:
    terminal = fork([*JITCHAT, *server.flags], ignored=() if heard else (signal.SIGHUP,))
    start_a_reply(terminal)
    begun = time.perf_counter()
    assert terminal.hang_up() == 128 + signal.SIGHUP
    assert time.perf_counter() - begun < GOAL
    assert last_turn(home) == ("zebra", "cancelled")
    assert not (home / "crash.txt").exists()


def test_an_app_that_is_stopped_goes_on_and_ended_meanwhile_leaves_all_as_it_was(
    server: Any, environ: dict[str, str], home: Path
) -> None:
    """Started as a person starts it, with the embedder that is built in."""
    (home / "config.toml").unlink()
    terminal = Terminal([*JITCHAT, *server.flags], environ)
    terminal.wait_for("estimate")
    for _ in range(2):
        terminal.stop_and_continue()
        terminal.wait_for("\x1b[?1049h")
        terminal.wait_for("Type a message")  # the empty prompt
    terminal.type("all of this")
    terminal.wait_for("this")
    assert not terminal.is_cooked
    terminal.type("\r")
    terminal.wait_for("zebra")
    terminal.stop_and_continue(signal.SIGTERM)
    code, drawn = terminal.until_exit()
    assert code == 128 + signal.SIGTERM
    require_restored(terminal, drawn)
    assert rows(home, "SELECT content, status FROM turns ORDER BY position") == [
        ("all of this", "complete"),
        ("zebra", "cancelled"),
    ]


STUCK = """
import os, signal, sys, time
from jitchat.cli.termination import handle_signals, heed_interrupts, restore_with
from jitchat.tui.driver import restorer
import tty
handle_signals()
heed_interrupts()
restore_with(restorer())
tty.setraw(0)
told = []
while True:
    try:
        if not told:
            told.append(os.write(1, b"stuck"))
        time.sleep(60)
    except BaseException:
        pass
"""


def test_an_app_that_does_not_end_by_itself_is_ended_and_the_terminal_restored(
    fork: Callable[..., Terminal],
) -> None:
    terminal = fork([sys.executable, "-c", STUCK])
    terminal.wait_for("stuck")
    terminal.send_signal(signal.SIGTERM)
    begun = time.perf_counter()
    code, drawn = terminal.until_exit()
    assert time.perf_counter() - begun < GOAL
    assert code == 128 + signal.SIGTERM
    require_restored(terminal, drawn)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_headless_send_that_is_ended_keeps_the_reply_so_far(
    server: Any, environ: dict[str, str], home: Path, forks: ForkServer, name: str
) -> None:
    """By SIGTERM where SIGINT is ignored, as in the background of a script."""
    ignored = [signal.SIGINT] if name == "SIGTERM" else []
    command = [*JITCHAT, "send", "hello", *server.flags]
    reading, writing = os.pipe()
    with Path(os.devnull).open() as nothing, (home / "stderr").open("wb") as told:
        files = (nothing.fileno(), writing, told.fileno())
        process = forks.start(command, environ, files, ignored)
    os.close(writing)
    while not (came := os.read(reading, 1 << 16)).endswith(b"zebra"):
        assert came, (home / "stderr").read_text()
    number = getattr(signal, name)
    begun = time.perf_counter()
    process.send_signal(number)
    assert process.wait() == 128 + number
    assert time.perf_counter() - begun < GOAL
    os.close(reading)
    assert "Traceback" not in (home / "stderr").read_text()
    assert last_turn(home) == ("zebra", "cancelled")


WITHOUT_KEYBOARD = """
import os
from jitchat.__main__ import main
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
main()
"""


@pytest.mark.parametrize("command", [[], ["demo"], ["rot"]], ids=["chat", "demo", "rot"])
def test_without_a_keyboard_it_says_so(fork: Callable[..., Terminal], command: list[str]) -> None:
    terminal = fork([sys.executable, "-c", WITHOUT_KEYBOARD, *command])
    code, drawn = terminal.until_exit()
    terminal.close()
    assert code == 2
    assert b"Standard input is not a terminal, so there is no keyboard." in drawn


@pytest.mark.parametrize(
    ("name", "told"),
    [("dumb", b"TERM is dumb,"), ("", b"TERM is not set,"), (None, b"TERM is not")],
)
def test_a_terminal_without_a_screen_is_not_drawn_on(
    fork: Callable[..., Terminal], environ: dict[str, str], name: str | None, told: bytes
) -> None:
    own = {key: value for key, value in environ.items() if key != "TERM"}
    terminal = fork(JITCHAT, environ=own if name is None else own | {"TERM": name})
    code, drawn = terminal.until_exit()
    terminal.close()
    assert code == 2
    assert told in drawn
    assert b"\x1b" not in drawn


@pytest.mark.parametrize(
    "seconds",
    [
        None,
        0.1,
        *(pytest.param(each, marks=pytest.mark.long("whole")) for each in (0.0, 0.05, 0.2, 0.4)),
    ],
)
def test_a_message_typed_while_the_app_starts_is_sent_once(
    server: Any,
    environ: dict[str, str],
    home: Path,
    seconds: float | None,
    rounds: Callable[[int, int], int],
) -> None:
    """At once, at the very first start, or so many seconds after the first byte was drawn."""
    server.go_on.set()
    if seconds is None:
        (home / "cold.db").unlink()
    for number in range(1, rounds(1, 10) + 1):
        terminal = Terminal([*JITCHAT, *server.flags], environ)
        if seconds is not None:
            terminal.until_drawn(30.0)
            terminal.drain(seconds)
        for keys in ("hel", "lo\u00e9", "\r"):
            terminal.type(keys)
        terminal.wait_for("zebra")
        for _ in range(300):  # what was drawn can be the reply of the round before
            if rows(home, _REPLIES) == [(number,)]:
                break
            terminal.drain(0.1)
        terminal.send_signal(signal.SIGTERM)
        terminal.until_exit()
        terminal.close()
        query = "SELECT count(*) FROM turns WHERE content = 'hello\u00e9'"
        assert rows(home, query) == [(number,)]


PLANS_FOR_EVER = """
import threading
from jitchat import cli
from jitchat.cli import termination
from jitchat.session import Session
termination.LONGEST = threading.TIMEOUT_MAX
endless = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
def preview(self, *arguments):
    database = self.memory.store.database
    try:
        with database.read() as connection:
            database.path.with_name("reading").touch()
            connection.execute(endless).fetchall()
    finally:
        threading.Event().wait()
Session.preview = preview
cli.main()
"""


@pytest.mark.parametrize("how", ["keys", "signal"])
def test_quitting_waits_for_no_thread_that_only_reads(
    fork: Callable[..., Terminal], home: Path, how: str
) -> None:
    """The query never ends, nor its thread, and no timer ends the process."""
    terminal = fork([sys.executable, "-c", PLANS_FOR_EVER])
    while not (home / "reading").exists():
        terminal.drain(0.05)
    if how == "keys":
        terminal.type("\x11")
    else:
        terminal.send_signal(signal.SIGHUP)
    code, drawn = terminal.until_exit()
    assert code == (0 if how == "keys" else 128 + signal.SIGHUP)
    require_restored(terminal, drawn)


INTERRUPTED = """
import os, signal, sys
sys.argv[0] = "jitchat"
def watch(event, arguments, wanted=os.environ["INTERRUPT_AT"]):
    if event == "import" and arguments[0] == wanted:
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(watch)
from jitchat.__main__ import main
main()
"""


@pytest.mark.parametrize(
    "module",
    ["jitchat.cli", "click", "jitchat.cli.chat", "textual.app", "jitchat.store.store"],
)
def test_ctrl_c_while_modules_are_loaded_ends_it_without_a_traceback(
    environ: dict[str, str], module: str
) -> None:
    terminal = Terminal([sys.executable, "-c", INTERRUPTED], environ | {"INTERRUPT_AT": module})
    code, drawn = terminal.until_exit()
    assert code == 128 + signal.SIGINT
    assert b"Traceback" not in drawn
    terminal.close()


def kept(home: Path, text: str) -> tuple[int, int]:
    """How often a text is a turn, and how often a draft."""
    turns = rows(home, f"SELECT 1 FROM turns WHERE content = '{text}'")
    return len(turns), len(rows(home, f"SELECT 1 FROM drafts WHERE text LIKE '%{text}%'"))


@pytest.mark.parametrize("how", ["keys", "signal", "closed"])
@pytest.mark.parametrize(
    "seconds",
    [
        0.0,
        0.02,
        *(
            pytest.param(each, marks=pytest.mark.long("whole"))
            for each in (0.001, 0.005, 0.05, 0.2)
        ),
    ],
)
def test_a_message_that_was_just_sent_is_a_turn_or_a_draft(
    server: Any, fork: Callable[..., Terminal], home: Path, how: str, seconds: float
) -> None:
    terminal = fork([*JITCHAT, *server.flags])
    terminal.wait_for("estimate")
    terminal.type("marzipan")
    terminal.wait_for("marzipan")
    terminal.type("\r\x11" if how == "keys" and not seconds else "\r")
    if seconds:
        terminal.drain(seconds)
    if how == "closed":
        terminal.hang_up()
    else:
        if how == "signal":
            terminal.send_signal(signal.SIGTERM)
        elif seconds:
            terminal.type("\x11")
        terminal.until_exit()
        terminal.close()
    assert kept(home, "marzipan") in ((1, 0), (0, 1))
