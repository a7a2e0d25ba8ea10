"""Conversations as Markdown: the current path, with a heading for each turn."""

import re
from collections.abc import Sequence

from jitchat.store.store import ColdStore
from jitchat.text.markdown.closing import closed
from jitchat.text.sanitize import one_line
from jitchat.transfer import export
from jitchat.values import Conversation, Role

_FENCE = re.compile(r"`{3,}")


def write_markdown(
    store: ColdStore, conversations: Sequence[Conversation], write: export.Write
) -> None:
    for number, conversation in enumerate(conversations):
        if number:
            write("\n---\n\n")
        write(f"# {one_line(conversation.title)}\n\n")
        write(f"*{export.about(store, conversation)}*\n")
        if system := export.own_instructions(store, conversation):
            write(f"\nInstructions for this conversation:\n\n{_fenced(system)}\n")
        windows = sum(map(len, export.sends_by_turn(store, conversation.id).values()))
        reasoned = files = 0
        for exported in export.path_turns(store, conversation.id):
            write(f"\n{_turn(exported)}\n")
            reasoned += bool(exported.note.reasoning)
            files += len(exported.files)
        counts = [(windows, "window"), (reasoned, "reasoning text"), (files, "attached file")]
        write(f"\n*{export.left_out(counts)}*\n")


def _turn(exported: export.ExportedTurn) -> str:
    turn = exported.turn
    parts = [f"## {export.heading(exported)}"]
    if turn.content.strip("\n"):
        is_result = turn.role is Role.TOOL
        parts.append(_fenced(turn.content) if is_result else closed(turn.content))
    if exported.files:
        named = (_code(export.file_title(file)) for file in exported.files)
        parts.append(f"Attached: {', '.join(named)}")
    for call in turn.use.calls:
        parts.append(f"Calls `{one_line(call.name)}`:")
        parts.append(_fenced(call.arguments, "json"))
    return "\n\n".join(parts)


def _code(text: str) -> str:
    """Return one line as inline code; backticks in it become apostrophes."""
    return "`" + text.replace("`", "'") + "`"


def _fenced(content: str, language: str = "") -> str:
    """Return a text as a fenced block, with a fence longer than any in the text."""
    longest = max((len(found) for found in _FENCE.findall(content)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{content}\n{fence}"


MARKDOWN = export.ExportFormat("markdown", "the turns, for reading", write_markdown)
