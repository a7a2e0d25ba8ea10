"""Folders, files and streams in states that no command may take for a bug.

Every command runs in every state. It says what is wrong in a sentence, `--json` is one JSON value,
and the exit code is a documented one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.values import Status
from tests.benchmarks.terminal import Terminal
from tests.faults.streaming import StreamHandler, streaming
from tests.providers.streams import DONE, STOP, delta, event
from tests.support import talk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.faults.fork_server import ForkServer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and capabilities")

BUG = b"because of a bug"
COMMANDS = (
    ("send", "hello", "--json"),
    ("window", "hello", "--json"),
    ("why", "1", "hello", "--json"),
    ("replay", "1", "--json"),
    ("observations", "chat-1", "--json"),
    ("document", "--json"),
    ("check", "--json"),
    ("conversations", "--json"),
    ("conversations", "search", "zebra", "--json"),
    ("memory", "list", "--json"),
    ("models", "--json"),
    ("usage", "--json"),
    ("tokens",),
    ("keys",),
    ("mcp", "list", "--json"),
    ("mcp", "check", "--json"),
    ("doctor", "reader", "--json"),
    ("config", "set", "chat.mode", "jit"),
    ("config",),
    ("paths",),
    ("folders",),
    ("export", "--all", "--format", "json"),
    ("backup", "copy.db"),
    ("import", "talk.json"),
    ("rot", "list"),
    ("completion", "bash"),
)
ORDINARY_USER = """
import ctypes, os
if os.geteuid() == 0:  # without the capabilities that let root read everything
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc = ctypes.CDLL(None)
    libc.capget(header, data)
    for part in (0, 1):
        data[part] &= ~0b110
    assert libc.capset(header, data) == 0
"""
MAIN = "\nfrom jitchat.__main__ import main\nmain()\n"


def forbid(name: str) -> Callable[[Path], None]:
    return lambda home: (home / name).chmod(0)


def make_pipe(home: Path) -> None:
    (home / "config.toml").unlink()
    os.mkfifo(home / "config.toml")


def make_folder(name: str) -> Callable[[Path], None]:
    def make(home: Path) -> None:
        (home / name).unlink(missing_ok=True)
        (home / name).mkdir()

    return make


def as_it_is(home: Path) -> None:
    """Nothing is prepared."""


IN_DELETED_FOLDER = "os.mkdir('gone'); os.chdir('gone'); os.rmdir(os.getcwd())"
LOCKED = """
import sqlite3
import jitchat.store.database as d
d.WAIT_SECONDS = 0.1
holder = sqlite3.connect(os.environ['JITCHAT_HOME'] + '/jitchat.db')
holder.execute('BEGIN EXCLUSIVE')
"""
IN_ASCII = "import sys; sys.stdout = open(1, 'w', encoding='ascii', closefd=False)"
NO_ROOM = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (16_000, 16_000))  # three pages of the database
"""
STATES: dict[str, tuple[Callable[[Path], None], str]] = {
    "the current folder is deleted": (as_it_is, IN_DELETED_FOLDER),
    "the home may not be entered": (lambda home: home.chmod(0), ""),
    "the home is read-only": (lambda home: home.chmod(0o500), ""),
    "the database may not be read": (forbid("jitchat.db"), ""),
    "the database is a folder": (make_folder("jitchat.db"), ""),
    "the configuration may not be read": (forbid("config.toml"), ""),
    "the configuration is a pipe": (make_pipe, ""),
    "the configuration is a folder": (make_folder("config.toml"), ""),
    "the keys file may not be read": (forbid("keys.toml"), ""),
    "the log may not be written": (forbid("log.txt"), ""),
    "the database is locked": (as_it_is, LOCKED),
    "standard error is full": (as_it_is, "os.dup2(os.open('/dev/full', os.O_WRONLY), 2)"),
    "standard error is closed": (as_it_is, "os.close(2)"),
    "standard output is full": (as_it_is, "os.dup2(os.open('/dev/full', os.O_WRONLY), 1)"),
    "standard input is closed": (as_it_is, "os.close(0)"),
    "there is no home": (as_it_is, "os.environ['HOME'] = '/dev/null/home'"),
    "the disk is full": (as_it_is, NO_ROOM),
    "the streams are ASCII": (as_it_is, IN_ASCII),
}  # fmt: skip


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    home.mkdir()
    database = Database(home / "jitchat.db")
    store = ColdStore(database)
    store.append(store.create("A talk", "chat-1").id, talk("Where is the zebra?", "At home."))
    database.close()
    (home / "config.toml").write_text('[embedder]\nname = "none"\n[provider]\nname = "reader"\n')
    (home / "keys.toml").touch(0o600)
    (home / "log.txt").write_text("")
    return dict(os.environ)


