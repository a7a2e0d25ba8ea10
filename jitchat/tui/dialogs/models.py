"""The model picker: every provider and its models; providers without their key are greyed.

The list draws its rows in columns and wraps what is too long.

An API key is pasted in a separate dialog and saved in a file that only the user can read.
"""

import asyncio
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from jitchat import weights
from jitchat.errors import JitchatError, KeyRefused
from jitchat.providers.catalogue.models import ProviderChoice
from jitchat.text.sanitize import one_line
from jitchat.text.words import fold
from jitchat.tui import model_rows
from jitchat.tui.backend import Backend
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.dialogs.fetch import FetchScreen
from jitchat.tui.drawing import MUTED, Content
from jitchat.tui.model_rows import READER, ModelRow
from jitchat.tui.notices import READ_SECONDS, notify_error
from jitchat.tui.widgets.row_list import PointedList

Picked = tuple[str, str]
"""A provider's name and a model's name."""
LOOK_EVERY = 4.0
"""Seconds between searches for servers on this machine while the list is open."""
NOTHING = (
    "No matching model. To use a model that is not listed, type PROVIDER/MODEL. Press Enter on a"
    " provider to list its models."
)


_MARGIN = 3
"""Cells before a model's name, with the mark of the one in use."""
_FIGURES = (10, 10, 10)
"""Cells of the context size and the prices."""
_GAP = 2


@dataclass(frozen=True, slots=True)
class RowState:
    """The state of a row's provider in this dialog."""

    in_use: bool = False
    asking: bool = False
    refusal: str = ""
    """Why its models could not be listed; empty if there was no error."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a line of `width` cells."""

    width: int
    title: int
    """Width of the providers' titles."""

    @property
    def name(self) -> int:
        """Width of a model's name, before its figures."""
        return max(8, self.width - _MARGIN - sum(_FIGURES))

    def header(self) -> str:
        return " " * (_MARGIN + self.name) + _right("context", "in $/M", "out $/M")

    def line(self, row: ModelRow, state: RowState) -> Content:
        """Draw a row; a long name or sentence is wrapped."""
        if row.is_count:
            return Content.styled(" " * _MARGIN + row.note, MUTED)
        if row.is_typed:
            return Content.assemble((" + ", MUTED), (row.title, "" if row.is_ready else MUTED))
        if row.model and not row.note:
            return self._model(row, in_use=state.in_use)
        return self._provider(row, state)

    def _model(self, row: ModelRow, *, in_use: bool) -> Content:
        mark, figures = " • " if in_use else " " * _MARGIN, _right(*row.figures)
        name = _padded(Content(row.title), self.name).stylize("bold" if in_use else "")
        is_long = name.cell_length > self.name
        gap = f"\n{'':<{_MARGIN + self.name}}" if is_long and figures.strip() else ""
        return Content.assemble(mark, name, gap, (figures.rstrip(), MUTED))

    def _provider(self, row: ModelRow, state: RowState) -> Content:
        note = f"{'loading…' if state.asking else row.note}{' • in use' if state.in_use else ''}"
        lines = textwrap.wrap(note, max(20, self.width - self.title))
        parts: list[tuple[str, str] | Content] = [
            _padded(Content.styled(row.title, "bold" if row.is_ready else MUTED), self.title),
            (f"\n{'':<{self.title}}".join(lines) or note, MUTED),
        ]
        if state.refusal and not state.asking:
            wrapped = textwrap.wrap(state.refusal, max(24, self.width) - _MARGIN)
            parts += [(f"\n{' ' * _MARGIN}{line}", "$text-error") for line in wrapped]
        return Content.assemble(*parts)


def _padded(content: Content, width: int) -> Content:
    return content.pad_right(max(0, width - content.cell_length))


def _right(*figures: str) -> str:
    return "".join(f"{figure:>{room}}" for figure, room in zip(figures, _FIGURES, strict=True))


