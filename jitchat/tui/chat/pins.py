"""Pinning and excluding turns: made in order, undone, and what came of it, in a sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.errors import WindowOverflow
from jitchat.text.sanitize import one_line
from jitchat.tui.figures import part_figure
from jitchat.values import Mode
from jitchat.window.compare import Change, difference
from jitchat.window.steering import Hold, HoldChange, Once
from jitchat.window.window import ContextWindow, Kind

if TYPE_CHECKING:
    from jitchat.planning import Planned
    from jitchat.session import Session

_NAMED = 4
"""So many turns are named; the others are counted."""
_REASONS = 2


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
        return held_sentence(made, mode, before, after)

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


def held_sentence(
    held: HoldChange, mode: Mode, before: Planned | None, after: Planned | None
) -> str:
    """Say it, as in `#12 is pinned: #31 and #40 lost their place (118 tokens).`.

    `before` and `after` are what was and is planned for the draft; None while a reply is on its
    way, when only the next window can tell.
    """
    what = _what(held)
    if after is None:
        return f"{what}, from the next message on."
    if not isinstance(after, ContextWindow):
        return f"{what}. The next window does not fit: the inspector says why, U takes this back."
    if held.after is Hold.PINNED and mode is not Mode.JIT:
        return f"{what}. Only jit has pins: mode {mode.value} does not change."
    if held.after is Hold.PINNED and after.kind_of_turns().get(held.turn) is Kind.RECENT:
        what = f"{what}; it is in the recent block"
    told = _moved(held, before, after) if isinstance(before, ContextWindow) else ""
    return f"{what}{told}."


def _what(held: HoldChange) -> str:
    if held.after is not None:
        return f"#{held.turn} is {held.after.value}"
    return f"#{held.turn} is no longer {held.before.value if held.before else 'held'}"


def _moved(held: HoldChange, before: ContextWindow, after: ContextWindow) -> str:
    """Tell of the turns that came or went besides the one that it is about."""
    told = difference(before, after)
    lost = [each for each in told.lost if each.turn != held.turn]
    gained = [each for each in told.gained if each.turn != held.turn]
    parts = []
    if lost:
        figures = "; ".join([f"{_tokens(lost, after)} tokens", *_reasons(lost, after)])
        parts.append(f"{_ids(lost)} lost {_their(lost)} place ({figures})")
    if gained:
        parts.append(f"{_ids(gained)} came in ({_tokens(gained, after)} tokens)")
    return f": {', '.join(parts)}" if parts else ""


def _reasons(lost: Sequence[Change], window: ContextWindow) -> list[str]:
    """Tell why they are not there at full text, as the ledger has it: each reason once."""
    gone = {each.turn for each in lost}
    reasons = dict.fromkeys(one_line(row.reason) for row in window.ledger if row.turn in gone)
    return list(reasons)[:_REASONS]


def _ids(changes: Sequence[Change]) -> str:
    names = [f"#{each.turn}" for each in changes]
    if len(names) > _NAMED:
        names = [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1} more"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _their(changes: Sequence[Change]) -> str:
    return "its" if len(changes) == 1 else "their"


def _tokens(changes: Sequence[Change], window: ContextWindow) -> str:
    count = sum(abs(each.tokens_after - each.tokens_before) for each in changes)
    return part_figure(window, count)


def _planned(session: Session, message: NextMessage | None) -> Planned | None:
    if message is None:
        return None
    try:
        return session.preview(message.text, message.mode, message.once)
    except WindowOverflow as overflow:
        return overflow
