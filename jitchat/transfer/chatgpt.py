"""ChatGPT's export: `conversations.json`, or the same list split over `conversations-NNN.json`.

A conversation is a tree of nodes (`mapping`); `current_node` is the leaf of the branch that was
shown. A node without a message, or with a hidden one, only links its children to its parent.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from jitchat.store.imported import Origin
from jitchat.transfer.attached import file_piece, reader_of
from jitchat.transfer.census import strings_of
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
    newest_leaf,
    quote,
    short_id,
    size_of,
    tree_turns,
    with_files,
)
from jitchat.transfer.json_text import Broken, decoded
from jitchat.transfer.sample import Sample
from jitchat.transfer.source import Source, SourceFile
from jitchat.transfer.sources import link, sources_below, sources_in
from jitchat.values import Role, ToolCall

NAME = "chatgpt"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
_SPAN = re.compile("( ?)(\ue200([a-z_]*+)\ue202?+([^\ue200\ue201]*+)\ue201)")
"""A span that the site shows in another form: a name, a link, a citation."""
_MARK = re.compile("[\ue200-\ue206]")
_REFERENCE = re.compile(r"turn\d+[\w,]*")
"""Ids of sources within the conversation."""
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
        newest_leaf(turns, places.get(current, 0)),
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
        self._before_reply = set[str]()
        """Nodes with reasoning that belongs to a reply after them."""

    def messages(self) -> dict[str, Message]:
        """Return the messages by id; siblings are ordered from oldest to newest."""
        by_age = sorted(self._nodes, key=lambda name: _age(self._message_at(name)))
        followed = Counter(map(self._parent, by_age))
        self._only_child = {
            parent: name for name in by_age if followed[parent := self._parent(name)] == 1
        }
        for each in (file for name in by_age for file in self._attachments(name)):
            self._names[text(each.get("id"))] = text(each.get("name"))
        for name in by_age:
            if self._role(name) == "assistant" and not self._is_silent(name):
                self._before_reply.update(self._silent_before(name))
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

    def _is_silent(self, name: str) -> bool:
        """Whether a message is not shown: it has only reasoning, or it is hidden."""
        metadata = mapping(self._message_at(name).get("metadata"))
        is_hidden = metadata.get("is_visually_hidden_from_conversation") is True
        return self._kind(name) in _SILENT or is_hidden

    def _silent_before(self, name: str) -> Iterator[str]:
        """Yield the nodes with nothing but reasoning before a message, the nearest first."""
        at = self._parent(name)
        for _ in range(_MOST_HOPS):
            if self._nodes.get(at) is None or self._kind(at) not in _SILENT:
                break
            yield at
            at = self._parent(at)

    def _thoughts(self, name: str) -> list[Piece]:
        listed = sequence(mapping(self._message_at(name)["content"]).get("thoughts"))
        thoughts = [mapping(thought) for thought in listed]
        parts = [(text(part.get("summary")), text(part.get("content"))) for part in thoughts]
        return [Thought("\n\n".join(said for said in part if said)) for part in parts]

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
        if kind in _SILENT and name not in self._before_reply:
            return self._thoughts(name) or None
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
        pieces = list[Piece]()
        for before in reversed(list(self._silent_before(name)) if role == "assistant" else []):
            pieces += self._thoughts(before)
        to = text(message.get("recipient"))
        if role == "assistant" and to not in ("", "all"):
            return [*pieces, ToolCall(name, to, as_arguments(_said(content)))]
        if kind == "system_error":
            failure = f"{text(content.get('name'))}: {_said(content)}".strip(": ")
            return [*pieces, Text(f"[error: {failure}]")]
        quoted = quote(text(mapping(message.get("metadata")).get("targeted_reply")))
        return [*pieces, quoted, *self._content(message)]

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
        shown, at = list[Piece](), name
        while True:
            shown += [*self._content(self._message_at(at)), *self._pictures(self._message_at(at))]
            following = self._only_child.get(at, "")
            if not following or not self._continues_result(following):
                break
            at = following
        call = self._parent(name)
        for _ in range(_MOST_HOPS):
            if call not in self._nodes or self._is_call(call):
                break
            call = self._parent(call)
        return [with_files(Result(call, ""), shown)]

    def _pictures(self, message: Mapping[str, object]) -> list[Piece]:
        """Read the pictures that a run of code produced."""
        result = mapping(mapping(message.get("metadata")).get("aggregate_result"))
        urls = [mapping(output).get("image_url") for output in sequence(result.get("messages"))]
        parts = [{"content_type": "image", "asset_pointer": url} for url in urls if url]
        return [self._part(part) for part in parts]

    def _is_call(self, name: str) -> bool:
        message = self._message_at(name)
        return self._role(name) == "assistant" and text(message.get("recipient")) not in ("", "all")

    def _content(self, message: Mapping[str, object]) -> list[Piece]:
        """Read what a message shows, and the sources that its text does not link to."""
        content, metadata = mapping(message.get("content")), mapping(message.get("metadata"))
        references = [mapping(item) for item in sequence(metadata.get("content_references"))]
        if "parts" in content:
            parts = sequence(content["parts"])
        else:
            title, url, summary = (text(content.get(name)) for name in ("title", "url", "summary"))
            lines = (title, url, _said(content), summary)
            parts = ["\n".join(line for line in lines if line)]
        is_user = mapping(message.get("author")).get("role") == "user"
        shown = list[Piece]()
        for part in parts:
            is_marked = isinstance(part, str) and not is_user
            said = self._spans_shown(text(part), references) if is_marked else text(part)
            shown.append(Text(said) if isinstance(part, str) else self._part(part))
        written = "\n".join(piece.text for piece in shown if isinstance(piece, Text))
        listed = (references, metadata.get("citations"), metadata.get("_cite_metadata"))
        return [*shown, Text(sources_below(written, *listed))]

    def _spans_shown(self, said: str, references: Sequence[Mapping[str, object]]) -> str:
        """Write the marked spans of a text as the site shows them."""
        links = {text(item.get("matched_text")): dict(sources_in(item)) for item in references}

        def shown(match: re.Match[str]) -> str:
            blank, span, kind, content = match.groups()
            value = decoded(content)
            cited = links.get(span, {})
            listed = strings_of(content.split("\ue202") if isinstance(value, Broken) else value)
            words = [word for word in listed if not _REFERENCE.fullmatch(word)]
            if kind == "entity" and words:
                name = words[1:2] or words
                self._tally.skip("note on a name", [word for word in words if word not in name])
                return f"{blank}{name[0]}"
            if kind == "url" and words:
                return blank + link(words[0], next(iter((*words[1:], *cited)), ""))
            if cited:
                named = ", ".join(link(title, url) for url, title in cited.items())
                return blank + " ".join([*words, f"({named})"])
            return f"{blank}[{kind}: {', '.join(words)}]" if words else ""

        return _MARK.sub("", _SPAN.sub(shown, said))

    def _part(self, part: object) -> Piece:
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
