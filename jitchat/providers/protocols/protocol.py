"""What the wire protocols share: the request's side and the answer's side of one, and its parts."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Protocol

import httpx

from jitchat import __version__
from jitchat.errors import NotAnAnswer, SettingsError
from jitchat.providers.protocols.addresses import query_of
from jitchat.providers.protocols.calls import ToolCalls
from jitchat.providers.protocols.json_values import is_nested_within, parsed
from jitchat.providers.protocols.refusals import CHECK_URL, stopped
from jitchat.providers.protocols.thinking import ThinkTags
from jitchat.providers.provider import Endpoint, Options, Piece
from jitchat.text.sanitize import shorten
from jitchat.values import Echo, Message, Usage

USER_AGENT = f"jitchat/{__version__}"
"""Who asks. What stands before many servers turns away a request that does not say so."""
_ANTHROPIC_VERSION = "2023-06-01"
_KEY_HEADERS = {"anthropic": ("x-api-key", "{}"), "gemini": ("x-goog-api-key", "{}")}
"""Where a protocol has its own; most servers want a bearer's token."""
_NOTHING: tuple[object, ...] = (None, "", (), [], {})


def json_request(
    endpoint: Endpoint,
    protocol_name: str,
    url: str | httpx.URL,
    body: Mapping[str, object] | None,
    accept: str = "text/event-stream",
) -> httpx.Request:
    """Make the request, with the key; a GET where it has no body. The user's own headers win.

    The query of the endpoint's address stands behind each route of its server.

    Raises:
        httpx.InvalidURL: The endpoint's address is none.

    """
    route, own_query = httpx.URL(url), query_of(endpoint.base_url)
    if own_query:
        queries = filter(None, (route.query.decode(), own_query))
        route = route.copy_with(query="&".join(queries).encode())
    if body is None:
        request = httpx.Request("GET", route)
    else:
        request = httpx.Request("POST", route, content=json.dumps(body).encode())
        request.headers["Content-Type"] = "application/json"
    request.headers["User-Agent"] = USER_AGENT
    request.headers["Accept"] = accept
    for name, value in (_credentials(endpoint, protocol_name) | dict(endpoint.headers)).items():
        request.headers[name] = value
    return request


def _credentials(endpoint: Endpoint, protocol_name: str) -> dict[str, str]:
    version = {"anthropic-version": _ANTHROPIC_VERSION} if protocol_name == "anthropic" else {}
    if not endpoint.key:
        return version
    header, form = _KEY_HEADERS.get(protocol_name, ("Authorization", "Bearer {}"))
    return version | {header: form.format(endpoint.key)}


def filled(values: Mapping[str, object], without: Iterable[str] = ()) -> dict[str, object]:
    """Leave out what is null or empty, and what the server refuses."""
    refused = frozenset(without)
    return {
        name: value
        for name, value in values.items()
        if name not in refused and value not in _NOTHING
    }


def named_schema(options: Options) -> dict[str, object] | None:
    """Write the schema of the answer as OpenAI's APIs want it; None where there is none."""
    if options.schema is None:
        return None
    return {"name": "answer", "strict": True, "schema": json.loads(options.schema)}


class CountsSoFar:
    """The counts of one answer, by the names that a protocol gives them.

    `cached`, `written` and `reasoning` are those of a `Usage`.
    """

    def __init__(self) -> None:
        self._latest: dict[str, int] = {}
        self.cost: float | None = None
        """In US dollars, as the server reported it; None where it did not."""

    def take(self, **counts: int | None) -> bool:
        """Take a report, with None for what it does not tell; whether it told anything."""
        known = {name: number for name, number in counts.items() if number is not None}
        self._latest |= known
        return bool(known)

    def sum(self, *names: str) -> int | None:
        """Add up what is known of some counts; None where none of them was told."""
        counts = [self._latest[name] for name in names if name in self._latest]
        return sum(counts) if counts else None

    def usage(self, sent: int | None, answered: int | None) -> Usage | None:
        """Say what is known by now of all of the input and the output; None while neither is.

        No request is empty: an input of 0 is a proxy that does not know, and then its 0 of output
        is none either.
        """
        sent = sent or None
        answered = answered if sent is not None else answered or None
        if sent is None and answered is None:
            return None
        cached, written, reasoning = (
            self._latest.get(name, 0) for name in ("cached", "written", "reasoning")
        )
        return Usage(sent, answered, cached, written, reasoning, self.cost)