def run(
    forks: ForkServer, environ: dict[str, str], folder: Path, code: str, command: tuple[str, ...]
) -> tuple[int, bytes, bytes]:
    out, err = folder / "out", folder / "err"
    with (folder / "in").open("w+b") as given, out.open("wb") as told, err.open("wb") as said:
        files = given.fileno(), told.fileno(), said.fileno()
        started = forks.start([sys.executable, "-c", code, *command], environ, files)
        return started.wait(), out.read_bytes(), err.read_bytes()


@contextmanager
def code_in(state: str, home: Path, folder: Path) -> Iterator[str]:
    """Bring the machine into a state, and give the code that runs a command in it."""
    prepare, prelude = STATES[state]
    prepare(home)
    try:
        yield f"{ORDINARY_USER}\nos.chdir({str(folder)!r})\n{prelude}{MAIN}"
    finally:
        home.chmod(0o700)


@pytest.mark.parametrize("state", STATES)
def test_no_command_takes_the_state_of_the_machine_for_a_bug(
    forks: ForkServer, environ: dict[str, str], home: Path, tmp_path: Path, state: str
) -> None:
    wrong = list[tuple[Any, ...]]()
    with code_in(state, home, tmp_path) as code:
        for command in COMMANDS:
            ended, out, err = run(forks, environ, tmp_path, code, command)
            explains = bool(err) or ended == 0 or "standard error" in state or "doctor" in command
            if BUG in err or b"Traceback" in err or ended not in (0, 1, 2) or not explains:
                wrong.append((command, ended, err))
            if "--json" in command and "standard output" not in state:
                try:
                    json.loads(out)
                except ValueError:
                    wrong.append((command, ended, out, err))
    assert wrong == []
    assert not (home / "crash.txt").exists()


WORKS = {
    "the current folder is deleted": ("send", "window", "conversations"),
    "the home may not be entered": ("paths",),
    "the database may not be read": ("paths",),
    "the configuration may not be read": ("paths",),
    "standard error is full": ("send", "window"),
    "standard error is closed": ("send", "window"),
    "the log may not be written": ("send", "window"),
}


@pytest.mark.parametrize("state", WORKS)
def test_what_does_not_need_it_works_all_the_same(
    forks: ForkServer, environ: dict[str, str], home: Path, tmp_path: Path, state: str
) -> None:
    with code_in(state, home, tmp_path) as code:
        for command in (each for each in COMMANDS if each[0] in WORKS[state]):
            ended, out, err = run(forks, environ, tmp_path, code, command)
            assert (ended, bool(out)) == (0, True), (command, err)


def test_doctor_and_paths_say_what_may_not_be_read(
    forks: ForkServer, environ: dict[str, str], home: Path, tmp_path: Path
) -> None:
    (home / "config.toml").chmod(0)
    (home / "jitchat.db").chmod(0)
    code = f"{ORDINARY_USER}{MAIN}"
    ended, out, _ = run(forks, environ, tmp_path, code, ("paths",))
    assert ended == 0
    assert out.count(b"(cannot be read: Permission denied)") == 2
    ended, out, _ = run(forks, environ, tmp_path, code, ("doctor", "--json"))
    assert ended == 1
    failed = [each["name"] for each in json.loads(out)["checks"] if each["ok"] is False]
    assert failed == ["configuration", "database"]


