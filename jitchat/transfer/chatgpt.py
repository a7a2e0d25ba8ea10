"""ChatGPT's export: `conversations.json`, or the same list split over `conversations-NNN.json`.

A conversation is a tree of nodes (`mapping`); `current_node` is the leaf of the branch that was
shown. A node without a message, or with a hidden one, only links its children to its parent.
"""

import re
from collections import Counter
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
    tree_turns,
)
from jitchat.transfer.sample import Sample
from jitchat.transfer.source import Source, SourceFile
from jitchat.values import Role, ToolCall

NAME = "chatgpt"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
_CITATION = re.compile(" ?\ue200[^\ue200\ue201]*\ue201")
"""A citation, which the site shows as a footnote."""
_SILENT = ("thoughts", "reasoning_recap")
_CONTEXT = ("user_editable_context", "model_editable_context")
"""Content types of custom instructions and of ChatGPT's memory about the user."""
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
    tally.read(fields)
    reader = _Reader(mapping(fields["mapping"]), tally, source)
    turns, places = tree_turns(reader.messages(), TurnMaker(tally))
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
        begun,
        changed,
        is_archived=fields.get("is_archived") is True,
    )


class _Reader:
    """Reads the nodes of one conversation."""

    def __init__(self, nodes: Mapping[str, object], tally: Tally, source: Source) -> None:
        self._nodes = {name: mapping(node) for name, node in nodes.items()}
        self._tally, self._source = tally, source
        self._names: dict[str, str] = {}
        """File names as the user sees them, by file id."""
        self._only_child: dict[str, str] = {}
        """The child's id, by the id of each node with exactly one child."""

    def messages(self) -> dict[str, Message]:
        """Return the messages by id; siblings are ordered from oldest to newest."""
        by_age = sorted(self._nodes, key=lambda name: _age(self._message_at(name)))
        followed = Counter(map(self._parent, by_age))
        self._only_child = {
            parent: name for name in by_age if followed[parent := self._parent(name)] == 1
        }
        for each in (file for name in by_age for file in self._attachments(name)):
            self._names[text(each.get("id"))] = text(each.get("name"))
        return {name: self._message(name) for name in by_age}

    def _attachments(self, name: str) -> Iterator[Mapping[str, object]]:
        metadata = mapping(self._message_at(name).get("metadata"))
        return map(mapping, sequence(metadata.get("attachments")))

    def _message_at(self, name: str) -> Mapping[str, object]:
        return mapping(self._nodes[name].get("message"))

    def _parent(self, name: str) -> str:
        return text(self._nodes[name].get("parent"))

    def _kind(self, name: str) -> str:
        return text(mapping(self._message_at(name).get("content")).get("content_type"))

    def _role(self, name: str) -> str:
        return text(mapping(self._message_at(name).get("author")).get("role"))

    def _thoughts(self, name: str) -> list[Piece]:
        """Collect the reasoning before a message: it is in parent nodes with nothing else."""
        found, at = list[Piece](), self._parent(name)
        for _ in range(_MOST_HOPS):
            if self._nodes.get(at) is None or self._kind(at) not in _SILENT:
                break
            listed = map(
                mapping, sequence(mapping(self._message_at(at)["content"]).get("thoughts"))
            )
            thoughts = ((text(each.get("summary")), text(each.get("content"))) for each in listed)
            found[:0] = [Thought("\n\n".join(filter(None, thought))) for thought in thoughts]
            at = self._parent(at)
        return found

    def _message(self, name: str) -> Message:
        message, parent = self._message_at(name), self._parent(name)
        author, metadata = mapping(message.get("author")), mapping(message.get("metadata"))
        role = _ROLES.get(text(author.get("role")))
        pieces = self._pieces(name, message) if message else None
        if pieces is not None and role is None:
            if any(isinstance(piece, Text) and piece.text.strip() for piece in pieces):
                self._tally.skip(INSTRUCTIONS, message.get("content"))
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
        if kind in _SILENT or self._continues_result(name):
            return None
        if kind in _CONTEXT:
            self._tally.skip(INSTRUCTIONS, content)
            return None
        if metadata.get("is_visually_hidden_from_conversation") is True:
            if _said(content).strip():
                self._tally.skip("message that ChatGPT hides", content)
            return None
        pieces = self._spoken(name, message, content, kind)
        shown = {_pointer(mapping(part)) for part in sequence(content.get("parts"))}
        for each in self._attachments(name):
            identity, size = text(each.get("id")), size_of(each.get("size"))
            if identity not in shown:
                read = reader_of(self._source, identity)
                pieces.append(file_piece(self._tally, "file", self._names[identity], read, size))
        return pieces

    def _spoken(
        self, name: str, message: Mapping[str, object], content: Mapping[str, object], kind: str
    ) -> list[Piece]:
        role = self._role(name)
        if role == "tool":
            return self._result(name)
        pieces = self._thoughts(name) if role == "assistant" else []
        to = text(message.get("recipient"))
        if role == "assistant" and to not in ("", "all"):
            return [*pieces, ToolCall(name, to, as_arguments(_said(content)))]
        if kind == "system_error":
            return [*pieces, Text(f"[error: {_said(content)}]")]
        return pieces + self._content(content, kind)

    def _continues_result(self, name: str) -> bool:
        """Whether a message continues the tool result in its parent."""
        parent = self._parent(name)
        return (
            self._role(name) == "tool"
            and self._nodes.get(parent) is not None
            and self._role(parent) == "tool"
            and self._only_child.get(parent) == name
        )

    def _result(self, name: str) -> list[Piece]:
        """Return a tool result, joined from one message or several consecutive ones.

        Its call is the nearest earlier message that was sent to a tool.
        """
        shown, at = list[Text](), name
        while True:
            content = mapping(self._message_at(at).get("content"))
            shown += [
                Text(piece.otherwise) if isinstance(piece, IncomingFile) else piece
                for piece in self._content(content, text(content.get("content_type")))
                if isinstance(piece, Text | IncomingFile)
            ]
            following = self._only_child.get(at, "")
            if not following or not self._continues_result(following):
                break
            at = following
        call = self._parent(name)
        for _ in range(_MOST_HOPS):
            if call not in self._nodes or self._is_call(call):
                break
            call = self._parent(call)
        return [Result(call, "\n\n".join(piece.text for piece in shown if piece.text))]

    def _is_call(self, name: str) -> bool:
        message = self._message_at(name)
        return self._role(name) == "assistant" and text(message.get("recipient")) not in ("", "all")

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
        if (said := text(fields.get("text"))) or part is None:
            return Text(said)
        pointer = _pointer(fields)
        kind = next(
            (k for k in ("image", "audio", "video") if k in str(fields.get("content_type"))), ""
        )
        if not kind:
            self._tally.change("part of unknown kind that was kept by name only")
        beside, size = self._source.beside(pointer), size_of(fields.get("size_bytes"))
        name = self._names.get(pointer, "")
        if not name:
            name = pointer if beside is None else PurePath(beside.name).name
        read = reader_of(self._source, pointer)
        return file_piece(self._tally, kind or "attachment", name, read, size)


def _pointer(part: Mapping[str, object]) -> str:
    """Return the id of the file that a part points to; empty if it points to none."""
    inner = mapping(part.get("audio_asset_pointer"))
    pointer = text(part.get("asset_pointer")) or text(inner.get("asset_pointer"))
    return pointer.partition("://")[2]


def _said(content: Mapping[str, object]) -> str:
    """Return the text of a message, from whichever field has it."""
    if "parts" in content:
        return "\n\n".join(part for part in sequence(content["parts"]) if isinstance(part, str))
    return next(
        (said for each in ("text", "result", "content") if (said := text(content.get(each)))), ""
    )


def _age(message: Mapping[str, object]) -> float:
    made = message.get("create_time")
    return float(made) if isinstance(made, int | float) and made == made else 0.0  # noqa: PLR0124  not a number


CHATGPT = Format(NAME, "ChatGPT's export (its zip, or conversations*.json)", _matches, _read)
