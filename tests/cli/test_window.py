"""`jitchat window`: the exact window that would be sent, without sending it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from jitchat.providers.catalogue import servers
from jitchat.store.database import Database
from jitchat.store.pins import PickedMode
from jitchat.values import MAXIMUM, Limit, Message
from tests.transfer.files import plain_turns, written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from jitchat.providers.provider import Endpoint
    from tests.cli.conftest import Shell
    from tests.support import ScriptedProvider

pytestmark = pytest.mark.usefixtures("demo")
QUESTION = "what did we settle on for the deploy window?"


def assert_exact(window: dict[str, Any]) -> None:
    """Check every identity that the meter guarantees."""
    used = sum(segment["tokens"] for segment in window["segments"])
    assert used == window["used"]
    assert used + window["free"] + window["reserve"] == window["limit"]
    assert window["limit"] - window["reserve"] == window["budget"]


def test_the_mode_is_the_one_that_was_picked_in_the_app(jitchat: Shell):
    database = Database(jitchat.home / "jitchat.db")
    PickedMode(database).put("demo", "full")
    database.close()
    assert jitchat("window", QUESTION, "--json").json["mode"] == "full"
    assert jitchat("window", QUESTION, "--json", "--mode", "jit").json["mode"] == "jit"


def test_json_has_these_keys_and_no_others(jitchat: Shell):
    window = jitchat("window", QUESTION, "--json").json

    assert list(window) == [
        "conversation",
        "mode",
        "model",
        "counter",
        "limit",
        "limit_source",
        "reserve",
        "budget",
        "size",
        "used",
        "band",
        "counted",
        "free",
        "full_tokens",
        "stable_tokens",
        "cost",
        "full_cost",
        "cached",
        "price_source",
        "segments",
        "ledger",
        "never_candidates",
        "messages",
    ]
    assert list(window["counter"]) == ["name", "exact"]
    assert {tuple(each) for each in window["segments"]} == {
        ("kind", "turn", "role", "tokens", "reason"),
        ("kind", "turn", "role", "tokens", "reason", "carrier"),
    }
    assert {tuple(each) for each in window["ledger"]} == {
        ("turn", "rank", "score", "parts", "tokens", "verdict", "reason")
    }
    assert list(window["never_candidates"]) == ["turns", "tokens", "reason"]
    assert {tuple(each) for each in window["messages"]} == {("role", "content")}


@pytest.mark.parametrize("model", ["gpt-live-1", "gpt-audio-mini"])
def test_a_model_that_cannot_be_reached_is_reported_with_its_window(jitchat: Shell, model: str):
    result = jitchat("window", QUESTION, "--provider", "openai", "--model", model)

    assert (result.code, result.out != "") == (0, True)
    told = f"jitchat: {model} is only available through an API that jitchat does not support"
    assert result.err.startswith(told)


@pytest.mark.parametrize("mode", ["full", "recency", "jit"])
def test_the_sums_are_exact_in_every_mode(jitchat: Shell, mode: str):
    window = jitchat("window", QUESTION, "--conversation", "demo", "--mode", mode, "--json").json

    assert (window["conversation"], window["mode"], window["model"]) == ("demo", mode, "reader")
    assert_exact(window)
    assert window["segments"][-1]["kind"] == "draft"
    assert window["messages"][-1]["content"].endswith(QUESTION)
    if mode == "full":
        assert window["used"] == window["full_tokens"]


@pytest.mark.parametrize("mode", ["full", "recency", "jit"])
def test_every_turn_of_the_conversation_is_accounted_for(jitchat: Shell, mode: str):
    window = jitchat("window", QUESTION, "--mode", mode, "--json").json

    told = {row["turn"] for row in window["ledger"]}
    told |= {segment["turn"] for segment in window["segments"][1:-1] if segment["turn"]}
    never = window["never_candidates"]
    assert len(told) + (never["turns"] if never else 0) == len(jitchat.stored()["demo"])
    assert (never is None) == (mode == "full")


@pytest.mark.parametrize("size", [600, 1_000, 5_000, 10**9])
def test_a_window_has_no_more_tokens_than_its_size_and_everything_where_that_fits(
    jitchat: Shell, size: int
):
    window = jitchat("window", QUESTION, "--size", str(size), "--json").json

    assert window["size"] == size
    assert window["used"] <= size
    assert (window["used"] == window["full_tokens"]) == (window["full_tokens"] <= size)
    assert_exact(window)


def test_without_a_size_a_window_has_the_one_that_suits_the_model(jitchat: Shell):
    by_model = ((), 1_500), (("--model", "gpt-5-mini"), 16_000)

    for flags, size in by_model:
        for given in ((), ("--size", "auto")):
            assert jitchat("window", QUESTION, *flags, *given, "--json").json["size"] == size


def test_nothing_is_sent_and_nothing_is_stored_as_a_turn(
    jitchat: Shell, scripted: ScriptedProvider
):
    before = jitchat.stored()

    for mode in ("full", "recency", "jit"):
        assert jitchat("window", QUESTION, "--mode", mode).code == 0

    assert scripted.requests == []
    assert jitchat.stored() == before
    assert list(before) == ["demo"]


def test_the_server_that_answers_counts_the_very_window(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch
):
    asked = []

    async def count(
        endpoint: Endpoint, protocol: str, messages: Sequence[Message], *, tools: object
    ) -> int:
        asked.append((endpoint.model, protocol, [message.content for message in messages]))
        return 4_321

    monkeypatch.setattr(servers, "count_exactly", count)
    flags = ("--provider", "anthropic", "--model", "claude-x", "--exact")

    window = jitchat("window", QUESTION, *flags, "--json").json
    printed = jitchat("window", QUESTION, *flags).out

    sent = [message["content"] for message in window["messages"]]
    assert asked == 2 * [("claude-x", "anthropic", sent)]
    assert window["exact"] == 4_321
    assert printed.endswith("Anthropic counts 4,321 tokens.\n")


def test_the_reader_cannot_be_asked_for_an_exact_count(jitchat: Shell):
    result = jitchat("window", QUESTION, "--exact")

    assert result.code == 2
    assert "no counter of its own" in result.err


def test_without_any_conversation_the_demo_is_used(jitchat: Shell):
    (jitchat.home / "jitchat.db").unlink()

    for _ in range(2):
        assert jitchat("window", QUESTION, "--json").json["conversation"] == "demo"
    assert list(jitchat.stored()) == ["demo"]


def test_the_most_recent_conversation_is_used(jitchat: Shell, tmp_path: Path):
    jitchat("import", written(tmp_path, "mine.json", plain_turns(4)))

    assert jitchat("window", QUESTION, "--json").json["conversation"] == "mine"


def test_the_demo_can_be_named(jitchat: Shell, tmp_path: Path):
    (jitchat.home / "jitchat.db").unlink()
    jitchat("import", written(tmp_path, "mine.json", plain_turns(4)))

    window = jitchat("window", QUESTION, "--conversation", "demo", "--json").json

    assert window["conversation"] == "demo"
    assert jitchat("window", QUESTION, "--conversation", "demo", "--json").json == window
    assert sorted(jitchat.stored()) == ["demo", "mine"]


def test_a_conversation_can_be_named_by_title_and_before_the_command(
    jitchat: Shell, tmp_path: Path
):
    jitchat("import", written(tmp_path, "My Talk.json", plain_turns(4)))
    jitchat("import", written(tmp_path, "other.json", plain_turns(4)))

    by_title = jitchat("window", "hi", "--conversation", "my talk", "--json").json
    ahead = jitchat("--conversation", "my-talk", "window", "hi", "--json").json

    assert by_title["conversation"] == ahead["conversation"] == "my-talk"


@pytest.mark.parametrize("command", ["window", "send"])
def test_an_unknown_conversation_ends_with_an_error(jitchat: Shell, command: str):
    done = jitchat(command, "hi", "--conversation", "nope")

    assert done.code == 2
    assert done.err.startswith("jitchat: There is no conversation 'nope'.")


@pytest.mark.parametrize("command", ["window", "send"])
@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_empty_text_ends_with_an_error(jitchat: Shell, command: str, text: str):
    done = jitchat(command, text)

    assert done.code == 2
    assert done.err == "jitchat: TEXT is empty. Give a message.\n"


def test_the_text_can_come_from_standard_input(jitchat: Shell):
    for mark, end in ((b"", "\n"), (b"\xef\xbb\xbf", "\r\n")):
        text = f"{QUESTION}{end}"
        window = jitchat("window", "-", "--json", stdin=mark + text.encode()).json
        assert window["messages"][-1]["content"].endswith(text)

    assert jitchat("window", "-", stdin=b"caf\xe9").code == 2
    assert jitchat("window", "-", stdin=b"").code == 2


def test_full_that_does_not_fit_states_the_excess(jitchat: Shell):
    whole = jitchat("window", QUESTION, "--mode", "full", "--json").json["used"]

    done = jitchat("window", QUESTION, "--mode", "full", "--limit", str(whole), "--reserve", "100")

    assert done.code == 1
    assert f"needs ~{whole:,} tokens, ~100 more than the budget of {whole - 100:,}" in done.err
    assert "witch to jit or recency mode" in done.err


def test_a_reserve_that_leaves_nothing_names_both_and_their_origin(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("JITCHAT_PROVIDER_LIMIT", "4000")

    done = jitchat("window", "hi", "--reserve", "4000")

    assert done.code == 2
    assert "--reserve: provider.reserve (4,000) leaves no room in provider.limit" in done.err
    assert "(4,000, $JITCHAT_PROVIDER_LIMIT)" in done.err


def test_an_address_without_a_model_asks_for_one(jitchat: Shell):
    done = jitchat("window", "hi", "--base-url", "http://localhost:8080/v1")

    assert done.code == 2
    assert "No model is set for the provider openai (implied by --base-url)." in done.err
    assert "--model NAME" in done.err


def test_another_model_counts_and_names_itself(jitchat: Shell):
    window = jitchat("window", "hi", "--model", "some-model", "--limit", "5000", "--json").json

    assert (window["model"], window["limit"]) == ("some-model", 5_000)
    assert window["counter"] == {"name": "estimate", "exact": False}


def test_the_embedders_folder_can_be_given(
    jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("JITCHAT_EMBEDDER_NAME", "auto")
    monkeypatch.setenv("JITCHAT_EMBEDDER_PATH", str(tmp_path / "none"))

    done = jitchat("window", "hi")

    assert done.code == 1
    assert f"cannot be loaded from {tmp_path / 'none'}: there is no such folder." in done.err


@pytest.mark.parametrize("command", [("window", "hi"), ("send", "hi")])
def test_an_unknown_embedder_is_refused_wherever_it_is_named(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch, command: tuple[str, str]
):
    file = jitchat.home / "config.toml"
    told = {"--embedder": jitchat(*command, "--embedder", "bert")}
    monkeypatch.setenv("JITCHAT_EMBEDDER_NAME", "bert")
    told["$JITCHAT_EMBEDDER_NAME"] = jitchat(*command)
    monkeypatch.delenv("JITCHAT_EMBEDDER_NAME")
    file.write_text('[embedder]\nname = "bert"\n')
    told[str(file)] = jitchat(*command)

    for origin, done in told.items():
        assert done.code == 2
        assert done.err == (
            f"jitchat: {origin}: embedder.name cannot be 'bert'."
            " Use auto, fastembed, minilm, builtin or none.\n"
        )


def test_a_text_of_100_kb_on_standard_input_is_planned_or_refused_with_an_error(jitchat: Shell):
    fits = ("what was the port of the gateway, again? " * 2_500)[:100_000].encode()
    assert_exact(jitchat("window", "-", "--json", stdin=fits).json)

    done = jitchat("window", "-", stdin=b"".join(b"word%d " % n for n in range(11_111)) * 2)
    assert done.code == 1
    assert "Your message with the instructions and tools needs " in done.err
    assert "shorten the message" in done.err


def test_the_evidence_of_a_real_question_is_recalled_for_a_fraction_of_the_tokens(
    jitchat: Shell, locomo: Path
):
    sample = json.loads(locomo.read_text())[0]
    question = sample["qa"][0]
    assert (question["question"], question["evidence"]) == (
        "When did Caroline go to the LGBTQ support group?",
        ["D1:3"],
    )
    jitchat("import", locomo, "--pick", "conv-26")

    window = jitchat(
        "window", question["question"], "--conversation", "conv-26", "--mode", "jit", "--json"
    ).json

    retrieved = [each["turn"] for each in window["segments"] if each["kind"] == "retrieved"]
    assert 3 in retrieved
    assert_exact(window)
    assert window["used"] <= 0.15 * window["full_tokens"]


def test_the_body_of_the_request_is_printed_as_it_would_be_posted(jitchat: Shell):
    sized = ("--size", "10000")
    window = jitchat("window", QUESTION, *sized, "--json").json
    told = [{"role": each["role"], "content": each["content"]} for each in window["messages"]]
    assert json.loads(jitchat("window", QUESTION, *sized, "--request").out) == told
    where = ("--base-url", "http://models.test/v1", "--model", "m")
    posted = json.loads(jitchat("window", QUESTION, *sized, "--request", *where).out)
    assert (posted["model"], posted["stream"]) == ("m", True)
    assert posted["messages"][-1] == told[-1]


def test_the_request_has_the_context_size_reported_by_the_server(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch
):
    async def told(*_: object, **__: object) -> Limit:
        return Limit(24_576, MAXIMUM)

    monkeypatch.setattr(servers, "ask_limit", told)
    asked = "window", QUESTION, "--provider", "ollama", "--model", "qwen3:8b"

    assert jitchat(*asked, "--request").json["options"]["num_ctx"] == 24_576
    assert jitchat(*asked, "--json").json["limit"] == 24_576
    assert "limit 24,576 (the server's maximum)" in jitchat(*asked).out
