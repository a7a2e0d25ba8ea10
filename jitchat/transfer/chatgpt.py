"""ChatGPT's export: `conversations.json`, or one such list in several `conversations-NNN.json`.

A conversation is a tree of nodes (`mapping`), and `current_node` is the leaf that was looked at. A
node without a message, or with a hidden one, only holds the tree together.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from jitchat.store.imported import IncomingFile, Origin
from jitchat.transfer.attached import file_piece, reader_of
from jitchat.transfer.fields import as_arguments, mapping, moment_of, sequence, text
from jitchat.transfer.format import Format, conversations_in
from jitchat.transfer.incoming import (
    INSTRUCTIONS,
    IncomingConversation,
    Message,
    Note,
    Piece,
    Result,
    Tally,
    Text,
    Thought,
    TurnMaker,
    short_id,
    size_of,
    span_of,
    tree_turns,
)
from jitchat.transfer.sample import Sample
from jitchat.transfer.source import Source, SourceFile
from jitchat.values import Role, ToolCall

NAME = "chatgpt"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
_CITATION = re.compile("\ue200[^\ue201]*\ue201")
"""What the site replaces by a footnote."""
_MOST_HOPS = 16


def _is_conversation(fields: Mapping[str, object]) -> bool:
    return isinstance(fields.get("mapping"), dict)


def _matches(sample: Sample) -> bool:
    return any(map(_is_conversation, (*sample.items, sample.member("conversations"))))


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    for fields in conversations_in(file, source, _is_conversation, "conversations"):
        yield _conversation(fields, source)


def _conversation(fields: Mapping[str, object], source: Source) -> IncomingConversation:
    tally = Tally()
    reader = _Reader(mapping(fields["mapping"]), tally, source)
    turns, places = tree_turns(reader.messages(), TurnMaker(tally))
    first, last = span_of(turns)
    current, begun = text(fields.get("current_node")), moment_of(fields.get("create_time"))
    key = text(fields.get("conversation_id")) or text(fields.get("id"))
    key = key or next(iter(mapping(fields["mapping"])), "")
    changed = moment_of(fields.get("update_time"))
    return IncomingConversation(
        Origin(NAME, key),
        short_id(NAME, key),
        text(fields.get("title")),
        turns,
        tally,
        places.get(current) or None,
        begun or first,
        changed or last,
    )


class _Reader:
    """Reads the nodes of one conversation."""

    def __init__(self, nodes: Mapping[str, object], tally: Tally, source: Source) -> None:
        self._nodes = {name: mapping(node) for name, node in nodes.items()}
        self._tally, self._source = tally, source
        self._thoughts: dict[str, list[Piece]] = {}
        """Of nodes that only think, by their id: what they lead to has them."""

    def messages(self) -> dict[str, Message]:
        """Make the messages; of those with one parent, the older comes first."""
        by_age = sorted(self._nodes, key=lambda name: _age(self._message_at(name)))
        for name in by_age:
            self._note_thoughts(name)
        return {name: self._message(name) for name in by_age}

    def _message_at(self, name: str) -> Mapping[str, object]:
        return mapping(self._nodes[name].get("message"))

    def _parent(self, name: str) -> str:
        return text(self._nodes[name].get("parent"))

    def _note_thoughts(self, name: str) -> None:
        content = mapping(self._message_at(name).get("content"))
        if content.get("content_type") == "thoughts":
            self._thoughts[name] = [
                Thought(text(mapping(each).get("content")) or text(mapping(each).get("summary")))
                for each in sequence(content.get("thoughts"))
            ]

    def _message(self, name: str) -> Message:
        message, parent = self._message_at(name), self._parent(name)
        author, metadata = mapping(message.get("author")), mapping(message.get("metadata"))
        role = _ROLES.get(text(author.get("role")))
        pieces = self._pieces(name, message) if message else None
        if pieces is not None and role is None:
            if any(isinstance(piece, Text) and piece.text.strip() for piece in pieces):
                self._tally.skip(INSTRUCTIONS)
            pieces = None
        note = Note(
            moment_of(message.get("create_time")),
            text(metadata.get("model_slug")),
            text(author.get("name")) or None,
        )
        return Message(name, parent or None, role or Role.USER, pieces, note)

    def _pieces(self, name: str, message: Mapping[str, object]) -> list[Piece] | None:
        content, metadata = mapping(message.get("content")), mapping(message.get("metadata"))
        kind = text(content.get("content_type"))
        if kind in ("thoughts", "reasoning_recap"):
            return None
        if metadata.get("is_visually_hidden_from_conversation") is True:
            if _said(content).strip():
                self._tally.skip("message that ChatGPT hides")
            return None
        if kind == "user_editable_context":
            self._tally.skip(INSTRUCTIONS)
            return None
        pieces = self._spoken(name, message, content, kind)
        for each in sequence(metadata.get("attachments")):
            fields = mapping(each)
            name, size = text(fields.get("name")), size_of(fields.get("size"))
            read = reader_of(self._source, text(fields.get("id")))
            pieces.append(file_piece(self._tally, "file", name, read, size))
        return pieces

    def _spoken(
        self, name: str, message: Mapping[str, object], content: Mapping[str, object], kind: str
    ) -> list[Piece]:
        role = text(mapping(message.get("author")).get("role"))
        if role == "tool":
            return self._result(name, content, kind)
        pieces = list(self._thoughts.get(self._parent(name), ())) if role == "assistant" else []
        to = text(message.get("recipient"))
        if role == "assistant" and to not in ("", "all"):
            return [*pieces, ToolCall(name, to, as_arguments(_said(content)))]
        return pieces + self._content(content, kind)

    def _result(self, name: str, content: Mapping[str, object], kind: str) -> list[Piece]:
        """Give what a tool said back; its call is the nearest message that went to a tool."""
        shown = [
            Text(piece.otherwise) if isinstance(piece, IncomingFile) else piece
            for piece in self._content(content, kind)
            if isinstance(piece, Text | IncomingFile)
        ]
        call = self._parent(name)
        for _ in range(_MOST_HOPS):
            if call not in self._nodes or self._is_call(call):
                break
            call = self._parent(call)
        return [Result(call, "\n\n".join(piece.text for piece in shown))]

    def _is_call(self, name: str) -> bool:
        message = self._message_at(name)
        return mapping(message.get("author")).get("role") == "assistant" and (
            text(message.get("recipient")) not in ("", "all")
        )

    def _content(self, content: Mapping[str, object], kind: str) -> list[Piece]:
        if kind == "tether_quote":
            lines = (text(content.get(each)) for each in ("title", "url", "text"))
            return [Text("\n".join(filter(None, lines)))]
        if "parts" not in content:
            return [Text(_said(content))]
        return [self._part(part) for part in sequence(content["parts"])]

    def _part(self, part: object) -> Piece:
        if isinstance(part, str):
            return Text(_CITATION.sub("", part))
        fields = mapping(part)
        if said := text(fields.get("text")):
            return Text(said)
        pointer = text(fields.get("asset_pointer")).partition("://")[2]
        pointer = pointer or text(mapping(fields.get("audio_asset_pointer")).get("asset_pointer"))
        kind = next(
            (k for k in ("image", "audio", "video") if k in str(fields.get("content_type"))), ""
        )
        if not kind:
            self._tally.change("part of unknown kind that is only named")
        beside, size = self._source.beside(pointer), size_of(fields.get("size_bytes"))
        name = pointer if beside is None else PurePath(beside.name).name
        read = reader_of(self._source, name)
        return file_piece(self._tally, kind or "attachment", name, read, size)


def _said(content: Mapping[str, object]) -> str:
    """Give what a message says, in whichever of its fields."""
    if "parts" in content:
        return "\n\n".join(part for part in sequence(content["parts"]) if isinstance(part, str))
    return next(
        (said for each in ("text", "result", "content") if (said := text(content.get(each)))), ""
    )


def _age(message: Mapping[str, object]) -> float:
    made = message.get("create_time")
    return float(made) if isinstance(made, int | float) and made == made else 0.0  # noqa: PLR0124  not a number


CHATGPT = Format(NAME, "ChatGPT's export (its zip, or conversations*.json)", _matches, _read)
