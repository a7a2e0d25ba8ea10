"""What is exported of a conversation for people: the turns of its path, and their windows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jitchat.attachments import Attachment
from jitchat.store.attachments import AttachmentStore
from jitchat.store.path import Path
from jitchat.store.pins import OwnInstructions
from jitchat.store.store import ColdStore
from jitchat.store.windows import ReplyNote, Send, WindowArchive
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.values import DEFAULT_PROJECT, Conversation, Turn

_BATCH = 256

Write = Callable[[str], object]
"""Takes the next piece of what is exported."""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    name: str
    """As `--format` takes it."""
    description: str
    write: Callable[[ColdStore, Sequence[Conversation], Write], None]


@dataclass(frozen=True, slots=True)
class ExportedTurn:
    turn: Turn
    note: ReplyNote | None
    """None where nothing is known of how it was made."""
    files: tuple[Attachment, ...] = ()
    """What came with it, without what they hold."""


def path_turns(store: ColdStore, conversation: str) -> Iterator[ExportedTurn]:
    """Read the turns of the path that is looked at, with their models."""
    path, archive = store.path(conversation), WindowArchive(store.database)
    files: dict[int, list[Attachment]] = {}
    for file in AttachmentStore(store.database, conversation).listed():
        files.setdefault(file.turn, []).append(file)
    for first, last in path.stretches:
        for start in range(first, last + 1, _BATCH):
            part = Path(((start, min(last, start + _BATCH - 1)),))
            turns = store.turns_of(conversation, part)
            notes = archive.notes([turn.id for turn in turns])
            for turn in turns:
                came_with = tuple(files.get(turn.position, ()))
                yield ExportedTurn(turn, notes.get(turn.id), came_with)


def file_title(file: Attachment) -> str:
    """Tell what is attached in a line: `plan.png (image/png, 640×480, 80,112 bytes)`."""
    size = f"{file.picture.width}×{file.picture.height}" if file.picture else ""
    told = ", ".join(filter(None, (one_line(file.media_type), size, f"{file.size:,} bytes")))
    return f"{one_line(file.name)} ({told})"


def about(store: ColdStore, conversation: Conversation) -> str:
    """Say in a line what a conversation is, beside its title, and what is not exported of it."""
    tree = store.tree(conversation.id)
    others = tree.last - len(tree.path())
    told = [
        conversation.id,
        plural(conversation.turns, "turn"),
        f"project {conversation.project}" if conversation.project != DEFAULT_PROJECT else "",
        " ".join(f"#{tag}" for tag in conversation.tags),
        f"persona {conversation.persona}" if conversation.persona else "",
        f"{plural(others, 'turn')} of other branches left out" if others else "",
    ]
    return one_line(" · ".join(filter(None, told)))


def own_instructions(store: ColdStore, conversation: Conversation) -> str:
    """Give the system text that a conversation has of its own; empty where it has none."""
    return OwnInstructions(store.database).get(conversation.id).system or ""


def sends_by_turn(store: ColdStore, conversation: str) -> Mapping[int, list[Send]]:
    """List the windows that were sent, by the position of the message."""
    found: dict[int, list[Send]] = {}
    for send in WindowArchive(store.database).sends(conversation):
        found.setdefault(send.said, []).append(send)
    return found
