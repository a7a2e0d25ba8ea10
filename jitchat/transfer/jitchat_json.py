"""jitchat's own format: JSON with the whole conversation, written and read one turn at a time.

It has the turns of every branch with their tools and reasoning, each reply's model, usage, cost and
stop reason, pins, tags, reports about replies, and the attachments, each file once for all turns
that have it; and of each project the facts and the memory document. An import into an empty home
that is exported again gives the same file. Windows are not in it: a backup of the database has
them. On import, everything is checked like any other program's file.
"""

import base64
import json
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import datetime
from itertools import chain
from typing import Any

from jitchat.attachments import Attachment, Part, Picture, digest_of_bytes
from jitchat.errors import ImportFailed
from jitchat.files.pictures import picture_size
from jitchat.store.attachments import AttachmentStore, bytes_of, whole
from jitchat.store.imported import (
    ImportWriter,
    IncomingTurn,
    Origin,
    Twin,
    all_turns,
    origin_of,
)
from jitchat.store.path import Path
from jitchat.store.pins import OwnInstructions, Pins
from jitchat.store.regression_cases import Case, CaseKind, Cases
from jitchat.store.reply_notes import ReplyNote
from jitchat.store.store import ColdStore
from jitchat.text.sanitize import escape_in_json, one_line, repair, shorten
from jitchat.tool_fields import use_fields, use_from
from jitchat.transfer.census import Census, rules_of
from jitchat.transfer.export import Write
from jitchat.transfer.format import Format, Sample
from jitchat.transfer.incoming import IncomingConversation, Tally, tags_of
from jitchat.transfer.json_text import JsonText, NotJson, mapping
from jitchat.transfer.pieces import LONGEST_NAME
from jitchat.transfer.project_json import ProjectReader, project_fields
from jitchat.transfer.source import Source, SourceFile
from jitchat.transfer.turns import hash_of
from jitchat.typed_data import INVALID, fields_of, read
from jitchat.values import NO_TOOL_USE, Conversation, Instructions, Role, Status, Turn
from jitchat.window.steering import Hold

Fields = Mapping[str, Any]
NAME = "jitchat"
VERSION = 1
_MOST_FILES = 10_000
"""Maximum attachments per turn."""


@dataclass(frozen=True, slots=True)
class _Head:
    """A conversation without its turns and what belongs to them."""

    id: str
    title: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    project: str = ""
    head: int = 0
    """The position of the last turn of the current branch; 0 for the last turn."""
    system: str | None = None
    persona: str | None = None
    title_given: bool = True
    archived: bool = False
    tags: tuple[str, ...] = ()
    imported_from: Origin | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """A turn that has a file."""

    turn: int
    number: int
    name: str
    path: str = ""
    modified_at: float = 0.0


@dataclass(frozen=True, slots=True)
class _File:
    digest: str
    media_type: str
    turns: tuple[_Place, ...]
    parts: tuple[tuple[str, str, str], ...]
    """Locator, heading and text of each."""
    data: str | None = None
    """Base64; None if the parts are all of it."""


@dataclass(frozen=True, slots=True)
class _Hold:
    turn: int
    hold: Hold


@dataclass(frozen=True, slots=True)
class _Case:
    said: int
    wanted: int
    kind: CaseKind
    noted_at: datetime


def write_json(store: ColdStore, conversations: Sequence[Conversation], write: Write) -> None:
    """Write one JSON object, with one turn per line; a conversation without turns is left out."""
    chosen = [conversation for conversation in conversations if conversation.turns]
    chosen.sort(key=lambda conversation: (conversation.created_at, conversation.id))
    write(f'{{"format": "{NAME}", "version": {VERSION}, "conversations": [')
    for number, conversation in enumerate(chosen):
        write(",\n" if number else "\n")
        _write_conversation(store, conversation, write)
    write("\n]")
    _write_list(write, "projects", project_fields(store, chosen))
    write("}\n")


