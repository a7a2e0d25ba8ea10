"""The meaning of error responses, in every protocol."""

from __future__ import annotations

import json

import pytest

from jitchat.errors import ContextOverflow, KeyRefused, NotAnAnswer, RequestRefused
from jitchat.providers.protocols.refusals import (
    is_quota_spent,
    refusal,
    refused_parameter,
    stopped,
)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            '{"error":{"message":"No such model","type":"t","param":null,"code":"c"}}',
            "No such model.",
        ),
        ('{"error":"model \'x\' not found"}', "model 'x' not found."),
        ('[{"error":{"code":404,"message":"wrapped","status":"NOT_FOUND"}}]', "wrapped."),
        ('[[[{"error":"deep"}]]]', "deep."),
        ('{"object":"error","message":"flat","code":404}', "flat."),
        ('{"detail":"Not Found"}', "Not Found."),
        ('{"error":{"detail":"inner"}}', "inner."),
        ('{"error":{"code":429,"message":"numeric","metadata":{}}}', "numeric."),
        ('"just text"', "just text."),
        ('{"errors":[{"code":1000,"message":"in a list of errors"}]}', "in a list of errors."),
        ('{"detail":[{"loc":["body","n"],"msg":"too many"}]}', "body.n: too many."),
        (
            '{"error":{"message":"Provider returned error","metadata":{"raw":"overloaded"}}}',
            "overloaded.",
        ),
        (
            '{"type":"error","error":{"type":"not_found_error","message":"model: x"},'
            '"request_id":"req_1"}',
            "model: x.",
        ),
        ('{"message":"said","type":"t","code":"1"}', "said."),
    ],
)
def test_a_refusal_is_told_in_the_providers_words_whatever_their_shape(body, said):
    error = refusal(404, body)
    assert isinstance(error, RequestRefused)
    assert error.what == f"The provider refused the request (HTTP 404): {said}"
    assert "provider.model" in error.remedy


NO_ERRORS = (
    "",
    "<html>502</html>",
    "{}",
    "[]",
    "null",
    '{"error":{}}',
    '{"error":{"code":1}}',
    '{"error":{"message":{"a":1}}}',
    "[" * 900 + "]" * 900,
    "[" * 100_000,
    "9" * 5_000,
)


@pytest.mark.parametrize("number", range(len(NO_ERRORS)))
def test_a_refusal_in_no_known_shape_is_not_passed_on(number):
    error = refusal(502, NO_ERRORS[number])
    assert isinstance(error, NotAnAnswer)
    assert "HTTP 502" in error.what
    assert error.remedy == "Send again later."


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, '{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}'),
        (401, "<html>log in</html>"),
        (401, ""),
        (403, '{"error":{"message":"Country not supported"}}'),
        (400, '{"error":{"message":"No connected db.","type":"no_db_connection","code":"400"}}'),
        (
            400,
            '[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]',
        ),
    ],
)
def test_a_key_that_is_refused_is_told_as_such(status, body):
    error = refusal(status, body)
    assert isinstance(error, KeyRefused)
    assert f"(HTTP {status})" in error.what
    assert error.what.endswith(".")
    assert error.remedy == "Check the provider's key."
    assert refusal(status, body, "Set WORK_KEY.").remedy == "Set WORK_KEY."


def test_an_ordinary_400_is_not_about_the_key():
    error = refusal(400, '{"error":{"message":"Invalid model name passed in model=x"}}')
    assert isinstance(error, RequestRefused)


def test_a_providers_words_are_shortened_to_one_line():
    nasty = "\x1b[31mred\x1b[0m\n\n[bold]x[/] [@click=app.quit]y[/]\u202e " + "w " * 1_000
    error = refusal(400, json.dumps({"error": {"message": nasty}}))
    assert "\n" not in error.what
    assert "\x1b[31mred\x1b[0m [bold]x[/] [@click=app.quit]y[/]" in error.what
    assert len(error.what) < 400