_DEEPEST = 100
"""Levels of an echo: what is deeper cannot be written again."""


class AnswerParser(ABC):
    """Reads one answer, object by object; one of which nothing is known says nothing."""

    def __init__(self) -> None:
        self.over = False
        """Whether nothing more will come, so that there is no need to wait for the end."""
        self._text = ThinkTags()
        self._calls = ToolCalls()
        self._has_echoed = False
        self._counts = CountsSoFar()

    def parse(self, event: str, data: str) -> Iterator[Piece]:
        """Yield what one event of the stream says: one object, several in a list, or `[DONE]`.

        Raises:
            ProviderError: The event is an error, or is not of this protocol.

        """
        if not data.startswith("{"):
            data = data.strip()
            if data == "[DONE]":
                yield from self.end()
                self.over = True
            if data in ("", "[DONE]"):
                return
        value = parsed(data)
        for chunk in value if isinstance(value, list) and value else (value,):
            if not isinstance(chunk, dict):
                yield from self._text.end()
                raise NotAnAnswer("The server sent an event that is not a JSON object.", CHECK_URL)
            kinds = (event, chunk.get("type"), chunk.get("object"))
            if chunk.get("error") or "error" in kinds:
                yield from self._text.end()
                yield from self._counted(chunk)
                raise stopped(chunk)
            yield from self._read(event, chunk)

    def end(self) -> Iterator[Piece]:
        """Yield what was held back: text that might have become a tag, tool calls, their echo."""
        yield from self._text.end()
        yield from self._calls.taken()
        if self._calls.beside and not self._has_echoed:
            self._has_echoed = True
            echo = self._echo()
            if echo is not None and is_nested_within(echo, _DEEPEST):
                yield Echo("", json.dumps(echo))

    def _echo(self) -> object:
        """Make what is to be handed back with the calls; None where they and the text do."""
        return None

    @abstractmethod
    def _read(self, event: str, chunk: dict[str, object]) -> Iterator[Piece]: ...

    def _counted(self, chunk: dict[str, object]) -> Iterator[Usage]:  # noqa: ARG002
        """Yield the counts in an object, where they are more than was known."""
        return iter(())


class WireProtocol(Protocol):
    """One provider's dialect."""

    @property
    def name(self) -> str: ...

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        """Make the request that asks for a streamed answer: the same bytes for the same window."""

    def parser(self) -> AnswerParser: ...


_PROTOCOLS = {
    "openai": "OpenAiProtocol",
    "responses": "ResponsesProtocol",
    "anthropic": "AnthropicProtocol",
    "gemini": "GeminiProtocol",
    "ollama": "OllamaProtocol",
}
"""By the name of its module: its class. The built-in reader needs no protocol."""
protocol_names = tuple(_PROTOCOLS)
"""What `protocol_named` knows."""


def protocol_named(name: str) -> WireProtocol:
    """Make the protocol; only its own module is loaded, and httpx with it.

    Raises:
        SettingsError: There is none of that name.

    """
    if name not in _PROTOCOLS:
        raise SettingsError(
            f"There is no protocol {shorten(name, 60)!r}.",
            f"Set it to one of {', '.join(protocol_names)}.",
        )
    made: WireProtocol = getattr(import_module(f"{__package__}.{name}"), _PROTOCOLS[name])()
    return made
