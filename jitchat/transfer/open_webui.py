"""Open WebUI's export: a list of chats, each with a tree of messages (`chat.history`).

`history.currentId` is the leaf of the branch that was shown. If a chat has no history,
`chat.messages` is its only path.
"""

import re
from collections.abc import Iterator, Mapping
from html import unescape

from jitchat.store.imported import Origin
from jitchat.transfer.attached import file_piece, text_piece, url_piece
from jitchat.transfer.blocks import result_text
from jitchat.transfer.census import strings_of
from jitchat.transfer.fields import as_arguments, mapping, moment_in_any_unit, sequence, text
from jitchat.transfer.format import Format, conversations_in
from jitchat.transfer.incoming import (
    INSTRUCTIONS,
    NO_ROLE,
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
    short_id,
    size_of,
    tags_of,
    tree_turns,
)
from jitchat.transfer.json_text import Broken, decoded
from jitchat.transfer.openai import content_pieces
from jitchat.transfer.sample import Sample
from jitchat.transfer.source import Source, SourceFile
from jitchat.transfer.sources import sources_below
from jitchat.values import Role, ToolCall

NAME = "open-webui"
_QUOTES = r""""(?:[^"<]++|<(?!details\b))*+"|'(?:[^'<]++|<(?!details\b))*+'"""
_DETAILS = re.compile(
    rf"""<details type="(reasoning|tool_calls)"((?:[^<>"']++|{_QUOTES})*+)>"""
    r"((?:[^<]++|<(?!/?details\b))*+)</details>"
)
"""Possessive, so that a text with many unclosed blocks is still matched in linear time."""
_PAIR = re.compile(r"""\b(\w++)=(?:"([^"]*+)"|'([^']*+)')""")
_SUMMARY = re.compile(r"<summary>[^<]*+</summary>")
_QUOTED = re.compile(r"^> ?", re.MULTILINE)
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
    tally.read(fields)
    history = mapping(chat.get("history"))
    listed = mapping(history.get("messages"))
    messages = _tree(listed, tally) if listed else _path(sequence(chat.get("messages")), tally)
    turns, places = tree_turns(messages, TurnMaker(tally))
    key = text(fields.get("id")) or text(chat.get("id")) or next(iter(messages), "")
    found = IncomingConversation(
        Origin(NAME, key),
        short_id(NAME, key),
        text(fields.get("title")) or text(chat.get("title")),
        turns,
        tally,
        newest_leaf(turns, places.get(text(history.get("currentId")), 0)),
        moment_in_any_unit(fields.get("created_at")),
        moment_in_any_unit(fields.get("updated_at")),
        is_archived=fields.get("archived") is True,
        tags=tags_of(tally, mapping(fields.get("meta")).get("tags"), chat.get("tags")),
    )
    found.instructions += text(mapping(chat.get("params")).get("system")), text(chat.get("system"))
    return found


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
        tally.skip(INSTRUCTIONS if fields.get("role") == "system" else NO_ROLE, fields)
        return Message(identity, parent or None, Role.USER, None)
    moment, is_cut = moment_in_any_unit(fields.get("timestamp")), fields.get("done") is False
    note = Note(moment, text(fields.get("model")), is_cut=is_cut)
    return Message(identity, parent or None, role, _pieces(fields, tally), note)


def _pieces(fields: Mapping[str, object], tally: Tally) -> list[Piece]:
    pieces = list(_said(fields, tally))
    for each in sequence(fields.get("files")):
        file = mapping(each)
        inner = mapping(file.get("file"))
        names = (file.get("name"), inner.get("filename"), file.get("title"))
        name = next((text(name) for name in names if text(name)), "")
        content = text(mapping(inner.get("data")).get("content")) or _page_text(file)
        if content:
            pieces.append(text_piece(tally, name, content))
            continue
        kind = "image" if file.get("type") == "image" else "file"
        url, size = text(file.get("url")), size_of(file.get("size"))
        pieces.append(url_piece(tally, kind, name, url, size))
    pieces += [Text(text(mapping(fields.get("merged")).get("content"))), *_sources(fields, tally)]
    if failure := text(mapping(fields.get("error")).get("content")):
        pieces.append(Text(f"[error: {failure}]"))
    return pieces


