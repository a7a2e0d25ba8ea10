"""The literal request of the window on screen: as it would leave, or as it left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual import on, work
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from jitchat.errors import JitchatError
from jitchat.text.safe import one_line
from jitchat.tui.figures import stable_sentence
from jitchat.tui.views.save_line import SaveLine
from jitchat.tui.views.subject import Subject
from jitchat.tui.views.view import View
from jitchat.tui.views.wire_letter import Letter, legend, read_letter
from jitchat.tui.views.wire_rows import Sheet, sheet_of
from jitchat.tui.views.wire_text import WireText

_NO_REQUEST = "There is no request here to copy or to save."
_NO_COMMAND = "There is no request to make a command of: the embedded reader answers."


class WireView(View):
    """What is posted, byte for byte, and which segment each part of it is."""

    CSS_PATH = ["view.tcss", "wire.tcss"]  # noqa: RUF012  Textual's own shape
    NAME = "Wire"
    EXPLAINED = "The request, byte for byte, less the key. No letter: the protocol's own."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("p", "form", "Raw", id="wire_form"),
        Binding("n", "next_kind", "Next", id="wire_next"),
        Binding("c", "copy_command", "Copy curl", id="wire_curl"),
        Binding("s", "save_body", "Save", id="wire_save"),
        Binding("k", "save_command", "Save curl", id="wire_save_curl"),
    ]

    @dataclass
    class Read(Message):
        """The request is there, or why there is none."""

        outcome: Letter | JitchatError

    @dataclass
    class LaidOut(Message):
        """It is cut into rows."""

        serial: int
        sheet: Sheet

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._letter: Letter | None = None
        self._pretty = True
        self._serial = 0
        """Of the rows that were asked for last."""

    def body(self) -> Iterable[Widget]:
        """Whether it left like that, the text, the legend, and a line to save it with."""
        yield Static(Content("…"), id="wire-told")
        yield WireText()
        yield Static(id="wire-legend")
        yield SaveLine()

    def on_mount(self) -> None:
        """Make the request; without a window, one is planned."""
        self.query_one(WireText).focus()
        self._read()

    def copyable(self) -> str:
        """Write the body, exactly as it is posted."""
        return self._letter.body if self._letter is not None else ""

    def action_close(self) -> None:
        """Leave the line for a name, or the view."""
        line = self.query_one(SaveLine)
        if line.display:
            line.leave()
        else:
            super().action_close()

    def action_form(self) -> None:
        """Show it with line breaks and indentation, or as it is posted."""
        self._pretty = not self._pretty
        self._cut()

    def action_next_kind(self) -> None:
        """Scroll to the next kind of segment."""
        self.query_one(WireText).next_kind()

    def action_copy_command(self) -> None:
        """Copy a command for a shell that posts it."""
        if command := self._command():
            self.app.copy_to_clipboard(command)
            self.notify("Copied, with a variable in place of the key.", markup=False)

    def action_save_body(self) -> None:
        """Ask where to save the body."""
        if self._letter is not None:
            self.query_one(SaveLine).ask("the body", self.copyable().encode(), "request.json")

    def action_save_command(self) -> None:
        """Ask where to save the command."""
        if command := self._command():
            self.query_one(SaveLine).ask("the command", command.encode(), "request.sh")

    def _command(self) -> str:
        """Write the command; empty, and told, where there is none."""
        from jitchat.providers.curl import curl  # noqa: PLC0415  loads httpx

        if self._letter is None or self._letter.wire is None:
            self.notify(_NO_COMMAND if self._letter is not None else _NO_REQUEST, markup=False)
            return ""
        return curl(self._letter.wire)

    @work(thread=True, exclusive=True, group="read")
    def _read(self) -> None:
        subject, session = self.subject, self.subject.session
        try:
            window = subject.window or session.preview(subject.draft, subject.mode, subject.once)
            outcome = read_letter(session, window, subject.sent)
        except JitchatError as error:
            self.post_message(self.Read(error))
        else:
            self.post_message(self.Read(outcome))

    @on(Read)
    def _was_read(self, message: Read) -> None:
        if isinstance(message.outcome, JitchatError):
            self._show_only(str(message.outcome))
            return
        self._letter = message.outcome
        self.query_one("#wire-told", Static).update(Content(one_line(self._letter.told)))
        legend_line = self.query_one("#wire-legend", Static)
        parts = legend(self._letter.window)
        text = self.query_one(WireText)
        legend_line.update(
            Content("  ").join(Content.styled(told, text.style_of(name)) for name, told in parts)
        )
        self._cut()

    @on(WireText.Widened)
    def _cut(self) -> None:
        if self._letter is not None:
            self._serial += 1
            width = self.query_one(WireText).room
            self._lay_out(self._letter, width, self._serial, pretty=self._pretty)

    @work(thread=True, exclusive=True, group="rows")
    def _lay_out(self, letter: Letter, width: int, serial: int, *, pretty: bool) -> None:
        whole, places = letter.laid_out(pretty=pretty)
        sheet = sheet_of(whole, places, width, parted=pretty)
        self.post_message(self.LaidOut(serial, sheet))

    @on(LaidOut)
    def _was_laid_out(self, message: LaidOut) -> None:
        if message.serial == self._serial and self._letter is not None:
            boundary = stable_sentence(self._letter.window)
            self.query_one(WireText).show(message.sheet, boundary)

    @on(SaveLine.Ended)
    def _saved(self, message: SaveLine.Ended) -> None:
        self.query_one(WireText).focus()
        if message.saved is not None:
            self.notify(one_line(f"Saved as {message.saved}."), markup=False)

    def _show_only(self, why: str) -> None:
        """Nothing but the reason."""
        self.show_nothing(why)
        for widget in (self.query_one(WireText), *self.query("#wire-told, #wire-legend")):
            widget.display = False
