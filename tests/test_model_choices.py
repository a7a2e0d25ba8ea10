"""What there is to choose from: states, kept lists, and what the user set."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from jitchat.cli.models import limit_text, prices_text, retirement_text
from jitchat.model_choices import ModelChoices
from jitchat.models import ResolvedModel
from jitchat.providers.catalogue.models import LocalServer, ModelInfo, State
from jitchat.providers.catalogue.table import Prices
from jitchat.settings import load_settings
from jitchat.settings.keys import KeysFile
from jitchat.store.models import ModelLists, server_of
from jitchat.text.figures import age
from jitchat.values import Limit
from tests.providers.catalogue.servers import Routes, models

if TYPE_CHECKING:
    from pathlib import Path

OWN = """
[providers.work]
base_url = "https://llm.test/v1/"
model = "gpt-5-mini"
api_key = "sk-work-1234567890"
limit = 272000

[providers.near]
base_url = "http://localhost:9000/v1"

[models."gpt-5-mini"]
input_price = 0.2
output_price = 2.0

[models."groq/qwen"]
limit = 9000
"""


@pytest.fixture
def choices(tmp_path: Path, database, clock):
    def made(toml: str = "", environ: dict[str, str] | None = None, answers=None) -> ModelChoices:
        config = tmp_path / "config.toml"
        config.write_text(toml)
        config.chmod(0o600)
        return ModelChoices(
            load_settings(config, environ or {}),
            environ or {},
            tmp_path / "keys.toml",
            ModelLists(database, clock),
            Routes(answers or {}),
        )

    return made


def test_a_local_server_is_running_not_running_or_not_looked_for(choices):
    made = choices()
    here = LocalServer("ollama", "http://localhost:11434", (ModelInfo("q"),))

    assert made.one("ollama").state is State.NOT_LOOKED
    assert made.one("ollama", ()).state is State.NOT_RUNNING
    found = made.one("ollama", (here,))
    assert (found.state, found.models, found.fetched_at) == (State.RUNNING, here.models, None)
    assert [each.name for each in made.all((here,)) if each.is_usable] == ["reader", "ollama"]


def test_a_server_at_another_port_is_not_used_unasked(choices):
    moved = LocalServer("vllm", "http://localhost:8080/v1", (ModelInfo("q"),))
    found = choices().one("vllm", (moved,))
    assert (found.state, found.models) == (State.NOT_RUNNING, ())
    assert found.note == (
        "A server answers at http://localhost:8080/v1. Set providers.vllm.base_url to that address."
    )


def test_of_two_the_one_at_its_own_address_counts(choices):
    moved = LocalServer("vllm", "http://localhost:8080/v1", (ModelInfo("a"),))
    usual = LocalServer("vllm", "http://localhost:8000/v1/", (ModelInfo("b"),))
    assert choices().one("vllm", (moved, usual)).models == (ModelInfo("b"),)


@pytest.mark.parametrize(
    ("name", "environ", "note"),
    [
        ("ollama", {}, "No models yet: download one with `ollama pull`."),
        ("llamacpp", {}, "It requires a key. Run `jitchat keys set llamacpp`."),
    ],
)
def test_a_server_that_lists_nothing_says_why(choices, name, environ, note):
    made = choices("", environ)
    here = LocalServer(name, made.settings.profile(name).base_url, ())
    assert (made.one(name, (here,)).state, made.one(name, (here,)).note) == (State.RUNNING, note)


def test_a_server_that_wants_a_key_shows_what_it_listed_with_one(choices):
    made = choices('[providers.llamacpp]\napi_key = "sk-1"')
    fetched_at = made.lists.put("http://localhost:8080/v1", [{"name": "tiny"}])
    found = made.one("llamacpp", (LocalServer("llamacpp", "http://localhost:8080/v1", ()),))
    assert (found.models, found.fetched_at, found.note) == ((ModelInfo("tiny"),), fetched_at, "")


async def test_servers_of_this_machine_are_told_of_by_themselves(choices):
    made = choices("", {}, {"GET /api/version": {"version": "1"}, "GET /api/tags": {"models": []}})
    found = await made.here()
    assert [(each.name, each.state) for each in found] == [
        ("ollama", State.RUNNING),
        ("lmstudio", State.NOT_RUNNING),
        ("llamacpp", State.NOT_RUNNING),
        ("vllm", State.NOT_RUNNING),
    ]


async def test_a_provider_that_was_asked_is_told_of_anew(choices):
    made = choices("", {"GROQ_API_KEY": "gsk"}, {"GET /openai/v1/models": models({"id": "a"})})
    found = await made.fetched("groq")
    assert (found.state, [each.name for each in found.models]) == (State.READY, ["a"])
    assert found.fetched_at is not None


async def test_a_local_server_that_was_asked_is_running(choices):
    made = choices("", {}, {"GET /v1/models": models({"id": "q", "owned_by": "vllm"})})
    found = await made.fetched("vllm")
    assert (found.state, found.models) == (State.RUNNING, (ModelInfo("q"),))


def test_the_keys_file_is_read_once_for_all_of_them(choices, monkeypatch):
    read: list[Path] = []
    keys = KeysFile.keys
    monkeypatch.setattr(KeysFile, "keys", lambda file: read.append(file.path) or keys(file))
    made = choices("", {"GROQ_API_KEY": "gsk"})
    assert made.one("groq").has_key
    assert read == []
    assert len(made.all()) > 9
    assert read == [made.keys_file]


def test_a_key_makes_ready_wherever_it_is_from(choices):
    assert choices().one("groq").state is State.NEEDS_KEY
    assert choices("", {"GROQ_API_KEY": "gsk"}).one("groq").state is State.READY
    found = choices('[providers.groq]\napi_key = "gsk"').one("groq")
    assert (found.state, found.note) == (State.READY, "The key is from the configuration.")


def test_a_command_for_a_key_is_not_run_to_list_it(choices, tmp_path):
    made = choices(f'[providers.groq]\napi_key_cmd = "touch {tmp_path}/ran"')
    assert made.one("groq").state is State.READY
    assert not (tmp_path / "ran").exists()


def test_ones_own_provider_needs_no_key_that_nobody_asks_for(choices):
    found = choices(OWN).one("near", ())
    assert (found.state, found.note) == (State.READY, "")


def test_what_the_user_set_wins_and_the_configured_model_comes_first(choices):
    made = choices(OWN, {"GROQ_API_KEY": "gsk"})
    made.lists.put("https://llm.test/v1", [{"name": "a"}, {"name": "gpt-5-mini"}])
    made.lists.put("https://api.groq.com/openai/v1", [{"name": "qwen"}])

    mini, other = made.one("work").models
    assert (mini.name, other) == ("gpt-5-mini", ModelInfo("a"))
    assert mini.limit == Limit(272_000, "set by you")
    assert mini.prices == Prices(0.2, 2.0, source="set by you")
    assert made.one("groq").models[0].limit == Limit(9_000, "set by you")


def test_a_list_that_cannot_be_read_is_as_good_as_none(choices):
    made = choices("", {"GROQ_API_KEY": "gsk"})
    made.lists.put("https://api.groq.com/openai/v1", [{"nome": "qwen"}])
    found = made.one("groq")
    assert (found.models, found.fetched_at) == ((), None)


async def test_a_refresh_asks_with_the_key_and_keeps_the_list(choices):
    made = choices(OWN, answers={"GET /v1/models": models({"id": "a", "context_length": 8_192})})

    await made.refresh("work")

    (request,) = made.transport.requests
    assert request.headers["authorization"] == "Bearer sk-work-1234567890"
    found = made.one("work")
    assert [each.name for each in found.models] == ["gpt-5-mini", "a"]
    kept = made.lists.get("https://llm.test/v1")
    assert kept is not None
    assert kept[0] == found.fetched_at
    assert kept[1] == ({"name": "a", "limit": 8_192, "limit_source": "the server's maximum"},)


async def test_this_machine_is_looked_at_where_the_user_moved_a_server(choices):
    made = choices(
        "",
        {"OLLAMA_HOST": "127.0.0.1:9999"},
        {"GET /api/version": {"version": "1"}, "GET /api/tags": {"models": [{"name": "q"}]}},
    )
    running = await made.running()
    assert [each.base_url for each in running] == ["http://127.0.0.1:9999"]
    assert made.one("ollama", running).state is State.RUNNING


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("https://a.test/v1/", "https://a.test/v1"),
        ("https://me:pw@a.test:8/v1?key=7#x", "https://a.test:8/v1"),
        (" http://localhost:11434 ", "http://localhost:11434"),
        ("http://[::1", "http://[::1"),
        ("", ""),
    ],
)
def test_a_server_is_named_without_what_is_secret(url, server):
    assert server_of(url) == server


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (7_199, "1 hour ago"),
        (7_200, "2 hours ago"),
        (86_400 * 3, "3 days ago"),
    ],
)
def test_an_age_is_rough(clock, seconds, text):
    now = clock()
    assert age(now - timedelta(seconds=seconds), now) == text


def test_what_is_unknown_is_said():
    assert limit_text(ModelInfo("m")).strip() == "?  limit unknown"
    assert prices_text(None) == "price unknown"
    assert prices_text(Prices(1.0, None, source="set by you")) == "in $1 · out ? (set by you)"
    assert prices_text(Prices(0.0, 0.0, source="the server")) == "in $0 · out $0 (the server)"


def test_a_price_of_ones_own_stands_beside_those_that_are_known_anyway(choices):
    key = {"ANTHROPIC_API_KEY": "sk-ant-1234567890"}
    toml = '[models."claude-sonnet-4-5"]\ninput_price = 1.5\nwritten_price = 9.0\n'
    known, own = (
        ResolvedModel(made, made.profile("anthropic"), "claude-sonnet-4-5").facts
        for made in (choices("", key).settings, choices(toml, key).settings)
    )
    assert known.prices is not None
    assert own.prices is not None
    assert (own.prices.input, own.prices.written) == (1.5, 9.0)
    assert (own.prices.output, own.prices.cached) == (known.prices.output, known.prices.cached)
    assert own.prices.source == "set by you"


LISTED = {"GET /v1/models": models(*({"id": name} for name in (
    "gpt-live-1", "gpt-audio-mini", "gpt-5-chat-latest", "gpt-6-luna"
)))}  # fmt: skip


async def test_models_of_an_api_that_is_not_spoken_are_not_offered(choices):
    made = choices(environ={"OPENAI_API_KEY": "sk-1234567890"}, answers=LISTED)

    await made.refresh("openai")

    found = made.one("openai").models
    assert [each.name for each in found] == ["gpt-5-chat-latest", "gpt-6-luna"]
    assert [retirement_text(each).partition(" (")[0] for each in found] == [
        "retired 2026-07-23",
        "",
    ]


async def test_one_that_the_user_names_is_listed_nevertheless(choices):
    made = choices(toml='provider = { name = "openai", model = "gpt-5-pro" }')

    assert [each.name for each in made.one("openai").models] == ["gpt-5-pro"]


async def test_a_gateway_may_translate_for_them(choices):
    gateway = 'provider = { name = "openai", base_url = "https://llm.test/v1" }'
    listed = {"GET /v1/models": models({"id": "gpt-5-pro"})}
    made = choices(gateway, {"OPENAI_API_KEY": "sk-1234567890"}, listed)

    await made.refresh("openai")

    assert [each.name for each in made.one("openai").models] == ["gpt-5-pro"]
