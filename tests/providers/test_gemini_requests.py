"""Google's Gemini API: the request for a window."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jitchat.providers.protocols.gemini import GeminiProtocol
from jitchat.providers.provider import Options
from jitchat.values import Message, Role
from tests.providers.golden import ALL_OPTIONS, KEY, require_golden
from tests.providers.requested import requested
from tests.providers.streams import ASKED, endpoint

PROTOCOL = GeminiProtocol()
BASE = "https://generativelanguage.googleapis.com/v1beta"
PATH = f"{BASE}/models/gemini-3-pro:streamGenerateContent?alt=sse"
ASK, REPLY = Message(Role.USER, "ask", 1), Message(Role.ASSISTANT, "reply", 2)


def body(*messages: Message, **options: Any) -> dict[str, Any]:
    request = requested(PROTOCOL, endpoint(), messages, Options(**options))
    found: dict[str, Any] = json.loads(request.content)
    return found


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("gemini", Options()),
        ("gemini_all_options", ALL_OPTIONS),
        (
            "gemini_refused",
            Options(seed=7, effort="low", without=frozenset({"system", "thinkingLevel"})),
        ),
    ],
)
def test_a_request_is_the_one_on_file(name, options):
    where = endpoint(base_url=BASE, model="gemini-3-pro", key=KEY)
    require_golden(name, PROTOCOL, where, options)


@pytest.mark.parametrize(
    ("base", "model", "url"),
    [
        (BASE, "gemini-3-pro", PATH),
        (BASE, "models/gemini-3-pro", PATH),
        (f" {BASE}/ ", " gemini-3-pro ", PATH),
        ("https://generativelanguage.googleapis.com", "gemini-3-pro", PATH),
        (BASE, "tunedModels/x", f"{BASE}/tunedModels/x:streamGenerateContent?alt=sse"),
        (BASE, "a?key=b#c", f"{BASE}/models/a%3Fkey%3Db%23c:streamGenerateContent?alt=sse"),
    ],
)
def test_a_model_is_a_part_of_the_address(base, model, url):
    request = requested(PROTOCOL, endpoint(base_url=base, model=model), ASKED, Options())
    assert str(request.url) == url


def test_the_key_is_a_header_and_never_in_the_address():
    request = requested(PROTOCOL, endpoint(key=KEY), ASKED, Options())
    assert request.headers["x-goog-api-key"] == KEY
    assert KEY not in str(request.url)
    assert "x-goog-api-key" not in requested(PROTOCOL, endpoint(key=""), ASKED, Options()).headers


def test_messages_in_a_row_of_one_role_are_parts_of_one():
    assert body(ASK, ASK, REPLY, REPLY, ASK)["contents"] == [
        {"role": "user", "parts": [{"text": "ask"}, {"text": "ask"}]},
        {"role": "model", "parts": [{"text": "reply"}, {"text": "reply"}]},
        {"role": "user", "parts": [{"text": "ask"}]},
    ]


@pytest.mark.parametrize("messages", [[REPLY, ASK], [REPLY], []])
def test_the_user_always_speaks_first(messages):
    assert body(*messages)["contents"][0]["role"] == "user"


@pytest.mark.parametrize("refused", ["system", "systemInstruction"])
def test_a_refused_system_text_is_the_head_of_the_first_message(refused):
    sent = body(*ASKED, without=frozenset({refused}))
    assert "systemInstruction" not in sent
    assert sent["contents"][0]["parts"] == [{"text": "Be brief.\n\nhello"}]


@pytest.mark.parametrize(
    ("option", "value", "name", "other"),
    [
        ("temperature", 0.0, "temperature", "temperature"),
        ("top_p", 0.9, "topP", "top_p"),
        ("top_k", 4, "topK", "top_k"),
        ("seed", 0, "seed", "seed"),
        ("max_tokens", 9, "maxOutputTokens", "max_tokens"),
        ("effort", "low", "thinkingConfig", "thinkingLevel"),
    ],
)
def test_an_option_is_sent_where_it_is_set_and_not_refused(option, value, name, other):
    assert list(body(ASK, **{option: value})["generationConfig"]) == [name]
    for refused in (name, other):
        sent = body(ASK, **{option: value}, without=frozenset({refused}))
        assert "generationConfig" not in sent
