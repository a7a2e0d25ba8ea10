"""Streams as servers send them, and a provider that is answered by a function."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import httpx

from jitchat.errors import ProviderError
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.http.retry import Clock
from jitchat.providers.protocols.openai import OpenAiProtocol
from jitchat.providers.provider import (
    Endpoint,
    Options,
    Piece,
    Provider,
    ReplyDelta,
    SentRequest,
    ServerQuirks,
)
from jitchat.providers.writing import stream_written
from jitchat.values import Message, Role

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence

KEY = "sk-canary-5f3a9e0c7d2b"
ASKED = (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "hello", 1))
EVENTS = {"content-type": "text/event-stream"}
NO_OBJECTS = (
    "hello",
    "7",
    '"text"',
    "null",
    "true",
    "[]",
    "[7]",
    "{",
    '{"a":',
    "<html>",
    "[" * 100_000,
    "9" * 5_000,
    '{"choices":' + "[" * 5_000,
)
"""Where an object of JSON is due. Tests take them by number: some are too long for a name."""


class Body(httpx.AsyncByteStream):
    """A body in given chunks; an error among them breaks the connection there."""

    def __init__(self, chunks: Iterable[bytes | Exception]) -> None:
        self.chunks = list(chunks)
        self.read = 0
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            if isinstance(chunk, Exception):
                raise chunk
            self.read += 1
            yield chunk

    async def aclose(self) -> None:
        self.closed = True


def endpoint(**more: Any) -> Endpoint:
    return Endpoint(
        **{"name": "openai", "base_url": "http://models.test/v1", "model": "m", "key": KEY} | more
    )


def provider(
    answer: httpx.Response | Exception | Callable[[httpx.Request], httpx.Response],
    *,
    quirks: ServerQuirks | None = None,
    clock: Clock | None = None,
    **more: Any,
) -> HttpProvider:
    """A provider whose every request gets this answer, and that does not wait between two."""

    def handle(request: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return again(answer) if isinstance(answer, httpx.Response) else answer(request)

    transport = httpx.MockTransport(handle)
    where, clock = endpoint(**more), clock or Clock(sleep=no_wait)
    return HttpProvider(where, OpenAiProtocol(), transport, quirks=quirks, clock=clock)


def again(answer: httpx.Response) -> httpx.Response:
    """The same response, not read yet."""
    return httpx.Response(answer.status_code, headers=answer.headers, stream=answer.stream)


async def no_wait(seconds: float) -> None:
    """Time flies."""


def streamed(*chunks: bytes | str | Exception, status: int = 200, **headers: str) -> httpx.Response:
    """A response whose body comes in these chunks."""
    body = Body(chunk.encode() if isinstance(chunk, str) else chunk for chunk in chunks)
    return httpx.Response(status, headers=EVENTS | headers, stream=body)


async def answered(
    wanted: Provider, messages: Sequence[Message], options: Options
) -> AsyncGenerator[Piece, None]:
    """The pieces of an answer, without what is told of the requests for it."""
    async with aclosing(stream_written(wanted, messages, options)) as pieces:
        async for piece in pieces:
            if not isinstance(piece, SentRequest):
                yield piece


async def collect(
    wanted: HttpProvider, messages: Sequence[Message] = ASKED
) -> tuple[list[Piece], ProviderError | None]:
    """What came of a request: the pieces, and the error that ended it."""
    pieces: list[Piece] = []
    failure = None
    try:
        async with aclosing(answered(wanted, messages, Options())) as stream:
            async for piece in stream:
                pieces.append(piece)  # noqa: PERF401  what came before an error counts
    except ProviderError as error:
        failure = error
    await wanted.aclose()
    return pieces, failure


def text_of(pieces: Iterable[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, ReplyDelta))


def event(value: object, newline: str = "\n") -> str:
    return f"data: {json.dumps(value)}{newline}{newline}"


def delta(text: str | None, **more: Any) -> dict[str, Any]:
    """A chunk as OpenAI sends it."""
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None} | more]}


DONE = "data: [DONE]\n\n"
STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
HELLO = event(delta("Hel")) + event(delta("lo")) + event(STOP)
