"""llama.cpp's server in a process of its own, on a port of its own.

The process ends when its standard input does: also when the one that started it is killed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.engine.tiny_model import NAME
from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = "sk-canary-5f3a9e0c7d2b"
MISSING = next(
    (name for name in ("xllamacpp", "gguf") if importlib.util.find_spec(name) is None), ""
)
"""The module that a real engine needs and that is not installed."""


@dataclass(frozen=True)
class Engine:
    """A server that runs."""

    address: str
    """Scheme, host and port."""
    context: int
    """Tokens that fit, the answer included."""
    process: int
    """Its id."""

    @property
    def base_url(self) -> str:
        return f"{self.address}/v1"


@contextmanager
def running(model: Path, context: int, log: Path, key: str = KEY) -> Iterator[Engine]:
    """Run a server until the end of the block; what it prints goes to `log`.

    Without a key it answers everybody.
    """
    command = [sys.executable, "-m", "tests.engine.server", str(model), str(context), key]
    with (
        log.open("wb") as written,
        subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=written
        ) as process,
    ):
        try:
            yield Engine(_address_of(process, log), context, process.pid)
        finally:
            _stop(process)


def _address_of(process: subprocess.Popen[bytes], log: Path) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(b"{"):
            return json.loads(line)["address"]
    raise AssertionError(f"the engine did not start:\n{log.read_text('utf-8', 'replace')[-2000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()


def serve(model: str, context: str, key: str) -> None:
    """Serve the model; print where; end when standard input does."""
    import xllamacpp

    asked = xllamacpp.CommonParams()
    asked.model.path = model
    asked.model_alias = [NAME]
    asked.n_ctx = int(context)
    asked.n_parallel = 1
    asked.cpuparams.n_threads = 1
    asked.warmup = False
    asked.hostnames = ["127.0.0.1"]
    asked.port = 0
    asked.sse_ping_interval = 1  # the shortest, in seconds
    asked.api_keys = [key] if key else []
    server = xllamacpp.Server(asked)
    print(json.dumps({"address": server.listening_address}), flush=True)
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    serve(*sys.argv[1:])
