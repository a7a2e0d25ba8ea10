"""Chat completions: the request, as a whole and field by field."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jitchat.providers.protocols.openai import OpenAiProtocol
from jitchat.providers.provider import Options
from jitchat.values import Message, Role
from tests.providers.golden import ALL_OPTIONS, WINDOW, require_golden
from tests.providers.requested import requested
from tests.providers.streams import ASKED, KEY, endpoint

OPENAI = "https://api.openai.com/v1"
PROTOCOL = OpenAiProtocol()


def body(options: Options | None = None, **where: Any) -> dict[str, Any]:
    request = requested(PROTOCOL, endpoint(**where), WINDOW, options or Options())
    return json.loads(request.content)


@pytest.mark.parametrize(
    ("name", "where", "options"),
    [
        ("openai", {"base_url": OPENAI, "model": "gpt-5-mini"}, Options()),
        ("openai_all", {"base_url": OPENAI, "model": "gpt-5-mini"}, ALL_OPTIONS),
        ("compatible", {"base_url": "http://localhost:8080/v1", "key": ""}, Options()),
        (
            "compatible_all",
            {"base_url": "https://openrouter.ai/api/v1/", "headers": {"X-Title": "jitchat"}},
            ALL_OPTIONS,
        ),
        (
            "compatible_without",
            {"base_url": "https://llm.example/v1"},
            Options(
                temperature=1.0,
                max_tokens=500,
                without=frozenset({"temperature", "stream_options", "max_tokens", "system"}),
            ),
        ),
    ],
)
def test_the_whole_request_is_the_one_on_file(name, where, options):
    require_golden(name, PROTOCOL, endpoint(**where), options)


def test_nothing_is_sent_that_was_not_asked_for():
    assert set(body()) == {"model", "messages", "stream", "stream_options"}


def test_a_zero_is_a_value():
    assert body(Options(temperature=0.0, seed=0))["temperature"] == 0.0
    assert body(Options(temperature=0.0, seed=0))["seed"] == 0


@pytest.mark.parametrize(
    ("base", "without", "sent"),
    [
        (OPENAI, (), "max_completion_tokens"),
        ("https://api.openai.com:443/v1/", (), "max_completion_tokens"),
        (OPENAI, ("max_completion_tokens",), "max_tokens"),
        (OPENAI, ("max_tokens",), "max_completion_tokens"),
        ("https://api.x.ai/v1", (), "max_tokens"),
        ("https://api.openai.com.evil.test/v1", (), "max_tokens"),
        ("https://api.x.ai/v1", ("max_tokens",), "max_completion_tokens"),
        ("https://api.x.ai/v1", ("max_completion_tokens",), "max_tokens"),
        (OPENAI, ("max_tokens", "max_completion_tokens"), None),
        ("https://api.x.ai/v1", ("max_tokens", "max_completion_tokens"), None),
    ],
)
def test_the_longest_answer_is_set_by_the_name_that_the_server_takes(base, without, sent):
    made = body(Options(max_tokens=500, without=frozenset(without)), base_url=base)
    names = {name: made[name] for name in made if name.startswith("max_")}
    assert names == ({} if sent is None else {sent: 500})


@pytest.mark.parametrize(
    "parameter",
    ["temperature", "top_p", "top_k", "seed", "reasoning_effort", "stream_options"],
)
def test_what_a_server_refuses_is_left_out_and_nothing_else(parameter):
    refused = Options(**_set(ALL_OPTIONS), without=frozenset({parameter}))
    assert set(body(ALL_OPTIONS)) - set(body(refused)) == {parameter}


def _set(options: Options) -> dict[str, Any]:
    names = ("temperature", "top_p", "top_k", "seed", "effort", "max_tokens")
    return {name: getattr(options, name) for name in names}


def test_one_side_takes_its_turn_once_except_at_openai():
    roles = [message["role"] for message in body()["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert len(body(base_url=OPENAI)["messages"]) == len(WINDOW)


def test_a_server_without_a_key_gets_no_authorization():
    assert "authorization" not in requested(PROTOCOL, endpoint(key=""), ASKED, Options()).headers


def test_the_users_own_headers_come_along_and_win():
    where = endpoint(headers={"authorization": "Basic x", "X-Title": "Plauderstübchen"})
    headers = requested(PROTOCOL, where, ASKED, Options()).headers
    assert headers["authorization"] == "Basic x"
    assert headers["x-title"] == "Plauderstübchen"
    assert KEY not in str(headers.raw)


@pytest.mark.parametrize("base", ["http://h/v1", "http://h/v1/", " http://h/v1// "])
def test_an_address_may_end_in_slashes(base):
    request = requested(PROTOCOL, endpoint(base_url=base), ASKED, Options())
    assert str(request.url) == "http://h/v1/chat/completions"


def test_the_same_window_makes_the_same_bytes_whatever_is_in_it():
    odd = (Message(Role.USER, "\u2028 \ud800 é\x00"),)
    first, second = (requested(PROTOCOL, endpoint(), odd, ALL_OPTIONS).content for _ in range(2))
    assert first == second
    assert json.loads(first)["messages"][0]["content"] == "\u2028 \ud800 é\x00"


def test_a_longer_conversation_starts_with_the_same_bytes():
    more = (*WINDOW, Message(Role.ASSISTANT, "Yes."), Message(Role.USER, "Thanks."))
    shorter, longer = (requested(PROTOCOL, endpoint(), each, Options()) for each in (WINDOW, more))
    assert longer.content.startswith(shorter.content.partition(b'}], "stream"')[0])
