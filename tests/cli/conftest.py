"""The command line, run in this process: `jitchat("window", "hi")` returns its result."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from jitchat import models
from jitchat.cli import commands, output
from jitchat.index.embedder import NoEmbedder
from jitchat.index.indexer import Indexer
from jitchat.store import database as database_module
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.transfer.demo import store_demo
from tests.support import ScriptedProvider

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Result:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str
    raw: bytes
    """Standard output, undecoded."""

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.raw)


@pytest.fixture(scope="session")
def indexed_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cold store with the indexed demo: made once, and copied by tests."""
    path = tmp_path_factory.mktemp("demo") / "jitchat.db"
    database = Database(path)
    store = ColdStore(database)
    made = store_demo(store)
    list(Indexer(store, made.id, NoEmbedder()).catch_up())
    database.close()
    return path


@pytest.fixture(autouse=True)
def copied_schema(monkeypatch: pytest.MonkeyPatch, empty_database: Path) -> None:
    """Copy new cold stores from an empty one: the schema takes longer than a command."""
    create = database_module._create

    def create_with_schema(path: Path, flags: int = 0) -> None:
        create(path, flags)
        if not flags:
            path.write_bytes(empty_database.read_bytes())

    monkeypatch.setattr(database_module, "_create", create_with_schema)


class Shell:
    """Runs commands. Fails the test if one ends without an exit code."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def __call__(
        self, *arguments: str | Path, stdin: bytes = b"", encoding: str = "utf-8"
    ) -> Result:
        runner = CliRunner(charset=encoding)
        done = runner.invoke(commands, [str(each) for each in arguments], input=stdin)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        assert "Traceback" not in done.output
        err = done.stderr_bytes.decode("utf-8", "replace")
        return Result(done.exit_code, done.stdout_bytes.decode(encoding), err, done.stdout_bytes)

    def stored(self) -> dict[str, list[str]]:
        """Return the texts of each conversation in the cold store."""
        database = Database(self.home / "jitchat.db")
        store = ColdStore(database)
        found = {
            each.id: [t.content for t in store.turns(each.id)] for each in store.conversations()
        }
        database.close()
        return found


@pytest.fixture
def jitchat(home: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Lexical recall only: loading an embedder takes longer than most of these tests."""
    monkeypatch.setenv("JITCHAT_EMBEDDER_NAME", "none")
    return Shell(home)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have standard output and standard error be a terminal without colours."""
    monkeypatch.setattr(output, "is_terminal", lambda stream: stream in (sys.stdout, sys.stderr))
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def demo(home: Path, indexed_demo: Path) -> None:
    """Start with the demo in the cold store."""
    home.mkdir()
    shutil.copy(indexed_demo, home)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedProvider:
    """Answers in place of the configured model."""
    provider = ScriptedProvider()
    monkeypatch.setattr(models, "make_provider", lambda *asked: provider)
    return provider
