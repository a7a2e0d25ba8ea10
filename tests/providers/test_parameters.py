"""Errors that name the refused part of a request, so that it can be omitted."""

from __future__ import annotations

import json
from itertools import product

import pytest

from jitchat.providers.protocols.anthropic import AnthropicProtocol
from jitchat.providers.protocols.gemini import GeminiProtocol
from jitchat.providers.protocols.ollama import OllamaProtocol
from jitchat.providers.protocols.openai import OpenAiProtocol
from jitchat.providers.protocols.refusals import refused_parameter, sent_in
from tests.providers.golden import ALL_OPTIONS, WINDOW
from tests.providers.requested import requested
from tests.providers.streams import endpoint

OPENAI, ANTHROPIC, GEMINI, OLLAMA = (
    sent_in(requested(protocol, endpoint(), WINDOW, ALL_OPTIONS).content.decode())
    for protocol in (OpenAiProtocol(), AnthropicProtocol(), GeminiProtocol(), OllamaProtocol())
)
MODERN = OPENAI - {"max_tokens"} | {"max_completion_tokens"}


def error(message: object, **more: object) -> str:
    return json.dumps({"error": {"message": message} | more})


def pydantic(*place: object, kind: str = "extra_forbidden") -> dict[str, object]:
    return {"type": kind, "loc": list(place), "msg": "Extra inputs are not permitted", "input": 1}


JINJA = (
    "\n------------\nWhile executing CallExpression at line 1, column 200 in source:\n"
    "...{{ raise_exception('%s') }}...\nError: Jinja Exception: %s"
)


DETAIL_OF_STREAM_OPTIONS = json.dumps({"detail": [pydantic("body", "stream_options")]})


