"""The prompts that were sent in any conversation, narrowed by what is typed."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import islice

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerError

from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.text.words import fold
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.notices import reports_errors
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.row_list import PointedList

_SHOWN = 200
_SEARCHED = 2_000
"""Characters of a prompt in which words are found."""
_EXCERPT = 300
"""Characters of a prompt that a row shows at the most."""


Searchable = Sequence[tuple[str, str]]
"""Prompts, the newest first, each once, with what is looked through of them ahead."""


def searchable(prompts: Iterable[str]) -> Searchable:
    """Make prompts ready to be searched; takes a thread's time where there are many."""
    return [(fold(prompt[:_SEARCHED]), prompt) for prompt in dict.fromkeys(prompts)]


class PromptsScreen(Dialog[str | None]):
    """Type to search, Enter to take one into the prompt."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss", "Close", id="prompts_close"),
        Binding("down,ctrl+s,ctrl+r", "move('cursor_down')", show=False, priority=True),
        Binding("up", "move('cursor_up')", show=False),
    ]

    def __init__(self, load: Callable[[], Searchable], typed: str) -> None:
        """`load` is called in a thread; `typed` is searched for where any has it."""
        super().__init__()
        self._load, self._prompts = load, list[tuple[str, str]]()
        self._typed = one_line(typed) if len(typed) <= _EXCERPT else ""
        self._found: list[str] = []
        self._loading: Worker[None] | None = None

    def compose(self) -> ComposeResult:
        with box("Earlier prompts", "type to search · Enter takes it · Esc close"):
            yield Input(self._typed, placeholder="Search what you sent, anywhere…", id="wanted")
            yield PointedList(id="choices")

    def on_mount(self) -> None:
        self._loading = self.run_worker(self._take())

    @reports_errors
    async def _take(self) -> None:
        """Load them; what was typed before goes where none has it, and what came behind stays."""
        self._prompts = [*await asyncio.to_thread(self._load)]
        line = self.query_one(Input)
        if not self._having(self._typed):
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

    async def action_move(self, way: str) -> None:
        """Move the highlight while typing goes on."""
        await self.query_one(PointedList).run_action(way)

    def _having(self, wanted: str) -> list[str]:
        words = fold(wanted).split()
        found = (
            prompt for folded, prompt in self._prompts if all(word in folded for word in words)
        )
        return list(islice(found, _SHOWN))

    def _fill(self, wanted: str) -> None:
        self._found = self._having(wanted)
        choices = self.query_one(PointedList)
        choices.set_options(Option(_row(prompt)) for prompt in self._found)
        choices.highlighted = 0 if self._found else None


def _row(prompt: str) -> Content:
    more = prompt.strip().count("\n")
    about = f"  {plural(more, 'more line')}" if more else ""
    return Content.assemble(one_line(prompt[:_EXCERPT]), (about, MUTED))
