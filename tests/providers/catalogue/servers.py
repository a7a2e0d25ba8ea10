"""Fake servers made from their responses: `routes({"GET /v1/models": {...}})`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import httpx

from jitchat.values import Limit
from tests.providers.streams import Body

Answer = Any
"""JSON; or a response, an error to raise, or a function of the request that gives one of these."""


class Routes(httpx.MockTransport):
    """Answers by method and path, 404 where there is none, and keeps what was asked."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        super().__init__(self._answer)
        self.answers, self.requests = answers, []

    @property
    def asked(self) -> list[str]:
        return [_named(request) for request in self.requests]

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        found = self.answers.get(_named(request), httpx.Response(404, json={"error": "no route"}))
        if isinstance(found, Callable):
            found = found(request)
        if isinstance(found, Exception):
            raise found
        return found if isinstance(found, httpx.Response) else httpx.Response(200, json=found)


def _named(request: httpx.Request) -> str:
    return f"{request.method} {request.url.raw_path.decode().partition('?')[0]}"


def models(*rows: Any) -> dict[str, Any]:
    """The list of models of chat completions."""
    return {"object": "list", "data": list(rows)}


def loaded(tokens: int) -> Limit:
    return Limit(tokens, "loaded in the server")


def maximum(tokens: int) -> Limit:
    return Limit(tokens, "the server's maximum")


def endless() -> Body:
    """Far more than anybody reads."""
    return Body([b" " * (1 << 20)] * 64)


NASTY: dict[str, Answer] = {
    "not JSON": lambda _: httpx.Response(200, text="Hello"),
    "a web page": lambda _: httpx.Response(200, html="<html>Please log in</html>"),
    "nothing": lambda _: httpx.Response(200, text=""),
    "a number": lambda _: httpx.Response(200, text="7"),
    "null": lambda _: httpx.Response(200, text="null"),
    "nested to hurt": lambda _: httpx.Response(200, text="[" * 100_000),
    "a huge number": lambda _: httpx.Response(200, text='{"data": [' + "9" * 5_000 + "]}"),
    "another list": lambda _: httpx.Response(200, json={"items": []}),
    "an error": lambda _: httpx.Response(500, json={"error": {"message": "broken"}}),
    "a redirect": lambda _: httpx.Response(302, headers={"location": "http://elsewhere.test/"}),
    "a redirect to nowhere": lambda _: httpx.Response(304),
    "no connection": httpx.ConnectError("refused"),
    "a stall": httpx.ReadTimeout("stalled"),
    "a cut": httpx.RemoteProtocolError("peer closed connection"),
    "broken gzip": lambda _: httpx.Response(
        200, headers={"content-encoding": "gzip"}, stream=Body([b"not gzip"])
    ),
}
"""What a server should not answer, by name; none of it is a list of models."""
