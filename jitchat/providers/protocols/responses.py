"""What is read from the JSON of a server: values, usage and tool calls; nothing here fails.

By the book, every fragment has an index, and the first of a call its id. Servers leave out
either or both, number every call 0, or repeat the name; arguments stay as they were written.
"""

import json
import math

from jitchat.providers.provider import ToolCall
from jitchat.values import Usage

_LENIENT = json.JSONDecoder(strict=False)
"""Takes control characters in strings. Made once: a reply may be a hundred thousand documents."""


def parsed(text: str) -> object:
    """Parse the value; None for what is not JSON, or is nested or numbered to hurt."""
    try:
        return _LENIENT.decode(text)
    except (ValueError, RecursionError):
        return None


def at(value: object, *keys: str) -> object:
    """Follow the keys; None where one of them leads nowhere."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_at(value: object, *keys: str) -> str:
    """Read a text; empty where there is none."""
    found = at(value, *keys)
    return found if isinstance(found, str) else ""


def text_of(value: object) -> str:
    """Read a text that may come as a list of parts, each a text or an object with one."""
    if isinstance(value, list):
        return "".join(part if isinstance(part, str) else text_at(part, "text") for part in value)
    return value if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """Read a count; None for what is no number, 0 for one that counts nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < 1 << 53 else 0


def amount(value: object) -> float | None:
    """Read an amount of money; None for what is none, or is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < math.inf else None


def first_count(*values: object) -> int | None:
    """Read the first of them that is a count; None where none is."""
    return next((found for value in values if (found := count(value)) is not None), None)


def first(value: object) -> object:
    """Take the first item of a list, of a list in it, and so on; None of an empty one."""
    while isinstance(value, list):
        value = value[0] if value else None
    return value


def json_text(value: object) -> str:
    """Write a value as the JSON that it was read from; a text is taken for JSON already."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


class CountsSoFar:
    """The counts of one answer, by the names that a protocol gives them.

    `cached`, `written` and `reasoning` are those of a `Usage`.
    """

    def __init__(self) -> None:
        self._latest: dict[str, int] = {}
        self.cost: float | None = None
        """In US dollars, as the server reported it; None where it did not."""

    def take(self, **told: int | None) -> bool:
        """Take a report, with None for what it does not tell; whether it told anything."""
        known = {name: number for name, number in told.items() if number is not None}
        self._latest |= known
        return bool(known)

    def get(self, name: str) -> int | None:
        """Say what is known of one count; None where it was not told."""
        return self._latest.get(name)

    def sum(self, *names: str) -> int | None:
        """Add up what is known of some counts; None where none of them was told."""
        told = [self._latest[name] for name in names if name in self._latest]
        return sum(told) if told else None

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
    """One call so far."""

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
        return name != self.name or bool(arguments and self._is_whole())

    def _is_whole(self) -> bool:
        return parsed("".join(self.arguments)) is not None


class ToolCalls:
    """Collects the calls of one answer."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    def add(self, fragments: object) -> None:
        """Take a list of fragments; what is none says nothing."""
        for fragment in fragments if isinstance(fragments, list) else ():
            if isinstance(fragment, dict):
                self._add(fragment)

    def add_whole(self, calls: object) -> None:
        """Take a list in which each item is a call of its own, whatever its number."""
        for call in calls if isinstance(calls, list) else ():
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
