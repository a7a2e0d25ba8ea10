"""What is known of the model that answers, and what it costs, as far as anybody said."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitchat.cli.who import who_answers
from jitchat.memory.cold.model_choice import ModelLists
from jitchat.memory.cold.store import ColdStore
from jitchat.memory.embedding.embedder import NoEmbedder
from jitchat.settings import Settings, load_settings
from jitchat.turn import Usage
from jitchat.window.tokens import EstimateCounter
from tests.support import make_session

FREE = "[models.m]\ninput_price = 0\noutput_price = 0\n"


@pytest.mark.parametrize(
    ("name", "base_url", "toml", "price"),
    [
        ("ollama", None, "", 0.0),
        ("vllm", "http://127.0.0.1:9/v1", "", 0.0),
        ("vllm", "https://llm.test/v1", "", None),
        (None, "http://127.0.0.1:4000/v1", "", None),
        (None, "http://127.0.0.1:4000/v1", FREE, 0.0),
        ("reader", None, "", 0.0),
    ],
)
def test_free_is_what_is_sure_to_run_here_and_what_the_user_says_is(
    tmp_path: Path, name: str | None, base_url: str | None, toml: str, price: float | None
):
    config = tmp_path / "config.toml"
    config.write_text(toml)
    flags = {"provider.name": name, "provider.base_url": base_url, "provider.model": "m"}
    given = {key: value for key, value in flags.items() if value is not None}

    prices = who_answers(load_settings(config, {}, given)).prices()

    assert (prices.of(Usage(9, 9)) if prices else None) == price


def settings_of(name: str, model: str) -> Settings:
    given = {"provider.name": name, "provider.model": model}
    return load_settings(Path("/nowhere/config.toml"), {}, given)


@pytest.mark.parametrize(
    ("model", "longest"), [("claude-3-5-haiku-latest", 8_192), ("claude-unheard-of", None)]
)
def test_the_longest_answer_that_a_model_is_known_to_give_goes_along(
    store: ColdStore, model: str, longest: int | None
):
    settings = settings_of("anthropic", model)

    session = make_session(settings, store, store.create("x"), NoEmbedder(), EstimateCounter())

    assert session.options.request.longest == longest


def test_a_session_reads_the_kept_list_of_its_model_once(
    store: ColdStore, monkeypatch: pytest.MonkeyPatch
):
    read: list[str] = []
    listed = ModelLists.get
    monkeypatch.setattr(ModelLists, "get", lambda made, at: read.append(at) or listed(made, at))
    kept = {"name": "m", "limit": 9_000, "limit_source": "maximum"}
    ModelLists(store.database).put("https://api.x.ai/v1", [kept])
    settings = settings_of("xai", "m")

    session = make_session(settings, store, store.create("x"), NoEmbedder(), EstimateCounter())

    assert session.options.budget.limit == 9_000
    assert read == ["https://api.x.ai/v1"]
