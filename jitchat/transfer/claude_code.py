"""Claude Code's sessions: `projects/FOLDER/SESSION.jsonl` in `~/.claude`, or $CLAUDE_CONFIG_DIR.

Each line names its parent line (`uuid`, `parentUuid`). One reply of the model is several lines with
the same `message.id`, and most of the user's lines are tool results: a reply and its results form
one unit of the tree. What the user typed meanwhile follows it. Lines can be repeated, and those of
a session that was resumed too, with other ids but the same `message.id`. The format is undocumented
and may change; unknown lines are skipped and counted.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from jitchat.store.imported import IncomingTurn, Origin
from jitchat.transfer.attached import base64_piece, text_piece
from jitchat.transfer.blocks import pieces_of
from jitchat.transfer.format import Environment, Format, Sample, lines_of
from jitchat.transfer.incoming import INSTRUCTIONS, IncomingConversation, Tally
from jitchat.transfer.json_text import mapping, moment_of, text
from jitchat.transfer.pieces import Piece, Result, Text, Thought
from jitchat.transfer.source import Source, SourceFile
from jitchat.transfer.turns import Note, TurnMaker
from jitchat.values import Role, ToolCall

NAME = "claude-code"
_TITLES = {
    "summary": "summary",
    "ai-title": "aiTitle",
    "custom-title": "customTitle",
    "agent-name": "agentName",
}
"""The field that has the title, by line type; later types take precedence."""
_REMINDER = re.compile(
    r"\A\s*+<system-reminder>(?:(?!</?system-reminder>).)*+</system-reminder>(?=[^\S\n]*+(?:\n|\Z))"
    r"|(?:\A|\n)[^\S\n]*+<system-reminder>(?:(?!</?system-reminder>).)*+</system-reminder>\s*+\Z",
    re.DOTALL,
)
"""A text that the program put before or after the user's, on lines of its own."""
_COMMAND = re.compile(r"\s*<(command-name|command-message|local-command-\w+|bash-\w+)>")
"""The start of a text that the program wrote for one of its own commands."""
_NAME = re.compile(r"<command-name>([^<]++)</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(.*)</command-args>", re.DOTALL)
"""The user's words after a command."""
_INTERRUPTED = re.compile(r"\s*\[Request interrupted by user[^\]\n]{0,40}\]\s*")
"""A text that the program writes as the user."""


def _matches(sample: Sample) -> bool:
    return any(
        (isinstance(line.get("sessionId"), str) and ("uuid" in line or "leafUuid" in line))
        or (line.get("type") == "summary" and "leafUuid" in line)
        for line in sample.lines
    )