WRONG = (
    ("conversations", "--nope"),
    ("window", "hello", "--size", "x"),
    ("window",),
    ("send", ""),
    ("send", "hello", "--attach", "nowhere"),
    ("send", "hello", "--conversation", "nowhere"),
    ("send", "hello", "--provider", "nowhere"),
    ("send", "hello", "--mode", "nowhere"),
    ("send", "hello", "--config", "nowhere"),
    ("why", "x", "hello"),
    ("replay", "99"),
)


def test_json_is_one_value_after_wrong_arguments(
    forks: ForkServer, environ: dict[str, str], tmp_path: Path
) -> None:
    for command in WRONG:
        ended, out, err = run(forks, environ, tmp_path, f"import os{MAIN}", (*command, "--json"))
        assert ended in (1, 2), command
        told = json.loads(out)["error"]
        assert " ".join(told.split()) in " ".join(err.decode().split())


REFUSES = {
    "the home may not be entered": (2, b"cannot be read"),
    "the database may not be read": (1, b"read-only or inaccessible"),
    "the database is a folder": (1, b"is not a file"),
    "the configuration may not be read": (2, b"cannot be read"),
    "the configuration is a pipe": (2, b"is a pipe"),
    "the configuration is a folder": (2, b"Is a directory"),
    "standard output is full": (2, b"The chat requires a terminal"),
    "standard input is closed": (2, b"not a terminal"),
    "the streams are ASCII": (2, b"the screen needs UTF-8"),
}


@pytest.mark.parametrize("state", STATES)
def test_the_app_starts_or_says_why_not(
    forks: ForkServer, environ: dict[str, str], home: Path, tmp_path: Path, state: str
) -> None:
    environ |= {"TERM": "xterm-256color"}
    with code_in(state, home, tmp_path) as code:
        terminal = Terminal([sys.executable, "-c", code], environ, start=forks.start)
        if state in REFUSES:
            ended, drawn = terminal.until_exit()
            assert (ended, REFUSES[state][1] in drawn) == (REFUSES[state][0], True), drawn
        else:
            terminal.wait_for("estimate")
            terminal.type("look at @fi")
            terminal.wait_for("@fi")
            terminal.type("\x11")
            ended, drawn = terminal.until_exit()
            assert ended == 0, drawn[-600:]
        assert BUG not in drawn
        terminal.close()
    assert not (home / "crash.txt").exists()