class ModelList(PointedList):
    class ColumnsMoved(Message):
        """The width of the list has changed."""

    def __init__(self, state_of: Callable[[ModelRow], RowState]) -> None:
        super().__init__(id="choices")
        self._state_of = state_of
        self._rows: list[ModelRow] = []
        self._kept: tuple[str, str] | None = None
        """The row that the user moved to; None while the highlight follows the search."""
        self._width = 0

    @property
    def chosen(self) -> ModelRow | None:
        at = self.highlighted
        return self._rows[at] if at is not None and at < len(self._rows) else None

    @property
    def columns(self) -> Columns:
        """The columns for the list's width, or for its last width if it is not on screen."""
        self._width = self.scrollable_content_region.width or self._width
        titles = (Content(row.title).cell_length for row in self._rows if row.note)
        return Columns(self._width - 2, max(titles, default=0) + _GAP)

    def show(self, rows: Sequence[ModelRow], searched: str = "") -> None:
        self._rows = list(rows)
        self._draw()
        places = {row.id: place for place, row in enumerate(self._rows) if not row.is_count}
        likely = self._matching(searched) if searched else self._usable()
        kept = places.get(self._kept) if self._kept else None
        self.highlighted = next(likely, 0 if self._rows else None) if kept is None else kept

    def keep(self, row: tuple[str, str] | None) -> None:
        """Keep the highlight on this row when rows change; None lets it move again."""
        self._kept = row

    def on_resize(self) -> None:
        if self.size.width and self._rows:
            self.call_after_refresh(self._draw_again)

    def _draw_again(self) -> None:
        place = self.highlighted
        self._draw()
        self.highlighted = place
        self.post_message(self.ColumnsMoved())

    def _draw(self) -> None:
        columns = self.columns
        self.set_options(
            Option(columns.line(row, self._state_of(row)), disabled=row.is_count)
            for row in self._rows
        )

    def _usable(self) -> Iterator[int]:
        """Yield the row in use, unless it is the reader; then usable models, then providers."""
        rows = list(enumerate(self._rows))
        others = [(at, row) for at, row in rows if row.is_ready and row.provider != READER]
        yield from (at for at, row in others if self._state_of(row).in_use)
        yield from (at for at, row in others if row.model)
        yield from (at for at, _ in others)

    def _matching(self, searched: str) -> Iterator[int]:
        """Yield the models of a provider with this name, or its own row; then matching models."""
        text = fold(searched)
        for row in self._rows:
            if text in (row.provider, fold(row.title)):
                own = [at for at, each in enumerate(self._rows) if each.provider == row.provider]
                yield from (at for at in own if self._rows[at].model)
                yield from own
        models = [at for at, row in enumerate(self._rows) if row.model]
        listed = [at for at in models if not self._rows[at].is_typed]
        yield from (at for at in listed if model_rows.matches(searched, self._rows[at].model))
        yield from listed or models


