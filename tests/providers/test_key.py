"""The key goes to the server and nowhere else."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING
from urllib.parse import unquote

import httpx
import pytest

from jitchat.errors import ContextOverflow, JitchatError, KeyRefused
from jitchat.events import SendFailed
from jitchat.providers.provider import Options, RetryScheduled
from jitchat.values import Mode
from tests.providers.streams import (
    ASKED,
    DONE,
    HELLO,
    KEY,
    answered,
    collect,
    delta,
    endpoint,
    event,
    provider,
    streamed,
)
from tests.support import conversation_of, session_on, talk

if TYPE_CHECKING:
    from pathlib import Path

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


WRITTEN = {
    "in capitals": KEY.upper(),
    "in some capitals": KEY.title(),
    "its start": KEY[:10],
    "its end": KEY[-9:],
    "without its middle": f"{KEY[:8]}***{KEY[-8:]}",
    "encoded": KEY.replace("-", "%2D"),
    "wholly encoded": "".join(f"%{ord(each):02x}" for each in KEY),
    "twice": f"{KEY}{KEY}",
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
async def test_a_key_is_blotted_out_however_a_server_writes_it(written):
    error = {"error": {"message": f"bad key {written}, sorry"}}
    answers = {
        "body": httpx.Response(400, json=error),
        "stream": streamed(event(error)),
        "redirect": httpx.Response(307, headers={"location": f"https://x.test/{written}/, sorry"}),
        "retry": httpx.Response(503, json=error),
    }
    for where, answer in answers.items():
        pieces, failure = await collect(provider(answer))
        assert failure is not None, where
        assert "sorry" in failure.what, where
        retries = [each.why for each in pieces if isinstance(each, RetryScheduled)]
        assert (where == "retry") == bool(retries)
        for told in (failure.what, *retries):
            assert "•••" in told, where
            plain = unquote(told).lower()
            assert not any(KEY[at : at + 8] in plain for at in range(len(KEY) - 7)), where


@pytest.mark.parametrize("key", ["x", "none", "ollama"])
async def test_a_short_key_is_blotted_out_as_a_word_only(key):
    error = {"error": {"message": f"example of none: ollama {key.upper()}x"}}
    _, failure = await collect(provider(httpx.Response(400, json=error), key=key))
    assert failure is not None
    assert "refused the request" in failure.what
    assert f"{key.upper()}x" in failure.what
    assert failure.what.count("•••") == (0 if key == "x" else 1)


async def test_a_header_of_ones_own_is_sent_and_blotted_out_like_the_key():
    secret = "Token abcdefgh-12345678"
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["x-gate"])
        return httpx.Response(400, json={"error": f"bad token ABCDEFGH-1234 of {KEY}"})

    wanted = provider(answer, headers={"X-Gate": secret, "X-Title": "bad"})
    _, failure = await collect(wanted)
    assert seen == [secret]
    assert failure is not None
    assert "bad ••• of •••." in failure.what
    assert secret not in rendered(failure)
    assert secret not in repr(vars(wanted))


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Gate": f"{KEY}\r\nX-Evil: 1"},
        {"X-Gate": f"{KEY}…"},
        {"X-Gate": f"{KEY}\x00"},
        {"X Gate": KEY},
        {"": KEY},
        {"X-\x1b[2J": KEY},
        {"X-Good": "good", "X-é": KEY},
    ],
)
async def test_what_cannot_be_a_header_is_neither_sent_nor_shown(headers):
    def never(request: httpx.Request) -> httpx.Response:
        raise AssertionError("sent")

    _, failure = await collect(provider(never, key="", headers=headers))
    assert isinstance(failure, KeyRefused)
    assert "was not sent" in failure.remedy
    assert KEY not in rendered(failure)
    assert "\x1b" not in str(failure)


async def test_the_login_of_an_address_is_blotted_out():
    answer = httpx.Response(400, json={"error": "no user me with pass p@ssw0rd"})
    _, failure = await collect(provider(answer, base_url="http://me:p%40ssw0rd@models.test/v1"))
    assert failure is not None
    assert "with pass •••." in failure.what
    _, failure = await collect(provider(httpx.ConnectError("no"), base_url="http://me:pw@h.test"))
    assert failure is not None
    assert failure.what == "openai cannot be reached at http://h.test: no."


@pytest.mark.parametrize(
    "base_url", ["htp://me:hunter2-secret@models.test/v1", "http://me:hunter2-secret@h:99999/v1"]
)
async def test_the_login_of_what_is_no_address_is_blotted_out(base_url):
    _, failure = await collect(provider(streamed(HELLO), base_url=base_url))
    assert failure is not None
    assert "is not a valid address" in failure.what
    assert "hunter2" not in rendered(failure)


async def test_a_header_that_everybody_may_read_is_not_blotted_out():
    said = "See https://models.test/docs, jitchat on a desk."
    headers = {"HTTP-Referer": "https://github.com/me/jitchat", "X-Title": "jitchat on a desk"}
    answer = httpx.Response(400, json={"error": {"message": said}})
    _, failure = await collect(provider(answer, headers=headers))
    assert failure is not None
    assert said in failure.what


async def test_an_overflow_keeps_its_numbers_when_the_key_is_blotted_out():
    said = f"request (9621 tokens) exceeds the available context size (512 tokens) {KEY}"
    _, failure = await collect(provider(httpx.Response(400, json={"error": {"message": said}})))
    assert isinstance(failure, ContextOverflow)
    assert (failure.needed, failure.limit) == (9621, 512)
    assert KEY not in repr(vars(failure))


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
    assert "was not sent" in failure.remedy
    assert KEY not in rendered(failure)
    assert KEY[:12] not in str(failure)


async def test_the_database_never_holds_the_key(store):
    for name, answer in ANSWERS.items():
        session = session_on(store, conversation_of(store, talk("one", "two")))
        session.provider = provider(answer())
        events = [event async for event in session.send("hello", Mode.JIT)]
        failures = [each.error for each in events if isinstance(each, SendFailed)]
        assert all(isinstance(error, JitchatError) for error in failures), name
        assert KEY not in repr(events), name
        path: Path = store.database.path
        for file in path.parent.glob(f"{path.name}*"):
            assert KEY.encode() not in file.read_bytes(), name


async def test_cancelling_leaves_no_error_that_knows_the_key():
    started = asyncio.Event()

    async def stall(request: httpx.Request) -> httpx.Response:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    wanted = provider(stall)
    task = asyncio.ensure_future(anext(answered(wanted, ASKED, Options())))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as cancelled:
        await task
    texts = [repr(each) + str(each) for each in chain(cancelled.value)]
    assert KEY not in "".join(texts)
    await wanted.aclose()


async def test_nothing_leaves_for_who_wants_a_key_and_has_none():
    asked = []
    wanting = provider(asked.append, key="", wants_key=True)
    pieces, failure = await collect(wanting)
    assert (pieces, asked) == ([], [])
    assert isinstance(failure, KeyRefused)
    assert failure.what == "openai requires a key, but none is set. Nothing was sent."


@pytest.mark.parametrize(("key", "told"), [(KEY, "the key has access"), ("", "Set HELP.")])
async def test_access_that_is_refused_to_a_key_is_not_about_setting_one(key, told):
    refused = httpx.Response(403, json={"error": {"message": "No access to this project"}})
    _, failure = await collect(provider(lambda _: refused, key=key, key_help="Set HELP."))
    assert isinstance(failure, KeyRefused)
    assert told in failure.remedy
    assert ("Set HELP." in failure.remedy) == (not key)
