"""jitchat's own format: JSON with the whole conversation, written and read one turn at a time.

It has the turns of every branch with their tools and reasoning, each reply's model, usage, cost and
stop reason, pins, tags, reports about replies, and the attachments, each file once for all turns
that have it; and of each project the facts and the memory document. An import into an empty home
that is exported again gives the same file. Windows are not in it: a backup of the database has
them. On import, everything is checked like any other program's file.
"""

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from jitchat.attachments import Attachment, Part, Picture, digest_of_bytes
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
from jitchat.transfer.fields import as_json, mapping, moment_of, sequence, text
from jitchat.transfer.format import Format
from jitchat.transfer.incoming import (
    LONGEST_NAME,
    IncomingConversation,
    Tally,
    hash_of,
    tags_of,
)
from jitchat.transfer.json_text import JsonText, NotJson
from jitchat.transfer.project_json import ProjectReader, project_fields
from jitchat.transfer.sample import Sample
from jitchat.transfer.source import Source, SourceFile
from jitchat.transfer.typed import INVALID, read_as
from jitchat.values import Conversation, Instructions, Role, Status, Turn, Usage

Fields = Mapping[str, Any]
NAME = "jitchat"
VERSION = 1
_MOST_FILES = 10_000
"""Attachments per turn."""
_HOLDS = ("pinned", "excluded")


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
    instructions = {name: value for name, value in asdict(own).items() if value is not None}
    head: Fields = {
        "id": conversation.id,
        "title": conversation.title,
        "created_at": conversation.created_at.isoformat(),
        "updated_at": conversation.updated_at.isoformat(),
        "project": conversation.project,
        "head": tree.head,
        **instructions,
        "title_given": not store.lacks_title(conversation.id),
        "archived": conversation.is_archived,
        "tags": list(conversation.tags),
    }
    if origin not in (None, _own_origin(conversation.id, conversation.created_at)):
        head = {**head, "imported_from": {"source": origin.source, "key": origin.key}}
    write(_json(head)[:-1])
    turns = all_turns(store, conversation.id)
    _write_list(write, "turns", (_turn_fields(incoming) for incoming in turns))
    _write_list(write, "files", _files(store, conversation.id))
    pins = Pins(store.database).of(conversation.id, Path(((1, tree.last),)))
    holds = [{"turn": position, "hold": hold} for position, hold in pins.items()]
    _write_list(write, "holds", iter(holds))
    _write_list(write, "cases", _cases(store, conversation.id))
    write("}")


def _write_list(write: Write, name: str, items: Iterator[Fields]) -> None:
    write(f', "{name}": [')
    for number, item in enumerate(items):
        write(f"{',' if number else ''}\n{_json(item)}")
    write("]")


def _json(value: object) -> str:
    return escape_in_json(json.dumps(value, ensure_ascii=False, default=str))


def _turn_fields(exported: IncomingTurn) -> Fields:
    turn, note = exported.turn, exported.note
    status = Status.INTERRUPTED if turn.status is Status.STREAMING else turn.status
    usage = note.usage
    optional: Fields = {
        "name": turn.name,
        "created_at": turn.created_at.isoformat() if turn.created_at else None,
        "status": status.value if status is not Status.COMPLETE else None,
        "parent": turn.parent,
        "tools": use_fields(turn.use) or None,
        "model": note.model or None,
        "provider": note.provider or None,
        "stop": note.stop,
        "usage": None if usage is None else asdict(usage),
        "cost": note.cost,
        "reasoning": note.reasoning or None,
        "key": exported.key.hex() or None if exported.key != _key_of(turn) else None,
    }
    written = {name: value for name, value in optional.items() if value is not None}
    return {
        "position": turn.position, "role": turn.role.value, "content": turn.content, **written
    }  # fmt: skip


def _files(store: ColdStore, conversation: str) -> Iterator[Fields]:
    """Yield each file with its contents and the turns that have it; text files as text only."""
    turns, numbers = dict[str, list[Fields]](), Counter[int]()
    listed = AttachmentStore(store.database, conversation).listed()
    for file in listed:
        place = {"turn": file.turn, "number": numbers[file.turn], "name": file.name}
        where = {"path": file.path, "modified_at": file.modified_at} if file.path else {}
        turns.setdefault(file.digest, []).append({**place, **where})
        numbers[file.turn] += 1
    for file in {each.digest: each for each in listed}.values():
        found, data = whole(store.database, file), bytes_of(store.database, file.digest)
        is_text = data == found.text.encode()
        yield {
            "digest": file.digest,
            "media_type": file.media_type,
            "turns": turns[file.digest],
            "parts": [[part.locator, part.head, part.text] for part in found.parts],
            **({} if is_text else {"data": base64.b64encode(data).decode()}),
        }


def _cases(store: ColdStore, conversation: str) -> Iterator[Fields]:
    for case in Cases(store.database).of(conversation):
        yield {
            "said": case.said.position,
            "wanted": case.wanted.position,
            "kind": case.kind.value,
            "noted_at": case.noted_at.isoformat(),
        }


