"""A plain list of turns: objects with role and content, and optionally created_at and name.

This includes chat completions messages: content can be a list of parts, and there can be tool
calls. In a list or a JSONL file of objects with `messages`, each object is one conversation.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from jitchat.store.imported import IncomingTurn, Origin
from jitchat.transfer.fields import mapping, moment_of, sequence, text
from jitchat.transfer.format import Format
from jitchat.transfer.incoming import (
    INSTRUCTIONS,
    NO_ROLE,
    IncomingConversation,
    Note,
    Piece,
    Result,
    Tally,
    Text,
    Thought,
    TurnMaker,
)
from jitchat.transfer.json_text import Broken, JsonText, NotJson
from jitchat.transfer.openai import call_pieces, content_pieces
from jitchat.transfer.report import ConversationBuilder, FileConversation
from jitchat.transfer.sample import STREAMED, Sample, Shape, sample_of
from jitchat.transfer.source import Source, SourceFile
from jitchat.transfer.sources import sources_below
from jitchat.values import Role

NAME = "plain"
_ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "tool": Role.TOOL,
}
_INSTRUCTIONS = ("system", "developer")
_LISTS = ("messages", "turns")
_NAMED_LINES = 3


@dataclass(frozen=True, slots=True)
class _Item:
    role: Role
    pieces: list[Piece]
    note: Note

    @property
    def text(self) -> str:
        return "\n\n".join(piece.text for piece in self.pieces if isinstance(piece, Text))


def read_plain(value: object, name: str) -> list[FileConversation]:
    """Read a list, a list under `messages` or `turns`, or a single item as one conversation."""
    gathering = ConversationBuilder()
    for item in _listed(value):
        take_item(item, gathering)
    return [gathering.found(name, name)]


def take_item(item: object, gathering: ConversationBuilder, label: object = None) -> None:
    """Add an item as a turn, or count why it is left out; `label` is the file's id for it."""
    read = _read_item(item, gathering.tally)
    if read is not None:
        note = read.note
        gathering.take(read.role, read.text, note.moment, note.name, label)


def _read_item(item: object, tally: Tally) -> _Item | None:
    """Read an item; None, counted, if it is invalid."""
    if not isinstance(item, dict):
        tally.skip("item that is not an object", item)
        return None
    spoken = text(item.get("role")).strip().lower()
    if spoken not in _ROLES:
        tally.skip(INSTRUCTIONS if spoken in _INSTRUCTIONS else NO_ROLE, item)
        return None
    pieces = _pieces(item, _ROLES[spoken], tally)
    if pieces is None:
        return None
    return _Item(_ROLES[spoken], pieces, Note(_moment(item, tally), "", text(item.get("name"))))


def _moment(item: Mapping[str, object], tally: Tally) -> datetime | None:
    moment = moment_of(item.get("created_at"))
    if moment is None and item.get("created_at") is not None:
        tally.change("date that was not understood", item["created_at"])
    return moment


def _pieces(item: Mapping[str, object], role: Role, tally: Tally) -> list[Piece] | None:
    content = item.get("refusal") or item.get("content")
    calls = list(call_pieces(item.get("tool_calls")))
    if not isinstance(content, str | list) and not calls:
        tally.skip("message whose content is not text", item)
        return None
    pieces = list(content_pieces(content, tally))
    listed = sources_below(text(content), item.get("annotations"))
    if listed:
        pieces.append(Text(listed))
    call = text(item.get("tool_call_id"))
    if role is Role.TOOL and call:
        said = (piece.text for piece in pieces if isinstance(piece, Text))
        return [Result(call, "\n\n".join(said))]
    if not calls and not any(not isinstance(piece, Text) or piece.text.strip() for piece in pieces):
        tally.skip("empty message")
        return None
    thought = text(item.get("reasoning_content")) or text(item.get("reasoning"))
    return [*([Thought(thought)] if thought else []), *pieces, *calls]


def _listed(value: object) -> list[object]:
    if isinstance(value, dict) and "role" not in value:
        value = value.get("messages", value.get("turns"))
    if isinstance(value, dict):
        return [value]
    return value if isinstance(value, list) else []


def _is_item(fields: Mapping[str, object]) -> bool:
    return isinstance(fields.get("role"), str) and ("content" in fields or "tool_calls" in fields)


def _has_list(fields: Mapping[str, object]) -> bool:
    return "role" not in fields and any(isinstance(fields.get(name), list) for name in _LISTS)


