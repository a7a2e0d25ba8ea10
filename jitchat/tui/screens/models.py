"""Who answers: every provider, those that want a key greyed, and the models of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from jitchat.errors import JitchatError
from jitchat.text.safe import one_line
from jitchat.text.words import folded
from jitchat.tui.backend import Backend
from jitchat.tui.model_rows import ModelRow, rows_of
from jitchat.tui.telling import tell

if TYPE_CHECKING:
    from jitchat.providers.catalogue.choices import ProviderChoice

Picked = tuple[str, str]
"""A provider's name, and a model's there."""
MOST_ROWS = 400


class ModelsScreen(ModalScreen[Picked | None]):
    """Type to search, Enter to use; Enter on a provider asks it for its models."""

    CSS_PATH = "dialog.tcss"
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss", "Close", id="models_close"),
        Binding("down", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("f5", "refresh", "Ask again", id="models_refresh"),
    ]

    def __init__(self, backend: Backend, in_use: Picked, wanted: str = "") -> None:
        super().__init__(classes="dialog")
        self._backend, self._in_use, self._wanted = backend, in_use, wanted
        self._choices: dict[str, ProviderChoice] = {}
        self._rows: list[ModelRow] = []
        self._asking: set[str] = set()

    def compose(self) -> ComposeResult:
        """A line to type in, and what there is."""
        with Vertical(classes="box") as box:
            box.border_title = "Models"
            box.border_subtitle = "type to search · Enter use · F5 ask again · Esc close"
            yield Input(self._wanted, placeholder="Search models and providers…", id="wanted")
            yield OptionList(id="choices")

    def on_mount(self) -> None:
        """Show what is known; look meanwhile which servers run on this machine."""
        self._load()
        self._look_around()

    @work(thread=True, group="choices")
    def _load(self) -> None:
        try:
            choices = self._backend.choices()
        except JitchatError as error:
            self.app.call_from_thread(tell, self, error)
            return
        self.app.call_from_thread(self._take, choices)

    @work(group="local")
    async def _look_around(self) -> None:
        self._take(await self._backend.find_local())

    @work
    async def _ask(self, provider: str) -> None:
        self._asking.add(provider)
        self._fill()
        try:
            self._take([await self._backend.fetch_models(provider)])
        except JitchatError as error:
            tell(self, error)
        finally:
            self._asking.discard(provider)
            self._fill()

    def _take(self, choices: Sequence[ProviderChoice]) -> None:
        """Put what is known now in place of what was."""
        self._choices |= {each.name: each for each in choices}
        self._fill()

    @on(Input.Changed)
    def _changed(self) -> None:
        self._fill()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._choose(self.query_one(OptionList).highlighted)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self._choose(event.option_index)

    def action_move(self, step: int) -> None:
        """Move the highlight while typing goes on."""
        choices = self.query_one(OptionList)
        if step > 0:
            choices.action_cursor_down()
        else:
            choices.action_cursor_up()

    def action_refresh(self) -> None:
        """Ask the highlighted row's provider for its models again."""
        row = self._row_at(self.query_one(OptionList).highlighted)
        if row is not None and row.provider not in self._asking:
            self._ask(row.provider)

    def _choose(self, index: int | None) -> None:
        row = self._row_at(index)
        if row is None:
            return
        if row.model:
            self.dismiss((row.provider, row.model))
        elif row.wants_key:
            self._ask_for_key(row.provider)
        elif row.provider not in self._asking:
            self._ask(row.provider)

    def _ask_for_key(self, provider: str) -> None:
        from jitchat.tui.screens.key import KeyScreen  # noqa: PLC0415  mostly not needed

        choice = self._choices[provider]
        self.app.push_screen(
            KeyScreen(self._backend, provider, one_line(choice.title), one_line(choice.note)),
            lambda kept: self._key_kept(provider) if kept else None,
        )

    def _key_kept(self, provider: str) -> None:
        self._load()
        self._ask(provider)

    def _row_at(self, index: int | None) -> ModelRow | None:
        return self._rows[index] if index is not None and index < len(self._rows) else None

    def _fill(self) -> None:
        """Draw the rows that match; the one that was highlighted stays so."""
        wanted = folded(self.query_one(Input).value).split()
        choices = self.query_one(OptionList)
        before = self._row_at(choices.highlighted)
        self._rows = list(self._matching(wanted))[:MOST_ROWS]
        choices.set_options([Option(self._line(row)) for row in self._rows])
        choices.highlighted = self._place_of(before, wanted) if self._rows else None

    def _matching(self, wanted: Sequence[str]) -> Iterator[ModelRow]:
        for choice in self._choices.values():
            rows = rows_of(choice)
            found = [row for row in rows if all(word in row.searched for word in wanted)]
            heading = rows[0]
            if found and found[0] is not heading:
                yield heading
            yield from found

    def _place_of(self, before: ModelRow | None, wanted: Sequence[str]) -> int:
        """Find the row that was highlighted, else the model in use, else the first that matches."""
        known = {(row.provider, row.model): place for place, row in enumerate(self._rows)}
        if before is not None and (before.provider, before.model) in known:
            return known[before.provider, before.model]
        if not wanted and self._in_use in known:
            return known[self._in_use]
        models = (place for place, row in enumerate(self._rows) if row.model)
        return next(models, 0) if wanted else 0

    def _line(self, row: ModelRow) -> Content:
        in_use = (row.provider, row.model) == self._in_use
        return row.line(in_use=in_use, asking=not row.model and row.provider in self._asking)
