"""Actions on a turn that leave it in place: show its text, copy, fold, note requested turns."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.text.code_blocks import code_blocks
from jitchat.text.figures import plural
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening
from jitchat.tui.chat.views import Views
from jitchat.tui.figures import note_sentence
from jitchat.tui.widgets.tool_block import whole

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.widgets.inspector import Inspector
    from jitchat.tui.widgets.transcript import Transcript


@dataclass(eq=False)
class Turns(Controller):
    opening: Opening
    views: Views

    def show(self, opened: Transcript.Opened) -> None:
        turn, detail = opened.turn, opened.detail
        call = turn.use.answers
        text = turn.content or detail.reasoning if call is None else whole(turn, call)
        self.show_text(f"#{turn.position} {turn.speaker}", text, note_sentence(detail.note))

    async def show_row(self, opened: Inspector.RowOpened) -> None:
        """Show the full text of an inspector row."""
        from jitchat.tui.dialogs.exact import row_screen  # noqa: PLC0415  not on the first frame

        place = self.backend.store, self.opening.conversation.id
        screen = await asyncio.to_thread(row_screen, opened, *place)
        self.host.push(screen, self.views.left)

    def show_text(self, title: str, text: str, note: str) -> None:
        from jitchat.tui.dialogs.exact import ExactScreen  # noqa: PLC0415  not on the first frame

        self.host.push(ExactScreen(title, text, note), self.views.left)

    def copy(self) -> None:
        turn = self.surfaces.transcript.to_copy
        if turn is None:
            self.host.say("There is no turn to copy yet.")
        else:
            self._copy(turn.content, f"#{turn.position}")

    def copy_code(self, number: str = "1") -> None:
        """Copy a code block of the selected turn, or of the last reply, by its number."""
        turn = self.surfaces.transcript.to_copy
        blocks = code_blocks(turn.content) if turn is not None else ()
        if turn is None or not (number.isdecimal() and 0 < int(number) <= len(blocks)):
            count = plural(len(blocks), "code block") if blocks else "no code block"
            self.host.say(f"There {'are' if len(blocks) > 1 else 'is'} {count} to copy.")
        else:
            self._copy(blocks[int(number) - 1].code, f"code block {number} of #{turn.position}")

    def _copy(self, text: str, what: str) -> None:
        self.surfaces.transcript.app.copy_to_clipboard(text)
        self.host.say(f"Copied {what}: {plural(len(text), 'character')}.")

    def unfold(self) -> None:
        """Fold or unfold reasoning or a tool call; while a question is open, its tool call."""
        if self.surfaces.approval.display:
            self.surfaces.approval.toggle()
        elif not self.surfaces.transcript.toggle_fold():
            self.host.say("This reply has no reasoning and no tool call.")

    async def note_requested(self, session: Session) -> None:
        """Note turns the model had to request in the selected or last exchange as missing."""
        from jitchat.regression_cases import note_requested  # noqa: PLC0415  not on the first frame

        chosen = self.surfaces.transcript.chosen
        place = chosen.position if chosen is not None else None
        self.host.say(await asyncio.to_thread(note_requested, session, place))
