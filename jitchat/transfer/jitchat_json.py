"""jitchat's own format: JSON with the whole conversation, written and read one turn at a time.

It has the turns of every branch, tools, reasoning, models, pins, tags, each window that was sent
with its ledger, and the attachments, each file once for all turns that have it. A segment that is
an unchanged turn refers to the turn instead of repeating it. On import, everything is checked like
any other program's file.
"""

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
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
from jitchat.store.observations import (
    ObservationPass,
    ObservationStore,
    line_fields,
    line_from,
)
from jitchat.store.path import Path
from jitchat.store.pins import OwnInstructions, Pins
from jitchat.store.store import ColdStore
from jitchat.store.windows import Ending, Fields, Send, WindowArchive, WindowRecord
from jitchat.text.sanitize import escape_in_json, one_line, repair, shorten
from jitchat.tool_fields import use_fields, use_from
from jitchat.transfer.export import Write
from jitchat.transfer.fields import mapping, moment_of, sequence, text
from jitchat.transfer.format import Format
from jitchat.transfer.incoming import (
    LONGEST_NAME,
    IncomingConversation,
    Tally,
    tags_of,
    turn_key,
)
from jitchat.transfer.json_text import JsonText, NotJson
from jitchat.transfer.sample import Sample
from jitchat.transfer.source import Source, SourceFile
from jitchat.transfer.typed import is_typed
from jitchat.values import Conversation, Instructions, Role, Status, Turn, Usage
from jitchat.window.record import header_fields, ledger_fields, segment_fields, window_from
from jitchat.window.window import ContextWindow

NAME = "jitchat"
VERSION = 1
_MOST_FILES = 10_000
"""Attachments per turn."""
_HOLDS = ("pinned", "excluded")
_COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "written_tokens", "reasoning_tokens")


def write_json(store: ColdStore, conversations: Sequence[Conversation], write: Write) -> None:
    """Write conversations as one JSON object, with one turn or window per line."""
    write(f'{{"format": "{NAME}", "version": {VERSION}, "conversations": [')
    for number, conversation in enumerate(conversations):
        write(",\n" if number else "\n")
        _write_conversation(store, conversation, write)
    write("\n]}\n")


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
    if origin is not None:
        head = {**head, "imported_from": {"source": origin.source, "key": origin.key}}
    write(_json(head)[:-1])
    _write_list(write, "turns", (_turn_fields(each) for each in all_turns(store, conversation.id)))
    _write_list(write, "files", _files(store, conversation.id))
    _write_list(write, "windows", _windows(store, conversation.id))
    pins = Pins(store.database).of(conversation.id, Path(((1, tree.last),)))
    holds = [{"turn": position, "hold": hold} for position, hold in pins.items()]
    _write_list(write, "holds", iter(holds))
    observed = ObservationStore(store.database, conversation.id, store.now)
    _write_list(write, "observations", _passes(observed.every()))
    write("}")


def _write_list(write: Write, name: str, items: Iterator[Fields]) -> None:
    write(f', "{name}": [')
    for number, item in enumerate(items):
        write(f"{',' if number else ''}\n{_json(item)}")
    write("]")


def _json(value: object) -> str:
    return escape_in_json(json.dumps(value, ensure_ascii=False))