def _usual_place(environment: Environment) -> Path:
    return Path(environment.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser() / "projects"


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    if "subagents" in Path(file.name).parts or file.stem.startswith("agent-"):
        source.tally.skip("sub-agent session")
        return
    found = IncomingConversation(Origin(NAME, file.stem))
    found.turns = _Reader(found.tally).read(file, found)
    yield found


@dataclass(slots=True)
class _Unit:
    """A message and the results of its tool calls."""

    id: str
    role: Role
    begun: Mapping[str, object]
    """Its first line, which names the line that it follows."""
    note: Note
    pieces: list[Piece] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """The ids of its lines: a child of any of them is a child of the unit."""

    @property
    def words(self) -> str:
        said = (piece.text for piece in self.pieces if isinstance(piece, Text))
        return "\n\n".join(said).strip()


class _Reader:
    """Reads a session line by line; the last unit stays open until the next one begins."""

    def __init__(self, tally: Tally) -> None:
        self._tally, self._maker = tally, TurnMaker(tally)
        self._places: dict[str, int] = {}
        """The position of the last turn up to and including each line, by line id."""
        self._open: _Unit | None = None
        self._queued: list[_Unit] = []
        """What the user typed while the open unit was written; it follows that unit."""
        self._closed: dict[str, tuple[int, Sequence[Piece]]] = {}
        """The position of each closed unit's last turn, and its pieces except results."""
        self._asked: dict[tuple[int, str], int] = {}
        """The positions of the user's messages, by the position before them and their text."""
        self._answered = set[str]()
        """The ids of calls that have a result."""
        self._replayed = {""}
        """The ids of lines that repeat others under another id; lines without a parent begin so."""
        self._titles: dict[str, str] = {}

    def read(self, file: SourceFile, found: IncomingConversation) -> Iterator[IncomingTurn]:
        for line in lines_of(file, self._tally):
            kind = text(line.get("type"))
            self._tally.read({kind: line})
            if kind in _TITLES:
                self._titles[kind] = text(line.get(_TITLES[kind]))
            else:
                yield from self._line(line, kind)
        yield from self._end()
        titles = [self._titles[kind] for kind in _TITLES if self._titles.get(kind)]
        found.title = titles[-1] if titles else ""

    def _line(self, line: Mapping[str, object], kind: str) -> Iterator[IncomingTurn]:
        uuid, reason = text(line.get("uuid")), _skip_reason(line)
        if uuid in self._places or (kind == "user" and self._owner(uuid) is not None):
            return  # the same line again
        if reason:
            self._tally.skip(reason, line)
            yield from self._pass(line)
        elif kind in ("user", "assistant"):
            yield from self._message(line, mapping(line.get("message")), Role(kind))
        elif kind == "attachment":
            yield from self._attachment(line, mapping(line.get("attachment")))
        else:
            yield from self._pass(line)
            if kind not in _QUIET:
                self._tally.skip("line of unknown kind", line)

    def _message(
        self, line: Mapping[str, object], message: Mapping[str, object], role: Role
    ) -> Iterator[IncomingTurn]:
        note = Note(moment_of(line.get("timestamp")), text(message.get("model")))
        pieces = list(self._pieces(message.get("content"), note))
        uuid, unit = text(line.get("uuid")), self._open
        identity = text(message.get("id")) or uuid
        results = [piece for piece in pieces if isinstance(piece, Result)]
        if unit is not None and (unit.id == identity or self._answers(results, unit)):
            (self._owner(text(line.get("parentUuid"))) or unit).lines.append(uuid)
            _take(unit.pieces, results if role is Role.USER else pieces, self._tally)
            pieces = [piece for piece in pieces if not isinstance(piece, Result)]
            if role is Role.ASSISTANT or not pieces:
                return
        fresh = _Unit(identity, role, line, note, pieces, [uuid])
        if self._is_replay(fresh):
            return
        yield from self._close()
        if not pieces and role is Role.USER:
            yield from self._pass(line)
            return
        self._open = fresh

    def _pieces(self, content: object, note: Note) -> Iterator[Piece]:
        for piece in pieces_of(content, self._tally):
            if isinstance(piece, Result):
                yield replace(piece, moment=note.moment)
            elif not isinstance(piece, Text):
                yield piece
            elif said := self._cleaned(piece.text):
                yield Text(said)

    def _cleaned(self, written: str) -> str:
        """Return what the user wrote of a text; empty for one that the program wrote."""
        arguments, name = _ARGUMENTS.search(written), _NAME.search(written)
        is_command = _COMMAND.match(written) is not None
        if is_command and name is not None and arguments is not None and arguments[1].strip():
            self._tally.skip("notice of the program", written)
            return f"{name[1].strip()} {arguments[1].strip()}"
        if is_command or _INTERRUPTED.fullmatch(written):
            self._tally.skip("program command", written)
            return ""
        said, number = _REMINDER.subn("", written)
        while number:
            self._tally.skip("reminder of the program", written)
            written = said.strip()
            said, number = _REMINDER.subn("", written)
        return written if written.strip() else ""

    @staticmethod
    def _answers(results: list[Result], unit: _Unit) -> bool:
        called = {getattr(piece, "id", "") for piece in unit.pieces}
        return bool(results) and all(result.call_id in called for result in results)

    def _is_replay(self, fresh: _Unit) -> bool:
        """Whether a unit is known, as in a session that was resumed; note where its lines are."""
        place, parent = None, text(fresh.begun.get("parentUuid"))
        results = [piece for piece in fresh.pieces if isinstance(piece, Result)]
        if results and len(results) == len(fresh.pieces):
            if self._answered.issuperset(result.call_id for result in results):
                place = self._follows(fresh.begun)
        elif fresh.role is Role.USER and parent in self._replayed:
            place = self._asked.get((self._places.get(parent, 0), fresh.words))
        elif fresh.id in self._closed:
            last, pieces = self._closed[fresh.id]
            is_known = all(_is_among(piece, pieces) for piece in fresh.pieces)
            place = last if is_known else None
        if place is None:
            return False
        self._places |= {uuid: place for uuid in fresh.lines if uuid}
        self._replayed.update(fresh.lines)
        return True

    def _attachment(
        self, line: Mapping[str, object], attached: Mapping[str, object]
    ) -> Iterator[IncomingTurn]:
        """Read what the program attached to a message: another message, or a file."""
        uuid, note = text(line.get("uuid")), Note(moment_of(line.get("timestamp")))
        owner = self._owner(text(line.get("parentUuid")))
        if _is_typed(attached):
            said = list(self._pieces(attached.get("prompt"), note))
            unit = _Unit(uuid, Role.USER, line, note, said, [uuid])
            if not self._is_replay(unit):
                self._queued.append(unit)
        elif attached.get("type") == "file" and owner is not None and owner.role is Role.USER:
            owner.pieces.append(_file(attached, self._tally))
            owner.lines.append(uuid)
        else:
            self._tally.skip("text that the program attached", attached)
            yield from self._pass(line)

    def _owner(self, uuid: str) -> _Unit | None:
        """Return the unit that is not closed yet and has a line."""
        units = (unit for unit in (self._open, *self._queued) if unit is not None)
        return next((unit for unit in units if uuid and uuid in unit.lines), None)

    def _pass(self, line: Mapping[str, object]) -> Iterator[IncomingTurn]:
        """Make the children of a line without content the children of the line before it."""
        uuid, owner = text(line.get("uuid")), self._owner(text(line.get("parentUuid")))
        if owner is not None:
            owner.lines.append(uuid)
        elif uuid:
            yield from self._close()
            self._places[uuid] = self._follows(line)

    def _follows(self, line: Mapping[str, object]) -> int:
        """Return the position of the turn before a line; the last one if it names no parent."""
        for name in ("parentUuid", "logicalParentUuid"):
            if (place := self._places.get(text(line.get(name)))) is not None:
                return place
        return self._maker.last

    def _close(self) -> Iterator[IncomingTurn]:
        units, self._open, self._queued = (self._open, *self._queued), None, []
        for unit in units:
            if unit is not None:
                yield from self._turns(unit)

    def _turns(self, unit: _Unit) -> list[IncomingTurn]:
        before = self._follows(unit.begun)
        turns = self._maker.turns(unit.id, unit.role, unit.pieces, before, unit.note)
        last = turns[-1].turn.position if turns else before
        self._places |= {uuid: last for uuid in unit.lines if uuid}
        spoken = [piece for piece in unit.pieces if not isinstance(piece, Result)]
        self._closed[unit.id] = last, spoken
        self._answered |= {piece.call_id for piece in unit.pieces if isinstance(piece, Result)}
        if unit.role is Role.USER:
            self._asked[before, unit.words] = last
        return turns

    def _end(self) -> Iterator[IncomingTurn]:
        """Close the last unit; what was queued behind calls follows when they are answered."""
        unit = self._open
        if unit is not None:
            answered = {piece.call_id for piece in unit.pieces if isinstance(piece, Result)}
            called = {piece.id for piece in unit.pieces if isinstance(piece, ToolCall)}
            if self._queued and not called <= answered:
                words = [queued.words for queued in self._queued]
                self._tally.skip("message that waits for the result of a tool", words)
                self._queued = []
        yield from self._close()


_QUIET = (
    "system", "file-history-snapshot", "queue-operation", "progress", "last-prompt",
    "permission-mode", "mode", "pr-link", "",
)  # fmt: skip
"""Line types without content of the conversation."""


def _take(pieces: list[Piece], more: Sequence[Piece], tally: Tally) -> None:
    """Add pieces of a later line, which can have an earlier piece again, or more of it."""
    for piece in more:
        part = next((part for part in pieces if _is_within(part, piece)), None)
        if part is not None:
            pieces[pieces.index(part)] = piece
            tally.account_for(getattr(part, "text", ""))
        elif not _is_among(piece, pieces):
            pieces.append(piece)


def _is_among(piece: Piece, pieces: Sequence[Piece]) -> bool:
    return any(_is_within(piece, other) for other in pieces)


def _is_within(part: Piece, piece: Piece) -> bool:
    """Whether a piece is an earlier state of another one, or the same."""
    match part, piece:
        case (Text(said), Text(whole)) | (Thought(said), Thought(whole)):
            return whole.startswith(said)
        case ToolCall(), ToolCall() if part.id:
            return piece.id == part.id and len(piece.arguments) >= len(part.arguments)
        case Result(), Result():
            return piece.call_id == part.call_id and piece.content.startswith(part.content)
    return part == piece


def _is_typed(attached: Mapping[str, object]) -> bool:
    """Whether the user typed what was attached, while the program worked."""
    origin = mapping(attached.get("origin")).get("kind", "human")
    is_prompt = attached.get("commandMode", "prompt") == "prompt" and origin == "human"
    return attached.get("type") == "queued_command" and is_prompt


def _file(attached: Mapping[str, object], tally: Tally) -> Piece:
    content = mapping(attached.get("content"))
    file = mapping(content.get("file"))
    name = PurePath(text(attached.get("filename")) or text(file.get("filePath"))).name
    if said := text(file.get("content")):
        return text_piece(tally, name, said)
    return base64_piece(tally, text(content.get("type")) or "file", name, text(file.get("base64")))


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


CLAUDE_CODE = Format(
    NAME,
    "Claude Code's sessions (JSONL)",
    _matches,
    _read,
    _usual_place,
    "*.jsonl",
    "CLAUDE_CONFIG_DIR",
)
