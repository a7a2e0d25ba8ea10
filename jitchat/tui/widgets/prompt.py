"""The prompt: Enter sends, a modified Enter starts a new line, Up and Down walk the history.

A long paste is folded to a marker in the text, which the cursor and deletions treat as one unit;
the full text is sent.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from rich.text import Text
from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.widgets.text_area import Edit, Location, Selection

from jitchat.attachments import Attachment
from jitchat.draft import EMPTY, Draft, as_draft, joined
from jitchat.files.named import adopted, mentions_for_paste
from jitchat.tui.actions import PROMPT_BINDINGS
from jitchat.tui.widgets.draft_edit import DraftEdit, Written, index_of
from jitchat.tui.widgets.folded import Folded, is_long
from jitchat.tui.widgets.line_editing import Killed, recased, transposed, word_before
from jitchat.tui.widgets.prompt_history import PromptHistory
from jitchat.tui.widgets.text_editor import TextEditor

LARGE = 50_000
"""Characters above which a text cannot be edited in the prompt: it stays folded."""
TYPING_SECONDS = 0.7
FOLDED = "Paste folded. Left, then Enter (or a click) opens it; Enter sends it."
PLACEHOLDER = "Type a message, or / for commands…"
_AT_START = Selection.cursor((0, 0))
_AFTER_PREFIX = {"ctrl+e": "screen.do('editor')", "ctrl+u": "undo"}
"""The actions of keys pressed after Ctrl+X."""


class Recognise(Protocol):
    """Returns the column ranges of a line that have a special meaning, such as commands.

    `typed` is the line with `draft.FOREIGN` in place of what the user did not type.
    """

    def __call__(self, line: str, typed: str, *, is_first: bool) -> Iterable[tuple[int, int]]: ...


class Pictured(Protocol):
    """Returns the name of the clipboard's picture; empty if none, with a notice if `is_told`."""

    async def __call__(self, *, is_told: bool) -> str: ...


async def _no_pictures(*, is_told: bool) -> str:  # noqa: ARG001
    return ""


Span = tuple[Location, Location]


