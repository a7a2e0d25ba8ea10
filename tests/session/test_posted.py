"""A stored request reproduces exactly the bytes that were sent."""

from __future__ import annotations

import hashlib

import httpx
import pytest

from jitchat.events import SendFailed
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.http.retry import Clock
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import Options, SentRequest
from jitchat.recorder import sent_request_for
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.store.windows import WindowArchive
from jitchat.values import Mode, Turn
from jitchat.window.budget import Budget
from tests.providers.dialects import DIALECTS, Dialect
from tests.providers.streams import endpoint, no_wait
from tests.session.sending import failures, send, stored_turns, talking
from tests.support import sent_window


class Server:
    """Answers in a protocol, and records the posted bodies."""

    def __init__(self, dialect: Dialect, refused: str = "") -> None:
        self.dialect, self.refused = dialect, refused
        self.bodies: list[bytes] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(request.content)
        if self.refused and self.refused in request.content.decode():
            said = f"Unsupported parameter: '{self.refused}' is not supported with this model."
            return httpx.Response(400, json={"error": {"message": said, "param": self.refused}})
        events = (self.dialect.piece("Aye."), *self.dialect.ends[0])
        written = "".join(map(self.dialect.written, events))
        return httpx.Response(200, headers={"content-type": self.dialect.media}, text=written)


def over_http(session: Session, server: Server) -> None:
    """Have a server answer in the session."""
    protocol, transport = protocol_named(server.dialect.name), httpx.MockTransport(server)
    session.provider = HttpProvider(endpoint(), protocol, transport, clock=Clock(sleep=no_wait))
    session.options = SessionOptions(request=Options(temperature=0.2))


def posted_last(session: Session, said: Turn) -> SentRequest | None:
    """Return the body posted for the last window of a message."""
    window_id = WindowArchive(session.memory.store.database).window_id(said)
    return sent_request_for(session.memory, window_id)


@pytest.mark.parametrize(
    ("dialect", "mode"),
    [
        *((dialect, Mode.JIT) for dialect in DIALECTS),
        *((DIALECTS[0], mode) for mode in list(Mode)[:2]),
    ],
    ids=lambda either: getattr(either, "name", either),
)
async def test_the_sent_bytes_are_reproduced_from_the_stored_request(store, dialect, mode):
    session, server = talking(store), Server(dialect, "temperature")
    over_http(session, server)
    events = await send(session, "where is the 🚢 “Ümlaut”?", mode)
    assert failures(events) == []
    said = stored_turns(events)[0]
    window, posted = sent_window(session, said), posted_last(session, said)
    assert posted.sha256 == hashlib.sha256(server.bodies[-1]).hexdigest()
    session.options = SessionOptions(budget=Budget(limit=9_000, reserve=100))
    session.provider._quirks.refuse("stream_options")
    assert session.wire(window, posted).body == server.bodies[-1]
    assert len(server.bodies) == 2
    await session.aclose()


async def test_an_unanswered_request_is_stored_too(store):
    session, server = talking(store), Server(DIALECTS[0], "model")
    over_http(session, server)
    events = await send(session, "hello")
    assert isinstance(events[-1], SendFailed)
    assert posted_last(session, stored_turns(events)[0]).sha256 == (
        hashlib.sha256(server.bodies[-1]).hexdigest()
    )
    await session.aclose()


async def test_no_request_is_stored_if_none_was_sent(store):
    session = talking(store)
    events = await send(session, "hello")
    assert posted_last(session, stored_turns(events)[0]) is None
    assert session.wire(session.preview("hello", Mode.JIT)) is None
