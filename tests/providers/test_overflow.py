"""Context overflow errors in every server's wording, and the numbers in them."""

from __future__ import annotations

import json

import pytest

from jitchat.providers.protocols.refusals import overflow_in

TEXTS = [
    ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000"
     " tokens. Please reduce the length of the messages.", 9_000, 8_192),
    ("This model's maximum context length is 4,096 tokens. However, you requested 5,000 tokens"
     " (4,000 in the messages, 1,000 in the completion).", 4_000, 4_096),
    ("This model's maximum context length is 4096 tokens. However, you requested 512 output tokens"
     " and your prompt contains at least 4097 input tokens, for a total of at least 4609 tokens.",
     4_097, 4_096),
    ("'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context"
     " length is 4096 tokens and your request has 27 input tokens (4096 > 4096 - 27).",
     27, 4_096),
    ("You passed 5000 input tokens and requested 1000 output tokens. However, the model's context"
     " length is only 4096 tokens, resulting in a maximum input length of 3096 tokens.",
     5_000, 4_096),
    ("context_length_exceeded", None, None),
    ("litellm.ContextWindowExceededError: see the provider's log", None, None),
    ("request (9621 tokens) exceeds the available context size (512 tokens), try increasing it",
     9_621, 512),
    ("The number of tokens to keep from the initial prompt is greater than the context length.",
     None, None),
    ("prompt is too long: 208310 tokens > 200000 maximum", 208_310, 200_000),
    ("input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input"
     " length or `max_tokens` and try again", 178_959, 200_000),
    ("The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
     1_200_293, 1_048_576),
    ("The input token count exceeds the maximum number of tokens allowed (1048576).",
     None, 1_048_576),
    ("The input token count is 140000 but model only supports up to 131072.", 140_000, 131_072),
    ("the prompt is longer than the context length currently available to the model", None, None),
    ("the input length exceeds the context length", None, None),
    ("Please reduce the length of the messages or completion. Current length is 9,001 while limit"
     " is 8,192", 9_001, 8_192),
    ("Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000"
     " tokens.", 300_000, 272_000),
    ("maximum input length is 1000 tokens", None, 1_000),
    ("Input is too long for requested model.", None, None),
    ("Your input exceeds the context window of this model. Please adjust your input and try again.",
     None, None),
    ("The input (9000 tokens) is longer than the model's context length (4096 tokens).",
     9_000, 4_096),
    ("The decoder prompt (length 9000) is longer than the maximum model length of 4096.",
     9_000, 4_096),
    ("Request too large for gpt-5 in organization o on tokens per min (TPM): Limit 30000, Requested"
     " 38000.", 38_000, 30_000),
    ("This endpoint's maximum context length is 131072 tokens. However, you requested about 140000"
     " tokens (138000 of text input, 2000 in the output).", 138_000, 131_072),
    ("Prompt contains 70000 tokens and 0 draft tokens, too large for model with 32768 maximum"
     " context length", 70_000, 32_768),
    ("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"
     " `inputs` tokens and 100 `max_new_tokens`", 5_000, 4_096),
    ("Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)",
     9_000, 8_192),
    ("Range of input length should be [1, 30720]", None, 30_720),
    ("This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
     140_000, 131_072),
    ("Context size has been exceeded.", None, None),
    ("Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded"
     " with context length of only 4096 tokens, which is not enough.", 9_000, 4_096),
]  # fmt: skip
SHAPES = {
    "an object": lambda text: json.dumps({"error": {"message": text, "code": 400}}),
    "a string": lambda text: json.dumps({"error": text}),
    "flat": lambda text: json.dumps({"object": "error", "message": text, "code": 400}),
    "in a list": lambda text: json.dumps([{"error": {"message": text}}]),
    "a detail": lambda text: json.dumps({"detail": text}),
    "the text alone": lambda text: text,
    "in capitals": lambda text: json.dumps({"error": {"message": text.upper()}}),
    "of a provider behind a proxy": lambda text: json.dumps(
        {
            "error": {
                "message": "Provider returned error",
                "code": 400,
                "metadata": {"raw": json.dumps({"error": {"message": text}})},
            }
        }
    ),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_an_overflow_is_known_by_its_text_in_every_shape(shape):
    for text, needed, limit in TEXTS:
        overflow = overflow_in(400, shape(text))
        assert overflow is not None, text
        assert (overflow.needed, overflow.limit) == (needed, limit), text
        assert text[:40].lower() in overflow.what.lower(), text
        remedy = "Lower max_tokens" if overflow.answer else "Lower provider.limit"
        assert overflow.remedy == f"{remedy}, or switch the mode.", text


@pytest.mark.parametrize(
    ("start", "answer"),
    [
        ("input length and", 64_000),
        ("'max_tokens' or", 4_096),
        ("You passed 5000", 1_000),
        ("This model's maximum context length is 4096", 512),
        ("This model's maximum context length is 4,096", 1_000),
        ("This endpoint's", 2_000),
        ("Input validation", 100),
        ("prompt is too long", None),
    ],
)
def test_what_the_answer_was_to_have_is_told_apart_from_the_window(start, answer):
    text = next(text for text, *_ in TEXTS if text.startswith(start))
    overflow = overflow_in(400, text)
    assert overflow is not None
    assert overflow.answer == answer


@pytest.mark.parametrize(
    ("body", "needed", "limit"),
    [
        (
            {
                "error": {
                    "code": 400,
                    "message": "request too big",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 9621,
                    "n_ctx": 512,
                }
            },
            9_621,
            512,
        ),
        ({"error": {"message": "no", "code": "context_length_exceeded"}}, None, None),
        ({"type": "error", "error": {"type": "request_too_large", "message": "no"}}, None, None),
    ],
)
def test_an_overflow_is_known_by_its_fields(body, needed, limit):
    overflow = overflow_in(None, body)
    assert overflow is not None
    assert (overflow.needed, overflow.limit) == (needed, limit)


@pytest.mark.parametrize("body", ["", "{}", "<html>413 Request Entity Too Large</html>"])
def test_the_status_alone_tells_of_an_overflow(body):
    overflow = overflow_in(413, body)
    assert overflow is not None
    assert overflow.what == "The window is larger than the model's context."
    assert (overflow.needed, overflow.limit) == (None, None)


@pytest.mark.parametrize("number", ["200,000", "200_000", "200.000", "200'000", "200\u202f000"])
def test_separators_of_thousands_are_read(number):
    overflow = overflow_in(400, f"This model's maximum context length is {number} tokens")
    assert overflow is not None
    assert overflow.limit == 200_000


@pytest.mark.parametrize("number", ["9" * 90, "0", "9" * 16, "many"])
def test_a_number_that_is_no_count_is_none(number):
    overflow = overflow_in(400, f"prompt is too long: {number} tokens > {number} maximum")
    assert overflow is not None
    assert (overflow.needed, overflow.limit) == (None, None)


OTHERS = (
    '{"error":{"message":"Invalid \'messages[0].content\': string too long. Expected a string with'
    ' maximum length 1048576","code":"string_above_max_length"}}',
    '{"error":{"message":"string_above_max_length: prompt is too long"}}',
    '{"error":{"message":"max_tokens: 16384 > 4096, which is the maximum allowed number of output'
    ' tokens for claude-3-haiku-20240307"}}',
    '{"error":{"message":"Unsupported parameter: \'max_tokens\'"}}',
    '{"error":{"message":"Rate limit reached: Limit 6000, Used 5000, Requested 1200."}}',
    '{"error":{"message":"model not found"}}',
    "",
    "null",
    "[]",
    "{}",
    "[" * 100_000,
    "9" * 5_000,
    '{"error":{"message":null,"code":null,"type":[]}}',
    '{"error":[null,[7]]}',
    "<html>502</html>",
)


def test_another_error_is_no_overflow():
    assert [body[:200] for body in OTHERS if overflow_in(400, body) is not None] == []
