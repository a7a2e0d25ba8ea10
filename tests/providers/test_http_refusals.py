"""Failed HTTP requests: every kind of response is reported as a sentence."""

from __future__ import annotations

import gzip
import json

import httpx
import pytest

from jitchat.errors import KeyRefused, NotAnAnswer, RequestRefused, Unreachable
from jitchat.providers.provider import Options, ReplyDelta
from tests.providers.streams import (
    ASKED,
    DONE,
    HELLO,
    Body,
    answered,
    collect,
    delta,
    event,
    provider,
    streamed,
    text_of,
)

# what is no answer


@pytest.mark.parametrize("kind", ["text/html", "text/html; charset=utf-8", "application/xhtml+xml"])
async def test_a_web_page_is_no_answer(kind):
    page = httpx.Response(200, headers={"content-type": kind}, content="<html>Log in</html>")
    _, failure = await collect(provider(page))
    assert isinstance(failure, NotAnAnswer)
    assert "web page" in failure.what
    assert "/v1" in failure.remedy


@pytest.mark.parametrize("kind", ["", "text/event-stream", "application/json", "text/plain"])
async def test_a_web_page_is_known_by_its_first_tag(kind):
    page = "\ufeff\r\n <!DOCTYPE html><html>Log in</html>".encode()
    for width in (1, len(page)):
        chunks = [page[start : start + width] for start in range(0, len(page), width)]
        answer = httpx.Response(200, headers={"content-type": kind}, stream=Body(chunks))
        _, failure = await collect(provider(answer))
        assert isinstance(failure, NotAnAnswer)
        assert "web page" in failure.what


async def test_blanks_without_end_are_no_answer():
    _, failure = await collect(provider(streamed(*[" " * 9_000] * 99)))
    assert isinstance(failure, NotAnAnswer)


@pytest.mark.parametrize("body", ["", ": ping\n\n", "Hello there", "\n\n\n"])
async def test_a_stream_without_a_single_event_is_no_answer(body):
    pieces, failure = await collect(provider(streamed(body)))
    assert pieces == []
    assert isinstance(failure, NotAnAnswer)


@pytest.mark.parametrize("body", ["", "{}", "[]", "null", '{"choices":[]}', "not json"])
async def test_a_document_without_an_answer_is_none(body):
    answer = httpx.Response(200, headers={"content-type": "application/json"}, content=body)
    _, failure = await collect(provider(answer))
    assert isinstance(failure, NotAnAnswer)


async def test_an_error_with_the_status_of_success_is_an_error():
    _, failure = await collect(provider(httpx.Response(200, json={"error": "no model loaded"})))
    assert isinstance(failure, RequestRefused)
    assert "no model loaded" in failure.what


async def test_words_in_the_stream_that_are_no_json_are_no_answer():
    pieces, failure = await collect(provider(streamed(event(delta("Hel")), "data: oops\n\n")))
    assert text_of(pieces) == "Hel"
    assert isinstance(failure, NotAnAnswer)


# refusals


async def test_a_refusal_is_told_with_its_status():
    answer = httpx.Response(404, json={"error": {"message": "model 'x' not found"}})
    _, failure = await collect(provider(answer))
    assert isinstance(failure, RequestRefused)
    assert "HTTP 404): model 'x' not found." in failure.what


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_told(status):
    _, failure = await collect(provider(httpx.Response(status, json={"error": "no"})))
    assert isinstance(failure, KeyRefused)


async def test_a_refusal_may_be_compressed():
    body = gzip.compress(json.dumps({"error": "busy"}).encode())
    answer = httpx.Response(429, headers={"content-encoding": "gzip"}, stream=Body([body]))
    _, failure = await collect(provider(answer))
    assert "HTTP 429): busy." in str(failure)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(Body([b"no gzip"]), id="damaged"),
        pytest.param(Body([httpx.ReadError("reset")]), id="broken"),
        pytest.param(Body([b"<html>502 Bad Gateway</html>"]), id="a page"),
    ],
)
async def test_a_refusal_that_cannot_be_read_is_told_by_its_status(body):
    encoding = {"content-encoding": "gzip"} if body.chunks == [b"no gzip"] else {}
    _, failure = await collect(provider(httpx.Response(502, headers=encoding, stream=body)))
    assert isinstance(failure, NotAnAnswer)
    assert "HTTP 502" in failure.what
    assert body.closed