def test_a_folder_that_is_deleted_under_the_app_does_not_end_it(
    forks: ForkServer, environ: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    code = f"import os; os.chdir({str(folder)!r}){MAIN}"
    environ |= {"TERM": "xterm-256color"}
    terminal = Terminal([sys.executable, "-c", code], environ, start=forks.start)
    terminal.wait_for("estimate")
    folder.rmdir()
    terminal.type("look at @fi")
    terminal.drain(0.5)
    terminal.type("\t @*.txt \r")
    terminal.drain(1.0)
    terminal.type("\x11")
    ended, drawn = terminal.until_exit()
    assert ended == 0, drawn[-600:]
    terminal.close()


def test_exported_columns_and_lines_do_not_change_the_size_of_the_screen(
    forks: ForkServer, environ: dict[str, str]
) -> None:
    environ |= {"TERM": "xterm-256color", "COLUMNS": "30", "LINES": "10"}
    terminal = Terminal([sys.executable, "-m", "jitchat"], environ, start=forks.start)
    terminal.wait_for("estimate")
    terminal.drain(0.5)
    terminal.type("x" * 100)
    terminal.wait_for("x" * 20)
    terminal.type("\x11")
    ended, _ = terminal.until_exit()
    assert ended == 0
    terminal.close()


def test_a_terminal_that_is_not_utf8_gets_a_sentence(environ: dict[str, str]) -> None:
    environ |= {"TERM": "xterm-256color", "PYTHONIOENCODING": "latin-1"}
    terminal = Terminal([sys.executable, "-m", "jitchat"], environ)
    ended, drawn = terminal.until_exit()
    assert ended == 2
    assert b"the screen needs UTF-8" in drawn
    terminal.close()


def test_send_says_that_it_waits_for_standard_input(environ: dict[str, str]) -> None:
    command = [sys.executable, "-m", "jitchat", "send", "hello"]
    with subprocess.Popen(
        command, env=environ, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as started:
        assert started.stderr is not None
        assert b"waiting for the end of standard input" in started.stderr.readline()
        assert started.communicate(b"and more")[0]
        assert started.returncode == 0


class Answer(StreamHandler):
    """Streams a word a hundred times, and ends or does not, as its server says."""

    def answer(self, body: bytes) -> None:
        with suppress(OSError):  # the program is gone
            self.wfile.write(event(delta(self.server.word)).encode() * 100)
            self.server.goes_on.wait(30)
            self.wfile.write("".join([event(STOP), DONE]).encode())


@pytest.fixture
def answering() -> Iterator[Any]:
    with streaming(Answer, word="zebra ", goes_on=threading.Event()) as made:
        yield made
        made.goes_on.set()


def sending(server: Any, *more: str) -> tuple[str, ...]:
    flags = ("--provider", "openai", *server.flags)
    return ("send", "hello", "--conversation", "chat-1", *more, *flags)


@pytest.mark.parametrize("words", [4_850, 10_000], ids=["after a reply", "in a reply"])
def test_a_disk_that_fills_is_named_and_what_is_stored_decides_the_exit_code(
    forks: ForkServer, environ: dict[str, str], tmp_path: Path, answering: Any, words: int
) -> None:
    environ |= {"OPENAI_API_KEY": "none"}
    chance = Random(words)
    answering.word = "".join(f"{chance.randrange(16**5):05x} " for _ in range(words))
    answering.goes_on.set()
    room = 2**22
    prelude = "import resource, jitchat.cli.exchange as e; e._STORING_SECONDS = 1\n"
    prelude += f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))\n"
    command = sending(answering, "--json")
    ended, out, err = run(forks, environ, tmp_path, f"import os\n{prelude}{MAIN}", command)
    database = Database(Path(environ["JITCHAT_HOME"]) / "jitchat.db")
    message, *reply = ColdStore(database).turns("chat-1")[2:]
    database.close()
    assert message.content == "hello"
    assert BUG not in err
    told = json.loads(out)
    if len(answering.word) * 100 < room:
        assert (ended, reply[0].content) == (0, answering.word * 100)
        assert b"the disk is full" in err
    else:
        assert ended == 3
        assert "characters of a reply could not be stored" in told["error"]
        assert b"characters of a reply could not be stored" in err


SIGNALS = [
    name
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM",
                 "SIGXCPU")
    if hasattr(signal, name)
]  # fmt: skip


@pytest.mark.parametrize("name", SIGNALS)
def test_json_is_one_value_after_a_signal_and_what_came_is_stored(
    forks: ForkServer, environ: dict[str, str], tmp_path: Path, answering: Any, name: str
) -> None:
    environ |= {"OPENAI_API_KEY": "none"}
    command = [sys.executable, "-m", "jitchat", *sending(answering, "--json")]
    out = tmp_path / "out"
    with (tmp_path / "in").open("w+b") as given, out.open("wb") as told:
        files = given.fileno(), told.fileno(), given.fileno()
        started = forks.start(command, environ, files)
        database = Database(Path(environ["JITCHAT_HOME"]) / "jitchat.db")
        store = ColdStore(database)
        while len(store.turns("chat-1")) < 4:
            time.sleep(0.01)
        number = getattr(signal, name)
        started.send_signal(number)
        code = started.wait()
        reply = store.turns("chat-1")[-1]
        database.close()
    assert code == 128 + number
    assert json.loads(out.read_text()) == {"error": "Interrupted."}
    assert (set(reply.content.split()), reply.status) == ({"zebra"}, Status.CANCELLED)
