"""`jitchat tokens`: how a model's tokens are counted, what was learnt, and how accurate it is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from jitchat.providers.catalogue import servers
from jitchat.providers.provider import forgetting
from jitchat.store.database import Database
from jitchat.store.models import ChosenModel, ModelLessons
from jitchat.values import Sample
from tests.providers.catalogue.servers import Routes
from tests.window.reports import Server

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.cli.conftest import Shell

HERE = "http://localhost:9999/v1"


def teach(shell: Shell, samples: Sequence[Sample], model: str = "small-1") -> None:
    """Store what a server reported for the estimates."""
    shell.home.mkdir(exist_ok=True)
    database = Database(shell.home / "jitchat.db")
    learnt = ModelLessons(database, f"{HERE}/", model)
    for sample in samples:
        learnt.add_sample("estimate", sample)
    database.close()


def test_without_samples_the_output_says_how_to_get_them(jitchat: Shell):
    done = jitchat("tokens", "small-1", "--base-url", HERE)

    assert done.out.splitlines() == [
        f"small-1 of openai ({HERE})",
        "counted by estimate, not the model's own tokenizer",
        "nothing learnt yet: each reply with token counts from the provider is a sample; counts are"
        " corrected from 3 samples on",
    ]


def test_refusals_are_shown_and_removed_on_request(jitchat: Shell):
    teach(jitchat, [Sample(10, 11)])
    database = Database(jitchat.home / "jitchat.db")
    ModelLessons(database, HERE, "small-1").refuse("temperature")
    database.close()
    where = ("tokens", "small-1", "--base-url", HERE)
    assert "not sent, because the server refused it: temperature" in jitchat(*where).out

    done = jitchat(*where, "--forget", "--json")

    assert done.err == "jitchat: Forgot what was learnt from the server.\n"
    assert (done.json["refused"], done.json["samples"]) == ([], [])
    assert jitchat(*where, "--forget").err == "jitchat: There was nothing to forget.\n"
    assert "Name one." in jitchat("tokens", "--forget").err


def test_the_command_that_a_refusal_names_forgets_it(jitchat: Shell):
    teach(jitchat, [Sample(10, 11)])
    own = f'[provider]\nname = "own"\n[providers.own]\nbase_url = "{HERE}"\nmodel = "small-1"\n'
    (jitchat.home / "config.toml").write_text(own)
    command = forgetting("own", "small-1").strip("`").split()
    assert jitchat(*command[1:]).err == "jitchat: Forgot what was learnt from the server.\n"


def test_the_models_own_tokenizer_is_named(jitchat: Shell, shared_vocabulary: Path):
    assert "counted by o200k_base, the model's own tokenizer" in jitchat("tokens", "gpt-4o").out
    assert "counted by o200k_base, not the" in jitchat("tokens", "small-1").out


def test_samples_correction_and_band_are_shown(jitchat: Shell):
    counts = (60, 150, 400, 900, 2_000, 5_000, 9_000, 14_000)
    teach(jitchat, Server(noise=0).samples(8, counts=counts))

    lines = jitchat("tokens", "small-1", "--base-url", HERE).out.splitlines()

    assert lines[2:5] == [
        "8 samples, 8 of them used",
        "correction: × 1.13 + 11",
        "band: ± 3 at 1,000 tokens, ± 26 at 10,000 tokens",
    ]
    assert lines[5] == "latest samples, counted → reported:"
    assert lines[6] == "      60 → 79"
    assert lines[-1] == "  14,000 → 15,831"


def test_two_samples_are_shown_without_a_correction(jitchat: Shell):
    teach(jitchat, [Sample(100, 120), Sample(200, 240)])

    lines = jitchat("tokens", "small-1", "--base-url", HERE).out.splitlines()

    assert lines[2] == "2 samples, no correction yet: 3 consistent samples are required"
    assert lines[-2:] == ["  100 → 120", "  200 → 240"]


def test_json_has_all_samples(jitchat: Shell):
    teach(jitchat, [Sample(1_000 + at, 1_100 + at) for at in range(20)])

    found = jitchat("tokens", "small-1", "--base-url", HERE, "--json").json

    assert list(found) == [
        *("provider", "server", "model", "counter", "correction", "band", "refused", "samples"),
    ]
    assert found["samples"][-1] == {"counted": 1_019, "reported": 1_119, "others": {}}
    assert len(found["samples"]) == 20
    assert found["correction"]["samples"] == 20
    assert found["correction"]["slope"] == pytest.approx(1.1, abs=0.01)
    assert list(found["band"]) == ["1000", "10000"]


def test_json_of_nothing_learnt_has_no_correction(jitchat: Shell):
    found = jitchat("tokens", "small-1", "--json").json

    assert (found["correction"], found["band"], found["samples"]) == (None, None, [])
    assert (found["provider"], found["server"]) == ("openai", "https://api.openai.com/v1")


def test_samples_of_another_server_are_not_used(jitchat: Shell):
    teach(jitchat, [Sample(1_000, 1_100)] * 5)

    assert "5 samples" in jitchat("tokens", "small-1", "--base-url", HERE).out
    assert "nothing learnt" in jitchat("tokens", "small-2", "--base-url", HERE).out
    assert "nothing learnt" in jitchat("tokens", "small-1", "--provider", "groq").out
    assert "small-1 of groq (" in jitchat("tokens", "groq/small-1").out


def test_the_model_that_was_picked_in_the_app_is_its_providers(jitchat: Shell):
    jitchat.home.mkdir(exist_ok=True)
    database = Database(jitchat.home / "jitchat.db")
    ChosenModel(database).put("ollama", "qwen3:8b")
    database.close()

    assert "qwen3:8b of ollama (" in jitchat("tokens", "qwen3:8b").out
    assert "qwen3:8b of groq (" in jitchat("tokens", "qwen3:8b", "--provider", "groq").out
    assert "qwen3:4b of openai (" in jitchat("tokens", "qwen3:4b").out


def test_the_reader_has_no_server(jitchat: Shell):
    assert jitchat("tokens", "reader").out.splitlines()[0] == "reader of reader"


@pytest.mark.parametrize("given", [("--text", "one two three"), ("--text", "-")])
def test_a_text_is_counted_alone_and_as_a_request(jitchat: Shell, given: tuple[str, ...]):
    plain = jitchat("tokens", "small-1", *given, stdin=b"one two three").out.splitlines()[-1]
    teach(jitchat, [Sample(8, 16), Sample(300, 600), Sample(900, 1_800)])
    arguments = ("tokens", "small-1", "--base-url", HERE, *given)
    learnt = jitchat(*arguments, stdin=b"one two three").out.splitlines()[-1]
    found = jitchat(*arguments, "--json", stdin=b"one two three").json["text"]

    own = found["counted"] + 7
    assert plain == f"text: ~{found['counted']} tokens, ~{own} as a separate request"
    assert learnt.endswith(f" tokens, {2 * own} ± 1 as a separate request")
    assert found == {"counted": found["counted"], "request": 2 * own, "band": 1}


def test_a_key_in_an_address_is_not_shown(jitchat: Shell):
    done = jitchat("tokens", "small-1", "--base-url", "http://me:sk-1@localhost:9999/v1?key=sk-1")

    assert "sk-1" not in done.out + done.err
    assert HERE in done.out


@pytest.mark.usefixtures("terminal")
def test_without_a_model_option_all_models_with_samples_are_listed(jitchat: Shell):
    assert "Nothing learnt yet" in jitchat("tokens").out
    assert jitchat("tokens", "--json").json == []
    counts = (60, 150, 400, 900, 2_000, 5_000, 9_000, 14_000)
    teach(jitchat, Server(noise=0).samples(8, counts=counts))
    teach(jitchat, [Sample(100, 120)], "tiny\n\x1b[2J")

    first, second = jitchat("tokens").out.splitlines()
    found = jitchat("tokens", "--json").json

    told = "8 samples  × 1.13 + 11, ± 26 at 10,000 tokens"
    assert first.split(maxsplit=3) == ["small-1", HERE, "estimate", told]
    assert "\x1b" not in second
    assert second.endswith("  1 sample   no correction yet")
    assert [(each["model"], each["samples"]) for each in found] == [
        ("small-1", 8),
        ("tiny\n\x1b[2J", 1),
    ]
    assert list(found[0]) == ["server", "model", "counter", "samples", "correction", "band"]
    assert (found[0]["band"], found[1]["band"], found[1]["correction"]) == (
        {"10000": 26},
        None,
        None,
    )


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Routes:
    """Providers that count tokens, each in its own way, and answer nothing."""
    routes = Routes(
        {
            "POST /v1/messages/count_tokens": {"input_tokens": 26},
            "POST /apply-template": {"prompt": "<s>one two three"},
            "POST /tokenize": {"tokens": list(range(9))},
        }
    )
    monkeypatch.setattr(servers, "count_exactly", partial(servers.count_exactly, transport=routes))
    return routes


def test_the_provider_counts_on_request(jitchat: Shell, counting: Routes, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-1")
    asked = ("--text", "one two three")

    assert jitchat("tokens", "anthropic/claude-9", *asked).code == 0
    assert counting.requests == []

    cloud = jitchat("tokens", "anthropic/claude-9", *asked, "--exact")
    local = jitchat("tokens", "small-1", "--base-url", HERE, *asked, "--exact")

    assert cloud.out.splitlines()[-1] == "anthropic counts 26 ✓ for that request"
    assert "~" in cloud.out.splitlines()[-2]
    assert local.out.splitlines()[-1] == "openai counts 9 ✓ for that request"
    assert counting.asked == [
        "POST /v1/messages/count_tokens",
        "POST /apply-template",
        "POST /tokenize",
    ]
    found = jitchat("tokens", "anthropic/claude-9", *asked, "--exact", "--json").json
    assert found["text"]["exact"] == 26


@pytest.mark.parametrize(
    ("model", "code"), [("reader", 2), ("ollama/small-1", 1), ("groq/small-1", 1)]
)
def test_a_provider_that_cannot_count_is_reported(
    jitchat: Shell, counting: Routes, model: str, code: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GROQ_API_KEY", "gsk_1234567890")
    counting.answers = {}

    done = jitchat("tokens", model, "--text", "one two three", "--exact")

    assert done.code == code
    assert "count" in done.err.splitlines()[0]


@pytest.mark.parametrize(
    "given", [("small-1", "--exact"), ("--exact", "--text", "one"), ("--text", "one")]
)
def test_counting_requires_a_model_and_a_text(jitchat: Shell, given: tuple[str, ...]):
    done = jitchat("tokens", *given)

    assert done.code == 2
    assert " requires a " in done.err