class Prompt(TextEditor):
    COMPONENT_CLASSES = {"prompt--recognised", "prompt--folded"}  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding(PROMPT_BINDINGS["newline"], "newline", "New line", id="newline", show=False),
        Binding(PROMPT_BINDINGS["prompt_paste"], "paste_any", id="prompt_paste", show=False),
        Binding(PROMPT_BINDINGS["prompt_quit"], "quit_or_delete", id="prompt_quit", show=False),
        Binding("alt+b", "cursor_word_left", show=False),
        Binding("alt+f", "cursor_word_right", show=False),
        Binding("alt+d,alt+delete", "kill('word_right')", show=False),
        Binding("alt+backspace,ctrl+backspace", "kill('word_left')", show=False),
        Binding("ctrl+w", "kill('blank_left')", show=False),
        Binding("ctrl+u,super+backspace", "kill('line_left')", show=False),
        Binding("ctrl+k", "kill('line_right')", show=False),
        Binding("ctrl+y", "yank", show=False),
        Binding("ctrl+underscore,ctrl+slash", "undo", show=False),
        Binding("ctrl+shift+z", "redo", show=False),
        Binding("ctrl+x", "cut_or_prefix", show=False),
        Binding("alt+u", "recase('upper')", show=False),
        Binding("alt+l", "recase('lower')", show=False),
        Binding("alt+c", "recase('capitalize')", show=False),
        Binding("alt+t", "transpose_words", show=False),
        Binding("pageup", "screen.scroll_chat(-1)", show=False),
        Binding("pagedown", "screen.scroll_chat(1)", show=False),
    ]

    @dataclass
    class Submitted(Message):
        draft: Draft

    @dataclass
    class Pasted(Message):
        """A text came from elsewhere; its mentions attach nothing unless the user adopts them."""

        text: str
        keys: int
        """Number of keys pressed before."""

    @dataclass
    class LargeOpened(Message):
        """The user opened a folded text that is too long for the prompt."""

        text: str

    def __init__(self) -> None:
        self._written = Written()
        super().__init__(
            id="prompt", compact=True, highlight_cursor_line=False, placeholder=PLACEHOLDER
        )
        self.submitted: list[Draft] = []
        """Drafts taken out of the prompt that are not stored anywhere else yet."""
        self._command = EMPTY
        """The draft submitted last."""
        self._offered: Sequence[str] = ()
        """Mentions in a text that just came from elsewhere; Tab adopts them."""
        self._past = PromptHistory()
        self._folded = Folded()
        self._killed = Killed()
        self._keys = 0
        """Number of keys pressed."""
        self._key_at = float("-inf")
        self._after_prefix = False
        self.ahead: Callable[[str], bool] = lambda _: False
        """Called with each key before the prompt handles it; True if the key was handled."""
        self.pictured: Pictured = _no_pictures
        self.recognised: Recognise = lambda line, typed, *, is_first: ()  # noqa: ARG005
        self.is_by_hand = False
        """Whether the last change was typed, rather than pasted or restored."""

    @property
    def typing(self) -> bool:
        """Whether a key was pressed just now, so that another one is likely."""
        return time.monotonic() - self._key_at < TYPING_SECONDS

    @property
    def draft(self) -> str:
        """The text with folded texts in place of their markers."""
        return self.message.text

    @property
    def message(self) -> Draft:
        """The draft with the origin of its text and its files."""
        return self._folded.spread(self._written.draft)

    @property
    def files(self) -> tuple[Attachment, ...]:
        """Files of an earlier message that are sent with the draft."""
        return self._written.draft.files

    def use_history(self, prompts: Sequence[Draft | str]) -> None:
        """Use these earlier prompts for Up and Down, the newest first."""
        self._past.use([as_draft(prompt) for prompt in prompts])

    def know_sent(self, draft: Draft) -> None:
        """Offer a message by Up and Down as it was stored, instead of as it was written."""
        self._past.correct(draft)

    def take_draft(self) -> Draft:
        draft = self.message
        self._past.add(draft)
        self.text = ""
        self._folded.clear()
        self._key_at = float("-inf")
        return draft

    def give_back(self, draft: Draft | str) -> None:
        """Put a draft that was not sent back, before anything typed since."""
        typed = self._written.draft
        shown = self._shortened(as_draft(draft))
        self._write(joined((shown, typed)) if typed.text.strip() or typed.files else shown)

    def swap(self, draft: Draft | str) -> None:
        """Replace the draft."""
        self._folded.clear()
        self._write(self._shortened(as_draft(draft)))

    def retype(self, draft: Draft | str) -> None:
        """Replace the draft; undo restores the previous one."""
        shown = self._shortened(as_draft(draft))
        self._put(shown, ((0, 0), self.document.end), shown.files)
        self.post_message(self.Pasted(shown.text, self._keys))

    def empty(self) -> bool:
        """Clear the draft if the prompt has the focus; undo restores it. Return whether it did."""
        is_typed = self.has_focus and bool(self._written.draft)
        if is_typed:
            self._put(EMPTY, ((0, 0), self.document.end), ())
        return is_typed

    def detach(self, name: str = "") -> None:
        """Take a file of an earlier message away, the last one if none is named."""
        named = [file for file in self.files if name in ("", file.name)]
        if not named:
            self.notify("The draft has no such file. To leave out an @path, delete it.")
        remaining = tuple(file for file in self.files if file not in named[-1:])
        self._written.draft = replace(self._written.draft, files=remaining)
        self.post_message(self.Changed(self))

    def origin_of(self, argument: str) -> Draft:
        """Return the argument of the command submitted last, with its origin."""
        return self._command.ending(argument)

    def offer(self, pasted: Pasted, names: Sequence[str]) -> bool:
        """Let Tab adopt some mentions of a text, unless a key was pressed since."""
        if pasted.keys == self._keys:
            self._offered = names
        return bool(self._offered)

    @property
    def has_offer(self) -> bool:
        """Whether Tab adopts mentions."""
        return bool(self._offered)

    def load_text(self, text: str) -> None:
        super().load_text(text)
        self._written.draft = Draft.foreign(text)

    def get_line(self, line_index: int) -> Text:
        """Return a line with its folded and recognised spans styled."""
        line = super().get_line(line_index)
        written = self._written_in(line_index)
        folded = self._folded.spans(written)
        recognised = list(self.recognised(line.plain, written.typed, is_first=line_index == 0))
        for name, spans in (("folded", folded), ("recognised", recognised)):
            for start, end in spans:
                style = self.get_component_rich_style(f"prompt--{name}", partial=True)
                line.stylize(style, start, end)
        return line

    def draw_marks(self) -> None:
        """Redraw after the recognised spans have changed."""
        self.notify_style_update()
        self.refresh()

    async def _on_key(self, event: events.Key) -> None:
        self._key_at = time.monotonic()
        self._keys += 1
        if not await self._takes(event):
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()

    async def _takes(self, event: events.Key) -> bool:
        """Handle a key; return False for keys left to Textual's widget."""
        follows_prefix, self._after_prefix = self._after_prefix, False
        offered, self._offered = self._offered, ()
        # For Alt with a letter, Textual also sets the letter as the character.
        is_text = event.is_printable and "+" not in event.key
        self.is_by_hand = is_text or event.key == "backspace"
        if self.ahead(event.key):
            pass
        elif event.key == "tab" and offered:
            self._written.draft = adopted(self._written.draft, offered)
            self._folded.adopt(offered)
            self.post_message(self.Changed(self))
        elif event.key == "backspace" and self.files and self.selection == _AT_START:
            self.detach()
        elif follows_prefix and (action := _AFTER_PREFIX.get(event.key)) is not None:
            await self.app.run_action(action, self)
        elif event.key == "enter":
            self._enter()
        elif event.key in ("up", "down") and self._is_at_edge(event.key):
            self._walk(event.key)
        else:
            return not is_text and await self._acts_on(event.key)
        return True

    def _enter(self) -> None:
        row, column = self.cursor_location
        if self.document.get_line(row)[:column].endswith("\\"):
            self.action_delete_left()
            self.insert("\n")
        elif not self._open_folded(self.cursor_location):
            self.submit()

    async def _acts_on(self, key: str) -> bool:
        """Run the action that the key is bound to in this widget, if any.

        If it were left to Textual, the action would run after characters typed later.
        """
        bound = self.screen.active_bindings.get(key)
        if bound is None or bound.node is not self or not bound.enabled:
            return False
        return await self.app.run_action(bound.binding.action, self)

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        if not event.text:  # terminals paste an empty text if the clipboard has a picture
            await self.action_paste_any()
            return
        named = await asyncio.to_thread(mentions_for_paste, event.text)
        self.paste(f"{named} " if named else event.text)

    def paste(self, text: str) -> None:
        """Insert a text from elsewhere, without control characters; fold a long one."""
        self.is_by_hand = False
        text = self.accepted(text)
        self._take_in(Draft.foreign(text))
        self.post_message(self.Pasted(text, self._keys))

    def _take_in(self, piece: Draft) -> None:
        """Insert a text from elsewhere at the cursor; fold a long one."""
        if is_long(piece.text):
            piece = self._folded.fold(piece)
            self.notify(FOLDED, markup=False)
        self._put(piece, (self.selection.start, self.selection.end))

    def _put(self, piece: Draft, span: Span, files: tuple[Attachment, ...] | None = None) -> None:
        self.edit(DraftEdit(self._written, piece, span, files=files))

    def complete(self, text: str, start: int, suffix: str) -> None:
        """Replace the text from a column to the cursor, followed by `suffix` if not there yet."""
        row, column = self.cursor_location
        self.is_by_hand = True
        is_last = not self.document.get_line(row)[column:].startswith(suffix)
        text = f"{text}{suffix if is_last else ''}"
        self.replace(text, (row, start), (row, column), maintain_selection_offset=False)

    async def action_paste_any(self) -> None:
        """Paste the picture in the clipboard, or the text that was copied in the app."""
        copied = self.app.clipboard
        named = await self.pictured(is_told=not copied)
        if named:
            self._take_in(Draft.by_user(f"{named} "))
        elif copied:
            self.paste(copied)

    def action_newline(self) -> None:
        self.insert("\n")

    def action_recase(self, how: str) -> None:
        """Change the case of the word after the cursor, as shells do."""
        start, end = self.cursor_location, self.get_cursor_word_right_location()
        self._respell(recased(self.get_text_range(start, end), how), (start, end))

    def action_transpose_words(self) -> None:
        """Swap the word at the cursor with the one before it, as shells do."""
        row, column = self.cursor_location
        if (swapped := transposed(self.document.get_line(row), column)) is not None:
            begin, end, words = swapped
            self._respell(words, ((row, begin), (row, end)))

    def _respell(self, text: str, span: Span) -> None:
        """Replace a range by a form of it, which is the user's only if all of it was."""
        start, end = (index_of(self, location) for location in span)
        part = self._written.draft.between(start, end)
        is_typed = part.typed == part.text
        self._put(Draft.by_user(text) if is_typed else Draft.foreign(text), span)

    def action_kill(self, what: str) -> None:
        """Cut the selection, or from the cursor to the end of `what`, as shells do."""
        start, end = self.selection
        if start == end:
            end = self._end_of(what)
        self.delete(start, end, maintain_selection_offset=False)
        killed = self._folded.spread(self._written.removed)
        self._killed.add(killed, self._keys, is_ahead=what.endswith("_left"))

    def _end_of(self, what: str) -> Location:
        row, column = self.cursor_location
        line = self.document.get_line(row)
        match what:
            case "word_left":
                return self.get_cursor_word_left_location()
            case "word_right":
                return self.get_cursor_word_right_location()
            case "line_right":
                return (row, len(line)) if line[column:] else self.get_cursor_right_location()
        at = word_before(line, column) if what == "blank_left" else 0
        return (row, at) if column else self.get_cursor_left_location()

    def action_yank(self) -> None:
        """Insert the text cut last."""
        self._take_in(self._killed.text)

    @property
    def selected_text(self) -> str:
        """The selection with folded texts in place of their markers, to be copied."""
        start, end = sorted(index_of(self, location) for location in self.selection)
        return self._folded.spread(self._written.draft.between(start, end)).text

    def action_cut(self) -> None:
        self.action_copy()
        self.delete(*self.selection, maintain_selection_offset=False)

    def action_cut_or_prefix(self) -> None:
        """Cut the selection, or wait for the key that follows Ctrl+X, as in shells."""
        if self.selection.is_empty:
            self._after_prefix = True
        else:
            self.action_cut()

    def undo(self) -> None:
        if self.history.undo_stack:
            self._leave_rows()
            super().undo()

    def redo(self) -> None:
        if self.history.redo_stack:
            self._leave_rows()
            super().redo()

    def _leave_rows(self) -> None:
        """Move the cursor out of rows that may be removed.

        Textual restores its position after the edit, but only after trying to scroll to it.
        """
        self.selection = Selection.cursor((0, 0))

    async def action_quit_or_delete(self) -> None:
        """Quit if the prompt is empty, otherwise delete to the right, as shells do."""
        if self.text:
            self.action_delete_right()
        else:
            await self.app.action_quit()

    def submit(self) -> None:
        """Take the draft at once, so that anything typed next is not part of it."""
        if self.draft.strip():
            self._command = self.take_draft()
            self.submitted.append(self._command)
            self.post_message(self.Submitted(self._command))

    def hand_over(self, draft: Draft) -> None:
        """Forget a submitted draft, which its receiver has taken."""
        if draft in self.submitted:
            self.submitted.remove(draft)

    # Folded texts are one unit

    def made_edit(self, edit: Edit, span: Span) -> DraftEdit:
        files = None
        piece = Draft.by_user(edit.text)
        if isinstance(edit, DraftEdit):
            files = edit.files
            piece = edit.piece
        keeps_selection = edit.maintain_selection_offset
        return DraftEdit(self._written, piece, span, keeps_selection=keeps_selection, files=files)

    def units(self, row: int) -> Iterable[tuple[int, int]]:
        return [*self._folded.spans(self._written_in(row)), *super().units(row)]

    def _written_in(self, row: int) -> Draft:
        """Return a line with its origin."""
        typed = self._written.draft.typed.split(self.document.newline)[row]
        return Draft(self.document.get_line(row), typed)

    def on_click(self, event: events.Click) -> None:
        if self.selection.is_empty:
            self._open_folded(self.get_target_document_location(event))

    def _open_folded(self, place: Location) -> bool:
        """Unfold the marker at a place, or request its dialog; return False if there is none."""
        row, column = place
        line = self._written_in(row)
        spans = self._folded.spans(line)
        found = next((each for each in spans if each[0] <= column < each[1]), None)
        if found is None:
            return False
        left, right = found
        piece = self._folded.spread(line.between(left, right))
        if len(piece.text) > LARGE:
            self.post_message(self.LargeOpened(piece.text))
        else:
            self._put(piece, ((row, left), (row, right)))
        return True

    def _shortened(self, draft: Draft) -> Draft:
        """Fold a text that is too long for the prompt."""
        return self._folded.fold(draft) if len(draft.text) > LARGE else draft

    def _write(self, draft: Draft) -> None:
        self.is_by_hand = False
        self.text = draft.text
        self._written.draft = Draft.matched(self.text, draft.typed, draft.files)
        self.move_cursor(self.document.end)

    def _is_at_edge(self, key: str) -> bool:
        edge = 0 if key == "up" else self.document.line_count - 1
        return self.selection.is_empty and self.cursor_location[0] == edge

    def _walk(self, key: str) -> None:
        draft = self._written.draft
        shown = self._past.older(draft) if key == "up" else self._past.newer(draft)
        if shown is not None:
            self._write(self._shortened(shown))
