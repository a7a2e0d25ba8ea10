"""The user's choices for the next window: its mode and its turns, and the effect of each choice.

Pins and exclusions last until they are undone; `once` and `once_mode` apply to one message.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from jitchat.draft import Draft
from jitchat.errors import StoreError, WindowOverflow
from jitchat.files.named import mentions_of
from jitchat.planning import Planned
from jitchat.store.pins import PickedMode
from jitchat.text.figures import enumerated
from jitchat.text.sanitize import one_line
from jitchat.tui.chat.commands import addressed_in, message_in
from jitchat.tui.chat.host import Controller
from jitchat.values import Mode
from jitchat.window.compare import Change, difference
from jitchat.window.steering import NO_MORE, Hold, HoldChange, Once
from jitchat.window.window import ContextWindow, Kind

if TYPE_CHECKING:
    from jitchat.session import Session


class NextMessage(NamedTuple):
    """A message as it would be sent now."""

    text: str
    mode: Mode
    once: Once


@dataclass(eq=False)
class PinHistory:
    """The pins and exclusions made since the conversation was opened, which can be undone."""

    changes: list[HoldChange] = field(default_factory=list)

    def make(
        self, session: Session, turn: int, hold: Hold | None, *, undoes: bool = False
    ) -> HoldChange:
        """Pin or exclude a turn; if it is already, unpin it or include it again. Slow.

        Raises:
            StoreError: The store refused the change.
            LookupError: There is no finished turn with this position.
        """
        is_held = not undoes and session.steering.of(turn) is hold
        made = session.hold(turn, None if is_held else hold)
        if not undoes:
            self.changes.append(made)
        return made


@dataclass(eq=False)
class Steering(Controller):
    """The mode and the choices with which the next message is sent."""

    mode: Mode = Mode.JIT
    conversation: str = ""
    """The id of the conversation on screen."""
    once_mode: Mode | None = None
    """The mode for the next message only; None for the current mode."""
    once: Once = NO_MORE
    """The choices for the next message only."""
    pins: PinHistory = field(default_factory=PinHistory)
    busy: bool = False
    """Whether a reply is in progress, so that no window can be planned."""
    _order: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Stores modes in the order of key presses."""

    @property
    def next_message(self) -> NextMessage:
        """The message that would be sent for the draft; its text is empty for a command."""
        return self.as_message(self.surfaces.prompt.message)

    def as_message(self, draft: Draft) -> NextMessage:
        addressed = addressed_in(message_in(draft.text, self.surfaces.prompts))
        mode = addressed.mode or self.once_mode or self.mode
        once = with_files(self.once, draft.ending(addressed.text))
        return NextMessage(addressed.text, mode, once)

    def show_mode(self) -> None:
        """Show the mode of the next message, and whether it is for that message only."""
        addressed = addressed_in(self.surfaces.prompt.draft).mode or self.once_mode
        self.surfaces.top.show_mode(addressed or self.mode, once=addressed is not None)

    async def begin(self, conversation: str) -> None:
        """Use the mode that was picked in a conversation, or the one for conversations without."""
        self.conversation = conversation
        with suppress(StoreError):  # reported by features that need the store
            picked = await asyncio.to_thread(self._picked.get, conversation)
            self.mode = self.backend.settings.mode_in(*picked)
        self.show_mode()

    def use_mode(self, mode: Mode) -> None:
        """Use a mode from now on, and at the next start."""
        self.mode, self.once_mode = mode, None
        self.backend.settings = self.backend.settings.yielding("chat.mode")
        self.show_mode()
        self.host.run(partial(self._keep_mode, self.conversation, mode), "mode")

    async def _keep_mode(self, conversation: str, mode: Mode) -> None:
        with suppress(StoreError):  # nothing that the user wrote is lost
            async with self._order:
                await asyncio.to_thread(self._picked.put, conversation, mode)

    @property
    def _picked(self) -> PickedMode:
        return PickedMode(self.backend.store.database)

    def use_mode_once(self, mode: Mode) -> None:
        self.once_mode = mode
        self.show_mode()

    def take(self, typed: Draft, after: int | None) -> tuple[Draft, Once, Mode | None]:
        """Take the choices for a message that is being sent, and reset them for the next one.

        `after` is the position of the turn that an edited message follows. Returns the message, the
        choices for it, and its own mode, which is None for the current mode.
        """
        addressed = addressed_in(typed.text)
        draft, mode = typed.ending(addressed.text), addressed.mode or self.once_mode
        once = with_files(replace(self.once, after=after), draft)
        self.reset()
        return draft, once, mode

    def give_back(self, once: Once, once_mode: Mode | None) -> None:
        """Restore the choices of an unanswered message for the next one."""
        self.once = replace(
            once, after=self.once.after, again=None, files=(), mentions=(), named=None
        )
        self.once_mode = once_mode
        self.show_mode()

    def toggle_once(self, session: Session, turn: int | None, *, is_there: bool) -> bool:
        """Leave a turn out of the next message, or include it.

        Returns False, after notifying the user, if this is not possible.
        """
        if turn is None:
            self.host.say("Only the row of a turn can be left out or included.")
        elif turn in session.steering.excluded:
            self.host.say(f"#{turn} is excluded; /exclude {turn} undoes that.")
        else:
            self.once = self.once.toggled(turn, is_there=is_there)
            return True
        return False

    def leave(self) -> None:
        """Forget all choices made in the conversation that is left."""
        self.reset()
        self.pins = PinHistory()

    def reset(self) -> None:
        """Forget the choices for the next message only."""
        self.once, self.once_mode = NO_MORE, None
        self.show_mode()


