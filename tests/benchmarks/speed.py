"""How fast the app is, as ratios and times in one run: `python -m tests.benchmarks.speed`.

Everything is measured from the outside where a person would notice it: a real terminal, a
real server that streams, a real database of 10,000 turns.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.index.builtin_embedder import BuiltinEmbedder
from jitchat.memory import Memory
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.values import Mode
from jitchat.window.tokens import EstimateCounter
from tests.benchmarks.terminal import Terminal
from tests.support import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TURNS = 10_000
EMPTY_APP = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("first frame")
Empty().run()
"""
WORDS = [
    "the",
    "release",
    "window",
    "deploy",
    "server",
    "change",
    "number",
    "friday",
    "budget",
    "index",
    "turn",
    "model",
    "answer",
    "table",
    "green",
    "quick",
    "morning",
    "coffee",
    "review",
    "patch",
    "branch",
    "merge",
    "network",
    "silent",
    "paper",
    "window",
    "river",
    "stone",
    "light",
    "yellow",
    "engine",
    "garden",
    "letter",
    "market",
    "mirror",
    "pencil",
    "summer",
    "winter",
    "travel",
]


def write_turns(path: Path, count: int) -> None:
    """A JSONL of turns of about 40 words."""
    draw = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        for number in range(1, count + 1):
            said = " ".join(draw.choices(WORDS, k=draw.randint(10, 70)))
            role = "user" if number % 2 else "assistant"
            content = f"Point {number}: {said}, ticket T-{draw.randint(1, 99999)}."
            file.write(json.dumps({"role": role, "content": content}) + "\n")


def jitchat(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "jitchat", *arguments]


def median_seconds(run: Callable[[], object], times: int) -> float:
    found = []
    for _ in range(times):
        started = time.perf_counter()
        run()
        found.append(time.perf_counter() - started)
    return statistics.median(found)


def show(what: str, value: str, goal: str) -> None:
    print(f"{what:<58} {value:>16}   goal {goal}", flush=True)


def measure_help(environ: dict[str, str]) -> None:
    def run(*command: str) -> Callable[[], object]:
        return lambda: subprocess.run(command, env=environ, check=True, capture_output=True)

    base = median_seconds(run(sys.executable, "-c", "import click"), 15)
    ours = median_seconds(run(*jitchat("--help")), 15)
    show("jitchat --help / python -c 'import click'", f"{ours / base:.2f}×", "≤ 3×")


def measure_import(folder: Path, environ: dict[str, str]) -> None:
    path = folder / "talk.jsonl"
    write_turns(path, TURNS)
    started = time.perf_counter()
    subprocess.run(
        jitchat("import", str(path), "--no-vectors"), env=environ, check=True, capture_output=True
    )
    rate = TURNS / (time.perf_counter() - started)
    show("import without vectors, process and all", f"{rate:,.0f} turns/s", "≥ 2,000")


def measure_first_frame(environ: dict[str, str]) -> None:
    def first(command: list[str], text: str) -> float:
        terminal = Terminal(command, environ)
        seconds = terminal.wait_for(text)
        terminal.stop()
        return seconds

    pairs = [
        (first([sys.executable, "-c", EMPTY_APP], "first frame"), first(jitchat(), f"#{TURNS}"))
        for _ in range(7)
    ]
    empty, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
    show(
        f"first frame, {TURNS:,} turns open / empty Textual app",
        f"{ours / empty:.2f}× ({ours:.2f} s)",
        "≤ 2.5×",
    )


def measure_memory(environ: dict[str, str]) -> None:
    terminal = Terminal(jitchat(), environ | {"JITCHAT_SCREEN_INSPECTOR": "true"})
    terminal.wait_for("next window")
    terminal.drain(3)
    show(f"memory, {TURNS:,} turns open", f"{terminal.resident_megabytes():.0f} MB", "≤ 250 MB")
    terminal.stop()


def measure_send(database: Path) -> None:
    opened = Database(database)
    store = ColdStore(opened)
    conversation = store.latest()
    assert conversation is not None
    memory = Memory(store, conversation, BuiltinEmbedder())
    for _ in memory.index.catch_up():
        pass
    session = Session(memory, ScriptedProvider(), EstimateCounter(), SessionOptions())
    waits = asyncio.run(_send_often(session, 60))
    opened.close()
    p50, p95 = statistics.median(waits), sorted(waits)[int(len(waits) * 0.95)]
    show(
        f"Enter to request, {TURNS:,} turns, built-in embedder, p50 / p95",
        f"{p50 * 1000:.0f} / {p95 * 1000:.0f} ms",
        "p95 ≤ 80 ms",
    )


async def _send_often(session: Session, times: int) -> list[float]:
    draw, waits = random.Random(3), []
    session.preview("warm", Mode.JIT)
    for _ in range(times):
        provider = _Timed()
        session.provider = provider
        draft = "what was said about " + " ".join(draw.choices(WORDS, k=4)) + "?"
        started = time.perf_counter()
        async for _event in session.send(draft, Mode.JIT):
            pass
        waits.append(provider.called_at - started)
    return waits


class _Timed(ScriptedProvider):
    called_at = 0.0

    def stream(self, messages, options):  # type: ignore[no-untyped-def]
        self.called_at = time.perf_counter()
        return super().stream(messages, options)


class _Slow(BaseHTTPRequestHandler):
    """Streams 200 tokens a second for half a minute."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        draw = random.Random(1)
        try:
            for _ in range(6000):
                chunk = {"choices": [{"delta": {"content": draw.choice(WORDS) + " "}}]}
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                time.sleep(0.005)
        except OSError:
            return

    def log_message(self, *_: object) -> None:
        """Quietly."""


@contextmanager
def _server() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


def measure_keys(folder: Path, environ: dict[str, str]) -> None:
    """Keys while a reply streams and 10,000 turns are being indexed."""
    path = folder / "talk.jsonl"
    own = environ | {"JITCHAT_HOME": str(folder / "keys"), "OPENAI_API_KEY": "none"}
    subprocess.run(
        jitchat("import", str(path), "--no-vectors"), env=own, check=True, capture_output=True
    )
    _forget_index(folder / "keys" / "jitchat.db")
    with _server() as address:
        terminal = Terminal(jitchat("--base-url", address, "--model", "slow"), own)
        terminal.wait_for("indexing")
        terminal.type("go on\r")
        terminal.drain(1.5)
        waits = [_echo(terminal, letter) for letter in "QXZJVKWYQXZJVKWYQXZJVKWY"]
        terminal.stop()
    p95 = sorted(waits)[int(len(waits) * 0.95)]
    show(
        "key on screen, streaming 200/s and indexing, p50 / p95",
        f"{statistics.median(waits) * 1000:.0f} / {p95 * 1000:.0f} ms",
        "≤ 50 ms",
    )


def _echo(terminal: Terminal, letter: str) -> float:
    terminal.drain(0.15)
    terminal.type(letter)
    return terminal.wait_for(letter)


def _forget_index(database: Path) -> None:
    opened = Database(database)
    with opened.write() as connection:
        connection.execute("DELETE FROM vectors")
        connection.execute("DELETE FROM index_entries")
    opened.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environ = dict(os.environ) | {
            "JITCHAT_HOME": str(folder / "home"),
            "TERM": "xterm-256color",
        }
        measure_help(environ)
        measure_import(folder, environ)
        subprocess.run(jitchat("window", "warm"), env=environ, check=True, capture_output=True)
        measure_first_frame(environ)
        measure_memory(environ)
        measure_send(folder / "home" / "jitchat.db")
        measure_keys(folder, environ)


if __name__ == "__main__":
    main()
