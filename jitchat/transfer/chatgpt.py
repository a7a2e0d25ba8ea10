"""ChatGPT's export: `conversations.json`, or the same list split over `conversations-NNN.json`.

A conversation is a tree of nodes (`mapping`); `current_node` is the leaf of the branch that was
shown. A node without a message, or with a hidden one, only links its children to its parent. What
the site shows as a card (a chart, products, places) is in a span of the text, in a reference of the
message (`content_references`), or in the message's content itself.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from jitchat.store.imported import Origin
from jitchat.transfer.attached import file_piece, reader_of
from jitchat.transfer.census import rules_of, strings_of
from jitchat.transfer.format import list_format
from jitchat.transfer.incoming import INSTRUCTIONS, IncomingConversation, Tally
from jitchat.transfer.json_text import as_arguments, decoded, mapping, moment_of, sequence, text
from jitchat.transfer.pieces import (
    Piece,
    Result,
    Text,
    Thought,
    card,
    link,
    quote,
    size_of,
    sources_below,
    sources_in,
    with_files,
)
from jitchat.transfer.source import Source
from jitchat.transfer.turns import Message, Note, TurnMaker, newest_leaf, tree_turns
from jitchat.values import Role, ToolCall

NAME = "chatgpt"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
_SPAN = re.compile("( ?)(\ue200([a-z_]*+)\ue202?+([^\ue200\ue201]*+)\ue201)")
"""A span that the site shows in another form: a name, a link, a citation, a card."""
_MARK = re.compile("[\ue200-\ue206]")
_REFERENCE = re.compile('(?<![^"\ue202])turn\\d[\\w,]*(?![^"\ue202])')
"""Ids of sources within the conversation, as parts of a span or in its JSON."""
_SILENT = ("thoughts", "reasoning_recap")
_CONTEXT = ("user_editable_context", "model_editable_context")
"""Content types of custom instructions and of ChatGPT's memory about the user."""
_SOURCES = (
    "webpage", "webpage_extended", "grouped_webpages", "grouped_webpages_model_predicted_fallback",
    "sources_footnote", "nav_list", "navigation", "file", "link_title", "image_v2", "attribution",
    "attribution_footer", "hidden", "",
)  # fmt: skip
"""Types of references to sources; all others are cards."""
_SAID = ("text", "result", "content", "output_str")
"""The fields of which one has the text of a message or of a part."""
_MOST_HOPS = 16