def _turn_fields(exported: IncomingTurn) -> Fields:
    turn = exported.turn
    status = Status.INTERRUPTED if turn.status is Status.STREAMING else turn.status
    optional: Fields = {
        "name": turn.name,
        "created_at": turn.created_at.isoformat() if turn.created_at else None,
        "status": status.value if status is not Status.COMPLETE else None,
        "parent": turn.parent,
        "tools": use_fields(turn.use) or None,
        "model": exported.model or None,
        "reasoning": exported.reasoning or None,
        "key": exported.key.hex() or None,
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


def _windows(store: ColdStore, conversation: str) -> Iterator[Fields]:
    archive = WindowArchive(store.database)
    for send in archive.sends(conversation):
        record, ending = archive.by_id(send.window_id), archive.ending(send.window_id)
        positions = {segment["turn"] for segment in record.segments if segment.get("turn")}
        found = store.turns_at(conversation, sorted(positions))
        contents = {turn.position: turn.content for turn in found}
        yield {
            "said": send.said,
            "reply": send.reply,
            "digest": record.digest,
            "sent_at": record.sent_at.isoformat() if record.sent_at else None,
            "header": record.header,
            "segments": [_segment(segment, contents) for segment in record.segments],
            "ledger": list(record.ledger),
            "request": send.request,
            "ending": _ending_fields(send, ending),
        }


def _passes(passes: Sequence[ObservationPass]) -> Iterator[Fields]:
    """Yield the observation passes, numbered from 1."""
    numbers = {made.id: number for number, made in enumerate(passes, start=1)}
    for made in passes:
        yield {
            "id": numbers[made.id],
            "follows": numbers[made.follows] if made.follows is not None else None,
            "kind": made.kind.value,
            "first": made.first,
            "last": made.last,
            "made_by": made.made_by,
            "made_at": made.made_at.isoformat() if made.made_at else None,
            "note": dict(made.note),
            "lines": [line_fields(line) for line in made.lines],
        }


def _segment(segment: Fields, contents: Mapping[int, str]) -> Fields:
    if segment.get("turn") in contents and contents[segment["turn"]] == segment["text"]:
        return {name: value for name, value in segment.items() if name != "text"}
    return segment


def _ending_fields(send: Send, ending: Ending | None) -> Fields:
    usage, counted = send.usage, ending.counted if ending is not None else None
    return {
        "stop": send.stop,
        "cost": send.cost,
        "provider": ending.provider if ending is not None else None,
        "usage": None if usage is None else {**_counts(usage), "cost": usage.cost},
        **({} if counted is None else {"counted": _counts(counted)}),
    }


def _counts(usage: Usage) -> Fields:
    return {name: getattr(usage, name) for name in _COUNTS}


def _matches(sample: Sample) -> bool:
    return any(
        each.get("format") == NAME and isinstance(each.get("version"), int)
        for each in sample.objects[:1]
    )


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    with file.open() as opened:
        json_text = JsonText(opened)
        json_text.peek()
        for name, value in json_text.members((), entered=("conversations",)):
            if name == "version" and value != VERSION:
                version = shorten(str(value), 20)
                raise NotJson(f"was exported by another version of jitchat ({version})")
            if name == "conversations" and isinstance(value, Iterator):
                for first in value:
                    yield from _conversation(json_text, first, source)


def _conversation(
    json_text: JsonText, first: str, source: Source
) -> Iterator[IncomingConversation]:
    """Read the conversation at this point up to its turns; the rest is restored afterwards."""
    if first != "{":
        json_text.value()
        source.tally.skip("item that is not a conversation")
        return
    head: dict[str, object] = {}
    members = json_text.members(("turns", "files", "windows", "holds", "observations"))
    for name, value in members:
        if name == "turns" and isinstance(value, Iterator):
            reader = _Reader(head, value, members)
            yield reader.found
            reader.pass_over()
            return
        head[name] = value
    source.tally.skip("conversation without turns")


class _Reader:
    """Reads one conversation: its turns, and then its files, windows, holds and observations."""

    def __init__(
        self,
        head: Mapping[str, object],
        turns: Iterator[object],
        members: Iterator[tuple[str, object]],
    ) -> None:
        self._items, self._members = turns, members
        self._tally = Tally()
        self._places: dict[int, int] = {}
        """The positions of turns that differ from those in the file, by the latter."""
        self._last = 0
        key, created = text(head.get("id")), moment_of(head.get("created_at"))
        came_from = mapping(head.get("imported_from"))
        origin = Origin(text(came_from.get("source")), text(came_from.get("key")))
        given, system, persona = map(head.get, ("head", "system", "persona"))
        self._instructions = Instructions(
            system if isinstance(system, str) else None,
            shorten(persona, LONGEST_NAME) if isinstance(persona, str) else None,
        )
        self.found = IncomingConversation(
            origin if origin.source and origin.key else Origin(NAME, f"{key} {created}"),
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
            tags_of(self._tally, head.get("tags")),
            self._restore,
            text(head.get("project")),
        )

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
            turn = self._turn(fields)
            if turn is None:
                continue
            reasoning, model = text(fields.get("reasoning")), text(fields.get("model"))
            key = _key(fields.get("key")) or _key_of(turn)
            yield IncomingTurn(turn, key, shorten(model, LONGEST_NAME), repair(reasoning))

    def _turn(self, fields: Mapping[str, object]) -> Turn | None:
        """Check a turn; None, counted, if it is invalid."""
        content, named = fields.get("content"), fields.get("position")
        role, status = _ROLES.get(text(fields.get("role"))), _STATUSES.get(fields.get("status"))
        if role is None or status is None or not isinstance(content, str):
            self._tally.skip("turn without a known role, status or text")
            return None
        try:
            use = use_from(fields.get("tools") or {})
        except TypeError:
            self._tally.skip("turn whose tools cannot be read")
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
        """Store files, windows, pins, instructions and observations; count damaged items.

        If the conversation already existed, store only files, and only for turns without any.
        """
        turns = _Turns(store, writer, self._place)
        if writer.is_new:
            OwnInstructions(store.database).put(writer.id, self._instructions)
        observed = list[ObservationPass]()
        for name, value in self._members:
            for item in value if isinstance(value, Iterator) else ():
                if name == "observations":
                    observed += self._pass(mapping(item))
                elif writer.is_new or name == "files":
                    self._restore_item(name, mapping(item), turns)
        if writer.is_new:
            ObservationStore(store.database, writer.id, store.now).restore(observed)

    def _pass(self, fields: Mapping[str, object]) -> Iterator[ObservationPass]:
        """Read a pass; it must be over turns whose positions are the same as in the file."""
        try:
            made = _pass_from(fields)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            made = None
        turns = () if made is None else (made.first, made.last, *_sources(made))
        if made is not None and all(0 < at <= self._last and self._place(at) == at for at in turns):
            yield made
        else:
            self._tally.skip("observation pass that cannot be read")

    def _restore_item(self, name: str, fields: Mapping[str, object], turns: "_Turns") -> None:
        if name == "files" and not _restore_file(fields, turns):
            self._tally.skip("attachment that cannot be read")
        elif name == "windows" and not _restore_window(fields, turns):
            self._tally.skip("window that cannot be read")
        elif name == "holds":
            turn, hold = turns.at(fields.get("turn")), fields.get("hold")
            if turn is not None and hold in _HOLDS:
                Pins(turns.store.database).put(turn, text(hold))


_ROLES = {role.value: role for role in (Role.USER, Role.ASSISTANT, Role.TOOL)}
_STATUSES: dict[object, Status] = {
    None: Status.COMPLETE,
    **{status.value: status for status in Status if status is not Status.STREAMING},
}


def _key_of(turn: Turn) -> bytes:
    return turn_key(str(turn.position), 0, turn)


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

    def at(self, position: object) -> Turn | None:
        if not isinstance(position, int) or isinstance(position, bool):
            return None
        place = self._writer.place(self._place(position))
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


def _pass_from(fields: Mapping[str, Any]) -> ObservationPass:
    names = ("kind", "first", "last", "made_by", "note", "id", "follows")
    given = {name: fields[name] for name in names}
    lines = tuple(line_from(mapping(line)) for line in sequence(fields["lines"]))
    made = ObservationPass(**given, lines=lines, made_at=moment_of(fields.get("made_at")))
    if not is_typed(made, ObservationPass):
        raise TypeError("not a pass")
    texts = (replace(line, text=one_line(repair(line.text))) for line in made.lines)
    return replace(made, lines=tuple(texts), made_by=one_line(repair(made.made_by)))


def _sources(made: ObservationPass) -> Iterator[int]:
    for line in made.lines:
        yield from (line.source.first, line.source.last)


def _three(value: object) -> Sequence[object]:
    given = sequence(value)
    return given if len(given) == 3 else ("", "", "")


def _restore_window(fields: Mapping[str, object], turns: _Turns) -> bool:
    """Store a window that was sent and how its reply ended; return whether it can be read."""
    said = turns.at(fields.get("said"))
    if said is None:
        return False
    try:
        record = _record(fields, turns)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return False
    archive, ending = WindowArchive(turns.store.database), mapping(fields.get("ending"))
    reply = turns.at(fields.get("reply"))
    window_id = archive.restore(
        said.id,
        record,
        Ending(
            reply.id if reply is not None else None,
            _usage(ending.get("usage")),
            text(ending.get("stop")) or None,
            _number(ending.get("cost")),
            text(ending.get("provider")) or None,
            _usage(ending.get("counted")),
        ),
    )
    request = fields.get("request")
    if isinstance(request, dict):
        archive.keep_request(window_id, request)
    return True


def _record(fields: Mapping[str, object], turns: _Turns) -> WindowRecord:
    """Build a window from its fields and serialize it again, so that no unknown field is stored."""
    given = [dict[str, Any](mapping(each)) for each in sequence(fields["segments"])]
    for each in given:
        turn = turns.at(each.get("turn")) if "text" not in each else None
        each["text"] = turn.content if turn is not None else repair(text(each.get("text")))
    ledger = [dict(mapping(each)) for each in sequence(fields["ledger"])]
    header = dict(mapping(fields["header"]))
    window = window_from(header, given, ledger)
    if not is_typed(window, ContextWindow):
        raise TypeError("not a window")
    described = []
    for segment in window.segments:
        turn = turns.at(segment.turn)
        described.append(segment_fields(segment) | {"turn_id": None if turn is None else turn.id})
    return WindowRecord(
        repair(text(fields.get("digest"))),
        header_fields(window),
        described,
        [ledger_fields(row) for row in window.ledger],
        _moment(fields.get("sent_at")),
    )


def _moment(value: object) -> datetime | None:
    return moment_of(value) if isinstance(value, str) else None


def _usage(value: object) -> Usage | None:
    fields = mapping(value)
    counts = [_count(fields.get(name)) for name in _COUNTS]
    if counts[0] is None and counts[1] is None:
        return None
    cached, written, reasoned = (count or 0 for count in counts[2:])
    return Usage(counts[0], counts[1], cached, written, reasoned, _number(fields.get("cost")))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e300 else None  # type: ignore[arg-type]


JITCHAT = Format(NAME, "jitchat's own JSON", _matches, _read)