def _write_conversation(store: ColdStore, conversation: Conversation, write: Write) -> None:
    origin, tree = origin_of(store, conversation.id), store.tree(conversation.id)
    own = OwnInstructions(store.database).get(conversation.id)
    is_own = origin == _own_origin(conversation.id, conversation.created_at)
    head = _Head(
        conversation.id,
        conversation.title,
        conversation.created_at,
        conversation.updated_at,
        conversation.project,
        tree.head,
        own.system,
        own.persona,
        not store.lacks_title(conversation.id),
        conversation.is_archived,
        conversation.tags,
        None if is_own else origin,
    )
    write(_json(_fields(head))[:-1])
    turns = all_turns(store, conversation.id)
    _write_list(write, "turns", map(_turn_fields, turns))
    _write_list(write, "files", _files(store, conversation.id))
    pins = Pins(store.database).of(conversation.id, Path(((1, tree.last),)))
    holds = (_Hold(position, Hold(hold)) for position, hold in pins.items())
    _write_list(write, "holds", map(_fields, holds))
    cases = Cases(store.database).of(conversation.id)
    described = (
        _Case(case.said.position, case.wanted.position, case.kind, case.noted_at) for case in cases
    )
    _write_list(write, "cases", map(_fields, described))
    write("}")


def _write_list(write: Write, name: str, items: Iterator[Fields]) -> None:
    write(f', "{name}": [')
    for number, item in enumerate(items):
        write(f"{',' if number else ''}\n{_json(item)}")
    write("]")


def _json(value: object) -> str:
    return escape_in_json(json.dumps(value, ensure_ascii=False, default=str))


def _fields(record: Any) -> Fields:  # noqa: ANN401  any dataclass above
    """Describe a record, without values that are the usual ones."""
    described = fields_of(record)
    unusual = (
        member.name for member in fields(record) if getattr(record, member.name) != member.default
    )
    return {name: described[name] for name in unusual}


def _turn_fields(exported: IncomingTurn) -> Fields:
    """Describe a turn with its note and, in hexadecimal, the key that it has in another source."""
    turn = exported.turn
    if turn.status is Status.STREAMING:
        turn = replace(turn, status=Status.INTERRUPTED)
    described = {**_fields(replace(turn, id=0, use=NO_TOOL_USE)), **_fields(exported.note)}
    if turn.use:
        described["tools"] = use_fields(turn.use)
    if exported.key not in (b"", _key_of(turn)):
        described["key"] = exported.key.hex()
    return described


def _read_turn(item: object) -> tuple[Turn, ReplyNote, bytes]:
    """Read what `_turn_fields` described; raise as `read` does if it is something else."""
    others = dict(mapping(item))
    key = bytes.fromhex(str(others.pop("key", "")))
    use = use_from(others.pop("tools", {}))
    own = {name: others.pop(name) for name in _TURN_FIELDS if name in others}
    turn = replace(read(Turn, own), use=use)
    if turn.role not in _ROLES or turn.status is Status.STREAMING:
        raise ValueError("no turn of a conversation")
    return turn, read(ReplyNote, others), key


def _files(store: ColdStore, conversation: str) -> Iterator[Fields]:
    """Yield each file with its contents and the turns that have it; text files as text only."""
    places, numbers = dict[str, list[_Place]](), Counter[int]()
    listed = AttachmentStore(store.database, conversation).listed()
    for file in listed:
        place = _Place(file.turn, numbers[file.turn], file.name, file.path, file.modified_at)
        places.setdefault(file.digest, []).append(place)
        numbers[file.turn] += 1
    for file in {listed_file.digest: listed_file for listed_file in listed}.values():
        stored, data = whole(store.database, file), bytes_of(store.database, file.digest)
        parts = tuple((part.locator, part.head, part.text) for part in stored.parts)
        is_text = data == stored.text.encode()
        encoded = None if is_text else base64.b64encode(data).decode()
        yield _fields(
            _File(file.digest, file.media_type, tuple(places[file.digest]), parts, encoded)
        )


def _matches(sample: Sample) -> bool:
    return any(
        each.get("format") == NAME and isinstance(each.get("version"), int)
        for each in sample.objects[:1]
    )


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    projects = ProjectReader(source.tally)
    heads = iter(_heads(file, source))
    source.afterwards.append(projects.store_all)
    with file.open() as opened:
        json_text = JsonText(opened)
        json_text.peek()
        for name, value in json_text.members(("projects",), entered=("conversations",)):
            if name == "version" and value != VERSION:
                version = shorten(str(value), 20)
                raise NotJson(f"was exported by another version of jitchat ({version})")
            if name == "conversations" and isinstance(value, Iterator):
                for first in value:
                    head = next(heads, {})
                    yield from _conversation(json_text, first, head, source.tally, projects)
            elif name == "projects" and isinstance(value, Iterator):
                projects.items = list(value)


