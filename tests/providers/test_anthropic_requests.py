"""Anthropic's Messages: the request for a window, and where its cached prefix ends."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jitchat.providers.protocols.anthropic import AnthropicProtocol, takes_sampling
from jitchat.providers.provider import Options
from jitchat.values import Message, Role
from tests.providers.golden import ALL_OPTIONS, KEY, require_golden
from tests.providers.requested import requested
from tests.providers.streams import ASKED, endpoint

PROTOCOL = AnthropicProtocol()
SYSTEM = Message(Role.SYSTEM, "Be brief.")
PINNED = Message(Role.USER, "pinned")
ASK, REPLY = Message(Role.USER, "ask", 1), Message(Role.ASSISTANT, "reply", 2)
TAIL = Message(Role.USER, "tail")
CACHED = {"cache_control": {"type": "ephemeral"}}


def body(*messages: Message, model: str = "m", **options: Any) -> dict[str, Any]:
    request = requested(PROTOCOL, endpoint(model=model), messages, Options(**options))
    found: dict[str, Any] = json.loads(request.content)
    return found


def blocks(sent: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """Each block as who says it, its text, and whether the cached prefix ends there."""
    return [
        (turn["role"], block["text"], "cache_control" in block)
        for turn in [{"role": "system", "content": sent.get("system", [])}, *sent["messages"]]
        for block in turn["content"]
    ]


@pytest.mark.parametrize(
    ("name", "options", "model"),
    [
        ("anthropic", Options(), "claude-sonnet-5"),
        ("anthropic_all_options", ALL_OPTIONS, "claude-sonnet-4-6"),
        (
            "anthropic_refused",
            Options(
                temperature=0.2,
                effort="low",
                without=frozenset({"temperature", "effort", "cache_control", "system"}),
            ),
            "m",
        ),
    ],
)
def test_a_request_is_the_one_on_file(name, options, model):
    where = endpoint(base_url="https://api.anthropic.com/v1", model=model, key=KEY)
    require_golden(name, PROTOCOL, where, options)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/", "https://api.anthropic.com/v1/messages"),
        (" https://api.anthropic.com/v1/ ", "https://api.anthropic.com/v1/messages"),
        ("http://localhost:8080/v1", "http://localhost:8080/v1/messages"),
        ("https://proxy.test/anthropic", "https://proxy.test/anthropic/v1/messages"),
        ("https://proxy.test/v1beta1", "https://proxy.test/v1beta1/messages"),
    ],
)
def test_an_address_may_leave_the_version_out(base, url):
    assert str(requested(PROTOCOL, endpoint(base_url=base), ASKED, Options()).url) == url


def test_headers_of_the_users_own_go_along_and_win():
    where = endpoint(headers={"anthropic-beta": "x", "Anthropic-Version": "2099-01-01"})
    sent = requested(PROTOCOL, where, ASKED, Options()).headers
    assert (sent["anthropic-beta"], sent["anthropic-version"]) == ("x", "2099-01-01")


def test_without_a_key_none_is_sent():
    assert "x-api-key" not in requested(PROTOCOL, endpoint(key=""), ASKED, Options()).headers


# the prefix that is to be cached


@pytest.mark.parametrize(
    ("messages", "sent"),
    [
        ([TAIL], [("user", "tail", False)]),
        ([SYSTEM, TAIL], [("system", "Be brief.", True), ("user", "tail", False)]),
        (
            [SYSTEM, PINNED, TAIL],
            [("system", "Be brief.", True), ("user", "pinned", True), ("user", "tail", False)],
        ),
        (
            [PINNED, ASK, REPLY, TAIL],
            [
                ("user", "pinned", False),
                ("user", "ask", False),
                ("assistant", "reply", True),
                ("user", "tail", False),
            ],
        ),
        (
            [ASK, REPLY, ASK, TAIL],
            [
                ("user", "ask", False),
                ("assistant", "reply", False),
                ("user", "ask", True),
                ("user", "tail", False),
            ],
        ),
    ],
)
def test_the_prefix_ends_ahead_of_the_final_message(messages, sent):
    assert blocks(body(*messages)) == sent


def test_a_grown_conversation_begins_with_the_same_blocks():
    first = [b[:2] for b in blocks(body(SYSTEM, PINNED, ASK, REPLY, TAIL))]
    second = [b[:2] for b in blocks(body(SYSTEM, PINNED, ASK, REPLY, ASK, REPLY, TAIL))]
    assert second[: len(first) - 1] == first[:-1]


def test_where_caching_is_refused_nothing_is_marked():
    sent = blocks(body(SYSTEM, ASK, REPLY, TAIL, without=frozenset({"cache_control"})))
    assert not any(marked for *_, marked in sent)


# roles


def test_messages_in_a_row_of_one_role_are_blocks_of_one_message():
    sent = body(SYSTEM, PINNED, ASK, TAIL)["messages"]
    assert [turn["role"] for turn in sent] == ["user"]
    assert [block["text"] for block in sent[0]["content"]] == ["pinned", "ask", "tail"]


@pytest.mark.parametrize("messages", [[SYSTEM, REPLY, TAIL], [REPLY], [SYSTEM], []])
def test_the_user_always_speaks_first(messages):
    first = body(*messages)["messages"][0]
    assert first["role"] == "user"
    assert first["content"][0]["text"] == "(the conversation so far)"


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_no_block_is_blank(blank):
    spaces = [Message(role, blank) for role in (Role.SYSTEM, Role.USER, Role.ASSISTANT)]
    assert blocks(body(*spaces, TAIL)) == [("user", "tail", False)]


def test_a_refused_system_text_is_the_head_of_the_first_message():
    sent = body(SYSTEM, ASK, REPLY, TAIL, without=frozenset({"system"}))
    assert "system" not in sent
    assert blocks(sent)[0] == ("user", "Be brief.\n\nask", False)


# the options


@pytest.mark.parametrize(
    ("options", "cap"),
    [
        ({}, 4_096),
        ({"room": 900}, 900),
        ({"room": 100_000}, 16_384),
        ({"room": 100_000, "longest": 8_192}, 8_192),
        ({"room": 100_000, "longest": 64_000}, 16_384),
        ({"room": 900, "longest": 8_192}, 900),
        ({"max_tokens": 9_000, "longest": 8_192}, 9_000),
        ({"room": 0}, 1),
        ({"room": -5}, 1),
        ({"max_tokens": 50_000, "room": 900}, 50_000),
        ({"room": 100_000, "without": frozenset({"max_tokens"})}, 4_096),
        ({"max_tokens": 100, "without": frozenset({"max_tokens"})}, 100),
    ],
)
def test_the_longest_answer_is_the_users_or_what_there_is_room_for(options, cap):
    assert body(TAIL, **options)["max_tokens"] == cap


@pytest.mark.parametrize(
    ("model", "takes"),
    [
        ("claude-3-5-sonnet-20241022", True),
        ("claude-instant-1.2", True),
        ("claude-2.1", True),
        ("claude-opus-4-20250514", True),
        ("claude-opus-4-1", True),
        ("claude-haiku-4-5-20251001", True),
        ("anthropic/claude-sonnet-4.6", True),
        ("us.anthropic.claude-opus-4-6-v1:0", True),
        ("tiny-random", True),
        ("my-claude", True),
        ("claude-opus-4-7", False),
        ("claude-opus-4.8@20260601", False),
        ("claude-sonnet-5", False),
        ("claude-opus-5-20261001", False),
        ("Claude-Haiku-5-5", False),
        ("claude-fable", False),
        ("claude-mythos-1", False),
    ],
)
def test_sampling_is_sent_where_the_models_name_does_not_rule_it_out(model, takes):
    assert takes_sampling(model) is takes
    sent = body(TAIL, model=model, temperature=0.0, top_p=0.9, top_k=40)
    assert ({"temperature", "top_p", "top_k"} <= sent.keys()) is takes


@pytest.mark.parametrize("refused", ["temperature", "top_p", "top_k", "effort", "output_config"])
def test_what_was_refused_is_left_out(refused):
    options = {"temperature": 0.1, "top_p": 0.9, "top_k": 4, "effort": "low"}
    whole, rest = body(TAIL, **options), body(TAIL, **options, without=frozenset({refused}))
    gone = "output_config" if refused == "effort" else refused
    assert whole.keys() - rest.keys() == {gone}