async def test_of_an_endless_refusal_only_the_start_is_read():
    body = Body([b"x" * 16_384] * 1_000)
    _, failure = await collect(provider(httpx.Response(400, stream=body)))
    assert failure is not None
    assert body.read <= 6
    assert body.closed


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_told_and_not_followed(status):
    asked = []

    def redirect(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(status, headers={"location": "https://evil.test/v1"})

    _, failure = await collect(provider(redirect))
    assert asked == ["http://models.test/v1/chat/completions"]
    assert isinstance(failure, NotAnAnswer)
    assert "https://evil.test/v1" in failure.what


@pytest.mark.parametrize("location", ["https://evil.test/\x1b[2J", "http://[::1", "", "x" * 9_000])
async def test_a_redirect_with_an_odd_target_is_told_too(location):
    _, failure = await collect(provider(httpx.Response(307, headers={"location": location})))
    assert failure is not None
    assert "\x1b" not in str(failure)
    assert len(str(failure)) < 600


async def test_a_redirect_without_a_target_is_an_error_of_its_own():
    _, failure = await collect(provider(httpx.Response(304)))
    assert isinstance(failure, NotAnAnswer)
    assert "HTTP 304" in failure.what


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (httpx.ConnectError("All connection attempts failed"), "All connection attempts failed."),
        (httpx.ConnectTimeout(""), "no answer in time."),
        (httpx.ReadTimeout(""), "no answer in time."),
        (httpx.RemoteProtocolError("illegal status line\n"), "illegal status line."),
        (httpx.ReadError(""), "ReadError."),
        (httpx.ProxyError("502"), "502."),
    ],
)
async def test_a_server_that_does_not_answer_is_named(error, told):
    _, failure = await collect(provider(error))
    assert isinstance(failure, Unreachable)
    assert failure.what == f"openai cannot be reached at http://models.test: {told}"


@pytest.mark.parametrize(
    "base",
    [
        "",
        "models.test/v1",
        "localhost:8080/v1",
        "ftp://models.test",
        "http://",
        "http://[::1",
        "http://h:99999",
        "http://h:x/v1",
        "http://\x00",
        "http://é\u200b.\ud800",
    ],
)
async def test_what_is_no_address_is_told_before_anything_is_sent(base):
    def never(request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"sent to {request.url}")

    _, failure = await collect(provider(never, base_url=base))
    assert isinstance(failure, Unreachable)
    assert "is not a valid address" in failure.what
    assert "provider.base_url" in failure.remedy


# the way there


async def test_the_timeouts_are_the_endpoints():
    seen = {}

    def answer(request: httpx.Request) -> httpx.Response:
        seen.update(request.extensions["timeout"])
        return streamed(HELLO, DONE)

    await collect(provider(answer, connect_seconds=2.0, read_seconds=77.0))
    assert (seen["connect"], seen["read"]) == (2.0, 77.0)


async def test_closing_the_stream_closes_the_connection():
    body = Body([event(delta("Hel")).encode(), event(delta("lo")).encode()])
    wanted = provider(httpx.Response(200, stream=body))
    stream = answered(wanted, ASKED, Options())
    assert await anext(stream) == ReplyDelta("Hel")
    await stream.aclose()
    assert body.closed
    assert body.read == 1
    await wanted.aclose()


async def test_a_provider_answers_again_after_an_error_and_after_being_closed():
    answers = [httpx.Response(400, json={"error": "x"}), streamed(HELLO), streamed(HELLO)]
    wanted = provider(lambda _: answers.pop(0))
    _, failure = await collect(wanted)
    assert isinstance(failure, RequestRefused)
    for _ in range(2):
        pieces, failure = await collect(wanted)
        assert (text_of(pieces), failure) == ("Hello", None)


async def test_a_provider_is_known_by_the_endpoints_names():
    wanted = provider(streamed(HELLO), name="openai", model="gpt-x")
    assert (wanted.name, wanted.model) == ("openai", "gpt-x")
