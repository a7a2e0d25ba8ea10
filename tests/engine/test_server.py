"""The process of an engine: its start, its key, and its end, which nothing outlives."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from jitchat.children import own_python
from jitchat.errors import Unreachable
from jitchat.providers.local.engine import Engine
from tests.engine.server import MISSING, plan_of
from tests.engine.tiny_model import write_tiny_model
from tests.support import ROOT, is_running

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"needs {MISSING}")
can_kill = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")

START = """
import os, signal, sys
from pathlib import Path
from jitchat.providers.local.engine import Engine, _CHILD
from tests.engine.server import plan_of
engine = Engine(plan_of(Path(sys.argv[1])), sys.argv[2:] or _CHILD)
address, _ = engine.server()
print(engine._child.pid, address, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
LOAD_FOR_EVER = """
import ctypes, os, sys, xllamacpp
from jitchat.providers.local import server
def load(wanted):
    print(os.getpid(), file=open(wanted.model.path, "w"))
    ctypes.PyDLL(None).pause()  # with Python's lock, as llama.cpp loads
xllamacpp.Server = load
server.main(*sys.argv[1:])
"""


def until(is_true) -> None:
    deadline = time.monotonic() + 20
    while not is_true():
        assert time.monotonic() < deadline


def listens(address: str) -> bool:
    parts = urlsplit(address)
    with socket.socket() as calling:
        return calling.connect_ex((parts.hostname, parts.port)) == 0


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_tiny_model(tmp_path / "tiny.gguf", 512)
    return tmp_path / "tiny.gguf"


@can_kill
def test_it_ends_with_the_process_that_started_it_also_when_that_is_killed(model: Path):
    command = [sys.executable, "-c", START, str(model)]
    started = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    assert started.returncode == -signal.SIGKILL
    process, address = started.stdout.decode().split()
    until(lambda: not listens(address) and not is_running(int(process)))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it loads to the end first")
def test_it_ends_likewise_while_it_loads(tmp_path: Path):
    told = tmp_path / "pipe"
    os.mkfifo(told)
    loading = own_python("-c", LOAD_FOR_EVER)
    with subprocess.Popen([sys.executable, "-c", START, str(told), *loading], cwd=ROOT) as parent:
        process = int(told.read_text())
        assert is_running(process)
        parent.kill()
        until(lambda: not is_running(process))


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_its_key_is_neither_in_its_command_nor_in_its_environment(model: Path):
    engine = Engine(plan_of(model))
    _, key = engine.server()
    try:
        of_process = Path(f"/proc/{engine._child.pid}")
        shown = [(of_process / name).read_bytes() for name in ("cmdline", "environ")]
    finally:
        engine.close()
    assert str(model).encode() in shown[0]
    assert not [each for each in shown if key.encode() in each]


def test_a_second_one_of_the_same_model_has_an_address_and_a_key_of_its_own(model: Path):
    engines = Engine(plan_of(model)), Engine(plan_of(model))
    (one, its_key), (other, others_key) = (engine.server() for engine in engines)
    engines[0].close()
    assert one != other
    assert its_key != others_key
    assert not listens(one)
    assert listens(other)
    engines[1].close()


def test_one_that_cannot_start_says_why(tmp_path: Path):
    (tmp_path / "broken.gguf").write_bytes(b"GGUF, or so it says")
    why = r"llama\.cpp could not load broken\.gguf: Failed"
    with pytest.raises(Unreachable, match=why) as told:
        Engine(plan_of(tmp_path / "broken.gguf")).server()
    assert "1,024 tokens, 1 thread" in told.value.remedy