def _heads(file: SourceFile, source: Source) -> list[dict[str, object]]:
    """Read what each conversation has beside its lists, up to where the file is damaged.

    Another program may have written it after the turns.
    """
    heads: list[dict[str, object]] = []
    bytes_read = source.bytes_read
    with suppress(NotJson, ImportFailed), file.open() as opened:  # the second reading reports it
        json_text = JsonText(opened)
        json_text.peek()
        for name, value in json_text.members((), entered=("conversations",)):
            if name == "conversations" and isinstance(value, Iterator):
                for first in value:
                    heads.append({})
                    _read_head(json_text, first, heads[-1])
    source.bytes_read = bytes_read
    return heads


def _read_head(json_text: JsonText, first: str, head: dict[str, object]) -> None:
    if first != "{":
        json_text.value()
        return
    for name, value in json_text.members(_LISTS):
        if isinstance(value, Iterator):
            deque(value, maxlen=0)
        else:
            head[name] = value


def _conversation(
    json_text: JsonText,
    first: str,
    head: Mapping[str, object],
    tally: Tally,
    projects: ProjectReader,
) -> Iterator[IncomingConversation]:
    """Read the conversation at this point up to its turns; the rest is restored afterwards."""
    if first != "{":
        json_text.value()
        tally.skip("item that is not a conversation")
        return
    early: dict[str, Iterator[object]] = {}
    members = json_text.members(_LISTS)
    lists = ((name, value) for name, value in members if isinstance(value, Iterator))
    for name, value in lists:
        if name == "turns":
            rest = chain(early.items(), lists)
            try:
                reader = _Reader(head, value, rest, projects)
            except INVALID:
                tally.skip("conversation that cannot be read", head)
            else:
                yield reader.found
            for _, left in chain([(name, value)], rest):  # what was not imported
                deque(left, maxlen=0)
            return
        early[name] = iter(list(value))
    tally.skip("conversation without turns")


class _Reader:
    """Reads one conversation: its turns, and then its files, holds and cases."""

    def __init__(
        self,
        values: Mapping[str, object],
        turns: Iterator[object],
        lists: Iterator[tuple[str, Iterator[object]]],
        projects: ProjectReader,
    ) -> None:
        """Raise as `read` does if `values`, beside the lists, do not describe a conversation."""
        known = {name: value for name, value in values.items() if name in _HEAD_FIELDS}
        self._head = head = read(_Head, known)
        self._items, self._lists, self._projects = turns, lists, projects
        self._tally = Tally()
        for name in values.keys() - known.keys():
            self._tally.skip(f"unknown field ({shorten(name, LONGEST_NAME)})", values[name])
        self._tally.read(fields_of(head))
        self._places: dict[int, int] = {}
        """The positions of turns that differ from those in the file, by the latter."""
        self._last = 0
        self.found = IncomingConversation(
            head.imported_from or _own_origin(head.id, head.created_at),
            head.title or head.id,
            self._turns(),
            self._tally,
            head.head if head.head > 0 else None,
            head.created_at,
            head.updated_at,
            Twin(repair(head.id), head.created_at, _key_of) if head.created_at else None,
            head.title_given,
            head.archived,
            tags_of(self._tally, list(head.tags)),
            self._restore,
            head.project,
            id=head.id or NAME,
        )
        self.found.census = Census(rules_of(NAME))  # whatever program it came from at first
        projects.expect(head.id)

    def _turns(self) -> Iterator[IncomingTurn]:
        for item in self._items:
            self._tally.read(item)
            try:
                turn, note, key = _read_turn(item)
            except INVALID:
                self._tally.skip("turn that cannot be read", item)
                continue
            turn = self._placed(turn)
            said = {name: value for name, value in mapping(item).items() if name not in _PLACES}
            note = replace(
                note,
                model=shorten(note.model, LONGEST_NAME),
                provider=shorten(note.provider, LONGEST_NAME),
                reasoning=repair(note.reasoning),
            )
            form = hash_of(json.dumps(said, sort_keys=True))
            yield IncomingTurn(turn, key or _key_of(turn), form, note)

    def _placed(self, turn: Turn) -> Turn:
        parent = self._last if turn.parent is None else self._place(turn.parent)
        question = None if turn.question is None else self._place(turn.question) or None
        self._last += 1
        if turn.position != self._last:
            self._places[turn.position] = self._last
        return replace(
            turn,
            position=self._last,
            parent=None if parent == self._last - 1 else parent,
            content=repair(turn.content),
            name=shorten(turn.name or "", LONGEST_NAME) or None,
            question=question,
        )

    def _place(self, position: int) -> int:
        """Convert a turn's position in the file to its position here; 0 if it is invalid."""
        place = self._places.get(position, position)
        return place if 0 <= place <= self._last else 0

    def _restore(self, store: ColdStore, writer: ImportWriter) -> None:
        """Store instructions, files, pins and cases; count damaged items.

        If the conversation already existed, its instructions and pins stay as they are, and only
        turns without any files get them.
        """
        turns = _Turns(store, writer, self._place)
        self._projects.add(self._head.id, writer.id, turns.place)
        if not (writer.added or writer.changed):
            return
        if writer.is_new:
            own = Instructions(self._head.system, self._head.persona)
            OwnInstructions(store.database).put(writer.id, own)
        for name, value in self._lists:
            for item in value:
                self.found.census.read({name: item})
                try:
                    turns.restore(read(_RECORDS[name], item), is_new=writer.is_new)
                except INVALID:
                    self._tally.skip(f"{name.removesuffix('s')} that cannot be read", item)


