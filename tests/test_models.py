"""What of the settings ends up where, in sessions, budgets, providers and embedders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat import models
from jitchat.errors import SettingsError
from jitchat.index.embedder import NoEmbedder
from jitchat.models import make_embedder, make_provider, resolve_model
from jitchat.paths import locate
from jitchat.providers.provider import Options, ReplyDelta
from jitchat.settings import Settings, load_settings
from jitchat.settings.sections import Secret
from jitchat.values import Limit, Message, Role, Usage
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter, request_tokens
from tests.support import make_session

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore


def settings_with(**given: object) -> Settings:
    """Settings with flags, by `section__key`."""
    flags = {key.replace("__", "."): value for key, value in given.items()}
    return load_settings(Path("/nowhere/config.toml"), {}, flags)


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ({}, 32_768),
        ({"provider__model": "m"}, 8_192),
        ({"provider__model": "m", "provider__limit": 128_000}, 128_000),
        ({"provider__limit": 4_096}, 4_096),
    ],
)
def test_the_limit_is_the_given_one_else_what_is_safe_for_resolve_model(
    given: dict[str, object], limit: int
):
    assert resolve_model(settings_with(**given)).asked_budget.limit == limit


def test_the_budget_is_what_the_settings_say():
    sized = settings_with(provider__limit=900, provider__reserve=100, window__size=300)
    usual = settings_with(provider__limit=900, provider__reserve=100)

    assert resolve_model(sized).asked_budget == Budget(900, 100, 300, "set by you")
    suits = Budget(900, 100, 225, "set by you", "usual for the model")
    assert resolve_model(usual).asked_budget == suits


@pytest.mark.parametrize("heat", [None, 0.0, 0.7])
def test_a_temperature_is_sent_only_when_it_is_set(store: ColdStore, heat: float | None):
    given = {"provider__model": "m", "provider__temperature": heat, "chat__system": "Be brief."}
    settings = settings_with(**given)

    session = make_session(settings, store, store.create("x"), NoEmbedder(), EstimateCounter())

    assert session.options.request == Options(temperature=heat)
    assert session.options.system == "Be brief."


@pytest.mark.parametrize(("picker", "answers"), [("llama", True), ("smaller", False)])
def test_a_picker_that_is_the_model_that_answers_is_known_as_that(
    store: ColdStore, picker: str, answers: bool
):
    settings = settings_with(provider__name="ollama", provider__model="llama", picker__model=picker)

    session = make_session(settings, store, store.create("x"), NoEmbedder(), EstimateCounter())

    assert session.options.picker is not None
    assert session.options.picker.answers == answers


async def test_the_readers_usage_is_the_price_of_the_request_and_of_the_answer(store: ColdStore):
    counter = EstimateCounter()
    session = make_session(settings_with(), store, store.create("x"), NoEmbedder(), counter)
    messages = (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "What did we decide?"))

    pieces = [piece async for piece in session.provider.stream(messages, Options())]

    answer = "".join(piece.text for piece in pieces if isinstance(piece, ReplyDelta))
    (usage,) = (piece for piece in pieces if isinstance(piece, Usage))
    assert usage == Usage(request_tokens(counter, messages), counter.count(answer))


def test_a_provider_without_a_model_asks_for_one():
    assert settings_with(provider__model="gpt").model_name() == "gpt"
    with pytest.raises(SettingsError, match="Add --model NAME"):
        settings_with(provider__name="openai", provider__model=" ").model_name()


@pytest.mark.parametrize(("given", "folder"), [("~/m", "/me/m"), ("/m", "/m"), ("", None)])
def test_the_embedders_folder_is_resolved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: str, folder: str | None
):
    asked: list[object] = []
    monkeypatch.setenv("HOME", "/me")
    monkeypatch.setattr(models, "load_embedder", lambda *wanted: asked.extend(wanted))
    paths = locate({"JITCHAT_HOME": str(tmp_path)})

    make_embedder(settings_with(embedder__path=given, embedder__model="a/b"), paths)

    assert asked[:4] == ["auto", "a/b", Path(folder) if folder else None, tmp_path / "models"]


def test_the_home_of_nobody_in_its_folder_is_no_defect(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    asked: list[object] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(models, "load_embedder", lambda *wanted: asked.extend(wanted))

    make_embedder(settings_with(embedder__path="~no-such-user/m"), locate({}))

    assert asked[2] == tmp_path / "~no-such-user" / "m"


@pytest.mark.parametrize(
    ("given", "exposed"),
    [
        ({}, ""),
        ({"base_url": "http://models.test/v1"}, "models.test"),
        ({"base_url": "http://models.test/v1", "api_key": Secret()}, ""),
        ({"base_url": "https://models.test/v1"}, ""),
        ({"base_url": "http://localhost:11434/v1"}, ""),
        ({"base_url": "http://[models.test/v1"}, ""),
    ],
)
@pytest.mark.parametrize("section", ["provider", "picker", "summariser"])
def test_a_key_that_would_travel_in_the_open_is_warned_of(
    section: str, given: dict[str, object], exposed: str
):
    whole = {"model": "m", "api_key": Secret("sk-canary"), "base_url": "https://x.test/v1"} | given
    settings = settings_with(**{f"{section}__{key}": value for key, value in whole.items()})

    warning = models.unencrypted_keys(settings)

    assert warning == (
        f"The key would be sent to {exposed} unencrypted: use https." if exposed else ""
    )


@pytest.mark.parametrize(
    ("given", "limit", "reserve"),
    [
        ({"provider__model": "m", "provider__base_url": "http://localhost:1/v1"}, 4_096, 1_024),
        ({"provider__model": "m"}, 8_192, 2_048),
        ({}, 32_768, 2_048),
        ({"provider__limit": 100, "provider__reserve": 99}, 100, 99),
    ],
)
def test_a_reserve_that_nobody_set_is_a_quarter_of_a_small_limit(
    given: dict[str, object], limit: int, reserve: int
):
    budget = resolve_model(settings_with(**given)).asked_budget

    assert (budget.limit, budget.reserve) == (limit, reserve)


def test_a_limit_that_was_found_out_takes_the_place_of_the_assumed_one():
    found = Limit(2_000, "loaded in the server")
    budget = resolve_model(settings_with(provider__model="m")).budget(found)

    assert (budget.limit, budget.reserve) == (2_000, 500)


def test_a_reserve_of_a_providers_own_table_is_told_by_its_name(tmp_path: Path):
    config = tmp_path / "config.toml"
    config.write_text("[providers.groq]\nreserve = 9000\n")
    settings = load_settings(config, {}, {"provider.name": "groq", "provider.model": "m"})

    with pytest.raises(SettingsError) as caught:
        _ = resolve_model(settings).asked_budget

    assert str(caught.value).startswith(
        f"{config}: providers.groq.reserve (9,000) leaves no room in the limit (8,192, assumed)."
    )


@pytest.mark.parametrize(
    ("name", "protocol"),
    [
        ("openai", "OpenAiProtocol"),
        ("anthropic", "AnthropicProtocol"),
        ("gemini", "GeminiProtocol"),
        ("ollama", "OllamaProtocol"),
        ("groq", "OpenAiProtocol"),
    ],
)
def test_a_provider_is_asked_in_its_own_protocol_with_its_own_key(
    monkeypatch: pytest.MonkeyPatch, name: str, protocol: str
):
    from jitchat.providers.http import provider as http

    made: list[object] = []
    monkeypatch.setattr(http, "HttpProvider", lambda *given, **more: made.extend(given))
    settings = settings_with()
    monkeypatch.setenv(f"{name.upper()}_API_KEY", f"key-of-{name}")
    monkeypatch.setenv("SOMEBODY_API_KEY", "key-of-nobody")

    make_provider(settings.profile(name), "m", EstimateCounter())

    endpoint, spoken = made
    assert type(spoken).__name__ == protocol
    assert endpoint.model == "m"
    assert endpoint.key == ("" if name == "ollama" else f"key-of-{name}")


@pytest.mark.parametrize(
    ("limit", "longest", "reserve"),
    [(8_192, None, 2_048), (4_096, None, 1_024), (8_192, 3_000, 3_000), (8_192, 9_000, 4_096)],
)
def test_the_reserve_is_for_the_longest_answer_that_is_asked_for(limit, longest, reserve):
    settings = settings_with(
        provider__name="groq",
        provider__model="m",
        provider__limit=limit,
        provider__max_tokens=longest,
    )
    assert resolve_model(settings).asked_budget.reserve == reserve


@pytest.mark.parametrize(
    ("model", "route"),
    [
        ("gpt-5.5-pro", "/v1/responses"),
        ("gpt-6-luna", "/v1/responses"),
        ("gpt-4.1", "/v1/chat/completions"),
    ],
)
def test_a_model_that_answers_only_or_better_on_the_responses_api_is_asked_there(
    monkeypatch: pytest.MonkeyPatch, model: str, route: str
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    provider = make_provider(settings_with().profile("openai"), model, EstimateCounter())
    posted = provider.wire((Message(Role.USER, "hello"),), Options())
    assert posted is not None
    assert posted.url == f"https://api.openai.com{route}"
