"""The interface of a wire protocol, and helpers shared by all: making requests, parsing answers."""

import json
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Protocol

import httpx

from jitchat import __version__
from jitchat.attachments import Picture
from jitchat.errors import NotAnAnswer, SettingsError
from jitchat.providers.protocols.addresses import query_of
from jitchat.providers.protocols.calls import ToolCalls
from jitchat.providers.protocols.refusals import CHECK_URL, stopped
from jitchat.providers.protocols.thinking import ThinkTags
from jitchat.providers.provider import Endpoint, Options, Piece
from jitchat.text.json_values import is_nested_within, parsed
from jitchat.text.sanitize import shorten
from jitchat.values import Echo, Message, Usage
from jitchat.writing.pieces import WritingRules

USER_AGENT = f"jitchat/{__version__}"
"""Sent because many gateways reject requests without a user agent."""
_ANTHROPIC_VERSION = "2023-06-01"
_KEY_HEADERS = {"anthropic": ("x-api-key", "{}"), "gemini": ("x-goog-api-key", "{}")}
"""Header and format of the key, for protocols that do not use a bearer token."""
Item = dict[str, object]
"""A message, or a part of one, as a JSON object."""
_NOTHING: tuple[object, ...] = (None, "", (), [], {})


def json_request(
    endpoint: Endpoint,
    protocol_name: str,
    url: str | httpx.URL,
    body: Mapping[str, object] | None,
    accept: str = "text/event-stream",
) -> httpx.Request:
    """Make the request, with the key; a GET if `body` is None. The user's own headers win.

    The query string of the endpoint's address is appended to every route.

    Raises:
        httpx.InvalidURL: The endpoint's address is not valid.

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
    """Omit values that are null or empty, and those that the server refuses."""
    refused = frozenset(without)
    return {
        name: value
        for name, value in values.items()
        if name not in refused and value not in _NOTHING
    }


def encoded(picture: Picture) -> str:
    """Return the bytes of a picture in base64."""
    return b64encode(picture.data).decode()


def data_url(picture: Picture) -> str:
    return f"data:{picture.media_type};base64,{encoded(picture)}"


def echo_of(message: Message) -> object:
    """Return what the protocol requires back with an answer; None for nothing."""
    return parsed(message.use.echo.value) if message.use.echo is not None else None


def named_schema(options: Options) -> dict[str, object] | None:
    """Return the answer's schema in the form of OpenAI's APIs; None if there is none."""
    if options.schema is None:
        return None
    return {"name": "answer", "strict": True, "schema": json.loads(options.schema)}


class CountsSoFar:
    """The latest token counts of one answer, by names that the protocol chooses.

    `cached`, `written` and `reasoning` have the meaning of the fields of `Usage`.
    """

    def __init__(self) -> None:
        self._latest: dict[str, int] = {}
        self.cost: float | None = None
        """In US dollars, as reported by the server; None if not reported."""

    def take(self, **counts: int | None) -> bool:
        """Update the counts, ignoring None; return whether any count was given."""
        known = {name: number for name, number in counts.items() if number is not None}
        self._latest |= known
        return bool(known)

    def sum(self, *names: str) -> int | None:
        """Return the sum of the known counts among `names`; None if none is known."""
        counts = [self._latest[name] for name in names if name in self._latest]
        return sum(counts) if counts else None

    def usage(self, sent: int | None, answered: int | None) -> Usage | None:
        """Return the usage so far, given all input and output tokens; None if neither is known.

        No request is empty: an input of 0 comes from a proxy that does not know it, and then an
        output of 0 is unknown too.
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
"""Maximum nesting of an echo; a deeper one could not be serialised again."""


class AnswerParser(ABC):
    """Parses one answer, object by object; unknown objects are ignored."""

    def __init__(self) -> None:
        self.over = False
        """Whether the answer is complete, so that the end of the stream need not be awaited."""
        self._text = ThinkTags()
        self._calls = ToolCalls()
        self._has_echoed = False
        self._counts = CountsSoFar()

    def parse(self, event: str, data: str) -> Iterator[Piece]:
        """Parse one event of the stream: an object, a list of objects, or `[DONE]`.

        Raises:
            ProviderError: The event is an error, or is not part of this protocol.

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
        """Yield what was held back: text that might become a tag, tool calls, their echo."""
        yield from self._text.end()
        yield from self._calls.taken()
        if self._calls.beside and not self._has_echoed:
            self._has_echoed = True
            echo = self._echo()
            if echo is not None and is_nested_within(echo, _DEEPEST):
                yield Echo("", json.dumps(echo))

    def _echo(self) -> object:
        """Return what must be sent back with the calls; None if calls and text are enough."""
        return None

    @abstractmethod
    def _read(self, event: str, chunk: dict[str, object]) -> Iterator[Piece]: ...

    def _counted(self, chunk: dict[str, object]) -> Iterator[Usage]:  # noqa: ARG002
        """Yield the usage if the object has new counts."""
        return iter(())


class WireProtocol(Protocol):
    """One provider's dialect."""

    @property
    def name(self) -> str: ...

    def rules(self, endpoint: Endpoint, options: Options) -> WritingRules:
        """Return what the protocol requires of messages, without what `options` leave out."""

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        """Encode messages written by `rules`. Equal windows give equal bytes."""

    def parser(self) -> AnswerParser: ...


_PROTOCOLS = {
    "openai": "OpenAiProtocol",
    "responses": "ResponsesProtocol",
    "anthropic": "AnthropicProtocol",
    "gemini": "GeminiProtocol",
    "ollama": "OllamaProtocol",
}
"""Class names by module name. The built-in reader needs no protocol."""
protocol_names = tuple(_PROTOCOLS)
"""Names accepted by `protocol_named`."""


def protocol_named(name: str) -> WireProtocol:
    """Return the protocol of that name. Only its module and httpx are imported.

    Raises:
        SettingsError: There is no such protocol.

    """
    if name not in _PROTOCOLS:
        raise SettingsError(
            f"There is no protocol {shorten(name, 60)!r}.",
            f"Set it to one of {', '.join(protocol_names)}.",
        )
    made: WireProtocol = getattr(import_module(f"{__package__}.{name}"), _PROTOCOLS[name])()
    return made
