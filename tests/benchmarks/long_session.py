"""The five-hundredth message beside the first: `python -m tests.benchmarks.long_session`.

One session on a terminal of 120×40, with a server in another process that answers each message
with so many words (`--words`), at 60 deltas a second while it is measured. At some messages: the
time from a key to its letter on screen, what one message takes of a core, the memory, a resize,
an idle core, and the bytes that a key and a page of scrolling write to the terminal. Then the same
after many pages up and down with the inspector open.
"""

from __future__ import annotations

import argparse
import codecs
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmarks.terminal import Terminal
from tests.glass import Glass

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

AT = (2, 25, 50, 100, 200, 500)
RATE = 60
"""Deltas a second while a message is measured."""
KEYS = "QXZJVKYQXZJV"
PAGES = 150
END = "the end of {}"
SENTENCE = "The window of *Tuesday* stays as it was agreed, and `release.toml` says what waits. "
ITEM = "- an item of the list, with **some** words in it\n"


class Watched(Terminal):
    """Knows what is on the screen: what was there before is not drawn again."""

    def __init__(self, *given: Any) -> None:
        self._glass = Glass(40, 120)
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        super().__init__(*given)

    def _see(self, drawn: bytes) -> None:
        super()._see(drawn)
        self._glass.write(self._decode(drawn))

    def resize(self, rows: int, columns: int) -> None:
        self._glass = Glass(rows, columns)
        super().resize(rows, columns)

    def until_shown(self, text: str, timeout: float = 120.0) -> None:
        deadline = time.perf_counter() + timeout
        while text not in self._glass.text:
            self._read(deadline)


def answer(words: int, said: str) -> str:
    """A reply of so many words, five items of a list among them."""
    prose = SENTENCE * max(1, (words - 50) // len(SENTENCE.split()))
    half = len(prose) // 2
    return f"{prose[:half]}\n\n{ITEM * 5}\n{prose[half:]}\n\n{END.format(said)}"


class Server(BaseHTTPRequestHandler):
    """Streams an answer: slowly to a message that is measured."""

    protocol_version = "HTTP/1.1"
    words = 240

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        said = str(json.loads(body)["messages"][-1]["content"]).splitlines()[-1]
        pause = 1 / RATE if "measured" in said else 0.0
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for word in answer(self.words, said).split(" "):
            self._send({"delta": {"content": f"{word} "}})
            if pause:
                time.sleep(pause)
        self._send({"delta": {}, "finish_reason": "stop"})
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _send(self, choice: dict[str, object]) -> None:
        self.wfile.write(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *given: object) -> None:
        """Say nothing."""


def serve(words: int, told: Connection) -> None:
    """Answer until the process is ended; tell the port."""
    Server.words = words
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    told.send(server.server_address[1])
    server.serve_forever()


def start(home: Path, port: int) -> Watched:
    """Start the app in a new home, and wait until a message can be sent."""
    environ = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    environ |= {"JITCHAT_HOME": str(home), "HOME": str(home)}
    url = f"http://127.0.0.1:{port}/v1"
    options = ["--provider", "vllm", "--base-url", url, "--model", "scripted"]
    terminal = Watched([sys.executable, "-m", "jitchat", *options], environ)
    terminal.wait_for("Type a message")
    terminal.drain(3)
    return terminal


def send(terminal: Watched, text: str) -> float:
    """Send a message; what it took of a core until all was drawn."""
    before = terminal.processor_seconds()
    terminal.type(f"{text}\r")
    terminal.until_shown(END.format(text))
    terminal.until_quiet(0.4)
    return terminal.processor_seconds() - before


def measure(terminal: Watched, name: str) -> None:
    """Print a line of figures."""
    used = send(terminal, f"measured {name}")
    terminal.drain(1.5)
    waits, sizes = [], []
    for key in KEYS:
        terminal.type(key)
        waits.append(terminal.wait_for(key))
        terminal.drain(0.03)  # before the window is planned again
        sizes.append(len(terminal.seen))
        terminal.drain(0.25)
    terminal.type("\x15\x7f" * 2 + "\x7f" * len(KEYS))
    terminal.drain(1)
    terminal.type("\x1b[5~")
    page = terminal.until_drawn() + terminal.until_quiet()
    page_size = len(terminal.seen)
    terminal.type("\x1b[6~")
    terminal.drain(1)
    terminal.resize(40, 100)
    resized = terminal.until_drawn() + terminal.until_quiet()
    terminal.resize(40, 120)
    terminal.drain(2)
    before = terminal.processor_seconds()
    terminal.drain(5)
    idle = (terminal.processor_seconds() - before) / 5
    ordered = sorted(waits)
    print(
        f"{name:>9} {statistics.median(waits) * 1000:5.0f} {ordered[-1] * 1000:6.0f}"
        f" {statistics.median(sizes) / 1000:7.1f} {used:9.2f} {terminal.resident_megabytes():7.0f}"
        f" {page * 1000:6.0f} {page_size / 1000:7.1f} {resized:7.2f} {idle:6.1%}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=240)
    parser.add_argument("--at", type=int, nargs="+", default=AT)
    given = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(given.words, theirs), daemon=True)
    server.start()
    print("  message   key longest  kB/key  core/msg  memory   page kB/page  resize   idle")
    print("             ms      ms                s      MB     ms              s")
    with tempfile.TemporaryDirectory() as home:
        terminal = start(Path(home), ours.recv())
        sent = 0
        for goal in given.at:
            while sent < goal - 1:
                send(terminal, f"message {sent}")
                sent += 1
            measure(terminal, str(goal))
            sent += 1
        terminal.type("\x1bOQ")
        terminal.drain(1)
        for key in ("\x1b[5~", "\x1b[6~"):
            for _ in range(PAGES):
                terminal.type(key)
                terminal.drain(0.05)
        measure(terminal, "scrolled")
        terminal.stop()
    server.terminate()


if __name__ == "__main__":
    main()
