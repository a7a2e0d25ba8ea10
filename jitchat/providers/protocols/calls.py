"""Tools on the wire: how they are offered, and how their calls are read, named and answered.

By the book, every fragment of a tool call has an index, and the first of a call its id. Servers
leave out either or both, number every call 0, repeat the name, or make a new id for each fragment;
arguments stay as they were written.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from operator import attrgetter

from jitchat.providers.protocols.json_values import at, json_text, list_of, parsed, text_at
from jitchat.providers.provider import Endpoint, Options, Piece
from jitchat.providers.tools import schema_of
from jitchat.values import Echo, Message, Tool, ToolCall, ToolResult


def offered(options: Options) -> list[Tool]:
    """Sort the tools by name: the same ones are the same bytes; none where they are refused."""
    tools = () if "tools" in options.without else options.tools
    return sorted(tools, key=attrgetter("name"))


def functions(options: Options) -> list[dict[str, object]]:
    """Write the tools as chat completions take them, and what is modelled on these."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": schema_of(tool),
            },
        }
        for tool in offered(options)
    ]


def origin_of(endpoint: Endpoint, protocol_name: str) -> str:
    """Name who is sent an echo again: only the model that it came from can read it."""
    return f"{protocol_name}:{endpoint.name}/{endpoint.model}"


def asked_for_calls(endpoint: Endpoint, protocol_name: str, options: Options) -> str:
    """Name who is offered tools, as the origin of its echoes; empty where nobody is.

    Who refused its own echo is nobody's origin.
    """
    if not offered(options):
        return ""
    return protocol_name if "echo" in options.without else origin_of(endpoint, protocol_name)


_MADE = "call{:05}"
"""Of letters and digits, nine in all: Mistral takes no other."""


def made_id(number: int) -> str:
    """Make the id of a call that the server gave none."""
    return _MADE.format(number)


def given_id(call_id: str) -> str | None:
    """Tell the id as the server gave it; None where it was made here."""
    return None if re.fullmatch(r"call\d{5,}", call_id) else call_id


_NO_NAME = re.compile("[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64
_NAMELESS = "unnamed"


class UniqueCalls:
    """Writes the calls of one request as every server takes them.

    Ids come again in a conversation: where a server numbers the calls of each answer anew, or
    another one answered before; Anthropic refuses that. A name that a model made up may be none;
    what holds more than letters, digits, `_` and `-` is refused by most.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def written(self, call: ToolCall) -> ToolCall:
        name = _NO_NAME.sub("_", call.name)[:_LONGEST_NAME] or _NAMELESS
        call_id = next(each for each in self._ids(call.id) if each not in self._taken)
        self._taken.add(call_id)
        return replace(call, id=call_id, name=name)

    def _ids(self, call_id: str) -> Iterator[str]:
        if given_id(call_id):
            yield call_id
            yield from (f"{call_id}_{number}" for number in count(2))
        else:
            yield call_id or made_id(1)
            yield from map(made_id, count(1))


_ERROR = "Error: "


def result_text(result: ToolResult) -> str:
    """Write a result for a protocol that has no place to say that it is an error."""
    said = result.content
    is_plain = not result.is_error or said.startswith(_ERROR)
    return said if is_plain else f"{_ERROR}{said}"


class CallNames:
    """Gives ids to the calls of one answer that have none of their own, and its echo an origin."""

    def __init__(self, messages: Iterable[Message], origin: str) -> None:
        """`messages` are the request's: a made id is in none of them."""
        self._sent = frozenset(call.id for message in messages for call in message.use.calls)
        self._origin = origin
        self._taken: set[str] = set()

    def named(self, piece: Piece) -> Piece:
        if isinstance(piece, Echo):
            return replace(piece, origin=self._origin)
        if not isinstance(piece, ToolCall):
            return piece
        is_free = piece.id and piece.id not in self._taken
        call_id = piece.id if is_free else self._made()
        self._taken.add(call_id)
        return replace(piece, id=call_id)

    def _made(self) -> str:
        ids = map(made_id, count(1))
        return next(each for each in ids if each not in self._sent and each not in self._taken)


class _Call:
    def __init__(self, call_id: str) -> None:
        self.id = call_id
        self.name = ""
        self.arguments: list[str] = []
        self.beside: dict[str, object] = {}

    @property
    def written(self) -> str:
        """The arguments, without an empty object that a proxy put ahead of them."""
        text = "".join(self.arguments)
        behind = text.removeprefix("{}")
        return behind if isinstance(parsed(behind), dict) else text

    def is_other_than(self, call_id: str, name: str, arguments: str) -> bool:
        """Whether a fragment that may go on with this call opens one of its own."""
        if not name:
            return False
        if call_id and self.id:
            return call_id != self.id
        if not self.name:
            return False
        is_whole = parsed("".join(self.arguments)) is not None
        return name != self.name or bool(arguments and is_whole)


class ToolCalls:
    """Collects the calls of one answer."""

    def __init__(self, beside: Iterable[str] = ()) -> None:
        """`beside` names what of a call, other than its function, is kept, too."""
        self._kept_beside = tuple(beside)
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self.beside: list[dict[str, object]] = []
        """What stood beside the function, of each call that was given out."""

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
            self.add([{"id": at(call, "id"), "function": at(call, "function")}])

    def taken(self) -> list[ToolCall]:
        """Give out every call, once, in the order in which they were opened."""
        told = [call for call in self._calls if call.name or call.arguments]
        self._calls, self._by_index = [], {}
        self.beside += [call.beside for call in told]
        return [ToolCall(call.id, call.name, call.written) for call in told]

    def _add(self, fragment: dict[str, object]) -> None:
        call_id, name = text_at(fragment, "id"), text_at(fragment, "function", "name")
        arguments = json_text(at(fragment, "function", "arguments"))
        index = at(fragment, "index")
        call = self._continued(index, call_id)
        if call is None or call.is_other_than(call_id, name, arguments):
            call = _Call(call_id)
            self._calls.append(call)
        if isinstance(index, int):
            self._by_index[index] = call
        call.id, call.name = call.id or call_id, call.name or name
        if arguments:
            call.arguments.append(arguments)
        call.beside |= {name: fragment[name] for name in self._kept_beside if fragment.get(name)}

    def _continued(self, index: object, call_id: str) -> _Call | None:
        """Find the call that a fragment goes on with: its number's, else the last one.

        Where that has another id, the one with the fragment's, if there is any.
        """
        last = self._calls[-1] if self._calls else None
        found = self._by_index.get(index) if isinstance(index, int) else last
        if found is None or not call_id or found.id in ("", call_id):
            return found
        return next((call for call in self._calls if call.id == call_id), found)
