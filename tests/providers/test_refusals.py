"""What a server means that answers with an error, whatever protocol it speaks."""

from __future__ import annotations

import json

import pytest

from jitchat.errors import KeyRefused, NotAnAnswer, RequestRefused
from jitchat.providers.protocols.refusals import refusal


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
    assert error.remedy == "Send again in a while."


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
    assert "OPENAI_API_KEY" in error.remedy


def test_an_ordinary_400_is_not_about_the_key():
    error = refusal(400, '{"error":{"message":"Invalid model name passed in model=x"}}')
    assert isinstance(error, RequestRefused)


def test_a_providers_words_are_shortened_to_one_visible_line():
    nasty = "\x1b[31mred\x1b[0m\n\n[bold]x[/] [@click=app.quit]y[/]\u202e " + "w " * 1_000
    error = refusal(400, json.dumps({"error": {"message": nasty}}))
    assert not any(ord(character) < 32 or character == "\u202e" for character in error.what)
    assert "␛[31mred␛[0m [bold]x[/] [@click=app.quit]y[/]" in error.what
    assert len(error.what) < 400


def test_each_status_has_a_remedy_of_its_own():
    body = '{"error":"x"}'
    remedies = {status: refusal(status, body).remedy for status in (402, 404, 413, 429, 503)}
    assert len(set(remedies.values())) == 5
