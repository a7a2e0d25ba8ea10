"""Open WebUI's export: a list of chats, each with a tree of messages (`chat.history`).

`history.currentId` is the leaf that is looked at. Where a chat has no history, `chat.messages` is
its one path.
"""

from collections.abc import Iterator, Mapping

from jitchat.store.imported import Origin
from jitchat.transfer.attached import text_piece, url_piece
from jitchat.transfer.fields import mapping, moment_in_any_unit, sequence, text
from jitchat.transfer.format import Format, conversations_in
from jitchat.transfer.incoming import (
    INSTRUCTIONS,
    NO_ROLE,
    IncomingConversation,
    Message,
    Note,
    Piece,
    Tally,
    Text,
    TurnMaker,
    short_id,
    size_of,
    span_of,
    tree_turns,
)
from jitchat.transfer.openai import content_pieces
from jitchat.transfer.sample import Sample
from jitchat.transfer.source import Source, SourceFile
from jitchat.values import Role

NAME = "open-webui"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}


def _is_chat(fields: Mapping[str, object]) -> bool:
    chat = mapping(fields.get("chat"))
    return isinstance(chat.get("history"), dict) or isinstance(chat.get("messages"), list)


def _matches(sample: Sample) -> bool:
    return any(map(_is_chat, sample.items))


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    for fields in conversations_in(file, source, _is_chat):
        yield _conversation(fields)


def _conversation(fields: Mapping[str, object]) -> IncomingConversation:
    chat, tally = mapping(fields.get("chat")), Tally()
    history = mapping(chat.get("history"))
    listed = mapping(history.get("messages"))
    messages = _tree(listed, tally) if listed else _path(sequence(chat.get("messages")), tally)
    turns, places = tree_turns(messages, TurnMaker(tally))
    first, last = span_of(turns)
    key = text(fields.get("id")) or text(chat.get("id")) or next(iter(messages), "")
    return IncomingConversation(
        Origin(NAME, key),
        short_id(NAME, key),
        text(fields.get("title")) or text(chat.get("title")),
        turns,
        tally,
        places.get(text(history.get("currentId"))) or None,
        moment_in_any_unit(fields.get("created_at")) or first,
        moment_in_any_unit(fields.get("updated_at")) or last,
    )


def _tree(listed: Mapping[str, object], tally: Tally) -> dict[str, Message]:
    found: dict[str, Message] = {}
    for identity, value in listed.items():
        fields = mapping(value)
        found[identity] = _message(identity, text(fields.get("parentId")), fields, tally)
    return found


def _path(listed: object, tally: Tally) -> dict[str, Message]:
    found: dict[str, Message] = {}
    before = ""
    for number, value in enumerate(sequence(listed), start=1):
        fields = mapping(value)
        identity = text(fields.get("id")) or str(number)
        found[identity] = _message(identity, before, fields, tally)
        before = identity
    return found


def _message(identity: str, parent: str, fields: Mapping[str, object], tally: Tally) -> Message:
    role = _ROLES.get(text(fields.get("role")))
    if role is None:
        tally.skip(INSTRUCTIONS if fields.get("role") == "system" else NO_ROLE)
        return Message(identity, parent or None, Role.USER, None)
    note = Note(moment_in_any_unit(fields.get("timestamp")), text(fields.get("model")))
    return Message(identity, parent or None, role, _pieces(fields, tally), note)


def _pieces(fields: Mapping[str, object], tally: Tally) -> list[Piece]:
    pieces = list(content_pieces(fields.get("content"), tally))
    for each in sequence(fields.get("files")):
        file = mapping(each)
        inner = mapping(file.get("file"))
        name = text(file.get("name")) or text(inner.get("filename"))
        content = text(mapping(inner.get("data")).get("content"))
        if content:
            pieces.append(text_piece(tally, name, content))
            continue
        kind = "image" if file.get("type") == "image" else "file"
        url, size = text(file.get("url")), size_of(file.get("size"))
        pieces.append(url_piece(tally, kind, name, url, size))
    if failure := text(mapping(fields.get("error")).get("content")):
        pieces.append(Text(f"[error: {failure}]"))
    return pieces


OPEN_WEBUI = Format(NAME, "Open WebUI's export (JSON)", _matches, _read)