def _page_text(file: Mapping[str, object]) -> str:
    """Return the text of an attached note, or of attached pages; empty for other files."""
    note = text(mapping(mapping(file.get("data")).get("content")).get("md"))
    pages = [text(mapping(page).get("content")) for page in sequence(file.get("docs"))]
    parts = [text(file.get("url")), *pages] if any(pages) else []
    return note or "\n\n".join(part for part in parts if part)


def _sources(fields: Mapping[str, object], tally: Tally) -> Iterator[Piece]:
    """Read the sources of a reply: links as text, and what was read of them as a file."""
    listed = [mapping(item) for item in sequence(fields.get("sources") or fields.get("citations"))]
    yield Text(sources_below("", [item.get("source") for item in listed]))
    parts = [(mapping(item.get("source")).get("name"), item) for item in listed]
    excerpts = [(name, item.get("document"), item.get("metadata")) for name, item in parts]
    if excerpts:
        yield file_piece(tally, "file", "sources.txt", "\n\n".join(strings_of(excerpts)).encode)


def _said(fields: Mapping[str, object], tally: Tally) -> Iterator[Piece]:
    """Read a message's `output` items, or else its text with the `<details>` blocks in it."""
    content, output = fields.get("content"), sequence(fields.get("output"))
    if fields.get("role") != "assistant" or not (output or isinstance(content, str)):
        yield from content_pieces(content, tally)
    elif output:
        for item in map(mapping, output):
            yield from _item(item, tally)
    else:
        yield from _with_details(text(content))


def _item(item: Mapping[str, object], tally: Tally) -> Iterator[Piece]:
    kind, call = text(item.get("type")), text(item.get("call_id"))
    if kind == "message":
        yield from content_pieces(item.get("content"), tally)
    elif kind == "reasoning":
        parts = (*sequence(item.get("summary")), *sequence(item.get("content")))
        yield from (Thought(text(mapping(part).get("text"))) for part in parts)
    elif kind == "function_call":
        yield ToolCall(call, text(item.get("name")) or "tool", as_arguments(item.get("arguments")))
    elif kind == "function_call_output":
        yield Result(call, result_text(item.get("output")))
    else:
        tally.skip("item of unknown kind", item)


def _with_details(content: str) -> Iterator[Piece]:
    """Split a text with reasoning and tool calls, which are `<details>` blocks of HTML."""
    at = 0
    for match in _DETAILS.finditer(content):
        yield Text(content[at : match.start()].strip("\n"))
        attributes = {name: unescape(one or other) for name, one, other in _PAIR.findall(match[2])}
        body = unescape(_SUMMARY.sub("", match[3]).strip())
        at = match.end()
        if match[1] == "reasoning":
            yield Thought(_QUOTED.sub("", body))
            continue
        name = attributes.get("name") or "tool"
        call = attributes.get("id") or name
        yield ToolCall(call, name, as_arguments(_plain(attributes.get("arguments", ""))))
        result = attributes.get("result") or body
        if attributes.get("done") == "true" and result:
            yield Result(call, result_text(_plain(result)))
    yield Text(content[at:].strip("\n"))


def _plain(written: str) -> object:
    """Decode JSON, also if it is encoded twice; return text that is not JSON unchanged."""
    value = decoded(written)
    inner = decoded(value) if isinstance(value, str) else value
    if isinstance(inner, dict | list):
        return inner
    return written if isinstance(value, Broken) else value


OPEN_WEBUI = Format(NAME, "Open WebUI's export (JSON)", _matches, _read)
