"""The prompt: Enter sends, a modified Enter breaks the line, Up and Down walk the history.

A very large paste is held aside and stands in the text as a marker, so that typing stays
quick; what is sent is the whole.
"""

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.widgets import TextArea

from jitchat.files.mentions import mentions_for_paste
from jitchat.text.sanitize import for_terminal
from jitchat.tui.actions import PROMPT_BINDINGS

LARGE_PASTE = 50_000
"""Characters from which a paste is held aside."""
TYPING_SECONDS = 0.7
PLACEHOLDER = "Ask about anything that was said…"


class Prompt(TextArea):
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding(PROMPT_BINDINGS["newline"], "newline", "New line", id="newline", show=False),
        Binding(PROMPT_BINDINGS["prompt_quit"], "quit_or_delete", id="prompt_quit", show=False),
        Binding("alt+b", "cursor_word_left", show=False),
        Binding("alt+f", "cursor_word_right", show=False),
        Binding("alt+d", "delete_word_right", show=False),
        Binding("alt+backspace", "delete_word_left", show=False),
        Binding("alt+u", "recase('upper')", show=False),
        Binding("alt+l", "recase('lower')", show=False),
        Binding("alt+c", "recase('capitalize')", show=False),
        Binding("alt+t", "transpose_words", show=False),
        Binding("pageup", "screen.scroll_chat(-1)", show=False),
        Binding("pagedown", "screen.scroll_chat(1)", show=False),
    ]

    @dataclass
    class Submitted(Message):
        text: str

    def __init__(self) -> None:
        super().__init__(
            id="prompt", compact=True, highlight_cursor_line=False, placeholder=PLACEHOLDER
        )
        self.submitted: list[str] = []
        """What was taken out of the prompt and is nowhere else yet."""
        self._history: list[str] = []
        self._place = 0
        """The prompt of the history that is shown, counted from 1; 0 for what was typed."""
        self._unsent = ""
        self._pastes: dict[str, str] = {}
        self._key_at = float("-inf")

    @property
    def typing(self) -> bool:
        """Whether a key was pressed just now, so that another may come any moment."""
        return time.monotonic() - self._key_at < TYPING_SECONDS

    @property
    def draft(self) -> str:
        """The text with what was pasted in place of its markers."""
        text = self.text
        for marker, pasted in self._pastes.items():
            text = text.replace(marker, pasted)
        return text

    def use_history(self, prompts: Sequence[str]) -> None:
        """Walk these earlier prompts by Up and Down, the newest first."""
        self._history = list(dict.fromkeys(prompts))
        self._place = 0

    def take_draft(self) -> str:
        draft = self.draft
        self._place, self._unsent = 0, ""
        self._history = list(dict.fromkeys((draft, *self._history)))
        self.text = ""
        self._pastes.clear()
        self._key_at = float("-inf")
        return draft

    def give_back(self, draft: str) -> None:
        """Put a draft that was not sent back, ahead of what was typed since."""
        typed = self.text
        shown = self._shortened(draft)
        self._write(f"{shown}\n{typed}" if typed.strip() else shown)

    def swap(self, draft: str) -> None:
        """Put another draft in the place of the one that stands there."""
        self._pastes.clear()
        self._write(self._shortened(draft))

    def empty(self) -> bool:
        """Take away what is typed, if the cursor is here and there is any; undo brings it back."""
        is_typed = self.has_focus and bool(self.text)
        if is_typed:
            self.clear()
        return is_typed

    async def _on_key(self, event: events.Key) -> None:
        self._key_at = time.monotonic()
        row, column = self.cursor_location
        is_continued = self.document.get_line(row)[:column].endswith("\\")
        if event.key == "enter" and is_continued:
            self.action_delete_left()
            self.insert("\n")
        elif event.key == "enter":
            self.submit()
        elif event.key in ("up", "down") and self._is_at_edge(event.key):
            self._walk(1 if event.key == "up" else -1)
        # Of Alt with a letter, Textual gives the letter as well.
        elif (event.is_printable and "+" not in event.key) or not await self._acts_on(event.key):
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()

    async def _acts_on(self, key: str) -> bool:
        """Run the action that the key is bound to here, if it is.

        Left to the bindings it would come later than a character that was typed behind it.
        """
        bound = self.screen.active_bindings.get(key)
        if bound is None or bound.node is not self or not bound.enabled:
            return False
        return await self.app.run_action(bound.binding.action, self)

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        named = await asyncio.to_thread(mentions_for_paste, event.text)
        self.paste(f"{named} " if named else event.text)

    def paste(self, text: str) -> None:
        """Insert a text from elsewhere: what a terminal would obey is shown as a sign."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.insert(self._shortened(for_terminal(text)))

    def action_newline(self) -> None:
        self.insert("\n")

    def action_recase(self, how: str) -> None:
        """Write the word behind the cursor in capitals or without, as shells do."""
        start, end = self.cursor_location, self.get_cursor_word_right_location()
        word = self.get_text_range(start, end)
        if how == "capitalize":
            changed = re.sub(r"\w+", lambda word: word[0].capitalize(), word, count=1)
        else:
            changed = word.upper() if how == "upper" else word.lower()
        self.replace(changed, start, end, maintain_selection_offset=False)

    def action_transpose_words(self) -> None:
        """Exchange the word at the cursor with the one before it, as shells do."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        words = [match.span() for match in re.finditer(r"\w+", line)]
        after = next((n for n, (_, end) in enumerate(words) if end > column), len(words) - 1)
        if after < 1:
            return
        (begin, middle), (second, end) = words[after - 1], words[after]
        changed = line[second:end] + line[middle:second] + line[begin:middle]
        self.replace(changed, (row, begin), (row, end), maintain_selection_offset=False)

    async def action_quit_or_delete(self) -> None:
        """Quit on an empty prompt, else delete to the right, as shells do."""
        if self.text:
            self.action_delete_right()
        else:
            await self.app.action_quit()

    def submit(self) -> None:
        """Take the draft with the key: what is typed next is not a part of it."""
        if self.draft.strip():
            self.submitted.append(self.take_draft())
            self.post_message(self.Submitted(self.submitted[-1]))

    def hand_over(self, text: str) -> None:
        """Let a submitted text go: whoever it was meant for has it."""
        if text in self.submitted:
            self.submitted.remove(text)

    def _shortened(self, text: str) -> str:
        """Hold a very large text aside, with a marker in its place."""
        if len(text) <= LARGE_PASTE:
            return for_terminal(text)
        marker = f"[pasted text {len(self._pastes) + 1}: {len(text):,} characters]"
        self._pastes[marker] = text
        return marker

    def _write(self, text: str) -> None:
        self.text = text
        self.move_cursor(self.document.end)

    def _is_at_edge(self, key: str) -> bool:
        edge = 0 if key == "up" else self.document.line_count - 1
        return self.selection.is_empty and self.cursor_location[0] == edge

    def _walk(self, step: int) -> None:
        place = self._place + step
        if not 0 <= place <= len(self._history):
            return
        if self._place == 0:
            self._unsent = self.text
        self._place = place
        self._write(self._shortened(self._history[place - 1] if place else self._unsent))
