"""The conversations: resume, rename, tag, archive or delete one, and search all turns."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerError

from jitchat.errors import UsageError
from jitchat.store import deletion
from jitchat.store.search import SYNTAX, Found, parse_query
from jitchat.store.store import ColdStore, tag_form
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line, shorten
from jitchat.text.words import fold
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import MUTED, Content
from jitchat.tui.notices import reports_errors
from jitchat.tui.widgets.hint_line import KeyLine
from jitchat.tui.widgets.row_list import PointedList
from jitchat.values import DEFAULT_PROJECT, Conversation

_KEYS = "type to search all turns · Enter open"
_MARK = "bold underline $text-warning"


@dataclass(frozen=True, slots=True)
class Opened:
    conversation: Conversation
    turn: int | None = None
    """The position of a turn in it; None for the end."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """The open conversation should be left and deleted."""

    conversation: Conversation
    erases: bool


Choice = Opened | Deleted | None


def _control(letter: str, action: str, word: str) -> Binding:
    """Bind a key that also works while the input has the focus."""
    key = f"ctrl+{letter}"
    display = f"^{letter.upper()}"
    return Binding(key, action, word, key_display=display, priority=True, id=f"resume_{word}")


class ResumeScreen(Dialog[Choice]):
    """Type to search, Enter to open. Titles and tags are typed in the same input."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        _control("e", "edit('rename')", "rename"),
        _control("t", "edit('tag')", "tag"),
        _control("b", "archive", "archive"),
        _control("d", "delete", "delete"),
        _control("z", "restore", "undo"),
        Binding("escape", "back", "close", key_display="Esc", id="resume_close"),
    ]

    def __init__(self, store: ColdStore, present: Conversation, edit: str = "") -> None:
        """`present` is the open conversation; `edit` starts with editing its title or tags."""
        super().__init__()
        self._store, self._present, self._begins = store, present, edit
        self._rows: list[Opened] = []
        self._query = ""
        self._filling: Worker[None] | None = None
        self._doing = ""
        """What Enter does: `rename`, `tag`, `delete` or `erase`; empty to open."""
        self._subject = present
        """The conversation that Enter does this to."""

    def compose(self) -> ComposeResult:
        with box("Conversations", _KEYS):
            yield Input(placeholder=f"Search, or {SYNTAX}", id="wanted")
            yield PointedList(id="choices")
            yield KeyLine()

    def on_mount(self) -> None:
        self._fill()
        if self._begins:
            self._begin(self._begins, self._present)

    @property
    def _line(self) -> Input:
        return self.query_one(Input)

    async def _chosen(self) -> Opened | None:
        """Return the row under the cursor, after the current search has finished."""
        while self._filling is not None and not self._filling.is_finished:
            with suppress(WorkerError):
                await self._filling.wait()
        index = self.query_one(PointedList).highlighted
        return self._rows[index] if index is not None and index < len(self._rows) else None

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        if self._doing in ("delete", "erase"):
            self._end()
        if not self._doing:
            self._query = event.value
            self._fill()

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    @reports_errors
    async def _accept(self) -> None:
        if not self._doing:
            if (chosen := await self._chosen()) is not None:
                self.dismiss(chosen)
            return
        task, typed, subject = self._doing, self._line.value, self._subject
        is_present = subject.id == self._present.id
        if task in ("delete", "erase") and (is_present or task == "erase"):
            self.dismiss(Deleted(subject, erases=task == "erase"))
            return
        await asyncio.to_thread(self._do, task, subject, typed)  # on an error, the input is kept
        self._end()
        if self._begins:
            self.dismiss(None)
        else:
            self._fill()

    def _do(self, task: str, subject: Conversation, typed: str) -> None:
        if task == "rename":
            self._store.rename(subject.id, typed)
        elif task == "tag":
            wanted = {tag_form(word) for word in typed.split()}
            self._store.tag(subject.id, wanted, set(subject.tags) - wanted)
        else:
            deletion.hide(self._store, subject.id)

    def action_back(self) -> None:
        if self._doing and not self._begins:
            self._end()
        else:
            self.dismiss(None)

    async def action_edit(self, task: str) -> None:
        if (chosen := await self._chosen()) is not None:
            self._begin(task, chosen.conversation)

    async def action_delete(self) -> None:
        """Ask whether to delete; pressed again, whether to erase."""
        if self._doing == "delete":
            self._begin("erase", self._subject)
        else:
            await self.action_edit("delete")

    @reports_errors
    async def action_archive(self) -> None:
        if (chosen := await self._chosen()) is not None:
            known = chosen.conversation
            await asyncio.to_thread(self._store.archive, known.id, archived=not known.is_archived)
            self._fill()

    @reports_errors
    async def action_restore(self) -> None:
        """Undo the last deletion."""
        if await asyncio.to_thread(deletion.restore_last, self._store) is not None:
            self._fill()

    async def action_move(self, way: str) -> None:
        if not self._doing:
            await super().action_move(way)

    def _begin(self, task: str, subject: Conversation) -> None:
        """Ask for a title or tags in the input, or for confirmation of a deletion above it."""
        self._doing, self._subject = task, subject
        name = f"“{shorten(subject.title, 16 if task == 'erase' else 24)}”"
        questions = {
            "rename": f"New title for {name} · ⏎ save · Esc cancel",
            "tag": f"Tags for {name} (words) · ⏎ save · Esc cancel",
            "delete": f"Delete {name}? ⏎ yes · Esc no · ^D erase",
            "erase": f"Erase {name} and its memory forever? ⏎ yes · Esc no",
        }
        self.query_one(".box").border_title = Content(questions[task])
        if task in ("rename", "tag"):
            with self.prevent(Input.Changed):
                self._line.value = subject.title if task == "rename" else " ".join(subject.tags)
                self._line.cursor_position = len(self._line.value)
        self._line.focus()

    def _end(self) -> None:
        """Go back to the search."""
        is_typed, self._doing = self._doing in ("rename", "tag"), ""
        self.query_one(".box").border_title = Content("Conversations")
        if is_typed:
            with self.prevent(Input.Changed):
                self._line.value = self._query

    def _fill(self) -> None:
        """Search for the typed text, cancelling any search that is still running."""
        self._filling = self.run_worker(self._look_and_show(), group="search", exclusive=True)

    @reports_errors
    async def _look_and_show(self) -> None:
        why, notice = "No matches.", ""
        try:
            known, found, notice = await asyncio.to_thread(self._look, self._query)
        except UsageError as error:  # perhaps a filter that is still being typed
            known, found, why = [], [], str(error)
        self.query_one(".box").border_subtitle = Content(notice or _KEYS)
        lines = [_line_of(conversation) for conversation in known]
        self._rows = [Opened(conversation) for conversation in known]
        for conversation, hit in found:
            lines.append(_line_of_turn(hit, conversation))
            self._rows.append(Opened(conversation, hit.position or None))
        choices = self.query_one(PointedList)
        kept = choices.highlighted or 0
        nothing = Option(Content.styled(why, MUTED), disabled=True)
        choices.set_options(map(Option, lines) if lines else [nothing])
        choices.highlighted = min(kept, len(lines) - 1) if lines else None

    def _look(self, query: str) -> tuple[list[Conversation], list[tuple[Conversation, Found]], str]:
        """Find conversations by title, and by what is in them; called in a thread.

        Also return the search's notice.
        """
        text, where = parse_query(query, self._store.now())
        known = self._store.conversations(where)
        by_id = {each.id: each for each in self._store.conversations()} if text else {}
        matches = self._store.search(text, where=where)
        titled = [each for each in known if fold(text) in fold(each.title)]
        listed = {conversation.id for conversation in titled}
        hits = [
            (by_id[hit.conversation], hit)
            for hit in matches
            if hit.conversation in by_id and (hit.position or hit.conversation not in listed)
        ]
        return titled, hits, matches.notice


def _line_of(known: Conversation) -> Content:
    size, updated = plural(known.turns, "turn"), known.updated_at
    tags = "".join(f" #{tag}" for tag in known.tags) + " · archived" * known.is_archived
    project = f" · {known.project}" if known.project != DEFAULT_PROJECT else ""
    persona = f" · persona {one_line(known.persona)}" if known.persona else ""
    about = f"  {size} · {updated:%d %b %Y, %H:%M} · {known.id}{project}{persona}"
    title = one_line(known.title), "bold"
    return Content.assemble(title, tags, (about, MUTED))


def _line_of_turn(hit: Found, conversation: Conversation) -> Content:
    excerpt = Content(hit.excerpt)
    for start, end in hit.marks:
        excerpt = excerpt.stylize(_MARK, start, end)
    part = f"{one_line(hit.part)}, " if hit.part else ""
    where = f"  {part}in {one_line(conversation.title)}", MUTED
    number = f" #{hit.position} " if hit.position else " "
    return Content.assemble((number, "bold"), excerpt, where)
