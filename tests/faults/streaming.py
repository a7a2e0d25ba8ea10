"""A server on the loopback interface that streams as OpenAI does."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import has_loopback

if TYPE_CHECKING:
    from collections.abc import Iterator


class StreamHandler(BaseHTTPRequestHandler):
    """Begins to stream; the rest is `answer`, which each test has."""

    server: Any

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.answer(body)

    def answer(self, body: bytes) -> None:
        raise NotImplementedError

    def log_message(self, *words: object) -> None:
        """Nothing on the terminal."""


@contextmanager
def streaming(handler: type[StreamHandler], **state: object) -> Iterator[Any]:
    """Serve until the block ends; `state` are attributes of the server, `flags` name it."""
    if not has_loopback():
        pytest.skip("needs the loopback interface")
    made: Any = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    made.daemon_threads = True
    for name, value in state.items():
        setattr(made, name, value)
    address = f"http://127.0.0.1:{made.server_port}/v1"
    made.flags = ["--base-url", address, "--model", "m", "--limit", "8192"]
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield made
    finally:
        made.shutdown()
        thread.join()
        made.server_close()
