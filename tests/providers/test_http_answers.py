"""An answer over HTTP: whole, cut, or broken off by an error."""

from __future__ import annotations

import asyncio
import gzip
import json

import httpx
import pytest

from jitchat.errors import NotAnAnswer, RequestRefused, StreamCut
from jitchat.providers.http.retry import Clock
from jitchat.providers.provider import Finished, ReplyDelta
from jitchat.values import Usage
from tests.providers.streams import (
    DONE,
    EVENTS,
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
        [ReplyDelta("Hel"), ReplyDelta("lo"), Finished("stop"), Usage(9, 4)],
        None,
    )


async def test_events_may_share_a_chunk_and_spread_over_many():
    whole = (HELLO + event(COUNTS) + DONE).encode()
    expected = [ReplyDelta("Hel"), ReplyDelta("lo"), Finished("stop"), Usage(9, 4)]
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
    assert pieces == [ReplyDelta("Hello"), Finished("stop")]
    assert failure is None


async def test_the_first_reason_counts():
    tail = event(delta(None, finish_reason="length")) + event(STOP) + DONE
    pieces, _ = await collect(provider(streamed(event(delta("Hel")), tail)))
    assert pieces == [ReplyDelta("Hel"), Finished("length")]


async def test_nothing_is_waited_for_after_the_last_event():
    body = Body([HELLO.encode(), DONE.encode(), b"never read"])
    pieces, failure = await collect(provider(httpx.Response(200, stream=body)))
    assert (text_of(pieces), failure) == ("Hello", None)
    assert body.read == 2
    assert body.closed


async def test_a_connection_that_breaks_after_the_end_of_the_answer_did_no_harm():
    answer = streamed(HELLO, httpx.RemoteProtocolError("incomplete chunked read"))
    assert await collect(provider(answer)) == (
        [ReplyDelta("Hel"), ReplyDelta("lo"), Finished("stop")],
        None,
    )


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
async def test_a_server_that_does_not_stream_is_read_too(kind):
    answer = httpx.Response(200, headers={"content-type": kind}, content=json.dumps(WHOLE))
    pieces, failure = await collect(provider(answer))
    assert (pieces, failure) == ([ReplyDelta("Hello"), Finished("stop"), Usage(9, 4)], None)


async def test_a_whole_answer_without_a_reason_is_whole():
    value = {"choices": [{"message": {"content": "Hello"}}]}
    assert await collect(provider(httpx.Response(200, json=value))) == (
        [ReplyDelta("Hello"), Finished("stop")],
        None,
    )


async def test_a_document_that_was_cut_is_not_taken_for_a_whole_one():
    body = json.dumps(WHOLE)[:60]
    answer = httpx.Response(200, headers={"content-type": "application/json"}, content=body)
    pieces, failure = await collect(provider(answer))
    assert pieces == []
    assert isinstance(failure, StreamCut)


async def test_after_the_reason_the_rest_is_not_waited_for_long():
    class Stalling(Body):
        async def __aiter__(self):
            yield HELLO.encode()
            await asyncio.Event().wait()

    answer = httpx.Response(200, headers=EVENTS, stream=Stalling([]))
    pieces, failure = await collect(provider(answer, clock=Clock(patience=0.01)))
    assert (text_of(pieces), failure) == ("Hello", None)
    assert pieces[-1] == Finished("stop")


async def test_comments_after_the_reason_do_not_keep_an_answer_open():
    class Pinging(Body):
        async def __aiter__(self):
            yield HELLO.encode()
            while True:
                await asyncio.sleep(0)
                yield b": ping\n\n"

    answer = httpx.Response(200, headers=EVENTS, stream=Pinging([]))
    async with asyncio.timeout(5):
        pieces, failure = await collect(provider(answer, clock=Clock(patience=0.01)))
    assert (text_of(pieces), failure) == ("Hello", None)
    assert pieces[-1] == Finished("stop")


async def test_what_the_parser_held_back_is_kept_where_the_connection_breaks():
    answer = streamed(event(delta("a <thi")), httpx.ReadError("reset"))
    pieces, failure = await collect(provider(answer))
    assert text_of(pieces) == "a <thi"
    assert isinstance(failure, StreamCut)


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
    assert str(failure) == "The answer stopped half way. The partial reply is kept. Send again."


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


@pytest.mark.parametrize("kind", ["text/event-stream", "application/x-ndjson"])
async def test_a_whole_event_of_ten_megabytes_is_refused_and_what_came_is_kept(kind):
    frame = event if kind == "text/event-stream" else lambda value: json.dumps(value) + "\n"
    body = frame(delta("Hel")) + frame(delta("x" * 10_000_000)) + frame(STOP)
    chunks = [body.encode()], [body[: 1 << 20].encode(), body[1 << 20 :].encode()]
    for parts in chunks:
        answer = httpx.Response(200, headers={"content-type": kind}, stream=Body(parts))
        pieces, failure = await collect(provider(answer))
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
