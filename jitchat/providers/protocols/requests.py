"""A window's messages in the order and the roles that every server takes, and how they are sent.

Templates of local models refuse a second system message, one in the middle, and two messages of
one role in a row; some refuse the system's role altogether. Blank messages are refused, too.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

import httpx

from jitchat import __version__
from jitchat.providers.protocols.registry import query_of
from jitchat.providers.provider import Endpoint
from jitchat.values import Message, Role

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