def _is_conversation(fields: Mapping[str, object]) -> bool:
    return isinstance(fields.get("mapping"), dict)


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
        assets = [asset for part in sequence(content.get("parts")) for asset in _assets(part)]
        shown = {_pointer(asset) for asset in assets}
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
        """Read the pictures, charts and tables that a run of code produced."""
        metadata = mapping(message.get("metadata"))
        result = mapping(metadata.get("aggregate_result"))
        urls = [mapping(output).get("image_url") for output in sequence(result.get("messages"))]
        parts = [{"content_type": "image", "asset_pointer": url} for url in urls if url]
        pieces = [self._file(part) for part in parts]
        for shown in [mapping(item) for item in sequence(metadata.get("ada_visualizations"))]:
            kind, title = text(shown.get("type")) or "file", text(shown.get("title"))
            read = reader_of(self._source, text(shown.get("file_id")))
            pieces.append(file_piece(self._tally, kind, title, read))
        return pieces

    def _is_call(self, name: str) -> bool:
        message = self._message_at(name)
        return self._role(name) == "assistant" and text(message.get("recipient")) not in ("", "all")

    def _content(self, message: Mapping[str, object]) -> list[Piece]:
        """Read what a message shows: its parts, cards, and the sources that it does not link to."""
        content, metadata = mapping(message.get("content")), mapping(message.get("metadata"))
        parts = sequence(content["parts"]) if "parts" in content else [content]
        shown = [piece for part in parts for piece in self._part(part)]
        references = _References(metadata.get("content_references"), shown)
        if mapping(message.get("author")).get("role") != "user":
            shown = [self._as_shown(piece, references) for piece in shown]
        written = "\n".join(piece.text for piece in shown if isinstance(piece, Text))
        shown += [Text(said) for said in references.cards_below]
        blocks = mapping(metadata.get("writing_blocks")).values()
        edited = [block for block in blocks if text(mapping(block).get("content")) not in written]
        shown.append(card("writing", edited, rules_of(NAME), "writing_blocks[]"))
        shown += self._report(mapping(metadata.get("chatgpt_sdk")))
        listed = (references.sources, metadata.get("citations"), metadata.get("_cite_metadata"))
        return [*shown, Text(sources_below(written, *listed))]

    def _report(self, app: Mapping[str, object]) -> list[Piece]:
        """Read the plan and the report of a research from the state of its app, which is JSON."""
        state = mapping(decoded(text(app.get("widget_state"))))
        if not state:
            return []
        self._tally.read({"widget_state": state})
        plan = card("plan", state.get("plan"), rules_of(NAME), "plan")
        return [plan, *self._content(mapping(state.get("report_message")))]

    def _as_shown(self, piece: Piece, references: "_References") -> Piece:
        """Write the marked spans of a text as the site shows them."""
        if not isinstance(piece, Text):
            return piece

        def shown(match: re.Match[str]) -> str:
            blank, span, kind, content = match.groups()
            self._tally.account_for(kind)
            if span in references.cards:
                self._tally.account_for(*content.split("\ue202"))
            fields = [_field(part) for part in _REFERENCE.sub("", content).split("\ue202")]
            cited = references.links.get(span, {})
            words = list(strings_of(fields))
            if kind == "entity" and words:
                name = words[1:2] or words
                self._tally.skip("note on a name", [word for word in words if word not in name])
                return f"{blank}{name[0]}"
            if kind == "url" and words:
                return blank + link(words[0], next(iter((*words[1:], *cited)), ""))
            if cited:
                named = ", ".join(link(title, url) for url, title in cited.items())
                return blank + " ".join([*words, f"({named})"])
            written = references.cards.get(span) or card(kind, fields).text
            return f"\n\n{written}\n\n" if "\n" in written else f"{blank}{written}".rstrip()

        return Text(_MARK.sub("", _SPAN.sub(shown, piece.text)))

    def _part(self, part: object) -> Iterator[Piece]:
        """Read a part of a message, or a message without parts: text, files and all else as a card.

        The site has many kinds of them, and new ones come.
        """
        if isinstance(part, str):
            yield Text(part)
            return
        assets = _assets(part)
        fields = mapping(part)
        if fields in assets:
            yield self._file(fields)
            return
        title, url, summary = (text(fields.get(name)) for name in ("title", "url", "summary"))
        lines = (title, url, _said(fields), summary)
        yield Text("\n".join(line for line in lines if line))
        yield from (self._file(asset) for asset in assets)
        shown = (*lines, *assets)
        rest = {name: value for name, value in fields.items() if value not in shown}
        yield card(text(fields.get("content_type")) or "part", rest, rules_of(NAME), "content")

    def _file(self, asset: Mapping[str, object]) -> Piece:
        pointer = _pointer(asset)
        written = text(asset.get("content_type"))
        kind = next((kind for kind in ("image", "audio", "video") if kind in written), "attachment")
        beside, size = self._source.beside(pointer), size_of(asset.get("size_bytes"))
        name = self._names.get(pointer, "")
        if not name:
            name = pointer if beside is None else PurePath(beside.name).name
        return file_piece(self._tally, kind, name, reader_of(self._source, pointer), size)


class _References:
    """What a message refers to: sources, and cards in its text or below it."""

    def __init__(self, listed: object, pieces: Sequence[Piece]) -> None:
        said = "\n".join(piece.text for piece in pieces if isinstance(piece, Text))
        self.sources: list[Mapping[str, object]] = []
        self.links: dict[str, dict[str, str]] = {}
        """Titles by URL, by span."""
        self.cards: dict[str, str] = {}
        """Cards by span."""
        self.cards_below: list[str] = []
        for item in [mapping(item) for item in sequence(listed)]:
            span, kind = text(item.get("matched_text")), text(item.get("type"))
            if kind in _SOURCES:
                self.sources.append(item)
                self.links[span] = dict(sources_in(item))
                continue
            title = text(item.get("category")) or kind
            shown = card(title, item, rules_of(NAME), "content_references")
            written = shown.text or text(item.get("alt"))
            if _SPAN.fullmatch(span) and span in said:
                self.cards[span] = "\n".join(filter(None, (self.cards.get(span), written)))
            else:
                self.cards_below.append(written)


def _field(written: str) -> object:
    """Decode a field of a span if it is an object or a list in JSON."""
    value = decoded(written)
    return value if isinstance(value, dict | list) else written


def _assets(part: object) -> list[Mapping[str, object]]:
    """Return a part that points to a file, or its members that do."""
    fields = mapping(part)
    if "asset_pointer" in fields:
        return [fields]
    return [mapping(inner) for inner in fields.values() if "asset_pointer" in mapping(inner)]


def _pointer(asset: Mapping[str, object]) -> str:
    """Return the id of the file that an asset points to; empty if it points to none."""
    return text(asset.get("asset_pointer")).partition("://")[2]


def _said(content: Mapping[str, object]) -> str:
    """Return the text of a message, from whichever field has it."""
    if "parts" in content:
        return "\n\n".join(part for part in sequence(content["parts"]) if isinstance(part, str))
    return next((text(content[name]) for name in _SAID if text(content.get(name))), "")


def _age(message: Mapping[str, object]) -> float:
    made = message.get("create_time")
    return float(made) if isinstance(made, int | float) and made == made else 0.0  # noqa: PLR0124  not a number


CHATGPT = list_format(
    NAME,
    "ChatGPT's export (its zip, or conversations*.json)",
    _is_conversation,
    _conversation,
    "conversations",
)
