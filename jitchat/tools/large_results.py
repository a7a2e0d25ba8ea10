"""`handle_large_results`: the model chooses what to do with results held at the gate."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jitchat.memory import Memory
from jitchat.text.sanitize import one_line
from jitchat.text.sentences import turn_references
from jitchat.tools.compacting import Compacting, Compactor
from jitchat.tools.source import BUILT_IN, Step, ToolOutput
from jitchat.values import HANDLE_LARGE_RESULTS, Form, Shortened, Tool, ToolCall, ToolResult
from jitchat.window.tokens import TokenCounter

_COMPACT, _PREVIEW, _ALL = "compact", "keep_preview", "keep_all"
_AROUND = 140
"""Tokens reserved for the description of each result, with the instruction."""
_LEAST = 80

TOOL = Tool(
    HANDLE_LARGE_RESULTS,
    "Decides about tool results of which you see only a preview: compact them by an instruction of"
    " yours, keep the preview, or keep all. Decide about all of them in one call.",
    json.dumps(
        {
            "type": "object",
            "properties": {
                "results": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "id": {"type": "string", "description": "#14"},
                            "choice": {"type": "string", "enum": [_COMPACT, _PREVIEW, _ALL]},
                            "instruction": {
                                "type": "string",
                                "description": "for compact: what to extract, as A, B, C",
                            },
                        },
                        "required": ["id", "choice"],
                    },
                }
            },
            "required": ["results"],
        }
    ),
)


@dataclass(frozen=True, slots=True)
class Choice:
    position: int
    choice: str
    instruction: str


@dataclass(frozen=True, slots=True)
class Handled:
    """The outcome of one choice."""

    said: str
    """The text for the model in this step."""
    forms: tuple[tuple[int, Shortened | None], ...] = ()
    """(position, text) that later windows carry for the turn; None for the whole turn."""


class LargeResults:
    """The source of `handle_large_results` for one conversation."""

    name = BUILT_IN

    def __init__(
        self, memory: Memory, counter: TokenCounter, limit: int, compactor: Compactor | None = None
    ) -> None:
        """`limit` is the maximum tokens of a compacted result."""
        self._memory, self._counter, self._limit = memory, counter, limit
        self._compacting = Compacting(counter, compactor)

    def tools(self) -> tuple[Tool, ...]:
        return (TOOL,)

    async def run(self, call: ToolCall, arguments: Mapping[str, Any], step: Step) -> ToolOutput:
        choices = read_choices(arguments)
        if not choices:
            said = (
                "Nothing was chosen. Write"
                ' {"results": [{"id": "#14", "choice": "compact", "instruction": "extract A, B"}]}.'
            )
            return ToolOutput(ToolResult(call, said, is_error=True))
        rooms = await asyncio.to_thread(self._rooms, choices, step.room)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._handled(choice, room))
                for choice, room in zip(choices, rooms, strict=True)
            ]
        handled = [task.result() for task in tasks]
        content = "\n".join(each.said for each in handled)
        forms = tuple(form for each in handled for form in each.forms)
        return ToolOutput(ToolResult(call, content), forms=forms)

    def _rooms(self, choices: Sequence[Choice], room: int) -> Sequence[int]:
        """Divide the room: results kept whole take their size; compacted ones share the rest."""
        left = room - _AROUND * len(choices)
        rooms = dict[int, int]()
        for choice in choices:
            turn = self._memory.turn_at(choice.position)
            if choice.choice == _ALL and turn is not None:
                rooms[choice.position] = max(0, left)
                size = self._counter.count(turn.content)
                left -= size if size <= left else 0
        compacted = sum(choice.choice == _COMPACT for choice in choices)
        share = max(0, left) // max(1, compacted)
        return [rooms.get(choice.position, share) for choice in choices]

    async def _handled(self, choice: Choice, room: int) -> Handled:
        turn = await asyncio.to_thread(self._memory.turn_at, choice.position)
        named = f"#{choice.position}"
        if turn is None or turn.use.answers is None or turn.use.form is None:
            return Handled(f"{named} is no result of which a preview is shown.")
        if choice.choice == _PREVIEW:
            return Handled(f"{named} stays as its preview.")
        size = await asyncio.to_thread(self._counter.count, turn.content)
        if choice.choice == _ALL:
            if size > room:
                over = f"{named} has {size:,} tokens, {size - room:,} more than there is room for"
                return Handled(f"{over}. Have what you need of it compacted.")
            return Handled(f"All of {named}:\n{turn.content}", ((choice.position, None),))
        limit = min(self._limit, room)
        if limit < _LEAST:
            return Handled(f"There is no room for any more of {named}. Go on with its preview.")
        said = await self._compacting.told(named, turn.content, choice.instruction, limit)
        compacted = Shortened(said, Form.COMPACTED)
        return Handled(said, ((choice.position, compacted),))


def read_choices(arguments: Mapping[str, Any]) -> Sequence[Choice]:
    """Read the choices of a call, one per turn; what cannot be read is skipped."""
    given = arguments.get("results", arguments)
    found: dict[int, Choice] = {}
    for each in given if isinstance(given, list) else [given]:
        if not isinstance(each, dict):
            continue
        turn = str(each.get("id", each.get("turn", "")))
        named = sorted(turn_references(turn if "#" in turn else f"#{turn}"))
        chosen = str(each.get("choice", _COMPACT)).strip().lower().replace(" ", "_")
        if named and chosen in (_COMPACT, _PREVIEW, _ALL):
            asked = each.get("instruction")
            wanted = one_line(asked) if isinstance(asked, str) else ""
            found.setdefault(named[0], Choice(named[0], chosen, wanted))
    return tuple(found.values())