def with_files(once: Once, draft: Draft) -> Once:
    """Add the files of a draft, and what the user mentions in it, to the choices for it."""
    return replace(once, files=draft.files, mentions=mentions_of(draft))


def planned_or_overflow(session: Session, message: NextMessage | None) -> Planned | None:
    if message is None:
        return None
    try:
        return session.preview(*message)
    except WindowOverflow as overflow:
        return overflow


_NAMED = 4
"""Maximum turns that are named; the others are counted."""
_REASONS = 2


def pin_effect(
    change: HoldChange, mode: Mode, before: Planned | None, after: Planned | None
) -> str:
    """Describe a change: `#12 is pinned: #31 and #40 lost their place (118 tokens)`.

    `before` and `after` are the plans for the draft; None while a reply is in progress, when no
    window can be planned.
    """
    if change.after is not None:
        what = f"#{change.turn} is {change.after.value}"
    else:
        what = f"#{change.turn} is no longer {change.before.value if change.before else 'held'}"
    if after is None:
        return f"{what} from the next message on."
    if not isinstance(after, ContextWindow):
        return f"{what}. The next window does not fit: the inspector says why, /undo reverts this."
    if change.after is Hold.PINNED and mode.is_baseline:
        return f"{what}. Mode {mode.value} ignores pins, so its window does not change."
    if change.after is Hold.PINNED and after.kind_of_turns().get(change.turn) is Kind.RECENT:
        what = f"{what}; it is already in the window"
    others = _others(change.turn, before, after) if isinstance(before, ContextWindow) else ""
    return f"{what}{others}."


def _others(turn: int, before: ContextWindow, after: ContextWindow) -> str:
    """Name the turns that entered or left besides the one that was pinned or excluded."""
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
        parts.append(f"{_ids(gained)} entered ({_tokens(gained, after)} tokens)")
    return f": {', '.join(parts)}" if parts else ""


def _ids(changes: Sequence[Change]) -> str:
    names = [f"#{change.turn}" for change in changes]
    if len(names) > _NAMED:
        names = [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1} more"]
    return enumerated(names)


def _tokens(changes: Sequence[Change], window: ContextWindow) -> str:
    count = sum(abs(change.tokens_after - change.tokens_before) for change in changes)
    return str(window.figure(count))