class ModelsScreen(Dialog[Picked | None]):
    """Type to search, Enter to use; Enter on a provider lists its models, or asks for its key."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss", "Close", id="models_close"),
        Binding("pagedown", "move('page_down')", show=False),
        Binding("pageup", "move('page_up')", show=False),
        Binding("f4,ctrl+k", "key", "API key", id="models_key", priority=True),
        Binding("f5,ctrl+r", "refresh", "Refresh", id="models_refresh", priority=True),
    ]

    def __init__(
        self,
        backend: Backend,
        in_use: Picked,
        wanted: str = "",
        known: Sequence[ProviderChoice] = (),
    ) -> None:
        """`known` is shown at once, until the providers have been read again."""
        super().__init__()
        self._backend, self._in_use, self._wanted = backend, in_use, wanted
        self._choices = {choice.name: choice for choice in known}
        self._asking: set[str] = set()
        self._refusals: dict[str, JitchatError] = {}
        self._list = ModelList(self._state_of)

    def compose(self) -> ComposeResult:
        with box("Models", "type to search · Enter select · ^K key · ^R refresh · Esc close"):
            yield Input(self._wanted, placeholder="Search models and providers…", id="wanted")
            yield Static(id="models-header")
            yield self._list
            yield Static(Content(NOTHING), id="models-nothing")

    def on_mount(self) -> None:
        self.query_one("#models-nothing").display = False
        self.call_after_refresh(self._fill)
        self._read()
        self._look_around()
        self.set_interval(LOOK_EVERY, self._look_around)

    @work(exclusive=True, group="read")
    async def _read(self) -> None:
        try:
            self.take_choices(await asyncio.to_thread(self._backend.choices))
        except JitchatError as error:
            notify_error(self, error)

    @work(exclusive=True, group="local")
    async def _look_around(self) -> None:
        with suppress(JitchatError):  # `_read` reports it
            self.take_choices(await self._backend.find_local())

    @work
    async def _ask(self, provider: str) -> None:
        try:
            choice = await self._backend.fetch_models(provider)
        except JitchatError as error:
            self._asking.discard(provider)
            self._refusals[provider] = error
            self._read()
            self._fill()
        else:
            self.take_choices([choice], asked=provider)

    def _start_asking(self, provider: str) -> None:
        if provider not in self._asking and self._choices[provider].lists_models:
            self._asking.add(provider)
            self._refusals.pop(provider, None)
            self._fill()
            self._ask(provider)

    def take_choices(self, choices: Sequence[ProviderChoice], asked: str = "") -> None:
        """Update the providers, but not with older or less specific data.

        `asked` is the provider that just listed its models; empty if none did.
        """
        news = {choice.name: choice for choice in choices}
        for name, known in self._choices.items():
            is_late = name in self._asking and name != asked
            if name in news and (is_late or news[name].state == "not looked for"):
                news[name] = known
        # A message with all providers also sets their order.
        is_all = news.keys() >= self._choices.keys()
        self._choices = news if is_all else self._choices | news
        if asked:
            self._asking.discard(asked)
            self._go_to_models(asked)
        self._fill()

    def _go_to_models(self, provider: str) -> None:
        """Move to the provider's first model, if the highlight is still on the provider's row."""
        chosen, models = self._list.chosen, self._choices[provider].models
        if chosen is not None and chosen.id == (provider, "") and models:
            self._list.keep((provider, models[0].name))

    @on(Input.Changed)
    def _changed(self) -> None:
        self._list.keep(None)
        self._fill()

    async def action_move(self, way: str) -> None:
        await super().action_move(way)
        chosen = self._list.chosen
        self._list.keep(chosen.id if chosen is not None else None)

    def action_refresh(self) -> None:
        """Ask the highlighted row's provider for its models again."""
        self._look_around()
        if (row := self._list.chosen) is not None:
            self._start_asking(row.provider)

    def action_key(self) -> None:
        """Ask for an API key of the highlighted row's provider, also to replace its current one."""
        row = self._list.chosen
        if row is not None and row.choice.lists_models:
            self._ask_for_key(row.provider)

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _choose(self) -> None:
        row = self._list.chosen
        if row is None:
            return
        refused = isinstance(self._refusals.get(row.provider), KeyRefused) and not row.model
        if row.wants_key or refused:
            self._ask_for_key(row.provider, row.model)
        elif row.wants_weights:
            self._fetch(row)
        elif row.model:
            self.dismiss(row.id)
        else:
            self._start_asking(row.provider)

    def _ask_for_key(self, provider: str, model: str = "") -> None:
        """Ask for a key; then use `model` or the provider's model in use, or list its models."""
        model = model or (self._in_use[1] if provider == self._in_use[0] else "")

        def closed(is_stored: bool | None) -> None:
            if is_stored and model:
                self.dismiss((provider, model))
            elif is_stored:
                self._start_asking(provider)

        self.app.push_screen(KeyScreen(self._backend, self._choices[provider]), closed)

    def _fetch(self, row: ModelRow) -> None:
        def closed(is_fetched: bool | None) -> None:
            if is_fetched:
                self.dismiss(row.id)

        self.app.push_screen(FetchScreen(self._backend, weights.known()[row.model]), closed)

    def _fill(self) -> None:
        wanted, models = self.query_one(Input).value, self._list
        rows = [*self._matching(wanted), *model_rows.typed_rows(wanted, self._choices)]
        models.show(rows, wanted.strip())
        models.display = bool(rows) or not self._choices
        self.query_one("#models-nothing").display = not models.display
        self._show_header()

    @on(ModelList.ColumnsMoved)
    def _show_header(self) -> None:
        has_models = any(choice.models for choice in self._choices.values() if choice.is_usable)
        header = self._list.columns.header() if has_models and self._list.display else ""
        self.query_one("#models-header", Static).update(Content(header), layout=False)

    def _matching(self, wanted: str) -> Iterator[ModelRow]:
        now = datetime.now(UTC)
        for choice in model_rows.in_order(self._choices.values()):
            in_use = self._in_use[1] if choice.name == self._in_use[0] else ""
            heading, *models = model_rows.rows_of(choice, now, in_use)
            matching = [row for row in models if row.is_found_by(wanted)]
            if matching or heading.is_found_by(wanted):
                yield from model_rows.shortened_rows([heading, *matching], in_use)

    def _state_of(self, row: ModelRow) -> RowState:
        if row.model and row.provider != READER:
            return RowState(in_use=row.id == self._in_use)
        refusal = self._refusals.get(row.provider)
        why = str(refusal) if refusal is not None else ""
        if isinstance(refusal, KeyRefused):
            why += " Press Enter to paste another key."
        return RowState(row.id == self._in_use, row.provider in self._asking, why)


