"""What the readable exports of a conversation share: the turns of its path and their windows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jitchat.attachments import Attachment
from jitchat.store.attachments import AttachmentStore
from jitchat.store.imported import all_turns
from jitchat.store.pins import OwnInstructions
from jitchat.store.reply_notes import ReplyNote
from jitchat.store.store import ColdStore
from jitchat.store.windows import Send, WindowArchive
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.values import DEFAULT_PROJECT, Conversation, Role, Status, Turn

Write = Callable[[str], object]
"""Writes the next chunk of the export."""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    name: str
    """The value for `--format`."""
    description: str
    write: Callable[[ColdStore, Sequence[Conversation], Write], None]


@dataclass(frozen=True, slots=True)
class ExportedTurn:
    turn: Turn
    note: ReplyNote
    files: tuple[Attachment, ...] = ()
    """The turn's attachments, without their contents."""


def path_turns(store: ColdStore, conversation: str) -> Iterator[ExportedTurn]:
    """Read the turns of the current path, with their models and attachments."""
    files: dict[int, list[Attachment]] = {}
    for file in AttachmentStore(store.database, conversation).listed():
        files.setdefault(file.turn, []).append(file)
    for stored in all_turns(store, conversation, store.path(conversation)):
        turn = stored.turn
        yield ExportedTurn(turn, stored.note, tuple(files.get(turn.position, ())))


def by_question(exported: Iterable[ExportedTurn]) -> list[ExportedTurn]:
    """Move each reply, with the results of its calls, behind the message that it answers."""
    messages: dict[int, list[ExportedTurn]] = {}
    last = question = 0
    for each in exported:
        turn = each.turn
        if turn.role is Role.USER:
            last = question = turn.position
        elif turn.role is Role.ASSISTANT:
            question = turn.question or last
        messages.setdefault(question, []).append(each)
    return [each for turns in messages.values() for each in turns]


def heading(exported: ExportedTurn) -> str:
    """Describe a turn in one line: `#3 assistant · gpt-5 · 2026-03-01 10:05 · cut`."""
    turn = exported.turn
    answered = f"to #{turn.question}" if turn.question is not None else ""
    parts = [f"#{turn.position} {one_line(turn.speaker)}", answered, one_line(exported.note.model)]
    if turn.created_at is not None:
        parts.append(f"{turn.created_at:%Y-%m-%d %H:%M}")
    if turn.status is not Status.COMPLETE:
        parts.append(turn.status.value)
    return " · ".join(part for part in parts if part)


def file_title(file: Attachment) -> str:
    """Describe an attachment in one line: `plan.png (image/png, 640×480, 80,112 bytes)`."""
    size = f"{file.picture.width}×{file.picture.height}" if file.picture else ""
    details = ", ".join(filter(None, (one_line(file.media_type), size, plural(file.size, "byte"))))
    return f"{one_line(file.name)} ({details})"


def about(store: ColdStore, conversation: Conversation) -> str:
    """Describe a conversation in one line: id, size, project, tags, turns that are left out."""
    tree = store.tree(conversation.id)
    others = tree.last - len(tree.path())
    details = [
        conversation.id,
        plural(conversation.turns, "turn"),
        f"project {conversation.project}" if conversation.project != DEFAULT_PROJECT else "",
        " ".join(f"#{tag}" for tag in conversation.tags),
        f"persona {conversation.persona}" if conversation.persona else "",
        f"{plural(others, 'turn')} of other branches left out" if others else "",
    ]
    return one_line(" · ".join(filter(None, details)))


def left_out(counts: Sequence[tuple[int, str]]) -> str:
    """Write what a readable export leaves out."""
    listed = ", ".join(plural(count, thing) for count, thing in counts if count)
    never = "Costs, holds, facts and memory documents are not in this file."
    return f"Left out: {listed}. {never}" if listed else never


def own_instructions(store: ColdStore, conversation: Conversation) -> str:
    """Return the conversation's own system text; empty if it has none."""
    return OwnInstructions(store.database).get(conversation.id).system or ""


def sends_by_turn(store: ColdStore, conversation: str) -> Mapping[int, list[Send]]:
    """Return the windows that were sent, by the position of the user's turn."""
    found: dict[int, list[Send]] = {}
    for send in WindowArchive(store.database).sends(conversation):
        found.setdefault(send.said, []).append(send)
    return found
