"""Searches the prompts sent in all conversations."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import islice

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerError

from jitchat.draft import Draft, distinct
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.text.words import fold
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import MUTED, Content
from jitchat.tui.notices import reports_errors
from jitchat.tui.widgets.row_list import PointedList

_SHOWN = 200
_SEARCHED = 2_000
"""Characters of a prompt that are searched."""
_EXCERPT = 300
"""Maximum characters of a prompt in a row."""


Searchable = Sequence[tuple[str, Draft]]
"""Pairs of the folded, searched part of a prompt and the prompt; newest first, no duplicates."""


def searchable(prompts: Iterable[Draft]) -> Searchable:
    """Prepare prompts for searching; slow if there are many, so call it in a thread."""
    return [(fold(prompt.text[:_SEARCHED]), prompt) for prompt in distinct(prompts)]


class PromptsScreen(Dialog[Draft | None]):
    """Type to search, Enter to insert one into the prompt."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss", "Close", id="prompts_close"),
        Binding("down,ctrl+s,ctrl+r", "move('cursor_down')", show=False, priority=True),
    ]

    def __init__(self, load: Callable[[], Searchable], typed: str) -> None:
        """`load` is called in a thread; `typed` is the initial search, if a prompt contains it."""
        super().__init__()
        self._load, self._prompts = load, list[tuple[str, Draft]]()
        self._typed = one_line(typed) if len(typed) <= _EXCERPT else ""
        self._found: list[Draft] = []
        self._loading: Worker[None] | None = None

    def compose(self) -> ComposeResult:
        with box("Earlier prompts", "type to search · Enter insert · Esc close"):
            yield Input(self._typed, placeholder="Search all your messages…", id="wanted")
            yield PointedList(id="choices")

    def on_mount(self) -> None:
        self._loading = self.run_worker(self._load_prompts())

    @reports_errors
    async def _load_prompts(self) -> None:
        """Load the prompts; remove the initial text if none contains it, keeping later typing."""
        self._prompts = [*await asyncio.to_thread(self._load)]
        line = self.query_one(Input)
        if not self._matching(self._typed):
            line.value = line.value.removeprefix(self._typed)
        self._fill(line.value)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        self._fill(event.value)

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    async def _choose(self) -> None:
        if self._loading is not None:
            with suppress(WorkerError):
                await self._loading.wait()
        index = self.query_one(PointedList).highlighted
        if index is not None:
            self.dismiss(self._found[index])

    def _matching(self, wanted: str) -> list[Draft]:
        words = fold(wanted).split()
        found = (
            prompt for folded, prompt in self._prompts if all(word in folded for word in words)
        )
        return list(islice(found, _SHOWN))

    def _fill(self, wanted: str) -> None:
        self._found = self._matching(wanted)
        choices = self.query_one(PointedList)
        is_empty = not self._found and bool(self._prompts)
        nothing = [Option(Content.styled("No matches.", MUTED), disabled=True)] * is_empty
        choices.set_options([*(Option(_row(prompt.text)) for prompt in self._found), *nothing])
        choices.highlighted = 0 if self._found else None


def _row(prompt: str) -> Content:
    more = prompt.strip().count("\n")
    about = f"  {plural(more, 'more line')}" if more else ""
    return Content.assemble(one_line(prompt[:_EXCERPT]), (about, MUTED))
