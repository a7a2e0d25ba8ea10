"""`jitchat window` beside `jitchat send`, on a real engine: one limit, whoever is asked first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from jitchat.cli import commands
from tests.engine.server import KEY, Engine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

QUESTION = "what did we settle on for the deploy window?"


@pytest.fixture
def where(open_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Sequence[str]:
    monkeypatch.setenv("JITCHAT_EMBEDDER_NAME", "none")
    return "--base-url", open_engine.base_url, "--model", "tiny"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(commands, list(arguments))


def fields(*arguments: str) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_a_window_is_planned_with_the_limit_that_it_is_sent_with(
    roomy: Engine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("JITCHAT_EMBEDDER_NAME", "none")
    monkeypatch.setenv("JITCHAT_PROVIDER_API_KEY", KEY)
    monkeypatch.setenv("JITCHAT_PROVIDER_MAX_TOKENS", "4")
    here = QUESTION, "--mode", "recency", "--base-url", roomy.base_url, "--model", "tiny"
    planned = fields("window", *here)

    sent = run("send", "--conversation", "demo", *here)

    assert sent.exit_code in (0, 3), sent.stderr
    replayed = fields("replay", "61")
    assert planned["limit"] == replayed["limit"] == roomy.context
    same = ("limit_source", "reserve", "used", "free")
    assert [planned[key] for key in same] == [replayed[key] for key in same]
    assert planned["limit_source"] == "loaded in the server"


def test_the_sentence_on_what_does_not_fit_has_the_engines_limit(where, open_engine: Engine):
    done = run("window", QUESTION, "--mode", "full", *where)

    assert done.exit_code == 1
    assert f"(limit {open_engine.context:,} − reserve" in done.stderr
    assert "assumed" not in done.stderr


def test_what_the_engine_said_is_known_when_it_is_away(
    where, open_engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    asked = fields("window", QUESTION, "--mode", "recency", *where)
    monkeypatch.setattr("jitchat.providers.catalogue.servers.ask_limit", nobody)

    away = fields("window", QUESTION, "--mode", "recency", *where)

    assert away["limit"] == asked["limit"] == open_engine.context
    assert away["limit_source"].startswith("loaded in the server on 20")


async def nobody(*_: object, **__: object) -> None:
    return None
