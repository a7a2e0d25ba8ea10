"""The picker's model and the reranker on the command line: used only on request, and reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat import models
from jitchat.small_models.small_model import SmallModel
from jitchat.store.database import Database
from jitchat.store.models import ChosenModel
from jitchat.window.tokens import EstimateCounter
from tests.index.tiny_cross_encoder import MODEL, write_cross_encoder
from tests.small_models.support import picks
from tests.support import ScriptedProvider

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell

pytestmark = pytest.mark.usefixtures("demo")
QUESTION = "what did we settle on for the deploy window?"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> ScriptedProvider:
    """Picks #9 in place of the model that the settings name."""
    provider = ScriptedProvider((picks(9),), model="small-1")
    monkeypatch.setenv("JITCHAT_PICKER_MODEL", "small-1")
    monkeypatch.setenv("JITCHAT_PICKER_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("JITCHAT_WINDOW_SIZE", "800")

    def make(found, section):
        return SmallModel(provider, EstimateCounter(), found.timeout)

    monkeypatch.setattr(models, "make_small_model", make)
    return provider


def test_the_window_uses_the_heuristic_and_says_that_no_model_was_asked(
    jitchat: Shell, small: ScriptedProvider
):
    done = jitchat("window", QUESTION)

    assert done.code == 0
    assert small.requests == []
    assert (
        "picker small-1: not asked before the message is sent; heuristic used"
        in done.out.splitlines()
    )
    assert jitchat("window", QUESTION, "--json").json["picking"]["input_tokens"] == 0


def test_on_request_the_picker_is_asked_and_its_usage_shown(
    jitchat: Shell, small: ScriptedProvider
):
    done = jitchat("window", QUESTION, "--conversation", "demo", "--ask-picker")

    assert len(small.requests) == 1
    assert "picked by small-1" in done.out
    assert "spent on picking" in done.out
    assert jitchat.stored()["demo"][-1] != QUESTION, "nothing is stored"
    by = {by: jitchat("usage", "--by", by, "--json").json[0] for by in ("purpose", "model")}
    assert (by["purpose"]["name"], by["purpose"]["input_tokens"]) == ("picking", 100)
    assert by["model"]["name"] == "picker/small-1"  # an address of its own


def test_json_has_the_picking_only_if_a_model_is_configured(
    jitchat: Shell, small: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
):
    asked = jitchat("window", QUESTION, "--conversation", "demo", "--ask-picker", "--json").json

    picking = asked["picking"]
    assert list(picking) == [
        "model",
        "fallback",
        "input_tokens",
        "output_tokens",
        "exact",
        "ms",
        "cost",
        "by_scores",
    ]
    assert (picking["model"], picking["fallback"], picking["cost"]) == ("small-1", "", None)
    retrieved = {s["turn"]: s["reason"] for s in asked["segments"] if s["kind"] == "retrieved"}
    assert retrieved[9] == "picked by small-1"
    monkeypatch.delenv("JITCHAT_PICKER_MODEL")
    assert "picking" not in jitchat("window", QUESTION, "--json").json


def test_asking_without_a_model_is_an_error_with_a_remedy(jitchat: Shell):
    done = jitchat("window", QUESTION, "--conversation", "demo", "--ask-picker")

    assert done.code == 2
    assert "neither a picker model nor a reranker is configured" in done.err
    assert "[picker]" in done.err


@pytest.mark.parametrize("command", ["window", "send"])
def test_a_model_without_a_known_address_stops_the_command(
    jitchat: Shell, home: Path, command: str
):
    (home / "config.toml").write_text('[picker]\nmodel = "small-1"\n')
    before = jitchat.stored()

    done = jitchat(command, QUESTION)

    assert done.code == 2
    assert "Add provider under [picker]" in done.err
    assert jitchat.stored() == before


def test_a_model_without_an_address_belongs_to_the_chosen_provider(jitchat: Shell, home: Path):
    (home / "config.toml").write_text('[picker]\nmodel = "small-1"\n')
    database = Database(home / "jitchat.db")
    ChosenModel(database).put("ollama", "large-1")
    database.close()

    done = jitchat("window", QUESTION, "--json")

    assert done.json["picking"]["model"] == "small-1"


def test_an_unreachable_server_only_adds_a_warning_line(jitchat: Shell, monkeypatch):
    monkeypatch.setenv("JITCHAT_PICKER_MODEL", "small-1")
    monkeypatch.setenv("JITCHAT_PICKER_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("JITCHAT_WINDOW_SIZE", "800")

    sent = jitchat("send", QUESTION, "--conversation", "demo")
    shown = jitchat("window", QUESTION, "--conversation", "demo", "--ask-picker")

    assert "Tuesday 02:00 UTC" in sent.out
    assert (sent.code, sent.err) == (0, "")
    (told,) = [line for line in shown.out.splitlines() if line.startswith("picker ")]
    assert "picker small-1: picker cannot be reached at http://127.0.0.1:9" in told
    assert "; heuristic used (no tokens, " in told


def test_a_missing_reranker_only_adds_a_warning_line(jitchat: Shell, monkeypatch):
    monkeypatch.setenv("JITCHAT_RERANKER_MODEL", MODEL)
    told = f"reranker {MODEL}: its model is not on this machine; ranking unchanged"
    assert "not run before the message is sent" in jitchat("window", QUESTION).out
    assert told in jitchat("window", QUESTION, "--conversation", "demo", "--ask-picker").out
    sent = jitchat("send", QUESTION, "--conversation", "demo")
    assert sent.code == 0
    assert told in jitchat("replay", "61").out


def test_a_reranker_in_a_folder_is_named_in_the_ledger(jitchat: Shell, monkeypatch, tmp_path):
    write_cross_encoder(tmp_path / "model", {"tuesday": 50.0})
    monkeypatch.setenv("JITCHAT_RERANKER_MODEL", MODEL)
    monkeypatch.setenv("JITCHAT_RERANKER_PATH", str(tmp_path / "model"))
    monkeypatch.setenv("JITCHAT_RERANKER_TIMEOUT", "20")
    jitchat("send", QUESTION, "--conversation", "demo")

    replayed = jitchat("replay", "61")

    assert f"reranked by {MODEL}: " in replayed.out
    assert "reranker " in replayed.out, "among the parts of a score"
    fields = jitchat("replay", "61", "--json").json
    assert fields["reranking"]["fallback"] == ""
    ranked = [row for row in fields["ledger"] if row["rank"] is not None]
    assert {row["rank_before"] for row in ranked} == {row["rank"] for row in ranked}
    assert "before the reranker" in jitchat("why", "--turn", "61", str(ranked[0]["turn"])).out
