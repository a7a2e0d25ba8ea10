"""`jitchat models`: every provider with its listed models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.errors import Unreachable
from jitchat.providers.catalogue.models import LocalServer, ModelInfo
from jitchat.providers.catalogue.table import Prices, presets
from jitchat.values import Limit

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

QWEN = ModelInfo("qwen3:8b", Limit(8_192, "loaded in the server"))
GROQS = (
    ModelInfo("llama-3.1-8b-instant", Limit(131_072, "the server's maximum")),
    ModelInfo("qwen/qwen3-32b", prices=Prices(0.5, 1.5, 0.25, source="the server")),
)


class Servers:
    """The servers' answers: `listed` by provider, `running` on this machine."""

    def __init__(self):
        self.listed = {"groq": GROQS}
        self.running = ()
        self.asked = []

    async def fetch(self, endpoint, protocol_name, transport=None):
        self.asked.append((endpoint.name, endpoint.key))
        found = self.listed.get(endpoint.name, Unreachable("Nobody is there.", "Look again."))
        if isinstance(found, Exception):
            raise found
        return found

    async def find(self, transport=None, moved=None):
        return self.running


@pytest.fixture(autouse=True)
def servers(monkeypatch) -> Servers:
    made = Servers()
    monkeypatch.setattr("jitchat.providers.catalogue.servers.fetch_models", made.fetch)
    monkeypatch.setattr("jitchat.providers.catalogue.servers.find_local", made.find)
    return made


def line_of(out: str, name: str) -> str:
    return next(line for line in out.splitlines() if line.startswith(f"{name} "))


def test_every_provider_is_listed_with_what_to_do_to_use_it(jitchat: Shell, monkeypatch):
    monkeypatch.setenv("GROQ_API_KEY", "gsk-1")
    out = jitchat("models").out

    assert [line.split()[0] for line in out.splitlines() if line[0] != " "] == list(presets())
    assert "needs key      Set OPENAI_API_KEY, or run `jitchat keys set openai`." in out
    assert "ready          The key is from $GROQ_API_KEY." in line_of(out, "groq")
    assert "not running    Nothing answers at http://localhost:11434." in line_of(out, "ollama")
    assert "32,768  the reader's own" in out
    assert "gsk-1" not in out


def test_an_unknown_price_is_listed_as_unknown(jitchat: Shell, monkeypatch, servers):
    monkeypatch.setenv("GROQ_API_KEY", "gsk-1")
    servers.listed["groq"] = (ModelInfo("new"),)
    assert "    new          ?  limit unknown  price unknown\n" in (
        jitchat("models", "groq", "--refresh").out
    )


def test_no_server_is_asked_without_a_flag(jitchat: Shell, monkeypatch, servers):
    monkeypatch.setenv("GROQ_API_KEY", "gsk-1")
    assert "Use --refresh to fetch its models." in line_of(jitchat("models").out, "groq")
    assert servers.asked == []


def test_a_list_is_stored_and_shown_with_its_age(jitchat: Shell, monkeypatch, servers):
    monkeypatch.setenv("GROQ_API_KEY", "gsk-1")
    jitchat("models", "--refresh")
    out = jitchat("models").out

    assert servers.asked == [("groq", "gsk-1")]
    assert line_of(out, "groq").endswith("2 models, fetched just now.")
    assert "    llama-3.1-8b-instant    131,072  the server's maximum  in $0.05 · out $0.08" in out
    assert "    qwen/qwen3-32b          131,072  table of 20" in out
    assert "in $0.5 · cached $0.25 · out $1.5 (the server)" in out
    assert out.endswith("Prices are in US dollars per million tokens.\n")


def test_a_local_server_is_found_without_a_flag(jitchat: Shell, servers):
    servers.running = (LocalServer("ollama", "http://localhost:11434", (QWEN,)),)
    out = jitchat("models").out

    assert "running here   1 model." in line_of(out, "ollama")
    assert "    qwen3:8b      8,192  loaded in the server\n" in out


