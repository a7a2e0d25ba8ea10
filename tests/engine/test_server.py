"""The engine that these tests start never outlives them."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.engine.server import MISSING, Engine, running
from tests.engine.tiny_model import write_tiny_model
from tests.support import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"needs {MISSING}")

START_AND_DIE = """
import os, signal, sys
from pathlib import Path
from tests.engine.server import running
folder = Path(sys.argv[1])
with running(folder / "tiny.gguf", 512, folder / "log") as engine:
    print(engine.address, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def listens(address: str) -> bool:
    parts = urlsplit(address.strip())
    with socket.socket() as calling:
        return calling.connect_ex((parts.hostname, parts.port)) == 0


def fail_beside(started: list[Engine], model: Path) -> None:
    with running(model, 512, model.with_suffix(".log")) as engine:
        started.append(engine)
        assert listens(engine.address)
        raise ZeroDivisionError


def test_it_ends_with_the_block_also_when_a_test_fails_in_it(tmp_path: Path):
    write_tiny_model(tmp_path / "tiny.gguf", 512)
    started: list[Engine] = []
    with pytest.raises(ZeroDivisionError):
        fail_beside(started, tmp_path / "tiny.gguf")
    assert not listens(started[0].address)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_it_ends_with_the_process_that_started_it_also_when_that_is_killed(tmp_path: Path):
    write_tiny_model(tmp_path / "tiny.gguf", 512)
    command = [sys.executable, "-c", START_AND_DIE, str(tmp_path)]
    started = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    assert started.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 10
    while listens(started.stdout.decode()):
        assert time.monotonic() < deadline


def test_one_that_cannot_start_says_why(tmp_path: Path):
    (tmp_path / "broken.gguf").write_bytes(b"GGUF, or so it says")
    with (
        pytest.raises(AssertionError, match=r"did not start[^$]*broken\.gguf"),
        running(tmp_path / "broken.gguf", 512, tmp_path / "log"),
    ):
        pass
