"""Tool calls, put together from the fragments in which servers stream them.

By the book, every fragment has an index, and the first of a call its id. Servers leave out
either or both, number every call 0, or repeat the name; arguments stay as they were written.
"""

from __future__ import annotations

from jitchat.providers.protocols.values import at, json_text, parsed, text_at
from jitchat.providers.provider import ToolCall


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
