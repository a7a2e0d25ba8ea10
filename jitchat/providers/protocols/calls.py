"""Tools in requests and answers: declaring them, reading their calls, ids, results.

As documented, every fragment of a tool call has an index, and the first fragment has the id and the
name. Servers omit either or both of the former, send the id later, number every call 0, repeat the
name or send it in fragments, or make a new id for each fragment. Arguments are kept as written.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from operator import attrgetter

from jitchat.providers.provider import Endpoint, Options, Piece
from jitchat.text.json_values import at, json_text, list_of, parsed, text_at
from jitchat.values import Echo, Message, Tool, ToolCall
from jitchat.writing.calls import (
    made_id,
    schema_of,
)
from jitchat.writing.pieces import WritingRules


def offered(options: Options) -> list[Tool]:
    """Return the tools sorted by name, so that equal sets have equal bytes; none if refused."""
    tools = () if "tools" in options.without else options.tools
    return sorted(tools, key=attrgetter("name"))


def functions(options: Options) -> list[dict[str, object]]:
    """Declare the tools for chat completions and APIs modelled on them."""
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
    """Return the origin of an echo: only the model that sent it can read it."""
    return f"{protocol_name}:{endpoint.name}/{endpoint.model}"


ECHO_FIELDS = frozenset({"reasoning_content", "reasoning", "reasoning_details"})
"""Fields of chat completions that return reasoning; a server may refuse one by name."""


def rules_for(
    endpoint: Endpoint, protocol_name: str, options: Options, requires: WritingRules
) -> WritingRules:
    """Add to a protocol's rules what this model's server refuses.

    If the model refused its own echo, the origin matches no echo.
    """
    without = options.without
    origin = protocol_name if "echo" in without else origin_of(endpoint, protocol_name)
    return replace(
        requires,
        folds_system="system" in without,
        takes_tools="tools" not in without,
        origin=origin,
        refused=tuple(sorted(without & ECHO_FIELDS)),
    )


class CallNames:
    """Gives ids to the calls of one answer that have none, and an origin to its echo."""

    def __init__(self, messages: Iterable[Message], origin: str) -> None:
        """`messages` are those of the request; no generated id is one that they use."""
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
        """The arguments, without an empty object that a proxy put before them."""
        text = "".join(self.arguments)
        rest = text.removeprefix("{}")
        return rest if isinstance(parsed(rest), dict) else text

    def add(self, call_id: str, name: str, arguments: str) -> None:
        """Add a fragment; before the arguments, one can have the rest of the name."""
        self.id = self.id or call_id
        if name != self.name and not self.arguments:
            self.name += name
        if arguments:
            self.arguments.append(arguments)

    def is_other_than(self, call_id: str, name: str, arguments: str, index: object) -> bool:
        """Whether a fragment starts a new call rather than continuing this one."""
        if not name:
            return False
        if call_id and self.id:
            return call_id != self.id
        is_placed = isinstance(index, int) or self.id
        if not self.name or (is_placed and not call_id and not self.arguments):
            return False  # the rest of its name
        is_whole = parsed("".join(self.arguments)) is not None
        return name != self.name or bool(arguments and is_whole)


class ToolCalls:
    """Collects the calls of one answer."""

    def __init__(self, beside: Iterable[str] = ()) -> None:
        """`beside` names fields of a call to keep in addition to its function."""
        self._kept_beside = tuple(beside)
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self.beside: list[dict[str, object]] = []
        """Those fields, for each call returned by `taken`."""

    def add(self, fragments: object) -> None:
        """Add a list of fragments, ignoring anything else."""
        for fragment in list_of(fragments):
            if isinstance(fragment, dict):
                self._add(fragment)

    def add_whole(self, calls: object) -> None:
        """Add a list of complete calls, ignoring their indexes."""
        for call in list_of(calls):
            self._by_index.clear()
            self._calls.append(_Call(""))
            self.add([{"id": at(call, "id"), "function": at(call, "function")}])

    def taken(self) -> list[ToolCall]:
        """Return and remove the calls collected so far, in the order in which they started."""
        found = [call for call in self._calls if call.name or call.arguments]
        self._calls, self._by_index = [], {}
        self.beside += [call.beside for call in found]
        return [ToolCall(call.id, call.name, call.written) for call in found]

    def _add(self, fragment: dict[str, object]) -> None:
        call_id, name = text_at(fragment, "id"), text_at(fragment, "function", "name")
        arguments = json_text(at(fragment, "function", "arguments"))
        index = at(fragment, "index")
        call = self._continued(index, call_id)
        if call is None or call.is_other_than(call_id, name, arguments, index):
            call = _Call(call_id)
            self._calls.append(call)
        if isinstance(index, int):
            self._by_index[index] = call
        call.add(call_id, name, arguments)
        call.beside |= {name: fragment[name] for name in self._kept_beside if fragment.get(name)}

    def _continued(self, index: object, call_id: str) -> _Call | None:
        """Return the call that a fragment continues: the one of its index, else the last one.

        If that call has another id, return the call with the fragment's id, if there is one.
        """
        last = self._calls[-1] if self._calls else None
        found = self._by_index.get(index) if isinstance(index, int) else last
        if found is None or not call_id or found.id in ("", call_id):
            return found
        return next((call for call in self._calls if call.id == call_id), found)
