"""Claude Code's sessions: `projects/FOLDER/SESSION.jsonl` in `~/.claude`, or $CLAUDE_CONFIG_DIR.

Each line names its parent line (`uuid`, `parentUuid`). One reply of the model is several lines with
the same `message.id`, and most of the user's lines are tool results: a reply and its results form
one unit of the tree. The format is undocumented and may change; unknown lines are skipped and
counted.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jitchat.store.imported import IncomingTurn, Origin
from jitchat.transfer.blocks import pieces_of
from jitchat.transfer.fields import mapping, moment_of, text
from jitchat.transfer.format import Environment, Format
from jitchat.transfer.incoming import (
    INSTRUCTIONS,
    IncomingConversation,
    Note,
    Piece,
    Result,
    Tally,
    Text,
    TurnMaker,
    short_id,
)
from jitchat.transfer.json_text import Broken, JsonText
from jitchat.transfer.sample import Sample
from jitchat.transfer.source import Source, SourceFile
from jitchat.values import Role

NAME = "claude-code"
_TITLES = {
    "summary": "summary",
    "ai-title": "aiTitle",
    "custom-title": "customTitle",
    "agent-name": "agentName",
}
"""The field that has the title, by line type; later types take precedence."""
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_COMMAND = re.compile(r"\s*<(command-name|command-message|local-command-\w+|bash-\w+)>")
"""The start of a text that the program wrote for one of its own commands."""
_INTERRUPTED = re.compile(r"\s*\[Request interrupted by user[^\]\n]{0,40}\]\s*")
"""A text that the program writes as the user."""


def _matches(sample: Sample) -> bool:
    return any(
        (isinstance(line.get("sessionId"), str) and ("uuid" in line or "leafUuid" in line))
        or (line.get("type") == "summary" and "leafUuid" in line)
        for line in sample.lines
    )


def _usual_place(environment: Environment) -> Path:
    given = environment.get("CLAUDE_CONFIG_DIR")
    return (Path(given) if given else Path.home() / ".claude") / "projects"


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    if "subagents" in Path(file.name).parts or file.stem.startswith("agent-"):
        source.tally.skip("sub-agent session")
        return
    tally = Tally()
    reader = _Reader(tally)
    conversation = IncomingConversation(
        Origin(NAME, file.stem), short_id(NAME, file.stem), "", (), tally
    )
    conversation.turns = reader.read(file, conversation)
    yield conversation


@dataclass(slots=True)
class _Unit:
    """A message and the results of its tool calls."""

    id: str
    role: Role
    parent: int
    note: Note
    pieces: list[Piece] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """The ids of its lines: a child of any of them is a child of the unit."""


class _Reader:
    """Reads a session line by line; the last unit stays open until the next one begins."""

    def __init__(self, tally: Tally) -> None:
        self._tally, self._maker = tally, TurnMaker(tally)
        self._places: dict[str, int] = {}
        """The position of the last turn up to and including each line, by line id."""
        self._open: _Unit | None = None
        self._titles: dict[str, str] = {}

    def read(self, file: SourceFile, found: IncomingConversation) -> Iterator[IncomingTurn]:
        with file.open() as opened:
            for line in JsonText(opened).lines():
                fields = mapping(line)
                if isinstance(line, Broken):
                    self._tally.skip(f"line that is {line.reason}")
                elif (kind := text(fields.get("type"))) in _TITLES:
                    self._titles[kind] = text(fields.get(_TITLES[kind]))
                else:
                    yield from self._line(fields, kind)
        yield from self._close()
        titles = [self._titles[kind] for kind in _TITLES if self._titles.get(kind)]
        found.title = titles[-1] if titles else ""

    def _line(self, line: Mapping[str, object], kind: str) -> Iterator[IncomingTurn]:
        if kind not in ("user", "assistant"):
            yield from self._pass(line)
            if kind not in _QUIET:
                self._tally.skip("line of unknown kind")
            return
        if reason := _skip_reason(line):
            self._tally.skip(reason)
            yield from self._pass(line)
            return
        message, role = mapping(line.get("message")), Role(kind)
        pieces = [each for piece in pieces_of(message.get("content"), self._tally)
                  if (each := _cleaned(piece)) is not None]  # fmt: skip
        results = [piece for piece in pieces if isinstance(piece, Result)]
        identity = text(message.get("id")) or text(line.get("uuid"))
        unit = self._open
        if unit is not None and (unit.id == identity or self._answers(results, unit)):
            unit.pieces += results if role is Role.USER else pieces
            pieces = [piece for piece in pieces if not isinstance(piece, Result)]
            unit.lines.append(text(line.get("uuid")))
            if role is Role.ASSISTANT or not pieces:
                return
        yield from self._close()
        if not pieces and role is Role.USER:
            self._tally.skip("program command")
            yield from self._pass(line)
            return
        note = Note(moment_of(line.get("timestamp")), text(message.get("model")))
        self._open = _Unit(identity, role, self._follows(line), note, pieces)
        self._open.lines.append(text(line.get("uuid")))

    @staticmethod
    def _answers(results: list[Result], unit: _Unit) -> bool:
        called = {getattr(piece, "id", "") for piece in unit.pieces}
        return bool(results) and all(result.call_id in called for result in results)

    def _pass(self, line: Mapping[str, object]) -> Iterator[IncomingTurn]:
        """Make the children of a line without content the children of the line before it."""
        uuid, parent = text(line.get("uuid")), text(line.get("parentUuid"))
        if not uuid:
            return
        if self._open is not None and parent in self._open.lines:
            self._open.lines.append(uuid)
            return
        yield from self._close()
        self._places[uuid] = self._follows(line)

    def _follows(self, line: Mapping[str, object]) -> int:
        """Return the position of the turn before a line; the last one if it names no parent."""
        for name in ("parentUuid", "logicalParentUuid"):
            if (place := self._places.get(text(line.get(name)))) is not None:
                return place
        return self._maker.last

    def _close(self) -> Iterator[IncomingTurn]:
        unit, self._open = self._open, None
        if unit is None:
            return
        turns = self._maker.turns(unit.id, unit.role, unit.pieces, unit.parent, unit.note)
        place = turns[-1].turn.position if turns else unit.parent
        self._places |= dict.fromkeys(unit.lines, place)
        yield from turns


_QUIET = (
    "system", "attachment", "file-history-snapshot", "queue-operation", "progress",
    "last-prompt", "permission-mode", "mode", "pr-link", "",
)  # fmt: skip
"""Line types without content of the conversation."""


def _skip_reason(line: Mapping[str, object]) -> str:
    """Return why a line is from neither the user nor the model; empty if it is from one of them."""
    if line.get("isSidechain") is True:
        return "sub-agent message"
    if line.get("isCompactSummary") is True:
        return "compaction summary"
    if line.get("isMeta") is True:
        return INSTRUCTIONS
    if mapping(line.get("message")).get("model") == "<synthetic>":
        return "program notice"
    return ""


def _cleaned(piece: Piece) -> Piece | None:
    """Remove text that the program inserted; None if nothing is left."""
    if not isinstance(piece, Text):
        return piece
    if _COMMAND.match(piece.text) or _INTERRUPTED.fullmatch(piece.text):
        return None
    said, reminders = _REMINDER.subn("", piece.text)
    said = said.strip() if reminders else said
    return Text(said) if said.strip() else None


CLAUDE_CODE = Format(
    NAME,
    "Claude Code's sessions (JSONL)",
    _matches,
    _read,
    _usual_place,
    "*.jsonl",
    "CLAUDE_CONFIG_DIR",
)
