"""What the wire protocols share: the request's side and the answer's side of one, and its parts.

A window's messages are sent in the order and the roles that every server takes. Templates of local
models refuse a second system message, one in the middle, and two messages of one role in a row;
some refuse the system's role altogether. Blank messages are refused, too.

By the book, every fragment of a tool call has an index, and the first of a call its id. Servers
leave out either or both, number every call 0, or repeat the name; arguments stay as they were
written.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import groupby
from typing import Protocol

import httpx

from jitchat import __version__
from jitchat.errors import NotAnAnswer, SettingsError
from jitchat.providers.protocols.addresses import query_of
from jitchat.providers.protocols.json_values import at, json_text, list_of, parsed, text_at
from jitchat.providers.protocols.refusals import CHECK_URL, stopped
from jitchat.providers.protocols.thinking import ThinkTags
from jitchat.providers.provider import Endpoint, Options, Piece, ToolCall
from jitchat.text.sanitize import shorten
from jitchat.values import Message, Role, Usage

BETWEEN = "\n\n"
"""What stands between texts that become one."""
_OPENING = Message(Role.USER, "(the conversation so far)")
"""Ahead of a reply with which a window begins: the recent block may be cut between a message and
its reply. Leaving the reply out would send less than the window shows, and the same words each
time keep the prefix in the provider's cache."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one side says before the other does."""

    role: Role
    """The user's or the assistant's."""
    texts: tuple[str, ...]
    """A text for each message, at least one; none of them is blank."""

    @property
    def text(self) -> str:
        return BETWEEN.join(self.texts)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A window's messages, the system's text apart."""

    system: str
    """Empty where there is none, or where it is the first message's head."""
    runs: tuple[Run, ...]

    def as_objects(self) -> list[dict[str, str]]:
        spoken = [{"role": run.role.value, "content": run.text} for run in self.runs]
        return [{"role": "system", "content": self.system}, *spoken] if self.system else spoken


def dialogue(
    messages: Iterable[Message],
    *,
    folding: bool = False,
    merging: bool = True,
    user_first: bool = False,
) -> Dialogue:
    """Part the system's text from what was said, and leave out what is blank.

    A tool's message answers no call that the request contains, so it goes out as the user's.
    `folding` puts the system's text at the head of the first message, which is made the user's;
    `merging` makes one run of messages in a row; `user_first` puts a message of the user's ahead
    of a reply with which the window begins.
    """
    kept = [message for message in messages if message.content.strip()]
    system = BETWEEN.join(m.content for m in kept if m.role is Role.SYSTEM)
    rest = [
        message if message.role is Role.ASSISTANT else replace(message, role=Role.USER)
        for message in kept
        if message.role is not Role.SYSTEM
    ]
    if folding and system:
        if rest and rest[0].role is Role.USER:
            rest[0] = replace(rest[0], content=f"{system}{BETWEEN}{rest[0].content}")
        else:
            rest.insert(0, Message(Role.USER, system))
        system = ""
    if user_first and (not rest or rest[0].role is not Role.USER):
        rest.insert(0, _OPENING)
    runs = groupby(rest, key=lambda message: message.role if merging else id(message))
    in_rows = (list(run) for _, run in runs)
    return Dialogue(
        system, tuple(Run(row[0].role, tuple(m.content for m in row)) for row in in_rows)
    )


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


class _Call:
    def __init__(self, call_id: str) -> None:
        self.id = call_id
        self.name = ""
        self.arguments: list[str] = []

    def is_other_than(self, call_id: str, name: str, arguments: str) -> bool:
        """Whether a fragment under the same number opens a call of its own."""
        if call_id and self.id:
            return call_id != self.id
        if not name or not self.name:
            return False
        is_whole = parsed("".join(self.arguments)) is not None
        return name != self.name or bool(arguments and is_whole)


class ToolCalls:
    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    def add(self, fragments: object) -> None:
        """Take a list of fragments; what is none says nothing."""
        for fragment in list_of(fragments):
            if isinstance(fragment, dict):
                self._add(fragment)

    def add_whole(self, calls: object) -> None:
        """Take a list in which each item is a call of its own, whatever its number."""
        for call in list_of(calls):
            self._by_index.clear()
            self._calls.append(_Call(""))
            self.add([{"function": at(call, "function")}])

    def taken(self) -> list[ToolCall]:
        """Give out every call, once, in the order in which they were opened."""
        calls, self._calls, self._by_index = self._calls, [], {}
        read = [ToolCall(call.name, "".join(call.arguments)) for call in calls]
        return [call for call in read if call.name or call.arguments]

    def _add(self, fragment: dict[str, object]) -> None:
        call_id, name = text_at(fragment, "id"), text_at(fragment, "function", "name")
        arguments = json_text(at(fragment, "function", "arguments"))
        index = at(fragment, "index")
        call = self._continued(index)
        if call is None or call.is_other_than(call_id, name, arguments):
            call = _Call(call_id)
            self._calls.append(call)
        if isinstance(index, int):
            self._by_index[index] = call
        call.id, call.name = call.id or call_id, call.name or name
        if arguments:
            call.arguments.append(arguments)

    def _continued(self, index: object) -> _Call | None:
        """Find the call that a fragment goes on with: its number's, else the last one."""
        if isinstance(index, int):
            return self._by_index.get(index)
        return self._calls[-1] if self._calls else None


class AnswerParser(ABC):
    """Reads one answer, object by object; one of which nothing is known says nothing."""

    def __init__(self) -> None:
        self.over = False
        """Whether nothing more will come, so that there is no need to wait for the end."""
        self._text = ThinkTags()
        self._calls = ToolCalls()
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
        """Yield what was held back: text that might have become a tag, and tool calls."""
        yield from self._text.end()
        yield from self._calls.taken()

    @abstractmethod
    def _read(self, event: str, chunk: dict[str, object]) -> Iterator[Piece]: ...

    def _counted(self, chunk: dict[str, object]) -> Iterator[Usage]:  # noqa: ARG002
        """Yield the counts in an object, where they are more than was known."""
        return iter(())


class WireProtocol(Protocol):
    """One provider's dialect."""

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
"""By the name of its module: its class. The embedded reader needs no protocol."""
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