@pytest.mark.parametrize(
    ("sent", "status", "body", "name"),
    [
        (
            OPENAI,
            400,
            error(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
                " 'max_completion_tokens' instead.",
                type="invalid_request_error",
                param="max_tokens",
                code="unsupported_parameter",
            ),
            "max_tokens",
        ),
        (
            OPENAI,
            400,
            error("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
            "max_tokens",
        ),
        (
            MODERN,
            422,
            json.dumps({"detail": [pydantic("body", "max_completion_tokens")]}),
            "max_completion_tokens",
        ),
        (
            OPENAI,
            400,
            error(
                "Unsupported value: 'temperature' does not support 0.16 with this model. Only the"
                " default (1) value is supported.",
                param="temperature",
                code="unsupported_value",
            ),
            "temperature",
        ),
        (OPENAI, 400, error("Invalid value", param="reasoning_effort"), "reasoning_effort"),
        (
            OPENAI,
            400,
            error("Unrecognized request argument supplied: reasoning_effort"),
            "reasoning_effort",
        ),
        (
            OPENAI,
            400,
            error("Model grok-4 does not support parameter reasoningEffort."),
            "reasoning_effort",
        ),
        (OPENAI, 400, error("property 'seed' is unsupported"), "seed"),
        (
            OPENAI,
            400,
            error("Unknown field", param="stream_options.include_usage"),
            "stream_options",
        ),
        (OPENAI, 422, DETAIL_OF_STREAM_OPTIONS, "stream_options"),
        (
            OPENAI,
            422,
            json.dumps({"object": "error", "message": {"detail": [pydantic("body", "top_k")]}}),
            "top_k",
        ),
        (
            OPENAI,
            400,
            json.dumps(
                {
                    "object": "error",
                    "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'),"
                    " 'msg': 'Extra inputs are not permitted', 'input': {}}]",
                    "code": 400,
                }
            ),
            "stream_options",
        ),
        (
            OPENAI,
            400,
            json.dumps(
                {
                    "object": "error",
                    "message": "1 validation error for ChatCompletionRequest\nstream_options\n"
                    "  extra fields not permitted (type=value_error.extra)",
                }
            ),
            "stream_options",
        ),
        (OPENAI, 400, "stream_options is not supported", "stream_options"),
        (OPENAI, 400, error('"qwen" does not support thinking'), "reasoning_effort"),
        (ANTHROPIC, 400, error("`temperature` is deprecated for this model."), "temperature"),
        (ANTHROPIC, 400, error("temperature is deprecated for this model"), "temperature"),
        (
            ANTHROPIC,
            400,
            error("`temperature` and `top_p` cannot both be specified for this model."),
            "temperature",
        ),
        (ANTHROPIC, 400, error("top_k: Extra inputs are not permitted"), "top_k"),
        (ANTHROPIC, 400, error("output_config.effort: Extra inputs are not permitted"), "effort"),
        (ANTHROPIC, 400, error("This model does not support the effort parameter."), "effort"),
        (
            ANTHROPIC,
            400,
            error("messages.0.content.0.text.cache_control: Extra inputs are not permitted"),
            "cache_control",
        ),
        (
            ANTHROPIC,
            400,
            error(
                "max_tokens: 16384 > 4096, which is the maximum allowed number of output tokens"
                " for claude-3-haiku-20240307"
            ),
            "max_tokens",
        ),
        (
            GEMINI,
            400,
            json.dumps(
                [
                    {
                        "error": {
                            "code": 400,
                            "message": 'Invalid JSON payload received. Unknown name "thinkingLevel"'
                            " at 'generation_config.thinking_config': Cannot find field.",
                            "status": "INVALID_ARGUMENT",
                        }
                    }
                ]
            ),
            "thinkingLevel",
        ),
        (GEMINI, 400, error("Thinking level is not supported for this model."), "thinkingLevel"),
        (GEMINI, 400, error("top_k is not supported by this model"), "topK"),
        (OLLAMA, 400, '{"error":"\\"llama3.2\\" does not support thinking"}', "think"),
        (OLLAMA, 400, error('invalid think value: "low"'), "think"),
        (OLLAMA, 400, '{"error":"json: unknown field \\"truncate\\""}', "truncate"),
        (OLLAMA, 400, '{"error":"json: unknown field \\"shift\\""}', "shift"),
    ],
)
def test_a_parameter_that_is_refused_is_named(sent, status, body, name):
    assert refused_parameter(status, body, sent) == name


@pytest.mark.parametrize(
    "said",
    [
        "role 'system' is not supported on this model",
        "System role not supported",
        "Only user, assistant and tool roles are supported, got system",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "After the optional system message, conversation roles must alternate",
        "Developer instruction is not enabled for models/gemma-3-27b-it",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "This model does not support system messages",
    ],
)
def test_a_refused_system_role_is_known_by_its_text(said):
    for status, sent in product([400, 422, 500], [OPENAI, ANTHROPIC, GEMINI, OLLAMA]):
        for body in (error(said), error(JINJA % (said, said))):
            assert refused_parameter(status, body, sent) == "system", (status, body, sent)
        assert refused_parameter(status, error(said), sent - {"system"}) is None, (status, sent)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, error("Unsupported parameter: 'max_tokens'")),
        (429, error("Unsupported parameter: 'max_tokens'")),
        (500, error("'temperature' is not supported")),
        (400, error("Unsupported parameter: 'logit_bias'", param="logit_bias")),
        (400, error("Invalid 'messages[0].content'", param="messages[0].content")),
        (400, error("Invalid model name passed in model=seed-oss")),
        (400, error("model 'temperature-7b' is not supported", param="model")),
        (400, error("API key not valid. Please pass a valid API key.")),
        (400, error("messages.0.content: Input should be a valid list")),
        (422, json.dumps({"detail": [pydantic("body", "messages", 2, "reasoning_content")]})),
        (422, json.dumps({"detail": [pydantic("body", "messages"), None, 7, {"loc": 7}]})),
        (400, error("the seed of an idea, no temperature")),
        (
            400,
            error(
                "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000",
                param="max_tokens",
            ),
        ),
        (400, error("'temperature'")),
        (400, ""),
        (400, "null"),
        (400, "[]"),
        (400, '{"error":{"param":{"a":1},"message":[[]]}}'),
        (400, '{"error":{"param":"","message":null}}'),
        (400, '{"detail":null}'),
        (400, "<html>The temperature, they say, is invalid</html>"),
    ],
)
def test_another_error_names_no_parameter(status, body):
    assert refused_parameter(status, body, OPENAI) is None


NASTY = ("[" * 100_000, "9" * 5_000, "a." * 60_000, "'\"" * 30_000, "1,111," * 10_000)


@pytest.mark.parametrize("number", range(len(NASTY)))
def test_a_nasty_body_names_no_parameter(number):
    assert refused_parameter(400, NASTY[number], OPENAI) is None


def test_only_what_can_be_left_out_counts_as_sent():
    assert {
        "max_tokens",
        "temperature",
        "top_p",
        "top_k",
        "seed",
        "reasoning_effort",
        "stream_options",
        "system",
    } <= OPENAI
    assert {"think", "truncate", "shift", "num_ctx", "system"} <= OLLAMA
    assert {"maxOutputTokens", "topP", "thinkingConfig", "thinkingLevel", "system"} <= GEMINI
    assert {"max_tokens", "effort", "output_config", "cache_control", "system"} <= ANTHROPIC
    for sent in (OPENAI, ANTHROPIC, GEMINI, OLLAMA):
        assert not sent & {"model", "messages", "contents", "content", "role", "stream", "text"}


@pytest.mark.parametrize("body", ["", "null", "[]", "7", '{"messages":7}', '{"messages":[null]}'])
def test_of_no_request_nothing_was_sent(body):
    assert sent_in(body) == frozenset()
