"""Codex's sessions: `sessions/YYYY/MM/DD/rollout-….jsonl` in `~/.codex`, or $CODEX_HOME.

A file has two logs of the same session: what was sent to and received from the model
(`response_item`), and the events for the screen (`event_msg`). Only the first is read. Before
October 2025, each line was itself such an item. A session that is resumed can have a second
`session_meta`, after which the items so far are repeated.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from jitchat.store.imported import IncomingTurn, Origin
from jitchat.transfer.blocks import result_text
from jitchat.transfer.census import strings_of
from jitchat.transfer.fields import as_arguments, as_json, mapping, moment_of, sequence, text
from jitchat.transfer.format import Environment, Format, lines_of
from jitchat.transfer.incoming import (
    INSTRUCTIONS,
    IncomingConversation,
    Note,
    Piece,
    Result,
    Tally,
    Text,
    Thought,
    TurnMaker,
    hash_of,
    short_id,
)
from jitchat.transfer.json_text import decoded
from jitchat.transfer.openai import content_pieces
from jitchat.transfer.sample import Sample
from jitchat.transfer.source import Source, SourceFile
from jitchat.values import Role, ToolCall

NAME = "codex"
_TYPES = ("session_meta", "response_item", "turn_context", "event_msg", "compacted")
_SCAFFOLDING = re.compile(
    r"\s*(<(environment_context|user_instructions|turn_aborted|permissions|INSTRUCTIONS|skill"
    r"|user_shell_command)\b"
    r"|# AGENTS\.md instructions)"
)
"""The start of a message that the program wrote as the user."""
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")


def _matches(sample: Sample) -> bool:
    for line in sample.lines:
        if line.get("type") in _TYPES and isinstance(line.get("payload"), dict):
            return True
        if line.get("record_type") == "state" or (
            line.get("type") == "message"
            and isinstance(line.get("content"), list)
            and "role" in line
            and "uuid" not in line
        ):
            return True
    return False


def _usual_place(environment: Environment) -> Path:
    given = environment.get("CODEX_HOME")
    return (Path(given) if given else Path.home() / ".codex") / "sessions"


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    del source
    tally = Tally()
    named = _UUID.search(file.stem)
    key = named[0] if named else file.stem
    found = IncomingConversation(Origin(NAME, key), short_id(NAME, key), "", (), tally)
    found.turns = _turns(file, found)
    yield found


def _turns(file: SourceFile, found: IncomingConversation) -> Iterator[IncomingTurn]:
    """Read the turns in order. They are one path: after a rewind, the file is rewritten."""
    maker, reader = TurnMaker(found.tally), _Reader(found.tally)
    for identity, role, pieces, note in reader.messages(lines_of(file, found.tally)):
        for incoming in maker.turns(identity, role, pieces, None, note):
            found.created_at = reader.begun
            yield incoming


_Message = tuple[str, Role, list[Piece], Note]


class _Reader:
    """Collects items into messages: the user's, and replies with their calls and results."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self.begun: datetime | None = None
        """When the session began: the first time in the file."""
        self._model = ""
        self._number = 0
        self._pieces: list[Piece] = []
        """What the assistant has written since the last user message."""
        self._note = Note()
        self._items: list[bytes] = []
        """Hashes of the items so far."""
        self._repeated: int | None = 0
        """How many of them were repeated; None if the session goes on."""

    def messages(self, lines: Iterator[Mapping[str, object]]) -> Iterator[_Message]:
        for line in lines:
            kind, payload = text(line.get("type")), mapping(line.get("payload"))
            moment = moment_of(line.get("timestamp"))
            self.begun = self.begun or moment
            self._tally.read({kind: payload} if payload else line)
            if kind == "session_meta":
                self._repeated = 0
            elif kind == "turn_context":
                self._model = text(payload.get("model")) or self._model
            elif kind == "compacted":
                self._tally.skip("compaction summary", payload)
            elif kind == "response_item":
                yield from self._item(payload, Note(moment, self._model))
            elif "payload" not in line and (kind == "message" or kind in _ITEMS):
                yield from self._item(line, Note(moment, self._model))
            elif kind not in _TYPES and "record_type" not in line and "id" not in line:
                self._tally.skip("line of unknown kind", line)
        yield from self._flush()

    def _is_repeated(self, item: Mapping[str, object]) -> bool:
        """Whether an item after a second head is the next one of those before it."""
        item_hash, number = hash_of(as_json(item)), self._repeated
        if number is not None and self._items[number : number + 1] == [item_hash]:
            self._repeated = number + 1
            return True
        self._repeated = None
        self._items.append(item_hash)
        return False

    def _item(self, item: Mapping[str, object], note: Note) -> Iterator[_Message]:
        kind = text(item.get("type"))
        if self._is_repeated(item):
            return
        if kind == "message" and item.get("role") != "assistant":
            yield from self._spoken(item, note)
            return
        if kind == "message":
            pieces = list(content_pieces(item.get("content"), self._tally))
        elif kind in _ITEMS:
            pieces = [
                replace(piece, moment=note.moment) if isinstance(piece, Result) else piece
                for piece in _ITEMS[kind](item)
            ]
            if "exit_code" in mapping(_parsed(item.get("output")).get("metadata")):
                self._tally.skip("exit code")
        else:
            self._tally.skip("item of unknown kind", item)
            return
        is_answered = any(isinstance(piece, Result) for piece in self._pieces)
        if is_answered and not any(isinstance(piece, Result) for piece in pieces):
            yield from self._flush()  # another request, with its own time and model
        if not self._pieces:
            self._note = note
        self._pieces += pieces

    def _spoken(self, item: Mapping[str, object], note: Note) -> Iterator[_Message]:
        pieces = list(content_pieces(item.get("content"), self._tally))
        first = next((piece.text for piece in pieces if isinstance(piece, Text)), "")
        if item.get("role") != "user" or _SCAFFOLDING.match(first):
            self._tally.skip(INSTRUCTIONS, item)
            return
        yield from self._flush()
        self._number += 1
        yield f"user {self._number}", Role.USER, pieces, note

    def _flush(self) -> Iterator[_Message]:
        if self._pieces:
            self._number += 1
            yield f"assistant {self._number}", Role.ASSISTANT, self._pieces, self._note
        self._pieces = []


