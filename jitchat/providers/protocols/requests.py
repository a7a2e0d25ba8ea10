"""A window's messages in the order and the roles that every server takes.

Templates of local models refuse a second system message, one in the middle, and two messages of
one role in a row; some refuse the system's role altogether. Blank messages are refused, too.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import httpx

from jitchat import __version__
from jitchat.providers.protocols.registry import query_of
from jitchat.providers.provider import Endpoint
from jitchat.values import Message, Role

BETWEEN = "\n\n"
"""What stands between texts that become one."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one side says before the other does."""

    role: Role
    """The user's or the assistant's."""
    texts: tuple[str, ...]
    """A text for each message, at least one; none of them is blank."""

    @property
    def text(self) -> str:
        """All of it as one text."""
        return BETWEEN.join(self.texts)


def system_and_rest(messages: Iterable[Message]) -> tuple[str, tuple[Message, ...]]:
    """Part the system's text, empty where there is none, from what was said.

    What remains is the user's and the assistant's: a tool's message answers no call that the
    request contains, so it goes out as the user's. Blank messages are left out.
    """
    said = [message for message in messages if message.content.strip()]
    system = BETWEEN.join(m.content for m in said if m.role is Role.SYSTEM)
    return system, tuple(_of_two_sides(m) for m in said if m.role is not Role.SYSTEM)


def merged(messages: Iterable[Message]) -> tuple[Run, ...]:
    """Make one run of all messages in a row that are of one role."""
    return tuple(
        Run(role, tuple(message.content for message in run))
        for role, run in groupby(messages, key=lambda message: message.role)
    )


def folded(system: str, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Put the system's text at the head of the first message, which is made the user's."""
    if not system:
        return tuple(messages)
    if not messages or messages[0].role is not Role.USER:
        return Message(Role.USER, system), *messages
    first, *others = messages
    return replace(first, content=f"{system}{BETWEEN}{first.content}"), *others


def as_objects(
    messages: Iterable[Message], *, merging: bool = True, folding: bool = False
) -> list[dict[str, str]]:
    """Write them as chat completions do: one object with role and content for each.

    `merging` makes one of several in a row; `folding` sends no message of the system's role.
    """
    system, rest = system_and_rest(messages)
    if folding:
        system, rest = "", folded(system, rest)
    sides = merged(rest) if merging else tuple(Run(m.role, (m.content,)) for m in rest)
    spoken = [{"role": side.role.value, "content": side.text} for side in sides]
    return [{"role": "system", "content": system}, *spoken] if system else spoken


def _of_two_sides(message: Message) -> Message:
    return message if message.role is Role.ASSISTANT else replace(message, role=Role.USER)


_OPENING = Message(Role.USER, "(the conversation so far)")
"""Ahead of a reply with which a window begins: the recent block may be cut between a message and
its reply. Leaving the reply out would send less than the window shows, and the same words each
time keep the prefix in the provider's cache."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A window as such a protocol takes it."""

    system: str
    """Empty where there is none, or where it is the first message's head."""
    runs: tuple[Run, ...]
    """At least one; the first is the user's."""


def opened(messages: Sequence[Message], *, folding: bool = False) -> Opened:
    """Part the system's text from the rest; `folding` puts it into the first message instead."""
    system, rest = system_and_rest(messages)
    if folding:
        system, rest = "", folded(system, rest)
    if not rest or rest[0].role is not Role.USER:
        rest = (_OPENING, *rest)
    return Opened(system, merged(rest))


USER_AGENT = f"jitchat/{__version__}"
"""Who asks. What stands before many servers turns away a request that does not say so."""
_ANTHROPIC_VERSION = "2023-06-01"
_KEY_HEADERS = {"anthropic": ("x-api-key", "{}"), "gemini": ("x-goog-api-key", "{}")}
"""Where a protocol has its own; most servers want a bearer's token."""
_NOTHING: tuple[object, ...] = (None, "", (), [], {})


def json_request(
    endpoint: Endpoint, url: str | httpx.URL, headers: Mapping[str, str], body: Mapping[str, object]
) -> httpx.Request:
    """Make the request: the same bytes for the same body. The user's own headers win.

    Raises:
        httpx.InvalidURL: The endpoint's address is none.

    """
    request = httpx.Request("POST", addressed(endpoint, url), content=json.dumps(body).encode())
    request.headers["Content-Type"] = "application/json"
    request.headers["User-Agent"] = USER_AGENT
    for name, value in (*headers.items(), *endpoint.headers.items()):
        request.headers[name] = value
    return request


def addressed(endpoint: Endpoint, url: str | httpx.URL) -> httpx.URL:
    """Put the query of the endpoint's address behind a route of its server.

    Raises:
        httpx.InvalidURL: The address is none.

    """
    made, own = httpx.URL(url), query_of(endpoint.base_url)
    queries = (made.query.decode(), own)
    return made.copy_with(query="&".join(filter(None, queries)).encode()) if own else made


def credentials(endpoint: Endpoint, protocol_name: str) -> dict[str, str]:
    """Send the key, if there is one, as the protocol wants it; Anthropic wants a version, too."""
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
