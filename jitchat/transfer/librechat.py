"""LibreChat's export: one conversation per file, with messages as a tree or a list with parents."""

from collections.abc import Iterator, Mapping

from jitchat.store.imported import Origin
from jitchat.transfer.attached import file_piece, text_piece
from jitchat.transfer.format import list_format
from jitchat.transfer.incoming import IncomingConversation, Tally, tags_of
from jitchat.transfer.json_text import mapping, moment_of, sequence, text
from jitchat.transfer.openai import content_pieces
from jitchat.transfer.pieces import Piece, Result, Text, call_piece, quote, sources_below
from jitchat.transfer.source import Source
from jitchat.transfer.turns import Message, Note, TurnMaker, tree_turns
from jitchat.values import Role

NAME = "librechat"
_NO_PARENT = "00000000-0000-0000-0000-000000000000"


def _is_conversation(fields: Mapping[str, object]) -> bool:
    lists = (fields.get("messagesTree"), fields.get("messages"))
    return "conversationId" in fields and any(isinstance(each, list) for each in lists)


def _conversation(fields: Mapping[str, object], _source: Source) -> IncomingConversation:
    tally = Tally()
    tally.read(fields)
    options = mapping(fields.get("options"))
    listed = sequence(fields.get("messagesTree")) or sequence(fields.get("messages"))
    messages = _messages(listed, text(options.get("model")), tally)
    turns, _ = tree_turns(messages, TurnMaker(tally))
    key = text(fields.get("conversationId")) or next(iter(messages), "")
    return IncomingConversation(
        Origin(NAME, key),
        text(fields.get("title")),
        turns,
        tally,
        created_at=moment_of(fields.get("createdAt")),
        tags=tags_of(tally, fields.get("tags"), options.get("tags")),
        instructions=[text(owner.get("promptPrefix")) for owner in (fields, options)],
    )


def _messages(listed: object, model: str, tally: Tally) -> dict[str, Message]:
    """Read messages from a list with parents, a tree of children, or a plain ordered list."""
    found: dict[str, Message] = {}
    waiting = [(value, "") for value in reversed(sequence(listed))]
    has_parents = any("parentMessageId" in mapping(value) for value, _ in waiting)
    has_children = any(sequence(mapping(value).get("children")) for value, _ in waiting)
    is_path = not has_parents and not has_children
    before = ""
    while waiting:
        value, above = waiting.pop()
        fields = mapping(value)
        identity = text(fields.get("messageId")) or str(len(found) + 1)
        if identity in found:
            tally.skip("duplicate message", fields)
            continue
        parent = text(fields.get("parentMessageId")) or above or (before if is_path else "")
        found[identity] = _message(identity, parent, fields, model, tally)
        before = identity
        children = sequence(fields.get("children"))
        waiting += [(child, identity) for child in reversed(children)]
    return found


def _message(
    identity: str, parent: str, fields: Mapping[str, object], model: str, tally: Tally
) -> Message:
    is_user = fields.get("isCreatedByUser") is True or (
        "isCreatedByUser" not in fields and text(fields.get("sender")).lower() == "user"
    )
    is_cut = fields.get("unfinished") is True or fields.get("error") is True
    is_cut = is_cut or fields.get("finish_reason") in ("incomplete", "length")
    written_by = text(fields.get("model")) or model
    note = Note(moment_of(fields.get("createdAt")), written_by, is_cut=is_cut)
    return Message(
        identity,
        parent if parent and parent != _NO_PARENT else None,
        Role.USER if is_user else Role.ASSISTANT,
        list(_pieces(fields, tally)),
        note,
    )


def _pieces(fields: Mapping[str, object], tally: Tally) -> Iterator[Piece]:
    content = fields.get("content")
    yield from (quote(text(quoted)) for quoted in sequence(fields.get("quotes")))
    if isinstance(content, list) and content:
        for part in content:
            yield from _part(mapping(part), tally)
    else:
        yield Text(text(fields.get("text")) or text(content))
    for file in (*sequence(fields.get("files")), *sequence(fields.get("attachments"))):
        name, content = text(mapping(file).get("filename")), text(mapping(file).get("text"))
        if content:
            yield text_piece(tally, name, content)
        elif name:
            yield file_piece(tally, "file", name, None)
    yield Text(sources_below("", fields.get("attachments")))


def _part(part: Mapping[str, object], tally: Tally) -> Iterator[Piece]:
    if part.get("type") == "tool_call":
        yield from _tool(mapping(part.get("tool_call")))
    elif part.get("type") == "error":
        yield Text(f"[error: {text(part.get('error'))}]")
    elif part.get("type") != "agent_update":
        yield from content_pieces([part], tally)


def _tool(call: Mapping[str, object]) -> Iterator[Piece]:
    function, output = mapping(call.get("function")), call.get("output")
    name = call.get("name") or function.get("name")
    called = call_piece(call.get("id"), name, call.get("args", function.get("arguments")))
    yield called
    if isinstance(output, str):
        yield Result(called.id, output)


LIBRECHAT = list_format(NAME, "LibreChat's export (JSON)", _is_conversation, _conversation)