def _reasoning(item: Mapping[str, object]) -> list[Piece]:
    parts = (*sequence(item.get("summary")), *sequence(item.get("content")))
    return [Thought(text(mapping(part).get("text"))) for part in parts]


def _call(item: Mapping[str, object]) -> list[Piece]:
    name, call = text(item.get("name")) or text(item.get("type")), text(item.get("call_id"))
    given = next((item[each] for each in ("arguments", "input", "action") if each in item), None)
    return [ToolCall(call or text(item.get("id")), name, as_arguments(given))]


def _parsed(output: object) -> Mapping[str, object]:
    if isinstance(output, str) and output.startswith("{"):
        return mapping(decoded(output))
    return {}


def _result(item: Mapping[str, object]) -> list[Piece]:
    output = item.get("output")
    output = _parsed(output).get("output", output)
    is_error = mapping(output).get("success") is False
    if isinstance(output, dict):
        output = output.get("content", as_json(output))
    return [Result(text(item.get("call_id")), result_text(output), is_error)]


def _searched(item: Mapping[str, object]) -> list[Piece]:
    action = {**mapping(item.get("action")), "type": ""}
    words = ", ".join(dict.fromkeys(strings_of(action)))
    return [Text(f"[web search: {words}]")] if words else []


_ITEMS: dict[str, Callable[[Mapping[str, object]], list[Piece]]] = {
    "reasoning": _reasoning,
    "function_call": _call,
    "custom_tool_call": _call,
    "local_shell_call": _call,
    "function_call_output": _result,
    "custom_tool_call_output": _result,
    "local_shell_call_output": _result,
    "web_search_call": _searched,
    "ghost_snapshot": lambda _: [],
}

CODEX = Format(
    NAME, "Codex's sessions (JSONL)", _matches, _read, _usual_place, "rollout-*.jsonl", "CODEX_HOME"
)
