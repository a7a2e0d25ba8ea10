"""Very long messages in the chat: ask how to send one, and make the version that is sent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from jitchat.tools.compacting import LARGE_MESSAGE
from jitchat.tui.dialogs.large_message import Choice, Chosen, LargeMessageScreen

if TYPE_CHECKING:
    from jitchat.session import Session


async def question_on(session: Session, text: str) -> LargeMessageScreen | None:
    """Return the dialog that asks how to send a message; None if the message is not very long."""
    if len(text) <= LARGE_MESSAGE:  # a token has at least one character
        return None
    tokens = await asyncio.to_thread(session.counter.count, text)
    if tokens <= LARGE_MESSAGE:
        return None
    seen = await asyncio.to_thread(session.previewed, text)
    return LargeMessageScreen(tokens, tokens - session.options.budget.budget, seen)


async def form_of(session: Session, text: str, chosen: Chosen) -> str | None:
    """Return the text that windows carry instead of the message; None for all of it."""
    if chosen.choice is Choice.ALL:
        return None
    if chosen.choice is Choice.PREVIEW:
        return await asyncio.to_thread(session.previewed, text)
    return await session.compacted(text, chosen.instruction)