def _matches(sample: Sample) -> bool:
    listed = sample.member(*_LISTS)
    return sample.shape is not Shape.DATABASE and any(
        _is_item(each) or (sample.shape is not Shape.OBJECT and _has_list(each))
        for each in (*sample.objects, listed)
    )


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    sample, tally = sample_of(file), Tally()
    if sample.shape is not Shape.OBJECT and any(map(_has_list, sample.objects)):
        yield from _several(file, sample.shape, source)
        return
    yield _conversation(file.stem, _items(file, sample.shape, tally), tally)


def _conversation(
    name: str, items: Iterator[object], tally: Tally, title: str = ""
) -> IncomingConversation:
    """Make one conversation, identified by its name and its first turn."""
    instructions = list[str]()
    turns = _turns(items, tally, instructions)
    first = next(turns, None)
    key = f"{name}:{first.form.hex()}" if first is not None else name
    read = chain([first], turns) if first is not None else iter(())
    found = IncomingConversation(Origin(NAME, key), name, title or name, read, tally)
    found.instructions = instructions
    return found


def _several(file: SourceFile, shape: Shape, source: Source) -> Iterator[IncomingConversation]:
    """Read one conversation from each object that has a list of messages."""
    with file.open() as opened:
        json_text = JsonText(opened)
        is_list = shape is Shape.LIST and json_text.peek() == "["
        values = json_text.items() if is_list else json_text.lines()
        for number, value in enumerate(values, start=1):
            if isinstance(value, Broken) or not _has_list(mapping(value)):
                source.tally.skip("item that is not a conversation")
                continue
            fields = mapping(value)
            name = text(fields.get("id")) or f"{file.stem}-{number}"
            found = _conversation(name, iter(_listed(fields)), Tally(), text(fields.get("title")))
            found.turns = list(found.turns)
            yield found


def _items(file: SourceFile, shape: Shape, tally: Tally) -> Iterator[object]:
    with file.open() as opened:
        json_text = JsonText(opened)
        if shape is Shape.LINES:
            yield from _whole_lines(json_text, tally)
        elif shape is Shape.LIST and json_text.peek() == "[":
            yield from json_text.items()
            _require_end(json_text)
        else:
            yield from _of_object(json_text)
            _require_end(json_text)


def _of_object(json_text: JsonText) -> Iterator[object]:
    """Read the list that an object has under `messages` or `turns`, or the object as one item."""
    if json_text.peek() != "{":
        json_text.value()
        return
    other: dict[str, object] = {}
    for name, value in json_text.members(STREAMED):
        if name in _LISTS and not isinstance(value, dict | Broken | str | int | float | None):
            yield from sequence(value) if isinstance(value, list) else value  # type: ignore[misc]
        else:
            other[name] = value
    yield from _listed(other)


def _require_end(json_text: JsonText) -> None:
    if json_text.peek():
        raise NotJson("is not JSON: there is more text after its end")


def _whole_lines(json_text: JsonText, tally: Tally) -> Iterator[object]:
    """Read lines; broken ones are counted under one reason, with the first line numbers."""
    broken = list[int]()
    broken_count = 0
    for item in json_text.lines():
        if not isinstance(item, Broken):
            yield item
            continue
        broken_count += 1
        if len(broken) < _NAMED_LINES:
            broken.append(item.line)
    if broken_count:
        lines = ", ".join(map(str, broken))
        more = " …" if broken_count > len(broken) else ""
        tally.skipped[f"line that is not JSON ({lines}{more})"] += broken_count


def _turns(
    items: Iterator[object], tally: Tally, instructions: list[str]
) -> Iterator[IncomingTurn]:
    maker = TurnMaker(tally, has_ids=False)
    for number, item in enumerate(items, start=1):
        if isinstance(item, Broken):
            tally.skip(f"item that is {item.reason}")
            continue
        tally.read(item)
        if text(mapping(item).get("role")).strip().lower() in _INSTRUCTIONS:
            parts = content_pieces(mapping(item).get("content"), tally)
            instructions.append("\n\n".join(part.text for part in parts if isinstance(part, Text)))
            continue
        read = _read_item(item, tally)
        if read is not None:
            yield from maker.turns(str(number), read.role, read.pieces, None, read.note)


PLAIN = Format(
    NAME,
    "a JSON or JSONL list of objects with role and content (created_at and name are optional)",
    _matches,
    _read,
)
