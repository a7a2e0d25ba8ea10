"""OpenAI's Responses: the request, as a whole and field by field."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from jitchat.providers.catalogue.servers import count_exactly
from jitchat.providers.protocols.refusals import sent_in
from jitchat.providers.protocols.responses import ResponsesProtocol
from jitchat.providers.provider import Options
from tests.providers.golden import ALL_OPTIONS, WINDOW, require_golden
from tests.providers.requested import requested
from tests.providers.streams import endpoint

OPENAI = "https://api.openai.com/v1"
PROTOCOL = ResponsesProtocol()


def body(options: Options | None = None, **where: Any) -> dict[str, Any]:
    request = requested(PROTOCOL, endpoint(**where), WINDOW, options or Options())
    return json.loads(request.content)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("responses", Options()),
        ("responses_all", ALL_OPTIONS),
        (
            "responses_without",
            Options(
                temperature=1.0,
                max_tokens=500,
                without=frozenset({"temperature", "summary", "max_output_tokens", "system"}),
            ),
        ),
    ],
)
def test_the_whole_request_is_the_one_on_file(name, options):
    require_golden(name, PROTOCOL, endpoint(base_url=OPENAI, model="gpt-5-pro"), options)


def test_the_server_keeps_nothing():
    assert body()["store"] is False
    assert "store" not in sent_in(json.dumps(body()))


@pytest.mark.parametrize("refused", ["reasoning", "summary"])
def test_a_model_that_gives_no_summary_of_its_reasoning_is_not_asked_for_one(refused):
    assert body()["reasoning"] == {"summary": "auto"}
    assert refused in sent_in(json.dumps(body()))
    assert "reasoning" not in body(Options(without=frozenset({refused})))


def test_how_hard_it_thinks_is_still_asked_for_without_a_summary():
    asked = Options(effort="low", without=frozenset({"summary"}))
    assert body(asked)["reasoning"] == {"effort": "low"}


async def test_the_server_counts_the_very_input_that_would_be_sent():
    sent: list[httpx.Request] = []

    def count(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, json={"object": "response.input_tokens", "input_tokens": 42})

    where, transport = endpoint(base_url=OPENAI), httpx.MockTransport(count)
    assert await count_exactly(where, "responses", WINDOW, transport) == 42
    assert str(sent[0].url) == f"{OPENAI}/responses/input_tokens"
    assert json.loads(sent[0].content) == {name: body()[name] for name in ("model", "input")}
