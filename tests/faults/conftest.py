"""Processes that can be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest

from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.benchmarks.terminal import Terminal
    from tests.faults.fork_server import ForkServer


class Nursery:
    """Starts jobs in processes of their own; see `nursery`."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.nursery"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self, job: str, **arguments: object) -> Iterator[list[str]]:
        """What the job tells, as lists of words, until all of its processes are gone."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"job": job, **arguments}) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line == "gone\n":
                return
            yield line.split()
        raise AssertionError("the nursery died")

    def run_and_kill(self, job: str, after: int, **arguments: object) -> list[list[str]]:
        """What was told by a process that is killed as soon as it told `after` things."""
        told: list[list[str]] = []
        pid = 0
        for words in self.run(job, **arguments):
            if words[0] == "started":
                pid = int(words[1])
                continue
            told.append(words)
            if len(told) == after:
                os.kill(pid, signal.SIGKILL)
        return told

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    made = Nursery()
    yield made
    made.close()


@pytest.fixture(scope="session")
def forks() -> Iterator[ForkServer]:
    """Where processes start that have jitchat loaded already."""
    from tests.faults.fork_server import ForkServer  # what it imports is not there on Windows

    made = ForkServer()
    yield made
    made.close()


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    """For an app that opens a conversation without turns: a first start takes twice as long."""
    home.mkdir()
    database = Database(home / "cold.db")
    ColdStore(database).create("A talk")
    database.close()
    (home / "config.toml").write_text('[embedder]\nname = "none"\n')
    return dict(os.environ) | {"TERM": "xterm-256color", "JITCHAT_DB": str(home / "cold.db")}


@pytest.fixture
def fork(forks: ForkServer, environ: dict[str, str]) -> Callable[..., Terminal]:
    """Runs a command on a terminal, in a process that has loaded jitchat already."""
    from tests.benchmarks.terminal import Terminal  # what it imports is not there on Windows

    return partial(Terminal, environ=environ, start=forks.start)