_RECORDS: dict[str, type[_File | _Hold | _Case]] = {"files": _File, "holds": _Hold, "cases": _Case}
_ROLES = (Role.USER, Role.ASSISTANT, Role.TOOL)
_TURN_FIELDS = {member.name for member in fields(Turn)} - {"id", "use"}
_PLACES = ("position", "parent", "question", "key")
"""The fields of a turn that say where it is, not what it is."""
_HEAD_FIELDS = {member.name for member in fields(_Head)}
_LISTS = ("turns", *_RECORDS)


def _key_of(turn: Turn) -> bytes:
    """Identify a turn that was written in jitchat: no two begin at one moment in one place."""
    said = turn.created_at.isoformat() if turn.created_at is not None else turn.content
    return hash_of(str(turn.position), turn.role, said)


def _own_origin(conversation: str, created_at: datetime | None) -> Origin:
    return Origin(NAME, f"{conversation} {created_at}")


class _Turns:
    """The stored turns of a conversation, by their positions in the file."""

    def __init__(self, store: ColdStore, writer: ImportWriter, place: Callable[[int], int]) -> None:
        self._store, self._writer, self._place = store, writer, place
        self._files = AttachmentStore(store.database, writer.id)
        self._had = {file.turn for file in self._files.listed()}
        self._numbers = set[tuple[int, int]]()

    def restore(self, record: _File | _Hold | _Case, *, is_new: bool) -> None:
        """Store what belongs to turns; raise ValueError if that cannot be."""
        match record:
            case _File():
                self._attach(record)
            case _Hold() if is_new and (turn := self._at(record.turn)) is not None:
                Pins(self._store.database).put(turn, record.hold)
            case _Case():
                said, wanted = self._at(record.said), self._at(record.wanted)
                if said is None or wanted is None:
                    raise ValueError("no turns")
                case = Case(said, wanted, record.kind, None, record.noted_at)
                Cases(self._store.database).put(case)

    def _attach(self, file: _File) -> None:
        """Add a file to its turns, unless they already had files before this import."""
        parts = tuple(Part(locator, said, head) for locator, head, said in file.parts)
        data = "".join(part.text for part in parts).encode()
        if file.data is not None:
            data = base64.b64decode(file.data, validate=True)
        if file.digest != digest_of_bytes(data):
            raise ValueError("another digest")
        seen, media_type = picture_size(data), one_line(file.media_type)
        for place in file.turns:
            turn, name = self._at(place.turn), one_line(place.name) or "file"
            if turn is None or turn.position in self._had:
                continue
            number = place.number if 0 <= place.number < _MOST_FILES else 0
            while (turn.id, number) in self._numbers:
                number += 1
            self._numbers.add((turn.id, number))
            attachment = Attachment(
                *(name, file.digest, media_type, len(data), parts),
                picture=Picture(name, file.digest, *seen, data) if seen is not None else None,
                path=place.path if place.path.isprintable() else "",
                modified_at=place.modified_at,
                data=data,
            )
            self._files.add(turn, number, attachment)

    def place(self, position: int) -> int:
        """Return the stored position of the turn at a position in the file; 0 if not stored."""
        return self._writer.place(self._place(position))

    def _at(self, position: int) -> Turn | None:
        place = self.place(position)
        return self._store.turn(self._writer.id, place) if place else None


JITCHAT = Format(NAME, "jitchat's own JSON", _matches, _read)
