"""What the readable exports of a conversation share: the turns of its path and their windows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jitchat.attachments import Attachment
from jitchat.store.attachments import AttachmentStore
from jitchat.store.path import Path
from jitchat.store.pins import OwnInstructions
from jitchat.store.reply_notes import ReplyNote, notes_of
from jitchat.store.store import ColdStore
from jitchat.store.windows import Send, WindowArchive
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.values import DEFAULT_PROJECT, Conversation, Turn

_BATCH = 256

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
    note: ReplyNote | None
    """How the turn was generated; None if unknown."""
    files: tuple[Attachment, ...] = ()
    """The turn's attachments, without their contents."""


def path_turns(store: ColdStore, conversation: str) -> Iterator[ExportedTurn]:
    """Read the turns of the current path, with their models and attachments."""
    path = store.path(conversation)
    files: dict[int, list[Attachment]] = {}
    for file in AttachmentStore(store.database, conversation).listed():
        files.setdefault(file.turn, []).append(file)
    for first, last in path.stretches:
        for start in range(first, last + 1, _BATCH):
            part = Path(((start, min(last, start + _BATCH - 1)),))
            turns = store.turns_of(conversation, part)
            notes = notes_of(store.database, [turn.id for turn in turns])
            for turn in turns:
                came_with = tuple(files.get(turn.position, ()))
                yield ExportedTurn(turn, notes.get(turn.id), came_with)


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
