"""Pinning and excluding turns: made in order, undone, and what came of it, in a sentence."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.errors import WindowOverflow
from jitchat.tui.chat.pin_effect import pin_effect
from jitchat.values import Mode
from jitchat.window.steering import Hold, HoldChange, Once

if TYPE_CHECKING:
    from jitchat.planning import Planned
    from jitchat.session import Session


@dataclass(frozen=True, slots=True)
class NextMessage:
    """A message as it would be sent now."""

    text: str
    mode: Mode
    once: Once


class PinHistory:
    """The pins and exclusions that were made since the conversation was opened, to be undone.

    Changes are made one at a time, in the order of the keys, so that a second press sees what the
    first one did.
    """

    def __init__(self) -> None:
        self.changes: list[HoldChange] = []
        self._order = asyncio.Lock()

    async def change_and_explain(
        self,
        session: Session,
        turn: int,
        hold: Hold | None,
        message: NextMessage | None,
        *,
        undoes: bool = False,
    ) -> str:
        """Make a change, and say what the window for `message` gains and loses by it.

        Without a message, only the next window can tell.

        Raises:
            JitchatError: The change or a window was refused.
            LookupError: No finished turn is there.
        """
        mode = message.mode if message is not None else Mode.JIT
        async with self._order:
            before = await asyncio.to_thread(_planned, session, message)
            made = await asyncio.to_thread(self.make, session, turn, hold, undoes=undoes)
            after = await asyncio.to_thread(_planned, session, message)
        return pin_effect(made, mode, before, after)

    def make(
        self, session: Session, turn: int, hold: Hold | None, *, undoes: bool = False
    ) -> HoldChange:
        """Pin or exclude a turn, or end that where it is so already. Slow.

        Raises:
            StoreError: The store refused it.
            LookupError: No finished turn is there.
        """
        made = session.hold(turn, hold) if undoes else session.toggle_hold(turn, hold)
        if not undoes:
            self.changes.append(made)
        return made


def _planned(session: Session, message: NextMessage | None) -> Planned | None:
    if message is None:
        return None
    try:
        return session.preview(message.text, message.mode, message.once)
    except WindowOverflow as overflow:
        return overflow