def test_only_one_providers_models_are_listed(jitchat: Shell, monkeypatch, servers):
    monkeypatch.setenv("GROQ_API_KEY", "gsk-1")
    monkeypatch.setenv("MISTRAL_API_KEY", "m-1")
    done = jitchat("models", "groq", "--refresh")

    assert done.code == 0
    assert servers.asked == [("groq", "gsk-1")]
    assert [line.split()[0] for line in done.out.splitlines()][:3] == [
        "groq",
        "llama-3.1-8b-instant",
        "qwen/qwen3-32b",
    ]


@pytest.mark.parametrize("words", [("qwen",), ("QWEN", "3"), ("groq", "qwen")])
def test_a_text_finds_models_by_their_names(jitchat: Shell, monkeypatch, servers, words):
    monkeypatch.setenv("GROQ_API_KEY", "gsk-1")
    jitchat("models", "--refresh")
    found = jitchat("models", *words, "--json").json

    assert [(each["provider"], [m["name"] for m in each["models"]]) for each in found] == [
        ("groq", ["qwen/qwen3-32b"])
    ]


def test_a_text_that_matches_no_model_is_reported(jitchat: Shell):
    done = jitchat("models", "gpt-99")
    assert done.code == 0
    assert done.out.startswith("No matching models.")
    assert jitchat("models", "gpt-99", "--json").json == []


def test_a_long_list_is_shown_in_full_only_on_request(jitchat: Shell, servers):
    many = tuple(ModelInfo(f"m{number:02}") for number in range(25))
    servers.running = (LocalServer("vllm", "http://localhost:8000/v1", many),)
    out = jitchat("models").out

    assert "    m09" in out
    assert "    m10" not in out
    assert "    and 15 more: `jitchat models vllm`\n" in out
    assert "    m24" in jitchat("models", "vllm").out


def test_a_provider_without_a_list_is_reported_with_the_others(jitchat: Shell, monkeypatch):
    monkeypatch.setenv("GROQ_API_KEY", "gsk-1")
    monkeypatch.setenv("MISTRAL_API_KEY", "m-1")
    done = jitchat("models", "--refresh")

    assert done.code == 0
    assert done.err == "jitchat: mistral: Nobody is there. Look again.\n"
    assert "2 models, fetched just now." in done.out


def test_it_fails_if_no_provider_returned_a_list(jitchat: Shell, monkeypatch):
    monkeypatch.setenv("MISTRAL_API_KEY", "m-1")
    done = jitchat("models", "mistral", "--refresh")
    assert done.code == 1
    assert done.out.startswith("mistral  Mistral  ready")


def test_a_refresh_without_servers_to_ask_succeeds(jitchat: Shell, servers):
    assert jitchat("models", "--refresh").code == 0
    assert servers.asked == []


def test_json_has_everything_that_is_known(jitchat: Shell, monkeypatch):
    monkeypatch.setenv("GROQ_API_KEY", "gsk-1")
    (found,) = jitchat("models", "groq", "--refresh", "--json").json

    assert list(found) == ["provider", "title", "state", "note", "fetched_at", "models"]
    assert (found["provider"], found["state"]) == ("groq", "ready")
    assert found["fetched_at"].endswith("+00:00")
    assert found["models"][1] == {
        "name": "qwen/qwen3-32b",
        "limit": 131_072,
        "limit_source": found["models"][1]["limit_source"],
        "prices": {
            "input": 0.5,
            "output": 1.5,
            "cached": 0.25,
            "written": None,
            "source": "the server",
        },
    }


@pytest.mark.usefixtures("terminal")
def test_model_names_from_a_server_cannot_control_the_terminal(jitchat: Shell, servers):
    servers.running = (LocalServer("vllm", "http://localhost:8000/v1", (ModelInfo("a\x1b[2J"),)),)
    assert "\x1b[2J" not in jitchat("models").out
