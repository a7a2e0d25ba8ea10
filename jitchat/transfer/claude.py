"""Claude's export: `conversations.json`, a list of conversations with `chat_messages`.

Messages form a tree (`parent_message_uuid`); in a file without parents, they are one path in list
order. The export names neither the model nor the leaf that was shown: the newest leaf is used.
"""

from collections.abc import Iterator, Mapping

from jitchat.store.imported import Origin
from jitchat.transfer.attached import file_piece, reader_of, text_piece
from jitchat.transfer.blocks import pieces_of
from jitchat.transfer.fields import mapping, moment_of, sequence, text
from jitchat.transfer.format import Format, conversations_in
from jitchat.transfer.incoming import (
    NO_ROLE,
    IncomingConversation,
    Message,
    Note,
    Piece,
    Tally,
    Text,
    TurnMaker,
    short_id,
    tree_turns,
)
from jitchat.transfer.sample import Sample
from jitchat.transfer.source import Source, SourceFile
from jitchat.values import Role

NAME = "claude"
_ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}


def _is_conversation(fields: Mapping[str, object]) -> bool:
    return isinstance(fields.get("chat_messages"), list)


def _matches(sample: Sample) -> bool:
    return any(map(_is_conversation, (*sample.items, sample.member("conversations"))))


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    for fields in conversations_in(file, source, _is_conversation, "conversations"):
        yield _conversation(fields, source)


def _conversation(fields: Mapping[str, object], source: Source) -> IncomingConversation:
    tally = Tally()
    tally.read(fields)
    messages = _messages(sequence(fields["chat_messages"]), tally, source)
    turns, places = tree_turns(messages, TurnMaker(tally))
    key = text(fields.get("uuid")) or next(iter(messages), "")
    with_turns = {
        name: message
        for name, message in messages.items()
        if places.get(name, 0) > places.get(message.parent or "", 0)
    }
    leaf = text(fields.get("current_leaf_message_uuid")) or _newest(with_turns)
    return IncomingConversation(
        Origin(NAME, key),
        short_id(NAME, key),
        text(fields.get("name")) or text(fields.get("summary")),
        turns,
        tally,
        places.get(leaf) or None,
        moment_of(fields.get("created_at")),
        moment_of(fields.get("updated_at")),
    )


def _messages(listed: object, tally: Tally, source: Source) -> dict[str, Message]:
    found: dict[str, Message] = {}
    items = [mapping(each) for each in sequence(listed)]
    has_parents = any(text(item.get("parent_message_uuid")) for item in items)
    before: str | None = None
    for number, item in enumerate(items, start=1):
        identity = text(item.get("uuid")) or str(number)
        role = _ROLES.get(text(item.get("sender")))
        if identity in found:
            tally.skip("duplicate message", item)
            continue
        parent = text(item.get("parent_message_uuid")) if has_parents else before
        note = Note(moment_of(item.get("created_at")), text(item.get("model")))
        pieces = None if role is None else _pieces(item, tally, source)
        if role is None:
            tally.skip(NO_ROLE, item)
        found[identity] = Message(identity, parent or None, role or Role.USER, pieces, note)
        before = identity
    return found


def _pieces(item: Mapping[str, object], tally: Tally, source: Source) -> list[Piece]:
    pieces = list(pieces_of(item.get("content"), tally))
    if not any(not isinstance(piece, Text) or piece.text.strip() for piece in pieces):
        pieces = [Text(text(item.get("text")))]
    for each in sequence(item.get("attachments")):
        fields = mapping(each)
        name, content = text(fields.get("file_name")), text(fields.get("extracted_content"))
        pieces.append(
            text_piece(tally, name, content) if content else file_piece(tally, "file", name, None)
        )
    names = [
        text(mapping(each).get("file_name"))
        for kind in ("files", "files_v2")
        for each in sequence(item.get(kind))
    ]
    for name in dict.fromkeys(names):
        pieces.append(file_piece(tally, "file", name, reader_of(source, name)))
    return pieces


def _newest(messages: Mapping[str, Message]) -> str:
    """Return the id of the newest leaf; if several are equally new, of the last one in the file.

    `messages` are those with content: a reply that never began is not a leaf.
    """
    inner = {message.parent for message in messages.values()}
    leaves = [message for message in messages.values() if message.id not in inner]
    dated = [(each.note.moment.timestamp() if each.note.moment else 0.0) for each in leaves]
    return max(zip(dated, range(len(leaves)), leaves, strict=True))[2].id if leaves else ""


CLAUDE = Format(NAME, "Claude's export (its zip, or conversations.json)", _matches, _read)
