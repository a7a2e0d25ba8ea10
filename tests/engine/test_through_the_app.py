"""The app as its user runs it, on the command line, with a real engine to answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from jitchat.cli import commands
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from tests.engine.asking import ROUTES, WRONG
from tests.engine.server import KEY, Engine
from tests.engine.tiny_model import BRIEF, NAME
from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def empty_talk(home: Path) -> None:
    """A conversation without turns, so that no first start is waited for."""
    database = Database(home / "jitchat.db")
    ColdStore(database).create("A talk")
    database.close()


@dataclass(frozen=True)
class Ran:
    """A command's exit code and output."""

    code: int
    out: str
    err: str


def environ_of(more: dict[str, str]) -> dict[str, str]:
    return {"JITCHAT_EMBEDDER_NAME": "none"} | more


def jitchat(*arguments: str, **environ: str) -> Ran:
    """Run a command in this process."""
    done = CliRunner(env=environ_of(environ)).invoke(commands, arguments)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return _without_keys(Ran(done.exit_code, done.stdout, done.stderr))


def jitchat_alone(*arguments: str, **environ: str) -> Ran:
    """Run a command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "jitchat", *arguments],
        cwd=ROOT, env=os.environ | environ_of(environ), check=False, capture_output=True,
        encoding="utf-8", timeout=60,
    )  # fmt: skip
    return _without_keys(Ran(done.returncode, done.stdout, done.stderr))


def _without_keys(ran: Ran) -> Ran:
    assert "Traceback" not in ran.err
    assert not [each for each in (KEY, WRONG) if each in ran.out + ran.err]
    return ran


def send(
    engine: Engine, text: str, *arguments: str, key: str = KEY, run: Callable[..., Ran] = jitchat
) -> Ran:
    """Send with nothing configured: by flags, and the key in a variable."""
    where = ("--base-url", engine.base_url, "--model", NAME)
    return run("send", text, *where, *arguments, JITCHAT_PROVIDER_API_KEY=key)


@pytest.fixture
def configured(home: Path, engine: Engine) -> None:
    """The engine as two providers of one's own, one a route; the second has a wrong key."""
    keys = zip(ROUTES, (KEY, WRONG), strict=True)
    sections = [
        f"""
        [providers.by-{route}]
        protocol = "{route}"
        base_url = "{engine.base_url}"
        model = "{NAME}"
        api_key = "{key}"
        """
        for route, key in keys
    ]
    (home / "config.toml").write_text("\n".join(sections), "utf-8")


def test_send_prints_the_reply(engine: Engine):
    assert send(engine, "Answer briefly.", run=jitchat_alone) == Ran(
        0, f"{BRIEF}\n", "to chat-1, #1\n"
    )


@pytest.mark.usefixtures("configured")
def test_doctor_tells_the_provider_that_answers_from_the_one_that_does_not():
    ran = jitchat("doctor", "--json", "by-openai", "by-anthropic")

    told = {each["name"]: each["ok"] for each in json.loads(ran.out)["providers"]}
    assert (ran.code, told) == (1, {"by-openai": True, "by-anthropic": False})


@pytest.mark.usefixtures("configured")
def test_models_lists_the_engines_model_with_its_limit(engine: Engine):
    ran = jitchat("models", "by-openai", "--refresh")

    assert (ran.code, ran.err) == (0, "")
    assert NAME in ran.out
    assert f"{engine.context:,}" in ran.out


def test_control_characters_of_a_reply_are_printed_to_a_pipe_as_they_are(engine: Engine):
    ran = send(engine, "Go on for ever.")

    assert set("\x01\x07\x1b\x1c\ufffd") <= set(ran.out)


@pytest.mark.parametrize(
    ("text", "key", "told"),
    [
        ("Answer briefly.", WRONG, "refused the key"),
        ("This is said far too often. " * 60, KEY, "1,024"),
    ],
    ids=["a wrong key", "too large a window"],
)
def test_a_refusal_is_one_sentence_and_an_exit_code(engine: Engine, text, key, told):
    ran = send(engine, text, "--limit", "8192", key=key)

    assert (ran.code, ran.out) == (1, "")
    assert told in ran.err
    notices = ("to chat-1, #1", "tiny takes 1,024 tokens")  # where it is stored, what was learnt
    refusals = [line for line in ran.err.splitlines() if not line.startswith(notices)]
    assert len(refusals) == 1
