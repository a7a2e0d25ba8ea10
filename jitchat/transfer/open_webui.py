"""Open WebUI's export: a list of chats, each with a tree of messages (`chat.history`).

`history.currentId` is the leaf of the branch that was shown. If a chat has no history,
`chat.messages` is its only path.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import unescape

from jitchat.store.imported import Origin
from jitchat.transfer.attached import file_piece, text_piece, url_piece
from jitchat.transfer.blocks import result_text
from jitchat.transfer.census import rules_of, strings_of
from jitchat.transfer.format import list_format
from jitchat.transfer.incoming import INSTRUCTIONS, NO_ROLE, IncomingConversation, Tally, tags_of
from jitchat.transfer.json_text import Broken, decoded, mapping, moment_in_any_unit, sequence, text
from jitchat.transfer.openai import content_pieces, item_pieces
from jitchat.transfer.pieces import (
    Piece,
    Result,
    Text,
    Thought,
    call_piece,
    card,
    size_of,
    sources_below,
)
from jitchat.transfer.source import Source
from jitchat.transfer.turns import Message, Note, TurnMaker, newest_leaf, tree_turns
from jitchat.values import Role

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


def _conversation(fields: Mapping[str, object], _source: Source) -> IncomingConversation:
    chat, tally = mapping(fields.get("chat")), Tally()
    tally.read(fields)
    messages = _messages(chat, tally)
    _attach_own_files(messages, chat, tally)
    turns, places = tree_turns(messages, TurnMaker(tally))
    key = text(fields.get("id")) or text(chat.get("id")) or next(iter(messages), "")
    return IncomingConversation(
        Origin(NAME, key),
        text(fields.get("title")) or text(chat.get("title")),
        turns,
        tally,
        newest_leaf(turns, places.get(text(mapping(chat.get("history")).get("currentId")), 0)),
        moment_in_any_unit(fields.get("created_at")),
        moment_in_any_unit(fields.get("updated_at")),
        is_archived=fields.get("archived") is True,
        tags=tags_of(tally, mapping(fields.get("meta")).get("tags"), chat.get("tags")),
        instructions=[text(mapping(chat.get("params")).get("system")), text(chat.get("system"))],
    )


def _attach_own_files(
    messages: dict[str, Message], chat: Mapping[str, object], tally: Tally
) -> None:
    """Attach the files of a whole chat to its first question, unless a message has them, too."""
    history = mapping(mapping(chat.get("history")).get("messages"))
    listed = [mapping(item) for item in (*history.values(), *sequence(chat.get("messages")))]
    known = {_described(file) for fields in listed for file in sequence(fields.get("files"))}
    own = [file for file in sequence(chat.get("files")) if _described(file) not in known]
    for identity, message in messages.items():
        if own and message.role is Role.USER and message.pieces is not None:
            pieces = [*message.pieces, *_files(own, tally)]
            messages[identity] = replace(message, pieces=pieces)
            break


def _messages(chat: Mapping[str, object], tally: Tally) -> dict[str, Message]:
    """Read the tree of messages by their ids or, if there is none, the list, which is one path."""
    tree = mapping(mapping(chat.get("history")).get("messages"))
    listed = [mapping(value) for value in tree.values() or sequence(chat.get("messages"))]
    names = [*tree] or [text(fields.get("id")) for fields in listed]
    found: dict[str, Message] = {}
    before = ""
    for number, (name, fields) in enumerate(zip(names, listed, strict=True), start=1):
        identity = name or str(number)
        parent = text(fields.get("parentId")) if tree else before
        found[identity] = _message(identity, parent, fields, tally)
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
    pieces = [*_said(fields, tally), *_files(fields.get("files"), tally)]
    content = text(fields.get("content"))
    runs = [mapping(run) for run in sequence(fields.get("code_executions"))]
    unsaid = [
        {name: value for name, value in run.items() if not (text(value) and text(value) in content)}
        for run in runs
    ]
    pieces.append(card("code run", unsaid, rules_of(NAME), "code_executions"))
    pieces += [Text(text(mapping(fields.get("merged")).get("content"))), *_sources(fields, tally)]
    if failure := text(mapping(fields.get("error")).get("content")):
        pieces.append(Text(f"[error: {failure}]"))
    return pieces


def _files(listed: object, tally: Tally) -> Iterator[Piece]:
    """Read attached files: texts, notes, pages, pictures, and collections with their files."""
    for file in [mapping(item) for item in sequence(listed)]:
        name, content, url = _described(file)
        if content:
            yield text_piece(tally, name, content)
        else:
            kind = "image" if file.get("type") == "image" else "file"
            detail = size_of(file.get("size")) or text(file.get("description"))
            yield url_piece(tally, kind, name, url, detail)
        yield from _files(file.get("files"), tally)


def _described(value: object) -> tuple[str, str, str]:
    """Return the name, the text and the address of a file; they are empty if it has none."""
    file = mapping(value)
    inner = mapping(file.get("file"))
    data = mapping(file.get("data"))
    names = (file.get("name"), inner.get("filename"), file.get("title"), file.get("filename"))
    note = text(mapping(data.get("content")).get("md")) or text(data.get("content"))
    url = text(file.get("url"))
    pages = [text(mapping(page).get("content")) for page in sequence(file.get("docs"))]
    parts = [url, *pages] if any(pages) else []
    content = text(mapping(inner.get("data")).get("content")) or note
    content = content or "\n\n".join(part for part in parts if part)
    return next((text(name) for name in names if text(name)), ""), content, url


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
        for item in output:
            yield from item_pieces(mapping(item), tally)
    else:
        yield from _with_details(text(content))


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
        given = _plain(attributes.get("arguments", ""))
        called = call_piece(attributes.get("id"), attributes.get("name"), given)
        yield called
        result = attributes.get("result") or body
        if attributes.get("done") == "true" and result:
            yield Result(called.id, result_text(_plain(result)))
    yield Text(content[at:].strip("\n"))


def _plain(written: str) -> object:
    """Decode JSON, also if it is encoded twice; return text that is not JSON unchanged."""
    value = decoded(written)
    inner = decoded(value) if isinstance(value, str) else value
    if isinstance(inner, dict | list):
        return inner
    return written if isinstance(value, Broken) else value


OPEN_WEBUI = list_format(NAME, "Open WebUI's export (JSON)", _is_chat, _conversation)
