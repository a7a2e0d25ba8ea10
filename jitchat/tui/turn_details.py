"""What is shown beside the text of a turn: its note, its reasoning, its other versions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.errors import StoreError
from jitchat.providers.provider import Finished
from jitchat.store.store import ColdStore
from jitchat.values import Status, Turn

if TYPE_CHECKING:
    from jitchat.store.windows import ReplyNote


@dataclass(frozen=True, slots=True)
class Detail:
    note: ReplyNote | None = None
    versions: tuple[int, ...] = ()
    """The positions of the turns that stand in its place, its own among them; empty for one."""

    @property
    def reasoning(self) -> str:
        return self.note.reasoning if self.note is not None else ""

    @property
    def reasoning_tokens(self) -> int:
        """As reported; 0 where the provider reports none."""
        usage = self.note.usage if self.note is not None else None
        return usage.reasoning_tokens if usage is not None else 0


NOTHING = Detail()


def is_broken_off(reply: Turn, stop: str | None) -> bool:
    """Whether a reply ended before the model ended it; `stop` is the model's word for why."""
    return reply.status is not Status.COMPLETE and not stop


def is_cut(reply: Turn, detail: Detail) -> bool:
    if reply.status in (Status.CUT, Status.CANCELLED, Status.INTERRUPTED):
        return True
    stop = detail.note.stop if detail.note is not None else None
    return stop is not None and Finished(stop).is_by_length


class TurnDetails:
    def __init__(self, store: ColdStore, conversation: str) -> None:
        self._store, self._conversation = store, conversation

    async def of(self, turns: Sequence[Turn]) -> Mapping[int, Detail]:
        """Look up the details by position; none where the store refuses."""
        stored = [turn for turn in turns if turn.id and turn.status is not Status.STREAMING]
        with suppress(StoreError):
            if stored:
                return await asyncio.to_thread(self._read, stored)
        return {}

    def _read(self, stored: Sequence[Turn]) -> Mapping[int, Detail]:
        from jitchat.store.windows import WindowArchive  # noqa: PLC0415  see above

        notes = WindowArchive(self._store.database).notes([turn.id for turn in stored])
        versions = self._store.branches(self._conversation)
        return {
            turn.position: Detail(notes.get(turn.id), versions.get(turn.position, ()))
            for turn in stored
        }