def _matches(sample: Sample) -> bool:
    return any(
        each.get("format") == NAME and isinstance(each.get("version"), int)
        for each in sample.objects[:1]
    )


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    projects = ProjectReader(source.tally)
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
                    yield from _conversation(json_text, first, source.tally, projects)
            elif name == "projects" and isinstance(value, Iterator):
                projects.items = list(value)


def _conversation(
    json_text: JsonText, first: str, tally: Tally, projects: ProjectReader
) -> Iterator[IncomingConversation]:
    """Read the conversation at this point up to its turns; the rest is restored afterwards."""
    if first != "{":
        json_text.value()
        tally.skip("item that is not a conversation")
        return
    head: dict[str, object] = {}
    members = json_text.members(("turns", "files", "holds", "cases"))
    for name, value in members:
        if name == "turns" and isinstance(value, Iterator):
            reader = _Reader(head, value, members, projects)
            yield reader.found
            reader.pass_over()
            return
        head[name] = value
    tally.skip("conversation without turns")


class _Reader:
    """Reads one conversation: its turns, and then its files, holds and cases."""

    def __init__(
        self,
        head: Mapping[str, object],
        turns: Iterator[object],
        members: Iterator[tuple[str, object]],
        projects: ProjectReader,
    ) -> None:
        self._items, self._members, self._projects = turns, members, projects
        self._tally = Tally()
        self._tally.read(head)
        self._places: dict[int, int] = {}
        """The positions of turns that differ from those in the file, by the latter."""
        self._last = 0
        key, created = text(head.get("id")), moment_of(head.get("created_at"))
        self._id = key
        came_from = mapping(head.get("imported_from"))
        origin = Origin(text(came_from.get("source")), text(came_from.get("key")))
        given, system, persona = map(head.get, ("head", "system", "persona"))
        self._instructions = Instructions(
            system if isinstance(system, str) else None,
            shorten(persona, LONGEST_NAME) if isinstance(persona, str) else None,
        )
        self.found = IncomingConversation(
            origin if origin.source and origin.key else _own_origin(key, created),
            key or NAME,
            text(head.get("title")) or key,
            self._turns(),
            self._tally,
            given if isinstance(given, int) and given > 0 else None,
            created,
            moment_of(head.get("updated_at")),
            None if created is None else Twin(repair(key), created, _key_of),
            head.get("title_given") is not False,
            head.get("archived") is True,
            tags_of(head.get("tags")),
            self._restore,
            text(head.get("project")),
        )
        self.found.census = Census(rules_of(NAME))  # whatever program it came from at first
        projects.expect(key)

    def pass_over(self) -> None:
        """Read to the end of the conversation, ignoring what was not imported."""
        for _ in self._items:
            pass
        for _, value in self._members:
            for _ in value if isinstance(value, Iterator) else ():
                pass

    def _turns(self) -> Iterator[IncomingTurn]:
        for item in self._items:
            fields = mapping(item)
            self._tally.read(fields)
            turn = self._turn(fields)
            if turn is None:
                continue
            key = _key(fields.get("key")) or _key_of(turn)
            said = {name: value for name, value in fields.items() if name not in _PLACES}
            yield IncomingTurn(turn, key, hash_of(as_json(said)), _note(fields))

    def _turn(self, fields: Mapping[str, object]) -> Turn | None:
        """Check a turn; None, counted, if it is invalid."""
        content, named = fields.get("content"), fields.get("position")
        role, status = _ROLES.get(text(fields.get("role"))), _STATUSES.get(fields.get("status"))
        if role is None or status is None or not isinstance(content, str):
            self._tally.skip("turn without a known role, status or text", fields)
            return None
        try:
            use = use_from(fields.get("tools") or {})
        except TypeError:
            self._tally.skip("turn whose tools cannot be read", fields)
            return None
        above = fields.get("parent")
        parent = self._place(above) if isinstance(above, int) else self._last
        self._last += 1
        if isinstance(named, int) and named != self._last:
            self._places[named] = self._last
        return Turn(
            self._last,
            role,
            repair(content),
            moment_of(fields.get("created_at")),
            shorten(text(fields.get("name")), LONGEST_NAME) or None,
            status,
            parent=None if parent == self._last - 1 else parent,
            use=use,
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
        self._projects.add(self._id, writer.id, turns.place)
        if not (writer.added or writer.changed):
            return
        if writer.is_new:
            OwnInstructions(store.database).put(writer.id, self._instructions)
        for name, value in self._members:
            for item in value if isinstance(value, Iterator) else ():
                self.found.census.read({name: item})
                if writer.is_new or name != "holds":
                    self._restore_item(name, mapping(item), turns)

    def _restore_item(self, name: str, fields: Mapping[str, object], turns: "_Turns") -> None:
        if name == "files" and not _restore_file(fields, turns):
            self._tally.skip("attachment that cannot be read", fields)
        elif name == "cases" and not _restore_case(fields, turns):
            self._tally.skip("report about a reply that cannot be read", fields)
        elif name == "holds":
            turn, hold = turns.at(fields.get("turn")), fields.get("hold")
            if turn is not None and hold in _HOLDS:
                Pins(turns.store.database).put(turn, text(hold))


_ROLES = {role.value: role for role in (Role.USER, Role.ASSISTANT, Role.TOOL)}
_STATUSES: dict[object, Status] = {
    None: Status.COMPLETE,
    **{status.value: status for status in Status if status is not Status.STREAMING},
}


_PLACES = ("position", "parent", "key")
"""The fields of a turn that say where it is, not what it is."""


def _key_of(turn: Turn) -> bytes:
    """Identify a turn that was written in jitchat: no two begin at one moment in one place."""
    said = turn.created_at.isoformat() if turn.created_at is not None else turn.content
    return hash_of(str(turn.position), turn.role, said)


def _own_origin(conversation: str, created_at: datetime | None) -> Origin:
    return Origin(NAME, f"{conversation} {created_at}")


def _key(value: object) -> bytes:
    try:
        return bytes.fromhex(text(value))
    except ValueError:
        return b""


class _Turns:
    """The stored turns of a conversation, by their positions in the file."""

    def __init__(self, store: ColdStore, writer: ImportWriter, place: Callable[[int], int]) -> None:
        self.store, self._writer, self._place = store, writer, place
        self._files = AttachmentStore(store.database, writer.id)
        self._had = {file.turn for file in self._files.listed()}
        self._numbers = set[tuple[int, int]]()

    def attach(self, turn: Turn, number: object, file: Attachment) -> None:
        """Add a file to a turn, unless the turn already had files before this import."""
        if turn.position in self._had:
            return
        place = number if isinstance(number, int) and 0 <= number < _MOST_FILES else 0
        while (turn.id, place) in self._numbers:
            place += 1
        self._numbers.add((turn.id, place))
        self._files.add(turn, place, file)

    def place(self, position: int) -> int:
        """Return the stored position of the turn at a position in the file; 0 if not stored."""
        return self._writer.place(self._place(position))

    def at(self, position: object) -> Turn | None:
        if not isinstance(position, int) or isinstance(position, bool):
            return None
        place = self.place(position)
        return self.store.turn(self._writer.id, place) if place else None


def _restore_file(fields: Mapping[str, object], turns: _Turns) -> bool:
    """Attach a file to its turns; return whether it can be read and matches its digest."""
    parts = tuple(
        Part(repair(text(locator)), repair(text(said)), repair(text(head)))
        for locator, head, said in map(_three, sequence(fields.get("parts")))
    )
    try:
        given = fields.get("data")
        written = "".join(part.text for part in parts).encode()
        data = written if given is None else base64.b64decode(text(given), validate=True)
    except ValueError:
        return False
    digest = digest_of_bytes(data)
    if digest != fields.get("digest"):
        return False
    seen, media_type = picture_size(data), one_line(text(fields.get("media_type")))
    for each in map(mapping, sequence(fields.get("turns"))):
        turn, name = turns.at(each.get("turn")), one_line(text(each.get("name"))) or "file"
        path = text(each.get("path"))
        if turn is not None:
            file = Attachment(
                *(name, digest, media_type, len(data), parts),
                picture=Picture(name, digest, *seen, data) if seen is not None else None,
                path=path if path.isprintable() else "",
                modified_at=_number(each.get("modified_at")) or 0.0,
                data=data,
            )
            turns.attach(turn, each.get("number"), file)
    return True


def _three(value: object) -> Sequence[object]:
    given = sequence(value)
    return given if len(given) == 3 else ("", "", "")


def _restore_case(fields: Mapping[str, object], turns: _Turns) -> bool:
    """Store a report about a reply; return whether it can be read."""
    said, wanted = turns.at(fields.get("said")), turns.at(fields.get("wanted"))
    kind, noted_at = text(fields.get("kind")), moment_of(fields.get("noted_at"))
    if said is None or wanted is None or noted_at is None or kind not in set(CaseKind):
        return False
    Cases(turns.store.database).put(Case(said, wanted, CaseKind(kind), None, noted_at))
    return True


def _note(fields: Mapping[str, object]) -> ReplyNote:
    return ReplyNote(
        shorten(text(fields.get("model")), LONGEST_NAME),
        shorten(text(fields.get("provider")), LONGEST_NAME),
        text(fields.get("stop")) or None,
        _usage(fields.get("usage")),
        _number(fields.get("cost")),
        repair(text(fields.get("reasoning"))),
    )


def _usage(value: object) -> Usage | None:
    try:
        usage: Usage | None = read_as(Usage | None, value)
    except INVALID:
        usage = None
    return usage


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e300 else None  # type: ignore[arg-type]


JITCHAT = Format(NAME, "jitchat's own JSON", _matches, _read)
