"""The key goes to the server and nowhere else."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import httpx
import pytest

from jitchat.errors import JitchatError, KeyRefused
from jitchat.events import SendFailed
from jitchat.providers.provider import Options
from jitchat.turn import Mode
from tests.providers.streams import (
    ASKED,
    DONE,
    HELLO,
    KEY,
    collect,
    delta,
    endpoint,
    event,
    provider,
    streamed,
)
from tests.support import conversation_of, session_on, talk

Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


def echo(status: int) -> Callable[[httpx.Request], httpx.Response]:
    """A server that repeats the key in its error."""
    return lambda request: httpx.Response(
        status,
        json={"error": {"message": f"Incorrect API key: {request.headers['authorization']}"}},
    )


ANSWERS: dict[str, Callable[[], Answer]] = {
    "answer": lambda: streamed(HELLO, DONE),
    "cut": lambda: streamed(event(delta("Hel"))),
    "reset": lambda: streamed(event(delta("Hel")), httpx.ReadError("reset")),
    "unreachable": lambda: httpx.ConnectError("refused"),
    "protocol": lambda: httpx.RemoteProtocolError("illegal"),
    "echoed 401": lambda: echo(401),
    "echoed 400": lambda: echo(400),
    "echoed 500": lambda: echo(500),
    "echoed in the stream": lambda: streamed(event({"error": {"message": f"bad key {KEY}"}})),
    "echoed by a redirect": lambda: httpx.Response(
        307, headers={"location": f"https://x.test/?key={KEY}"}
    ),
    "web page": lambda: httpx.Response(200, html="<html>"),
    "no JSON": lambda: streamed("data: oops\n\n"),
}


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and everything that Python keeps behind it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def rendered(error: BaseException, *, with_locals: bool = True) -> str:
    """The worst report there is: every frame with its locals, of every error of the chain."""
    texts = []
    for each in chain(error):
        told = traceback.TracebackException.from_exception(each, capture_locals=with_locals)
        own = [line for line in told.format() if "tests/providers" not in line]
        texts += [*own, repr(each), str(each), repr(each.args)]
    return "".join(texts)


@pytest.mark.parametrize("name", ANSWERS)
async def test_no_error_knows_the_key(name):
    wanted = provider(ANSWERS[name]())
    _, failure = await collect(wanted)
    assert (failure is None) == (name == "answer")
    if failure is not None:
        assert [type(each) for each in chain(failure)] == [type(failure)], "it stands alone"
        # the frame that reads holds what the server just sent
        assert KEY not in rendered(failure, with_locals=name != "echoed in the stream")
        assert KEY not in f"{failure.what} {failure.remedy} {vars(failure)}"


async def test_what_a_server_repeats_is_blotted_out():
    _, failure = await collect(provider(echo(401)))
    assert failure is not None
    assert "Incorrect API key: Bearer •••." in failure.what


async def test_the_key_is_sent_in_its_header_and_in_nothing_else():
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return streamed(HELLO, DONE)

    await collect(provider(answer))
    (request,) = seen
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(request.url)
    assert KEY.encode() not in request.content
    del request.headers["authorization"]
    assert KEY not in str(request.headers.raw)


def test_no_repr_shows_the_key():
    wanted = provider(streamed(HELLO))
    for shown in (endpoint(), wanted, vars(wanted), [endpoint()]):
        assert KEY not in repr(shown)
        assert KEY not in str(shown)
    assert asdict(endpoint())["key"] == KEY, "it is there"


@pytest.mark.parametrize(
    "bad",
    [
        f"{KEY}…",
        f"{KEY}é",
        f"{KEY} ",
        f" {KEY}",
        f"{KEY[:5]} {KEY[5:]}",
        f"{KEY}\n",
        f"{KEY}\x00",
        f"{KEY}\u200b",
        f"{KEY}\r\nX-Evil: 1",
        f"{KEY}\x7f",
    ],
)
async def test_what_cannot_be_a_key_is_neither_sent_nor_shown(bad):
    def never(request: httpx.Request) -> httpx.Response:
        raise AssertionError("sent")

    _, failure = await collect(provider(never, key=bad))
    assert isinstance(failure, KeyRefused)
    assert "was not sent anywhere" in failure.remedy
    assert KEY not in rendered(failure)
    assert KEY[:12] not in str(failure)


@pytest.mark.parametrize("name", ANSWERS)
async def test_the_database_never_holds_the_key(store, name):
    conversation = conversation_of(store, talk("one", "two"))
    session = session_on(store, conversation)
    session.provider = provider(ANSWERS[name]())
    events = [event async for event in session.send("hello", Mode.JIT)]
    failures = [each.error for each in events if isinstance(each, SendFailed)]
    assert all(isinstance(error, JitchatError) for error in failures)
    assert KEY not in repr(events)
    path: Path = store.database.path
    for file in path.parent.glob(f"{path.name}*"):
        assert KEY.encode() not in file.read_bytes()


async def test_cancelling_leaves_no_error_that_knows_the_key():
    started = asyncio.Event()

    async def stall(request: httpx.Request) -> httpx.Response:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    wanted = provider(streamed())
    wanted._transport = httpx.MockTransport(stall)
    task = asyncio.ensure_future(anext(wanted.stream(ASKED, Options())))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as cancelled:
        await task
    texts = [repr(each) + str(each) for each in chain(cancelled.value)]
    assert KEY not in "".join(texts)
    await wanted.aclose()
