"""Claude's export: `conversations.json`, a list of conversations with `chat_messages`.

Messages form a tree (`parent_message_uuid`); in a file without parents, they are one path in list
order. The export names neither the model nor the leaf that was shown: the newest leaf is used.
"""

from collections.abc import Mapping

from jitchat.store.imported import Origin
from jitchat.transfer.attached import file_piece, reader_of, text_piece
from jitchat.transfer.blocks import pieces_of
from jitchat.transfer.census import strings_of
from jitchat.transfer.format import list_format
from jitchat.transfer.incoming import NO_ROLE, IncomingConversation, Tally
from jitchat.transfer.json_text import mapping, moment_of, sequence, text
from jitchat.transfer.pieces import Piece, Text
from jitchat.transfer.source import Source
from jitchat.transfer.turns import Message, Note, TurnMaker, newest_leaf, tree_turns
from jitchat.values import Role

NAME = "claude"
_ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}
_KNOWLEDGE = ("prompt_template", "conversations_memory", "project_memories")
"""Names of which a project, or what Claude remembers, has at least one."""


def _is_conversation(fields: Mapping[str, object]) -> bool:
    return isinstance(fields.get("chat_messages"), list)


def _is_ours(fields: Mapping[str, object]) -> bool:
    """Whether it is a conversation, a project, or what Claude remembers of them."""
    return _is_conversation(fields) or any(name in fields for name in _KNOWLEDGE)


def _knowledge(fields: Mapping[str, object]) -> IncomingConversation:
    """Read a project, or the memories, as a conversation of one message with its documents."""
    tally = Tally()
    tally.read(fields)
    names = ("description", *_KNOWLEDGE)
    pieces: list[Piece] = [Text(said) for name in names for said in strings_of(fields.get(name))]
    for document in [mapping(document) for document in sequence(fields.get("docs"))]:
        name, content = text(document.get("filename")), text(document.get("content"))
        pieces.append(text_piece(tally, name, content))
    title = text(fields.get("name"))
    made = moment_of(fields.get("created_at"))
    key = text(fields.get("uuid")) or f"memory-{text(fields.get('account_uuid'))}"
    turns = TurnMaker(tally).turns(key, Role.USER, pieces, 0, Note(made))
    return IncomingConversation(
        Origin(NAME, key),
        f"Project: {title}" if title else "What Claude remembers",
        turns,
        tally,
        project=title,
        created_at=made,
        updated_at=moment_of(fields.get("updated_at")),
    )


def _conversation(fields: Mapping[str, object], source: Source) -> IncomingConversation:
    if not _is_conversation(fields):
        return _knowledge(fields)
    tally = Tally()
    tally.read(fields)
    messages = _messages(sequence(fields["chat_messages"]), tally, source)
    maker = TurnMaker(tally)
    turns, places = tree_turns(messages, maker)
    key = text(fields.get("uuid")) or next(iter(messages), "")
    summary = text(fields.get("summary"))
    shown = places.get(text(fields.get("current_leaf_message_uuid")), 0)
    head = newest_leaf(turns, shown)
    if turns and summary:  # beside the conversation, so that it is not sent
        note = Note(moment_of(fields.get("updated_at")), "", "Summary")
        turns += maker.turns("summary", Role.ASSISTANT, [Text(summary)], 0, note)
    return IncomingConversation(
        Origin(NAME, key),
        text(fields.get("name")) or summary,
        turns,
        tally,
        head,
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


CLAUDE = list_format(
    NAME,
    "Claude's export (its zip, or conversations.json)",
    _is_ours,
    _conversation,
    "conversations",
)
