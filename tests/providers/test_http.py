"""An answer over HTTP: everything that can come back instead of one, told as a sentence."""

from __future__ import annotations

import gzip
import json

import httpx
import pytest

from jitchat.errors import KeyRefused, NotAnAnswer, RequestRefused, StreamCut, Unreachable
from jitchat.providers.provider import Delta, Finished, Options
from jitchat.turn import Usage
from tests.providers.streams import (
    ASKED,
    DONE,
    HELLO,
    STOP,
    Body,
    collect,
    delta,
    event,
    provider,
    streamed,
    text_of,
)

COUNTS = {"usage": {"prompt_tokens": 9, "completion_tokens": 4}}
WHOLE = {
    "choices": [{"message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}]
} | COUNTS


# answers


async def test_an_answer_comes_piece_by_piece_with_its_end_and_its_usage():
    answer = streamed(HELLO, event({"choices": []} | COUNTS), DONE)
    assert await collect(provider(answer)) == (
        [Delta("Hel"), Delta("lo"), Finished("stop"), Usage(9, 4)],
        None,
    )


async def test_events_may_share_a_chunk_and_spread_over_many():
    whole = (HELLO + event(COUNTS) + DONE).encode()
    expected = [Delta("Hel"), Delta("lo"), Finished("stop"), Usage(9, 4)]
    for width in (1, 7, len(whole)):
        chunks = [whole[start : start + width] for start in range(0, len(whole), width)]
        assert await collect(provider(streamed(*chunks))) == (expected, None)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
async def test_every_kind_of_line_end_comments_and_a_byte_order_mark_are_taken(newline):
    pieces = [": OPENROUTER PROCESSING", ""]
    for value in (delta("Hel"), delta("lo\u2028"), STOP):
        pieces += [": ping", f"data: {json.dumps(value, ensure_ascii=False)}", ""]
    body = "\ufeff" + newline.join([*pieces, "data: [DONE]", "", ""])
    pieces, failure = await collect(provider(streamed(*(bytes([b]) for b in body.encode()))))
    assert (text_of(pieces), failure) == ("Hello\u2028", None)


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param(event(STOP) + DONE, id="both"),
        pytest.param(event(STOP), id="no [DONE]"),
        pytest.param(event(STOP).rstrip("\n"), id="left open"),
        pytest.param(DONE, id="no reason"),
        pytest.param("data: [DONE]", id="no reason, left open"),
        pytest.param("data:[DONE]\r\r", id="old line ends"),
    ],
)
async def test_a_reason_or_the_last_event_finishes_an_answer(tail):
    pieces, failure = await collect(provider(streamed(event(delta("Hello")), tail)))
    assert pieces == [Delta("Hello"), Finished("stop")]
    assert failure is None


async def test_the_first_reason_counts():
    tail = event(delta(None, finish_reason="length")) + event(STOP) + DONE
    pieces, _ = await collect(provider(streamed(event(delta("Hel")), tail)))
    assert pieces == [Delta("Hel"), Finished("length")]


async def test_nothing_is_waited_for_after_the_last_event():
    body = Body([HELLO.encode(), DONE.encode(), b"never read"])
    pieces, failure = await collect(provider(httpx.Response(200, stream=body)))
    assert (text_of(pieces), failure) == ("Hello", None)
    assert body.read == 2
    assert body.closed


async def test_a_connection_that_breaks_after_the_end_of_the_answer_did_no_harm():
    answer = streamed(HELLO, httpx.RemoteProtocolError("incomplete chunked read"))
    assert await collect(provider(answer)) == (
        [Delta("Hel"), Delta("lo"), Finished("stop")],
        None,
    )


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
async def test_a_server_that_does_not_stream_is_read_too(kind):
    answer = httpx.Response(200, headers={"content-type": kind}, content=json.dumps(WHOLE))
    pieces, failure = await collect(provider(answer))
    assert (pieces, failure) == ([Delta("Hello"), Finished("stop"), Usage(9, 4)], None)


async def test_a_whole_answer_without_a_reason_is_whole():
    value = {"choices": [{"message": {"content": "Hello"}}]}
    assert await collect(provider(httpx.Response(200, json=value))) == (
        [Delta("Hello"), Finished("stop")],
        None,
    )


async def test_a_compressed_stream_is_read():
    answer = streamed(gzip.compress((HELLO + DONE).encode()), **{"content-encoding": "gzip"})
    pieces, failure = await collect(provider(answer))
    assert (text_of(pieces), failure) == ("Hello", None)


async def test_a_stream_without_a_content_type_is_read():
    answer = httpx.Response(200, stream=Body([(HELLO + DONE).encode()]))
    pieces, failure = await collect(provider(answer))
    assert (text_of(pieces), failure) == ("Hello", None)


# answers that break off


