"""What is stored with a turn in addition to its text: its versions, files and the reply's note."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from jitchat.attachments import Attachment
from jitchat.errors import StoreError
from jitchat.providers.provider import Finished
from jitchat.store.attachments import AttachmentStore
from jitchat.store.reply_notes import ReplyNote, notes_of
from jitchat.store.store import ColdStore
from jitchat.text.sanitize import one_line
from jitchat.tui.figures import note_sentence
from jitchat.tui.widgets.pictures import thumbnail
from jitchat.values import Status, Turn


@dataclass(frozen=True, slots=True)
class Detail:
    note: ReplyNote | None = None
    versions: tuple[int, ...] = ()
    """The positions of all versions of the turn, including its own; empty if there is only one."""
    files: tuple[Attachment, ...] = ()
    """The files attached to it."""
    pictures: tuple[Any, ...] = ()
    """Thumbnails of the attached pictures."""

    @property
    def attached(self) -> str:
        """`attached: notes.md, shot.png (picture, 900×500)`; empty if nothing was attached."""
        named = (
            one_line(each.name)
            + (f" (picture, {each.picture.width}×{each.picture.height})" if each.picture else "")
            for each in self.files
        )
        return f"attached: {', '.join(named)}" if self.files else ""

    def sentence_of(self, turn: Turn) -> str:
        """Return the note on the model, usage and stop reason; without the reason after calls."""
        is_step = self.note is not None and bool(turn.use.calls)
        return note_sentence(replace(self.note, stop=None) if is_step and self.note else self.note)

    @property
    def reasoning(self) -> str:
        return self.note.reasoning if self.note is not None else ""

    @property
    def reasoning_tokens(self) -> int:
        """As reported by the provider; 0 if it reported none."""
        usage = self.note.usage if self.note is not None else None
        return usage.reasoning_tokens if usage is not None else 0


NOTHING = Detail()


def is_broken_off(reply: Turn, stop: str | None) -> bool:
    """Whether a reply ended before the model finished; `stop` is the model's stop reason."""
    return reply.status is not Status.COMPLETE and not stop


def is_cut(reply: Turn, detail: Detail) -> bool:
    if reply.status in (Status.CUT, Status.CANCELLED, Status.INTERRUPTED):
        return True
    stop = detail.note.stop if detail.note is not None else None
    return stop is not None and Finished(stop).is_by_length


class TurnDetails:
    """Loads what is stored in addition to the turns of a conversation."""

    def __init__(self, store: ColdStore, conversation: str) -> None:
        self._store, self._conversation = store, conversation
        self._files = AttachmentStore(store.database, conversation)

    async def of(self, turns: Sequence[Turn]) -> Mapping[int, Detail]:
        """Load the details of turns, by position; empty if the store fails."""
        stored = [turn for turn in turns if turn.id and turn.status is not Status.STREAMING]
        with suppress(StoreError):
            if stored:
                return await asyncio.to_thread(self._read, stored)
        return {}

    def _read(self, stored: Sequence[Turn]) -> Mapping[int, Detail]:
        notes = notes_of(self._store.database, [turn.id for turn in stored])
        versions = self._store.branches(self._conversation)
        files = self._files.of(self._store.path(self._conversation))
        return {
            turn.position: _detail(
                Detail(notes.get(turn.id), versions.get(turn.position, ())),
                [file for file in files if file.turn == turn.position],
            )
            for turn in stored
        }


def _detail(detail: Detail, files: Sequence[Attachment]) -> Detail:
    """Add the attached files, with thumbnails of pictures."""
    if not files:
        return detail
    pictures = (thumbnail(file.picture) for file in files if file.picture is not None)
    return replace(detail, files=tuple(files), pictures=tuple(each for each in pictures if each))
