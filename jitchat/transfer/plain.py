"""A plain list of turns: objects with role and content, and optionally created_at and name.

This includes OpenAI's messages: content can be a list of parts, there can be calls, and speech with
its transcript. Items of the Responses API (reasoning, calls, results) belong to the reply that
follows them. In a list or a JSONL file of objects with `messages`, each object is one conversation.
"""

from collections.abc import Iterator, Mapping
from itertools import chain

from jitchat.store.imported import IncomingTurn, Origin
from jitchat.transfer.format import Format, Sample, Shape, sample_of, values_of
from jitchat.transfer.incoming import INSTRUCTIONS, NO_ROLE, IncomingConversation, Tally
from jitchat.transfer.json_text import Broken, JsonText, mapping, moment_of, text
from jitchat.transfer.openai import audio_piece, call_pieces, content_pieces, is_item, item_pieces
from jitchat.transfer.pieces import Piece, Result, Text, Thought, sources_below
from jitchat.transfer.source import Source, SourceFile
from jitchat.transfer.turns import ConversationBuilder, FileConversation, Message, Note, TurnMaker
from jitchat.values import Role

NAME = "plain"
_ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
_INSTRUCTIONS = ("system", "developer")
_LISTS = ("messages", "turns")
_CONTENT = frozenset({"content", "tool_calls", "function_call", "audio"})
"""The fields of which a message has at least one."""
_NAMED_LINES = 3


def read_plain(value: object, name: str) -> list[FileConversation]:
    """Read a list, a list under `messages` or `turns`, or a single item as one conversation."""
    gathering = ConversationBuilder()
    for item in _listed(value):
        take_item(item, gathering)
    return [gathering.found(name, name)]


def take_item(item: object, gathering: ConversationBuilder, label: object = None) -> None:
    """Add an item as a turn, or count why it is left out; `label` is the file's id for it."""
    read = _read_item(item, gathering.tally, "")
    if read is not None:
        said = [piece.text for piece in read.pieces or () if isinstance(piece, Text) and piece.text]
        gathering.take(read.role, "\n\n".join(said), read.note.moment, read.note.name, label)


def _read_item(item: object, tally: Tally, identity: str) -> Message | None:
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
    moment = moment_of(item.get("created_at"))
    if moment is None and item.get("created_at") is not None:
        tally.change("date that was not understood", item["created_at"])
    note = Note(moment, "", text(item.get("name")))
    return Message(identity, None, _ROLES[spoken], pieces, note)


def _pieces(item: Mapping[str, object], role: Role, tally: Tally) -> list[Piece] | None:
    audio = mapping(item.get("audio"))
    calls = list(call_pieces(item))
    contents = (item.get("refusal"), item.get("content"), audio.get("transcript"))
    content = next((value for value in contents if value), item.get("content"))
    if not isinstance(content, str | list) and not calls:
        tally.skip("message whose content is not text", item)
        return None
    pieces = [*content_pieces(content, tally)]
    pieces.append(Text(sources_below(text(content), item.get("annotations"))))
    said = [piece.text for piece in pieces if isinstance(piece, Text) and piece.text]
    answered = text(item.get("tool_call_id")) or text(item.get("name"))
    if role is Role.TOOL and answered:
        return [Result(answered, "\n\n".join(said))]
    if audio.get("data"):
        pieces.append(audio_piece(audio, tally))
    if not calls and not any(not isinstance(piece, Text) or piece.text.strip() for piece in pieces):
        tally.skip("empty message")
        return None
    thought = text(item.get("reasoning_content")) or text(item.get("reasoning"))
    return [Thought(thought), *pieces, *calls]


def _listed(value: object) -> list[object]:
    if isinstance(value, dict) and "role" not in value:
        value = value.get("messages", value.get("turns"))
    if isinstance(value, dict):
        return [value]
    return value if isinstance(value, list) else []


def _is_message(fields: Mapping[str, object]) -> bool:
    return isinstance(fields.get("role"), str) and not _CONTENT.isdisjoint(fields)


def _has_list(fields: Mapping[str, object]) -> bool:
    return "role" not in fields and any(isinstance(fields.get(name), list) for name in _LISTS)


def _matches(sample: Sample) -> bool:
    listed = sample.member(*_LISTS)
    return sample.shape is not Shape.DATABASE and any(
        _is_message(each) or (sample.shape is not Shape.OBJECT and _has_list(each))
        for each in (*sample.objects, listed)
    )


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    sample, tally = sample_of(file), Tally()
    if sample.shape is not Shape.OBJECT and any(map(_has_list, sample.objects)):
        yield from _several(file, sample.shape, source)
        return
    whole = sample.objects[0] if sample.shape is Shape.OBJECT and sample.objects else {}
    items = _items(file, sample.shape, tally)
    yield _conversation(file.stem, items, tally, text(whole.get("title")))


def _conversation(
    name: str, items: Iterator[object], tally: Tally, title: str = ""
) -> IncomingConversation:
    """Make one conversation, identified by its name and its first turn."""
    instructions = list[str]()
    turns = _turns(items, tally, instructions)
    first = next(turns, None)
    key = f"{name}:{first.form.hex()}" if first is not None else name
    read = chain([first], turns) if first is not None else iter(())
    return IncomingConversation(
        Origin(NAME, key), title or name, read, tally, id=name, instructions=instructions
    )


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
            tally = Tally()
            tally.read({key: value for key, value in fields.items() if key not in _LISTS})
            found = _conversation(name, iter(_listed(fields)), tally, text(fields.get("title")))
            found.turns = list(found.turns)
            yield found


def _items(file: SourceFile, shape: Shape, tally: Tally) -> Iterator[object]:
    if shape is not Shape.LINES:
        yield from values_of(file, tally, *_LISTS, is_one=True)
        return
    with file.open() as opened:
        yield from _whole_lines(JsonText(opened), tally)


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
    before = list[Piece]()
    """Reasoning, calls and results of the reply that follows."""
    for number, item in enumerate(items, start=1):
        if isinstance(item, Broken):
            tally.skip(f"item that is {item.reason}")
            continue
        tally.read(item)
        fields = mapping(item)
        if is_item(fields):
            before += item_pieces(fields, tally)
            continue
        if text(fields.get("role")).strip().lower() in _INSTRUCTIONS:
            parts = content_pieces(fields.get("content"), tally)
            instructions.append("\n\n".join(part.text for part in parts if isinstance(part, Text)))
            continue
        read = _read_item(item, tally, str(number))
        if read is None:
            continue
        if before and read.role is not Role.ASSISTANT:
            yield from maker.turns(f"before {number}", Role.ASSISTANT, before)
            before = []
        pieces = [*before, *(read.pieces or ())]
        yield from maker.turns(read.id, read.role, pieces, None, read.note)
        before = []
    if before:
        yield from maker.turns("end", Role.ASSISTANT, before)


PLAIN = Format(
    NAME,
    "a JSON or JSONL list of objects with role and content (created_at and name are optional)",
    _matches,
    _read,
)
