"""Asking the engine through our own provider, by every route that it has."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from jitchat.errors import ProviderError
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import (
    Endpoint,
    Finished,
    Options,
    Piece,
    ReasoningDelta,
    ReplyDelta,
)
from jitchat.values import Message, Role, Usage
from tests.engine.server import KEY, Engine
from tests.engine.tiny_model import NAME
from tests.providers.streams import answered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROUTES = ("openai", "anthropic")
"""By the protocol's name; one address serves both."""
WRONG = "sk-canary-wrong-8d21c4"
SAMPLING = Options(temperature=0.0, seed=1)
SYSTEM = "Answer as you see fit."


@dataclass
class Asked:
    """What came of a request, and the error that ended it."""

    pieces: list[Piece] = field(default_factory=list)
    error: ProviderError | None = None

    @property
    def texts(self) -> list[str]:
        return [piece.text for piece in self.pieces if isinstance(piece, ReplyDelta)]

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def reasoning(self) -> str:
        return "".join(piece.text for piece in self.pieces if isinstance(piece, ReasoningDelta))

    @property
    def usage(self) -> Usage:
        """The last one, which replaces those before."""
        return [piece for piece in self.pieces if isinstance(piece, Usage)][-1]

    @property
    def finished(self) -> Finished:
        (found,) = (piece for piece in self.pieces if isinstance(piece, Finished))
        return found


def endpoint(engine: Engine, **more: Any) -> Endpoint:
    named = {"name": "llamacpp", "base_url": engine.base_url, "model": NAME, "key": KEY}
    return Endpoint(**named | {"read_seconds": 30.0} | more)


def provider(engine: Engine, route: str = "openai", **more: Any) -> HttpProvider:
    return HttpProvider(endpoint(engine, **more), protocol_named(route))


def said(*texts: str) -> tuple[Message, ...]:
    """The system's text, then what the user and the assistant say in turn."""
    roles = (Role.USER, Role.ASSISTANT)
    talk = [Message(roles[place % 2], text, place + 1) for place, text in enumerate(texts)]
    return (Message(Role.SYSTEM, SYSTEM), *talk)


async def ask(
    wanted: HttpProvider,
    messages: Sequence[Message],
    options: Options = SAMPLING,
    watch: Callable[[Piece], bool] = lambda _: True,
    *,
    close: bool = True,
) -> Asked:
    """Ask, and close the provider. The answer is cancelled when `watch` says no to a piece."""
    asked = Asked()
    try:
        async with aclosing(answered(wanted, messages, options)) as stream:
            async for piece in stream:
                asked.pieces.append(piece)
                if not watch(piece):
                    break
    except ProviderError as error:
        asked.error = error
    if close:
        await wanted.aclose()
    return asked


async def server_says(engine: Engine, path: str, body: object = None, key: str = KEY) -> Any:
    """What the server itself answers to a question about it; a body is posted."""
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=engine.address, headers=headers, verify=False) as client:
        method = "GET" if body is None else "POST"
        response = await client.request(method, path, json=body)
    assert response.is_success, response.text
    return response.json()