@pytest.mark.parametrize(
    ("status", "message", "api"),
    [
        (
            404,
            "This model is only supported in v1/responses and not in v1/chat/completions.",
            'Set protocol = "responses"',
        ),
        (
            400,
            "Function tools with reasoning_effort are not supported for gpt-5.6 in"
            " /v1/chat/completions. To use function tools, use /v1/responses or set"
            " reasoning_effort to 'none'.",
            'Set protocol = "responses"',
        ),
        (
            404,
            "This is not a chat model and thus not supported in the v1/chat/completions endpoint."
            " Did you mean to use v1/completions?",
            "available only on an API that jitchat does not support",
        ),
        (
            400,
            "This model is not supported with the /v1/chat/completions endpoint",
            "available only on an API that jitchat does not support",
        ),
    ],
)
def test_a_model_of_another_api_is_told_as_that(status, message, api):
    body = {"error": {"message": message, "type": "invalid_request_error", "param": "model"}}
    error = refusal(status, json.dumps(body))
    assert message.rstrip(".?") in error.what
    assert api in error.remedy
    assert "choose another model" in error.remedy.lower()


def test_what_is_refused_on_one_api_is_not_left_out():
    said = "Function tools with reasoning_effort are not supported in /v1/chat/completions. Use"
    body = {"error": {"message": f"{said} /v1/responses.", "param": "reasoning_effort"}}
    sent = {"reasoning_effort", "tools", "temperature"}
    assert refused_parameter(400, json.dumps(body), sent) is None


@pytest.mark.parametrize("body", ["<html><h1>403 Forbidden</h1></html>", "", "{}"])
def test_a_firewall_that_refuses_access_says_nothing_of_the_key(body):
    error = refusal(403, body, "Set OPENAI_API_KEY.")
    assert isinstance(error, NotAnAnswer)
    assert "HTTP 403" in error.what
    assert "OPENAI_API_KEY" not in str(error)
    assert "firewall" in error.remedy


def test_each_status_has_a_remedy_of_its_own():
    body = '{"error":"x"}'
    remedies = {status: refusal(status, body).remedy for status in (402, 404, 413, 429, 503)}
    assert len(set(remedies.values())) == 5


@pytest.mark.parametrize("status", [402, 404, 408, 409, 429, 500, 502, 503, 504, 529])
def test_a_web_page_in_place_of_an_error_still_has_the_statuss_remedy(status):
    error = refusal(status, "<!doctype html><html><title>Oops</title></html>")
    assert isinstance(error, NotAnAnswer)
    assert error.remedy == refusal(status, '{"error":"x"}').remedy


@pytest.mark.parametrize(
    ("status", "body", "remedy"),
    [
        (404, {"error": 'model "llama3.2:1b" not found, try pulling it first'}, "llama3.2:1b"),
        (404, {"error": "model 'x' not found, try pulling it first"}, "ollama pull x`"),
        (404, {"error": {"message": "no", "code": "model_not_found"}}, "provider.model"),
        (
            404,
            {"error": {"type": "not_found_error", "message": "model: claude-9"}},
            "model of that",
        ),
        (404, {"error": {"message": "The model `x` does not exist"}}, "model of that name"),
        (400, {"error": {"message": "Invalid model name passed in model=nope"}}, "model of that"),
        (404, {"detail": "Not Found"}, "provider.base_url"),
        (
            402,
            {"error": {"message": "Insufficient credits", "code": 402}},
            "Add credit to the account",
        ),
        (
            400,
            {"error": {"message": "Your credit balance is too low to access"}},
            "Add credit to the account",
        ),
        (
            429,
            {"error": {"message": "no", "code": "insufficient_quota"}},
            "Add credit to the account",
        ),
        (429, {"error": {"message": "Rate limit reached"}}, "Too many requests"),
        (529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, "Send again later"),
        (400, {"error": {"message": "odd"}}, "provider.model and provider.base_url"),
    ],
)
def test_what_to_do_fits_the_error(status, body, remedy):
    error = refusal(status, json.dumps(body))
    assert type(error) is RequestRefused
    assert remedy in error.remedy


@pytest.mark.parametrize("name", ["x; rm -rf ~", "$(id)", "`id`", "a b", "\x1b[2J"])
def test_a_command_to_copy_holds_nothing_but_a_name(name):
    body = json.dumps({"error": f"model '{name}' not found, try pulling it first"})
    assert "ollama pull" not in refusal(404, body).remedy


