"""Pinning and excluding turns: made in order, undone, and what came of it, in a sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from jitchat.errors import WindowOverflow
from jitchat.planning import Planned
from jitchat.text.sanitize import one_line
from jitchat.tui.figures import part_figure
from jitchat.values import Mode
from jitchat.window.compare import Change, difference
from jitchat.window.steering import Hold, HoldChange, Once
from jitchat.window.window import ContextWindow, Kind

if TYPE_CHECKING:
    from jitchat.session import Session


class NextMessage(NamedTuple):
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

        def change() -> tuple[Planned | None, HoldChange, Planned | None]:
            before = _planned(session, message)
            made = self.make(session, turn, hold, undoes=undoes)
            return before, made, _planned(session, message)

        async with self._order:
            before, made, after = await asyncio.to_thread(change)
        return pin_effect(made, message.mode if message is not None else Mode.JIT, before, after)

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
        return session.preview(*message)
    except WindowOverflow as overflow:
        return overflow


_NAMED = 4
"""So many turns are named; the others are counted."""
_REASONS = 2


def pin_effect(
    change: HoldChange, mode: Mode, before: Planned | None, after: Planned | None
) -> str:
    """Say it, as in `#12 is pinned: #31 and #40 lost their place (118 tokens).`.

    `before` and `after` are what was and is planned for the draft; None while a reply is on its
    way, when only the next window can tell.
    """
    if change.after is not None:
        what = f"#{change.turn} is {change.after.value}"
    else:
        what = f"#{change.turn} is no longer {change.before.value if change.before else 'held'}"
    if after is None:
        return f"{what}, from the next message on."
    if not isinstance(after, ContextWindow):
        return f"{what}. The next window does not fit: the inspector says why, U takes this back."
    if change.after is Hold.PINNED and mode is not Mode.JIT:
        return f"{what}. Only jit has pins: mode {mode.value} does not change."
    if change.after is Hold.PINNED and after.kind_of_turns().get(change.turn) is Kind.RECENT:
        what = f"{what}; it is in the recent block"
    others = _others(change.turn, before, after) if isinstance(before, ContextWindow) else ""
    return f"{what}{others}."


def _others(turn: int, before: ContextWindow, after: ContextWindow) -> str:
    """Name the turns that came or went besides the one that was pinned or excluded."""
    changes = difference(before, after)
    lost = [change for change in changes.lost if change.turn != turn]
    gained = [change for change in changes.gained if change.turn != turn]
    parts = []
    if lost:
        gone = {change.turn for change in lost}
        reasons = dict.fromkeys(one_line(row.reason) for row in after.ledger if row.turn in gone)
        figures = "; ".join([f"{_tokens(lost, after)} tokens", *list(reasons)[:_REASONS]])
        parts.append(f"{_ids(lost)} lost {'its' if len(lost) == 1 else 'their'} place ({figures})")
    if gained:
        parts.append(f"{_ids(gained)} came in ({_tokens(gained, after)} tokens)")
    return f": {', '.join(parts)}" if parts else ""


def _ids(changes: Sequence[Change]) -> str:
    names = [f"#{change.turn}" for change in changes]
    if len(names) > _NAMED:
        names = [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1} more"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _tokens(changes: Sequence[Change], window: ContextWindow) -> str:
    count = sum(abs(change.tokens_after - change.tokens_before) for change in changes)
    return part_figure(window, count)
