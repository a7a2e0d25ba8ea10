"""What the user decides about the next window: its mode, and which turns are in it.

Pins and exclusions last until they are undone; `once` and `once_mode` hold for one message.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from textual.message import Message

from jitchat.errors import JitchatError
from jitchat.tui.chat.commands import addressed_in, message_in
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.pins import NextMessage, PinHistory
from jitchat.values import Mode
from jitchat.window.steering import NO_MORE, Hold, Once

if TYPE_CHECKING:
    from jitchat.session import Session

NOTHING_TO_UNDO = "Nothing was pinned or excluded since this was opened."


@dataclass(eq=False)
class Steering(Controller):
    """The mode and the choices that the next message is sent with."""

    @dataclass
    class HoldChanged(Message):
        """A turn was pinned or excluded, or that was undone."""

        opening: int
        """The number of the conversation."""
        sentence: str
        """What came of it."""

    mode: Mode
    once_mode: Mode | None = None
    """The mode for the next message alone; None for the usual one."""
    once: Once = NO_MORE
    """What holds for the draft alone."""
    pins: PinHistory = field(default_factory=PinHistory)
    busy: bool = False
    """Whether a reply is on its way, so that no window can be planned."""

    @property
    def next_message(self) -> NextMessage:
        """What would be sent for what is in the prompt; its text is empty for a command."""
        addressed = addressed_in(message_in(self.surfaces.prompt.draft))
        mode = addressed.mode or self.once_mode or self.mode
        return NextMessage(addressed.text, mode, self.once)

    def show_mode(self) -> None:
        """Show which mode comes next, and whether for one message only."""
        addressed = addressed_in(self.surfaces.prompt.draft).mode or self.once_mode
        self.surfaces.top.show_mode(addressed or self.mode, once=addressed is not None)

    def use_mode(self, mode: Mode) -> None:
        self.mode, self.once_mode = mode, None
        self.show_mode()

    def use_mode_once(self, mode: Mode) -> None:
        self.once_mode = mode
        self.show_mode()

    def take(self, typed: str, after: int | None) -> tuple[str, Once, Mode | None]:
        """Take what holds for a message that is sent; the next one is as usual again.

        `after` is the position of the turn that an edited message follows. Returns the text, what
        holds for it, and the mode for it alone, None for the usual one.
        """
        addressed = addressed_in(typed)
        once, mode = replace(self.once, after=after), addressed.mode or self.once_mode
        self.reset()
        return addressed.text, once, mode

    def give_back(self, once: Once, once_mode: Mode | None) -> None:
        """Have what held for a message that was not answered hold for the next one."""
        self.once = replace(once, after=self.once.after, again=None)
        self.once_mode = once_mode
        self.show_mode()

    def toggle_once(self, session: Session, turn: int | None, *, is_there: bool) -> bool:
        """Take a turn out of the next message or into it; False, said why, where that cannot be."""
        if turn is None:
            self.host.say("This row is not a turn that can be taken out or in.")
        elif turn in session.steering.excluded:
            self.host.say(f"#{turn} is excluded: X takes that back.")
        else:
            self.once = self.once.toggled(turn, is_there=is_there)
            return True
        return False

    def hold(self, session: Session, hold: Hold, position: int, opening: int) -> None:
        """Pin or exclude a turn; a second time takes that back. Ends as a `HoldChanged`.

        `opening` is the number of the conversation.
        """
        self.host.run(self._change(session, position, hold, opening), "hold")

    def undo_hold(self, session: Session, opening: int) -> None:
        if self.pins.changes:
            last = self.pins.changes.pop()
            work = self._change(session, last.turn, last.before, opening, undoes=True)
            self.host.run(work, "hold")
        else:
            self.host.say(NOTHING_TO_UNDO)

    async def _change(
        self, session: Session, turn: int, hold: Hold | None, opening: int, *, undoes: bool = False
    ) -> None:
        message = None if self.busy else self.next_message
        try:
            sentence = await self.pins.change_and_explain(
                session, turn, hold, message, undoes=undoes
            )
        except JitchatError as error:
            self.host.tell(error)
        except LookupError:
            self.host.say(f"There is no #{turn} here.")
        else:
            self.host.post(self.HoldChanged(opening, sentence))

    def leave(self) -> None:
        """Forget all that was decided in the conversation that is left."""
        self.reset()
        self.pins = PinHistory()

    def reset(self) -> None:
        """Forget what holds for the next message alone."""
        self.once, self.once_mode = NO_MORE, None
        self.show_mode()