@pytest.mark.parametrize(
    ("after", "remedy"),
    [
        ("7", "Send again in 7 s."),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wait, then send again."),
        ("9" * 50, "Wait, then send again."),
        ("-1", "Wait, then send again."),
        ("", "Wait, then send again."),
    ],
)
def test_how_long_to_wait_is_told_where_the_server_tells(after, remedy):
    assert refusal(429, '{"error":"x"}', headers={"retry-after": after}).remedy.endswith(remedy)


@pytest.mark.parametrize("status", [400, 413, 429, 500])
def test_an_overflow_is_one_whatever_its_status(status):
    error = refusal(status, '{"error":"prompt is too long: 9 tokens > 8 maximum"}')
    assert isinstance(error, ContextOverflow)
    assert (error.needed, error.limit) == (9, 8)


@pytest.mark.parametrize(
    ("body", "spent"),
    [
        ({"error": {"code": "insufficient_quota", "message": "You exceeded your quota"}}, True),
        ({"error": {"type": "insufficient_quota", "code": None}}, True),
        ({"error": {"type": "exceeded_current_quota_error", "message": "x"}}, True),
        ({"error": {"message": "Insufficient Balance"}}, True),
        ({"error": {"message": "You have reached your specified API usage limits."}}, True),
        ("used all available credits", True),
        (
            {
                "error": {
                    "status": "RESOURCE_EXHAUSTED",
                    "message": "You exceeded your current quota",
                }
            },
            False,
        ),
        ({"error": {"type": "rate_limit_error", "message": "Too many"}}, False),
        ({}, False),
        (None, False),
        ([], False),
    ],
)
def test_a_spent_quota_is_told_from_a_rate_limit(body, spent):
    assert is_quota_spent(json.dumps(body)) is spent


@pytest.mark.parametrize("number", range(len(NO_ERRORS)))
def test_what_cannot_be_read_says_nothing_of_a_quota(number):
    assert not is_quota_spent(NO_ERRORS[number])


# within a stream


@pytest.mark.parametrize(
    ("event", "kind", "remedy"),
    [
        ({"error": {"code": 401, "message": "said"}}, KeyRefused, "Check the provider's key."),
        ({"error": {"code": "403", "message": "said"}}, KeyRefused, "Check the provider's key."),
        ({"error": {"code": 429, "message": "said"}}, RequestRefused, "Too many requests"),
        ({"error": {"code": "503", "message": "said"}}, RequestRefused, "Send again later"),
        (
            {"error": {"type": "overloaded_error", "message": "said"}},
            RequestRefused,
            "Send again later",
        ),
        (
            {"error": {"status": "UNAVAILABLE", "message": "said"}},
            RequestRefused,
            "Send again later",
        ),
        ({"object": "error", "code": 500, "message": "said"}, RequestRefused, "Send again later"),
        (
            {"error": {"code": "insufficient_quota", "message": "said"}},
            RequestRefused,
            "Add credit",
        ),
        ({"error": "said"}, RequestRefused, "Send again."),
        ([{"error": {"code": True, "message": "said"}}], RequestRefused, "Send again."),
    ],
)
def test_an_error_within_a_stream_is_told_by_its_code(event, kind, remedy):
    error = stopped(event)
    assert type(error) is kind
    assert error.what == "The provider stopped: said."
    assert remedy in error.remedy


@pytest.mark.parametrize(
    "event",
    [None, 7, [], {}, {"error": {}}, {"error": [None]}, {"error": {"details": 7, "code": []}}],
)
def test_an_error_within_a_stream_that_says_nothing_is_told_as_that(event):
    assert stopped(event).what == "The provider stopped."


def test_a_message_that_was_flagged_is_not_about_the_key():
    said = "Your chosen model requires moderation and your input was flagged"
    error = refusal(403, json.dumps({"error": {"code": 403, "message": said}}), "Set KEY.")
    assert type(error) is RequestRefused
    assert error.what == f"The provider blocked the message: {said}."
    assert "KEY" not in error.remedy
