"""Codex's sessions: `sessions/YYYY/MM/DD/rollout-….jsonl` in `~/.codex`, or $CODEX_HOME.

A file has two logs of the same session: what was sent to and received from the model
(`response_item`), and the events for the screen (`event_msg`). Only the first is read. Before
October 2025, each line was itself such an item. A session that is resumed can have a second
`session_meta`, after which the items so far are repeated.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from jitchat.store.imported import IncomingTurn, Origin
from jitchat.transfer.blocks import result_text
from jitchat.transfer.format import Environment, Format, Sample, lines_of
from jitchat.transfer.incoming import INSTRUCTIONS, IncomingConversation, Tally
from jitchat.transfer.json_text import as_json, decoded, mapping, moment_of, text
from jitchat.transfer.openai import content_pieces, is_item, item_pieces
from jitchat.transfer.pieces import Piece, Result, Text
from jitchat.transfer.source import Source, SourceFile
from jitchat.transfer.turns import Note, TurnMaker, hash_of
from jitchat.values import Role

NAME = "codex"
_TYPES = ("session_meta", "response_item", "turn_context", "event_msg", "compacted")
_OLD_ITEMS = ("message", "ghost_snapshot")
_SCAFFOLDING = re.compile(
    r"\s*(<(environment_context|user_instructions|turn_aborted|permissions|INSTRUCTIONS|skill"
    r"|user_shell_command)\b"
    r"|# AGENTS\.md instructions)"
)
"""The start of a message that the program wrote as the user."""
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")


def _matches(sample: Sample) -> bool:
    return any(
        (line.get("type") in _TYPES and isinstance(line.get("payload"), dict))
        or line.get("record_type") == "state"
        for line in sample.lines
    ) or _is_old(sample.lines)


def _is_old(lines: Sequence[Mapping[str, object]]) -> bool:
    """Whether lines are items themselves, each with its type, not another program's messages."""
    messages = [line for line in lines if "role" in line]
    return bool(messages) and all(
        line.get("type") == "message"
        and isinstance(line.get("content"), list)
        and "uuid" not in line
        for line in messages
    )


def _usual_place(environment: Environment) -> Path:
    return Path(environment.get("CODEX_HOME") or "~/.codex").expanduser() / "sessions"


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    del source
    named = _UUID.search(file.stem)
    found = IncomingConversation(Origin(NAME, named[0] if named else file.stem))
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
            elif "payload" not in line and (kind in _OLD_ITEMS or is_item(line)):
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
        if self._is_repeated(item) or kind == "ghost_snapshot":
            return
        if kind == "message" and item.get("role") != "assistant":
            yield from self._spoken(item, note)
            return
        if kind.endswith("_output"):
            pieces: list[Piece] = [replace(_result(item), moment=note.moment)]
            if "exit_code" in mapping(_parsed(item.get("output")).get("metadata")):
                self._tally.skip("exit code")
        else:
            pieces = list(item_pieces(item, self._tally))
        if not pieces:
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


def _parsed(output: object) -> Mapping[str, object]:
    if isinstance(output, str) and output.startswith("{"):
        return mapping(decoded(output))
    return {}


def _result(item: Mapping[str, object]) -> Result:
    output = item.get("output")
    output = _parsed(output).get("output", output)
    is_error = mapping(output).get("success") is False
    if isinstance(output, dict):
        output = output.get("content", as_json(output))
    return Result(text(item.get("call_id")), result_text(output), is_error)


CODEX = Format(
    NAME, "Codex's sessions (JSONL)", _matches, _read, _usual_place, "rollout-*.jsonl", "CODEX_HOME"
)