async def test_a_stream_that_just_ends_was_cut():
    pieces, failure = await collect(provider(streamed(event(delta("Hel")))))
    assert text_of(pieces) == "Hel"
    assert isinstance(failure, StreamCut)
    assert str(failure) == "The answer stopped half way. What came is kept. Send again."


async def test_a_stream_that_ends_in_the_middle_of_an_event_was_cut():
    for place in range(1, len(event(delta("lo"))) - 2):
        tail = event(delta("lo"))[:place]
        pieces, failure = await collect(provider(streamed(event(delta("Hel")), tail)))
        assert isinstance(failure, StreamCut)
        assert text_of(pieces) in ("Hel", "Hello")


async def test_a_stream_that_ends_before_its_first_word_was_cut():
    role = event({"choices": [{"delta": {"role": "assistant", "content": ""}}]})
    pieces, failure = await collect(provider(streamed(role)))
    assert pieces == []
    assert isinstance(failure, StreamCut)


@pytest.mark.parametrize(
    "error",
    [
        httpx.ReadError("Connection reset by peer"),
        httpx.ReadTimeout(""),
        httpx.RemoteProtocolError("peer closed connection"),
        httpx.StreamError("stream"),
    ],
)
async def test_a_connection_that_breaks_half_way_keeps_what_came(error):
    pieces, failure = await collect(provider(streamed(event(delta("Hel")), error)))
    assert text_of(pieces) == "Hel"
    assert isinstance(failure, StreamCut)
    assert failure.what.startswith("The connection broke: ")
    assert len(failure.what) > len("The connection broke: .")


async def test_damaged_compression_cuts_the_answer():
    answer = streamed(b"this is no gzip", **{"content-encoding": "gzip"})
    pieces, failure = await collect(provider(answer))
    assert pieces == []
    assert isinstance(failure, StreamCut)


async def test_an_error_in_the_stream_keeps_what_came():
    broken = event({"error": {"message": "Overloaded", "code": 529}})
    pieces, failure = await collect(provider(streamed(event(delta("Hel")), broken)))
    assert text_of(pieces) == "Hel"
    assert isinstance(failure, RequestRefused)
    assert failure.what == "The provider stopped: Overloaded."


async def test_an_error_event_in_an_open_stream_is_told():
    body = 'event: error\ndata: {"error":{"message":"context length"}}'
    _, failure = await collect(provider(streamed(body)))
    assert isinstance(failure, RequestRefused)


async def test_an_event_without_end_is_given_up():
    chunk = b"x" * (1 << 20)
    pieces, failure = await collect(
        provider(streamed(event(delta("Hel")), "data: ", *([chunk] * 9)))
    )
    assert text_of(pieces) == "Hel"
    assert isinstance(failure, NotAnAnswer)
    assert "8 MiB" in failure.what


async def test_a_document_without_end_is_given_up():
    body = Body([b" " * (1 << 20)] * 12)
    answer = httpx.Response(200, headers={"content-type": "application/json"}, stream=body)
    _, failure = await collect(provider(answer))
    assert isinstance(failure, NotAnAnswer)
    assert body.read < 12
    assert body.closed


# what is no answer


@pytest.mark.parametrize("kind", ["text/html", "text/html; charset=utf-8", "application/xhtml+xml"])
async def test_a_web_page_is_no_answer(kind):
    page = httpx.Response(200, headers={"content-type": kind}, content="<html>Log in</html>")
    _, failure = await collect(provider(page))
    assert isinstance(failure, NotAnAnswer)
    assert "web page" in failure.what
    assert "/v1" in failure.remedy


@pytest.mark.parametrize("body", ["", "<html>Log in</html>", ": ping\n\n", "Hello there", "\n\n\n"])
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
    _, failure = await collect(provider(httpx.Response(500, stream=body)))
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
async def test_a_redirect_to_nowhere_is_told_too(location):
    _, failure = await collect(provider(httpx.Response(307, headers={"location": location})))
    assert failure is not None
    assert "\x1b" not in str(failure)
    assert len(str(failure)) < 600


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
    assert "is not an address" in failure.what
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
    stream = wanted.stream(ASKED, Options())
    assert await anext(stream) == Delta("Hel")
    await stream.aclose()
    assert body.closed
    assert body.read == 1
    await wanted.aclose()


async def test_a_provider_answers_again_after_an_error_and_after_being_closed():
    answers = [httpx.Response(500, json={"error": "x"}), streamed(HELLO), streamed(HELLO)]
    wanted = provider(lambda _: answers.pop(0))
    _, failure = await collect(wanted)
    assert isinstance(failure, RequestRefused)
    for _ in range(2):
        pieces, failure = await collect(wanted)
        assert (text_of(pieces), failure) == ("Hello", None)


async def test_a_provider_is_known_by_the_endpoints_names():
    wanted = provider(streamed(HELLO), name="openai", model="gpt-x")
    assert (wanted.name, wanted.model) == ("openai", "gpt-x")
