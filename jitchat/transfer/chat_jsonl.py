"""Conversations as JSONL in chat completions format, one per line, as used for fine-tuning.

Every call has a result and every result a call, as servers require. Calls without a result, and
calls of jitchat's own tools, are left out. Files are quoted before the message text, as they are
sent; pictures appear by name only.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from jitchat.store.attachments import whole
from jitchat.store.store import ColdStore
from jitchat.text.sanitize import escape_in_json
from jitchat.transfer.export import ExportFormat, Write, by_question, path_turns
from jitchat.values import Conversation, Message, Role
from jitchat.window.exchange import carried_use, is_shown, spoken_as
from jitchat.window.files import whole_text
from jitchat.writing.calls import arguments_text
from jitchat.writing.pieces import PLAIN
from jitchat.writing.write import write_messages


def write_chat_jsonl(store: ColdStore, conversations: Sequence[Conversation], write: Write) -> None:
    for conversation in conversations:
        messages = [
            _fields(message) for message in write_messages(_messages(store, conversation.id), PLAIN)
        ]
        if messages:
            line = json.dumps({"messages": messages}, ensure_ascii=False)
            write(f"{escape_in_json(line)}\n")


def _messages(store: ColdStore, conversation: str) -> Iterator[Message]:
    for exported in by_question(path_turns(store, conversation)):
        turn = exported.turn
        if is_shown(turn):
            files = exported.files if turn.role is Role.USER else ()
            quoted = (whole_text(whole(store.database, file)) for file in files)
            content = "".join((*quoted, turn.content))
            yield Message(spoken_as(turn), content, turn.position, carried_use(turn.use))


def _fields(message: Message) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role.value, "content": message.content}
    if message.use.answers is not None:
        fields["tool_call_id"] = message.use.answers.id
    if message.use.calls:
        fields["content"] = message.content or None
        fields["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": arguments_text(call)},
            }
            for call in message.use.calls
        ]
    return fields


CHAT_JSONL = ExportFormat("jsonl", "chat completions messages, for fine-tuning", write_chat_jsonl)
