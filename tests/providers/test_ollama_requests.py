"""Ollama's own chat: the request, as a whole and field by field."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jitchat.providers.protocols.ollama import OllamaProtocol
from jitchat.providers.provider import Options
from tests.providers.golden import ALL_OPTIONS, WINDOW, require_golden
from tests.providers.requested import requested
from tests.providers.streams import endpoint

LOCAL = {"base_url": "http://localhost:11434", "model": "qwen3:8b", "key": ""}
PROTOCOL = OllamaProtocol()


def body(options: Options) -> dict[str, Any]:
    return json.loads(requested(PROTOCOL, endpoint(**LOCAL), WINDOW, options).content)


@pytest.mark.parametrize(
    ("name", "where", "options"),
    [
        ("ollama", LOCAL, Options(context=8_192)),
        ("ollama_all", {"base_url": "https://ollama.com", "headers": {"X-A": "b"}}, ALL_OPTIONS),
        (
            "ollama_without",
            LOCAL,
            Options(
                context=8_192,
                effort="high",
                without=frozenset({"truncate", "shift", "think", "system", "num_ctx"}),
            ),
        ),
    ],
)
def test_the_whole_request_is_the_one_on_file(name, where, options):
    require_golden(name, PROTOCOL, endpoint(**where), options)


@pytest.mark.parametrize(
    "base",
    [
        "http://h:1",
        "http://h:1/",
        " http://h:1/v1 ",
        "http://h:1/v1/",
        "http://h:1/api",
        "http://h:1/api/",
    ],
)
def test_an_address_of_another_of_its_routes_is_taken_too(base):
    request = requested(PROTOCOL, endpoint(base_url=base), WINDOW, Options())
    assert str(request.url) == "http://h:1/api/chat"


def test_a_path_before_it_stays():
    request = requested(PROTOCOL, endpoint(base_url="https://h/ollama/v1"), WINDOW, Options())
    assert str(request.url) == "https://h/ollama/api/chat"


def test_nothing_is_sent_that_was_not_asked_for():
    assert set(body(Options())) == {"model", "messages", "stream", "truncate", "shift"}


def test_it_neither_drops_what_does_not_fit_nor_goes_on_without_it():
    assert (body(Options())["truncate"], body(Options())["shift"]) == (False, False)


def test_the_context_is_the_one_that_the_window_was_planned_for():
    assert body(Options(context=40_960, room=6_000))["options"] == {"num_ctx": 40_960}


@pytest.mark.parametrize(
    ("effort", "think"),
    [
        ("low", "low"),
        ("max", "max"),
        ("on", True),
        ("true", True),
        ("off", False),
        ("false", False),
        ("none", False),
    ],
)
def test_the_effort_is_a_level_or_a_switch(effort, think):
    made = body(Options(effort=effort))["think"]
    assert (made, type(made)) == (think, type(think))
