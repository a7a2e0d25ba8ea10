"""Every test runs on a fixed clock, in a home of its own, and cannot reach the network."""

from __future__ import annotations

import gc
import os
import shutil
import socket
import sqlite3
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache, wraps
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import certifi
import pytest
from hypothesis import settings

from jitchat.index import entry, indexer, load_embedder
from jitchat.memory import Memory
from jitchat.store import database as database_module
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from tests.support import ROOT, SHARED, TALK, conversation_of, talk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jitchat.index.embedder import Embedder

os.environ["TZ"] = "UTC"
os.environ.pop("NO_COLOR", None)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each child would compile all of it anew
sys.dont_write_bytecode = False  # each worker would rewrite every test's assertions anew


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--long",
        nargs="?",
        const="all",
        choices=("sample", "all"),
        help="run the long rounds too, or a fixed sample with some of each kind",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two workers a core and one: a third of the time goes to timers and other processes."""
    return 2 * (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    is_all = config.getoption("--long") == "all"
    settings.register_profile(
        "long", deadline=None, max_examples=3_000 if is_all else 100, derandomize=not is_all
    )
    settings.register_profile("untimed", deadline=None)  # other processes may be at work
    settings.load_profile("untimed")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the long rounds; of each that has several cases, a sample is the first.

    One that is marked `long("whole")` is in no sample.
    """
    wanted, sampled = config.getoption("--long"), set()
    skip = pytest.mark.skip(reason="a long round; run with --long")
    for item in items:
        if "long" not in item.keywords or wanted == "all":
            continue
        kind = (item.path, getattr(item, "originalname", item.name))
        is_whole = "whole" in item.get_closest_marker("long").args  # type: ignore[union-attr]
        if wanted is None or kind in sampled or is_whole:
            item.add_marker(skip)
        sampled.add(kind)
    items.sort(key=lambda item: "long" not in item.keywords)  # no other worker waits for its end


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """A long text is named by its length; long bytes are not, for a library may vary them."""
    if not isinstance(val, str | bytes) or len(val) <= 200:
        return None
    return f"{argname} of {len(val)}" if isinstance(val, str) else argname


def pytest_collection(session: pytest.Session) -> None:
    """Begin with other files in each worker: none rewrites what another one has rewritten."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None:
        return
    gc.disable()  # all that collecting makes is kept
    places = (Path(each.partition("::")[0]).resolve() for each in session.config.args)
    files = sorted({file for place in places for file in place.rglob("test_*.py")})
    start = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for file in files[start:] + files[:start]:
        with suppress(Exception, pytest.skip.Exception):  # told when it is collected
            import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Look for garbage a tenth as often: each screen's 10,000 objects are gone with its test."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 100)


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """rounds(few, many): how often to try, `many` only with the whole of --long."""
    is_all = request.config.getoption("--long") == "all"
    return lambda few, many: many if is_all else few


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where homes can be made: a folder for each, which is not there yet."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(scope="session")
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with one certificate to trust: each client would read all 150 for 40 ms."""
    end = "-----END CERTIFICATE-----\n"
    first = Path(certifi.where()).read_text("utf-8").partition(end)[0]
    file = tmp_path_factory.mktemp("certificates") / "one.pem"
    file.write_text(first[first.index("-----BEGIN") :] + end)
    return file


@pytest.fixture(scope="session", autouse=True)
def machine(homes: Iterator[Path], one_certificate: Path) -> Iterator[None]:
    """No setting, key or vocabulary of this machine's; connecting to any other fails the test."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        host = address[0] if isinstance(address, tuple) else ""
        if host not in ("", "127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test tried to reach {address}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            known = name.startswith(("JITCHAT_", "OPENAI_", "OLLAMA_")) or name.endswith("_API_KEY")
            if known and name != "JITCHAT_SHARED":
                patch.delenv(name)
        patch.setenv("SSL_CERT_FILE", str(one_certificate))
        patch.setenv("TIKTOKEN_CACHE_DIR", str(next(homes) / "no-vocabulary"))
        patch.setattr(socket.socket, "connect", guarded)
        yield


@pytest.fixture(autouse=True)
def home(homes: Iterator[Path]) -> Path:
    """A JITCHAT_HOME of this test's own."""
    folder = next(homes)
    os.environ["JITCHAT_HOME"] = str(folder)
    return folder


class FixedClock:
    """Starts on 13 March 2026, 10:00 UTC; every look moves it on by a second."""

    step = timedelta(seconds=1)

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 13, 10, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.time += self.step
        return self.time


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cold store with its schema and nothing in it, to be copied."""
    path = tmp_path_factory.mktemp("empty") / "cold.db"
    Database(path).close()
    return path


@pytest.fixture
def database(tmp_path: Path, empty_database: Path) -> Iterator[Database]:
    """A cold store of this test's own, which does not wait for the disk."""
    opened = Database(Path(shutil.copy(empty_database, tmp_path / "cold.db")))
    with opened.writing() as connection:
        connection.execute("PRAGMA synchronous = OFF")
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database, clock: FixedClock) -> ColdStore:
    return ColdStore(database, clock)


@pytest.fixture
def memory(store: ColdStore) -> Memory:
    """A short talk, stored and indexed."""
    made = Memory(store, conversation_of(store, talk(*TALK)))
    list(made.index.catch_up())
    return made


@pytest.fixture(scope="session", autouse=True)
def schema_made_once(empty_database: Path) -> Iterator[None]:
    """Opening a new database begins with a copy of an empty one, but for the store's own tests."""
    connect, empty = database_module._connect, empty_database.read_bytes()

    @wraps(connect)
    def connected(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        with suppress(OSError):
            if not path.stat().st_size:
                path.write_bytes(empty)
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database_module, "_connect", connected)
        yield


@pytest.fixture(scope="session", autouse=True)
def builtin_loaded_once() -> Iterator[None]:
    """The built-in embedder's table takes 0.2 s to load; nothing changes it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load_embedder, "_builtin_embedder", cache(load_embedder._builtin_embedder))
        yield


@pytest.fixture(scope="session", autouse=True)
def entries_made_once() -> Iterator[None]:
    """Most tests index the same few talks; what is noted of a turn depends on it alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry, "index_entry", lru_cache(4_096)(entry.index_entry))
        patch.setattr(indexer, "stems_and_negations", lru_cache(4_096)(indexer.stems_and_negations))
        yield


@pytest.fixture(scope="session")
def builtin(builtin_loaded_once: None) -> Embedder:
    return load_embedder.load_embedder("builtin", "", None, Path())


@pytest.fixture
def shared_vocabulary(monkeypatch: pytest.MonkeyPatch) -> Path:
    """tiktoken's real vocabularies, where they are."""
    folder = SHARED / "tiktoken"
    if not folder.is_dir():
        pytest.skip("needs tiktoken's vocabularies in ../shared/tiktoken")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def locomo() -> Path:
    """LoCoMo's conversations, where they are."""
    path = SHARED / "data" / "locomo" / "locomo5.json"
    if not path.is_file():
        pytest.skip("needs LoCoMo in ../shared/data/locomo")
    return path
