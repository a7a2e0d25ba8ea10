"""What is known of the model that answers, and what it costs, as far as anybody said."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import StoreFull
from jitchat.index.embedder import NoEmbedder
from jitchat.memory import Memory
from jitchat.models import ResolvedModel, resolve_model
from jitchat.providers.catalogue import servers
from jitchat.providers.catalogue.table import cost_of
from jitchat.settings import Settings, load_settings
from jitchat.store.models import ModelLessons, ModelLists
from jitchat.values import LOADED, Limit, Usage
from jitchat.window.tokens import EstimateCounter
from tests.support import make_session

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore

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

    prices = resolve_model(load_settings(config, {}, given)).prices

    assert (prices.of(Usage(9, 9)) if prices else None) == price


def test_the_prices_of_other_models_are_those_of_the_same_settings(
    tmp_path: Path, store: ColdStore
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(
        '[providers.here]\nbase_url = "https://llm.test/v1"\nmodel = "m"\n'
        "[models.m]\ninput_price = 1\noutput_price = 1\n"
        "[models.other]\ninput_price = 3\noutput_price = 3\n"
    )
    model = resolve_model(load_settings(config, {}, {"provider.name": "here"}), store.database)
    memory = Memory(store, store.create("talk"), NoEmbedder())
    session = model.open_session(memory, EstimateCounter())
    costs = {
        name: cost_of(Usage(1_000_000, 0), session.prices_of("here", name))
        for name in ("m", "other", "unknown")
    }
    assert costs == {"m": 1.0, "other": 3.0, "unknown": None}
    assert session.prices_of("gone", "m") is None


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


NEAR = {"provider.base_url": "http://127.0.0.1:9/v1", "provider.model": "m"}


def model_near(store: ColdStore, **more: object) -> ResolvedModel:
    given = NEAR | {f"provider.{key}": value for key, value in more.items()}
    return resolve_model(load_settings(Path("/nowhere/config.toml"), {}, given), store.database)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Limit | None]:
    """What servers say, one after the other, in place of the network."""
    said: list[Limit | None] = []

    async def ask(*_: object, **__: object) -> Limit | None:
        return said.pop(0)

    monkeypatch.setattr(servers, "ask_limit", ask)
    return said


def test_a_limit_that_nobody_told_is_called_assumed(store: ColdStore, answers):
    answers.append(None)

    assert model_near(store).asked_budget.limit_source == "assumed: the server did not say"
    assert model_near(store).budget().limit_source == "assumed"
    assert model_near(store).budget().is_assumed


def test_what_a_server_said_stands_with_its_day_where_it_does_not_answer(store, answers):
    answers += [Limit(16_384, LOADED), None]

    asked = model_near(store).asked_budget
    away = model_near(store).asked_budget

    assert (asked.limit, asked.limit_source) == (16_384, LOADED)
    day = datetime.now(UTC).date()
    assert (away.limit, away.limit_source) == (16_384, f"{LOADED} on {day}")
    assert not away.is_assumed


def test_what_cannot_be_kept_is_used_nevertheless(store, answers, monkeypatch):
    def full(*_: object) -> None:
        raise StoreFull("There is no space left.", "Make room.")

    monkeypatch.setattr(ModelLessons, "keep_reported_limit", full)
    answers.append(Limit(16_384, LOADED))

    assert model_near(store).asked_budget.limit == 16_384


def test_a_limit_of_ones_own_asks_nobody(store, answers):
    assert model_near(store, limit=9_000).asked_budget.limit == 9_000
    assert answers == []


@pytest.mark.parametrize(
    ("provider", "model", "told"),
    [
        ("deepseek", "deepseek-chat", "deepseek-chat was retired on 2026-07-24 (table of"),
        ("openai", "gpt-5.5-pro", ""),
        (
            "openai",
            "gpt-live-1",
            "gpt-live-1 is only available through an API that jitchat does not",
        ),
        ("openai", "gpt-6-luna", ""),
        ("openrouter", "openai/gpt-5.5-pro", ""),
        ("reader", "", ""),
    ],
)
def test_a_model_that_is_gone_or_elsewhere_is_doubted(provider, model, told):
    doubt = resolve_model(settings_of(provider, model)).warning()
    assert doubt.startswith(told) if told else doubt == ""


@pytest.mark.parametrize(
    ("model", "named"),
    [("anthropic/claude-sonnet-5-5", True), ("m", False), ("meta-llama/llama", False)],
)
def test_a_provider_in_front_of_a_model_is_told_to_be_a_part_of_its_name(store, model, named):
    doubt = model_near(store, model=model).warning()
    told = f"The whole name {model} is sent to http://127.0.0.1:9/v1, as set by --base-url;"
    assert doubt.startswith(told) if named else doubt == ""
