"""A request is shown exactly as posted, except for its secrets."""

from __future__ import annotations

import json
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import ProviderError
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.http.retry import Clock
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import (
    Options,
    RequestAdapted,
    SentRequest,
    Wire,
    request_fields,
    request_from,
)
from jitchat.providers.reader import ReaderProvider
from jitchat.values import Message, Role
from tests.examples import examples
from tests.providers.dialects import DIALECTS
from tests.providers.streams import ASKED, KEY, endpoint, no_wait

SET = Options(temperature=0.2, top_p=0.9, seed=7, effort="low", max_tokens=99, context=4_096)
TALK = (
    *ASKED,
    Message(Role.ASSISTANT, 'He said "no"\n\tand left 🙂 \x1b\x7f', 2),
    Message(Role.USER, "Why? Ümlaut \\ \u2028 end", 3),
)
protocols = pytest.mark.parametrize("name", [dialect.name for dialect in DIALECTS])


class Server:
    """Answers nothing, and keeps what it was posted."""

    def __init__(self, *unknown: str) -> None:
        self.unknown = unknown
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        for name in self.unknown:
            if name in request.content.decode():
                said = f"Unsupported parameter: '{name}' is not supported with this model."
                return httpx.Response(400, json={"error": {"message": said, "param": name}})
        return httpx.Response(401, json={"error": {"message": "Who are you?"}})


def asking(name: str, server: Server, **more: Any) -> HttpProvider:
    transport = httpx.MockTransport(server)
    where = endpoint(**more)
    return HttpProvider(where, protocol_named(name), transport, clock=Clock(sleep=no_wait))


async def posted_by(
    wanted: HttpProvider, options: Options = SET
) -> list[SentRequest | RequestAdapted]:
    """What is told of the requests for an answer that is refused in the end."""
    told: list[SentRequest | RequestAdapted] = []
    async with aclosing(wanted.stream(TALK, options)) as pieces:
        with suppress(ProviderError):
            async for piece in pieces:
                assert isinstance(piece, SentRequest | RequestAdapted)
                told.append(piece)
    await wanted.aclose()
    return told


@protocols
async def test_what_is_shown_is_what_the_server_is_posted(name):
    server = Server()
    wanted = asking(name, server)
    wire = wanted.wire(TALK, SET)
    told = await posted_by(wanted)
    (request,) = server.requests
    assert (wire.method, wire.url, wire.body) == (request.method, str(request.url), request.content)
    received = [(key.decode(), value.decode()) for key, value in request.headers.raw]
    assert [(key, value.replace(KEY, "•••")) for key, value in received] == list(wire.headers)
    assert told == [SentRequest("openai", wire.url, SET, wire.sha256)]
    assert request_from(json.loads(json.dumps(request_fields(told[0])))) == told[0]


async def test_what_was_refused_is_left_out_of_the_next_one_and_of_what_is_kept():
    server = Server("temperature")
    wanted = asking("openai", server)
    first, _, last = await posted_by(wanted)
    assert [each.sha256 for each in (first, last)] == [
        Wire("POST", "", (), request.content).sha256 for request in server.requests
    ]
    assert last.options == replace(SET, without=frozenset({"temperature"}))
    assert wanted.wire(TALK, SET).body == server.requests[-1].content
    was = wanted.wire(TALK, first.options, as_posted=True)
    assert (was.sha256, was.body) == (first.sha256, server.requests[0].content)


@protocols
async def test_no_secret_is_in_what_is_shown_or_kept(name):
    server, secrets = Server(), (KEY, "hunter2-canary", "pass-canary")
    wanted = asking(
        name,
        server,
        base_url="http://me:pass-canary@models.test/v1",
        headers={"X-Gate": "hunter2-canary", "X-Title": "mine"},
        key_variable="SOME_KEY",
    )
    wire = wanted.wire(TALK, SET)
    (told,) = await posted_by(wanted)
    (request,) = server.requests
    names = [key.decode() for key, _ in request.headers.raw]
    assert names == [key for key, _ in wire.headers]
    shown = f"{wire!r} {told!r} {request_fields(told)}"
    assert [secret for secret in secrets if secret in shown] == []
    assert ("X-Title", "mine") in wire.headers
    assert wire.key_variable == "SOME_KEY"
    assert wire.url.startswith("http://models.test/")


@examples(30)
@given(
    st.builds(
        Options,
        temperature=st.none() | st.floats(0, 2),
        seed=st.none() | st.integers(0, 9),
        room=st.none() | st.integers(0, 9_999),
        without=st.frozensets(st.sampled_from(["seed", "top_p", "system"])),
    )
)
def test_the_options_of_a_request_are_kept_as_they_were(options):
    posted = SentRequest("p", "http://models.test/v1", options, "0" * 64)
    assert request_from(json.loads(json.dumps(request_fields(posted)))) == posted


def test_nothing_leaves_for_the_reader():
    assert ReaderProvider(lambda *_: (1, 1)).wire(TALK, SET) is None