class KeyInput(Input):
    def __init__(self) -> None:
        super().__init__(password=True, placeholder="Paste the key; it is not shown", id="key")

    def _on_paste(self, event: events.Paste) -> None:
        """Paste all lines, because a key is often copied with a line break before or after it.

        A text that is not a key is then refused as a whole; its first line alone might be accepted.
        """
        event.prevent_default()
        event.stop()
        self.insert_text_at_cursor(" ".join(event.text.split("\n")).strip())


class KeyScreen(Dialog[bool]):
    """Returns True if a key was saved."""

    BINDINGS = [Binding("escape", "leave", "Close", id="key_close")]  # noqa: RUF012

    def __init__(self, backend: Backend, choice: ProviderChoice) -> None:
        super().__init__()
        self._backend, self._choice = backend, choice
        self._is_storing = False

    def compose(self) -> ComposeResult:
        title, variable = one_line(self._choice.title), self._choice.key_variable
        other = f" The environment variable {variable} also works." if variable else ""
        note = (
            f"Paste your {title} API key and press Enter. It is saved in a file that only you can"
            f" read, and sent only to {title}.{other}"
        )
        with box(f"{title} API key", "Enter save · Esc close"):
            yield Static(Content(note), id="key-note")
            yield KeyInput()
            yield Static(id="key-refusal")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        if event.value.strip() and not self._is_storing:
            self._is_storing = True
            self._store(event.value)

    @work
    async def _store(self, text: str) -> None:
        """Store the key, then say where it was saved, or why it was not."""
        try:
            sentence = await asyncio.to_thread(self._backend.keep_key, self._choice.name, text)
        except JitchatError as error:
            self.query_one("#key-refusal", Static).update(Content(str(error)))
            self.query_one(KeyInput).value = ""
        else:
            self.notify(sentence, timeout=READ_SECONDS, markup=False)
            self.dismiss(True)
        finally:
            self._is_storing = False

    def action_leave(self) -> None:
        if not self._is_storing:
            self.dismiss(False)
