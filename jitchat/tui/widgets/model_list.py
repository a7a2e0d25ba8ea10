"""How a row of the list of models is drawn: in columns, and nothing of it cut off."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets.option_list import Option

from jitchat.text.figures import age, plural
from jitchat.text.sanitize import one_line
from jitchat.text.words import fold
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.row_list import PointedList

if TYPE_CHECKING:
    from jitchat.providers.catalogue.models import ModelInfo, ProviderChoice


_MARGIN = 4
"""Cells ahead of a model's name; the mark of the one in use stands in them."""
_FIGURES = (10, 10, 10)
"""Cells of the context size and the prices."""


@dataclass(frozen=True, slots=True)
class RowState:
    """What is going on with a row's provider, beside what is known of it."""

    in_use: bool = False
    asking: bool = False
    refusal: str = ""
    """Why it did not list its models; empty where nothing is wrong."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Where things stand on a line of `width` cells."""

    width: int
    title: int
    """Cells of a provider's title."""

    @property
    def name(self) -> int:
        """Cells of a model's name, ahead of its figures."""
        return max(8, self.width - _MARGIN - sum(_FIGURES))

    def header(self) -> str:
        """What the figures mean."""
        return " " * (_MARGIN + self.name) + _right("context", "in $/M", "out $/M")

    def line(self, row: ModelRow, state: RowState) -> Content:
        """Draw a row; a long name or sentence takes several lines."""
        if row.is_count:
            return Content.styled(" " * _MARGIN + row.note, MUTED)
        if row.is_typed:
            return Content.assemble(("  + ", MUTED), (row.title, "" if row.is_ready else MUTED))
        if row.model and not row.note:
            return self._model(row, in_use=state.in_use)
        return self._provider(row, state)

    def _model(self, row: ModelRow, *, in_use: bool) -> Content:
        mark = "  • " if in_use else " " * _MARGIN
        figures = _right(*row.figures)
        is_long = Content(row.title).cell_length > self.name
        gap = f"\n{'':<{_MARGIN + self.name}}" if is_long and figures.strip() else ""
        name = Content(row.title).pad_right(max(0, self.name - Content(row.title).cell_length))
        style = "bold" if in_use else ""
        return Content.assemble(mark, name.stylize(style), gap, (figures.rstrip(), MUTED))

    def _provider(self, row: ModelRow, state: RowState) -> Content:
        note = "asking…" if state.asking else row.note
        mark = " • in use" if state.in_use else ""
        told = self._hanging(note + mark)
        style = "bold" if row.is_ready else MUTED
        parts: list[tuple[str, str] | Content] = [
            Content.styled(row.title, style).pad_right(
                max(0, self.title - Content(row.title).cell_length)
            ),
            (told, MUTED),
        ]
        if state.refusal and not state.asking:
            parts.append((f"\n{self._indented(state.refusal)}", "$text-error"))
        return Content.assemble(*parts)

    def _hanging(self, text: str) -> str:
        room = max(20, self.width - self.title)
        return f"\n{'':<{self.title}}".join(textwrap.wrap(text, room)) or text

    def _indented(self, text: str) -> str:
        ahead = " " * _MARGIN
        return textwrap.fill(
            text, max(24, self.width), initial_indent=ahead, subsequent_indent=ahead
        )


def _right(*figures: str) -> str:
    return "".join(f"{each:>{room}}" for each, room in zip(figures, _FIGURES, strict=True))


READER = "reader"
MOST = 100
"""Models of one provider that are drawn; a search finds the others."""
_RUNNING, _READY, _NEEDS_KEY, _NOT_LOOKED = "running here", "ready", "needs key", "not looked for"
_RANKS = {_RUNNING: 1, _READY: 2}
"""What can be used stands first; the reader before all."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A provider, or one of its models."""

    provider: str
    model: str
    """Empty for the provider's own row."""
    title: str
    note: str = ""
    """What there is to know of a provider, or of a model that has no figures."""
    figures: tuple[str, str, str] = ("", "", "")
    """Of a model: its context size, and what a million tokens in and out cost."""
    is_ready: bool = True
    """Whether the provider can be asked; a row of one that cannot is greyed."""
    wants_key: bool = False
    is_typed: bool = False
    """Whether it stands for the name that was typed, which no list has."""
    is_count: bool = False
    """Whether it only tells how many models of the provider are not drawn."""

    @property
    def id(self) -> tuple[str, str]:
        """Provider and model."""
        return self.provider, self.model

    def is_found_by(self, wanted: str) -> bool:
        """Whether a search finds it."""
        return matches(wanted, f"{self.provider}/{self.model} {self.title}")


def in_order(choices: Iterable[ProviderChoice]) -> list[ProviderChoice]:
    """Put the providers that can be used first: the reader, this machine's servers, the others."""
    return sorted(choices, key=lambda each: 0 if _is_reader(each) else _RANKS.get(each.state, 3))


def rows_of(choice: ProviderChoice, now: datetime, in_use: str = "") -> list[ModelRow]:
    """Make the provider's row, then those of its models; the one `in_use` is among them.

    The reader has one row for both: it is the only one of its kind.
    """
    if _is_reader(choice):
        return [ModelRow(READER, READER, one_line(choice.title), "quotes what was said; no key")]
    is_ready = choice.state in (_READY, _RUNNING)
    heading = ModelRow(
        choice.name,
        "",
        one_line(choice.title),
        _about(choice, now),
        is_ready=is_ready,
        wants_key=choice.state == _NEEDS_KEY,
    )
    rows = [_row(choice, each, now) for each in choice.models] if is_ready else []
    if in_use and all(row.model != in_use for row in rows):
        rows.insert(0, ModelRow(choice.name, in_use, one_line(in_use), is_ready=is_ready))
    return [heading, *rows]


def shortened_rows(rows: Sequence[ModelRow], in_use: str = "") -> Iterator[ModelRow]:
    """Leave out what is too much to draw, tell how many that are, and keep the one `in_use`."""
    kept = [row for at, row in enumerate(rows) if at <= MOST or row.model == in_use != ""]
    yield from kept
    if left := len(rows) - len(kept):
        note = f"and {left:,} more: type to search them"
        yield ModelRow(rows[0].provider, "", "", note, is_count=True)


def typed_rows(text: str, choices: Mapping[str, ProviderChoice]) -> Iterator[ModelRow]:
    """Offer what was typed as the name of a model, wherever no list has it.

    `PROVIDER/MODEL` is offered of that provider, too, and of it alone where it cannot be asked.
    """
    typed = text.strip()
    if not typed or any(each.isspace() for each in typed) or typed in choices:
        return
    provider, _, rest = typed.partition("/")
    if rest and provider in choices and provider != READER:
        yield from _typed_row(choices[provider], rest)
    for each in in_order(choices.values()):
        if each.is_usable and not _is_reader(each):
            yield from _typed_row(each, typed)


def meant_by(text: str, choices: Mapping[str, ProviderChoice]) -> tuple[str, str] | None:
    """Find the one model that a text names, by `PROVIDER/MODEL` or by its name or a part of it.

    None where it is none or several, or what it names cannot be used as it is.
    """
    usable = {each.name: each for each in choices.values() if each.is_usable}
    provider, _, rest = text.partition("/")
    of_provider = usable.get(provider) if rest else None
    if of_provider is not None and (not of_provider.models or _has(of_provider, rest)):
        return provider, rest
    known = [(each.name, model.name) for each in usable.values() for model in each.models]
    exact = [each for each in known if text in (each[1], each[0])]
    named = [each for each in known if matches(text, each[1])]
    anywhere = [each for each in known if matches(text, "/".join(each))]
    found = exact or named or anywhere
    return found[0] if len(found) == 1 else None


def matches(wanted: str, name: str) -> bool:
    """Whether every word of a search is a part of a name, in capitals or not."""
    known = fold(name)
    return all(word in known for word in fold(wanted).split())


def _typed_row(choice: ProviderChoice, model: str) -> Iterator[ModelRow]:
    if not _has(choice, model):
        title = f"use {one_line(model)} of {one_line(choice.title)}"
        yield ModelRow(
            choice.name,
            model,
            title,
            is_ready=choice.is_usable,
            wants_key=choice.state == _NEEDS_KEY,
            is_typed=True,
        )


def _has(choice: ProviderChoice, model: str) -> bool:
    return any(each.name == model for each in choice.models)


def _is_reader(choice: ProviderChoice) -> bool:
    return choice.name == READER


def _about(choice: ProviderChoice, now: datetime) -> str:
    """Say what a provider wants, or what it has."""
    count = plural(len(choice.models), "model")
    match choice.state:
        case "needs key":
            paste = "Enter to paste a key"
            return f"set {choice.key_variable}, or {paste}" if choice.key_variable else paste
        case "not looked for":
            return "looking for it…"
        case "running here":
            return one_line(choice.note) or (f"running here · {count}" if choice.models else "")
        case "ready" if choice.fetched_at is not None:
            return f"{count}, listed {age(choice.fetched_at, now)}"
        case "ready":
            return f"{'has a key · ' if choice.has_key else ''}Enter lists its models"
    return one_line(choice.note)


def _row(choice: ProviderChoice, model: ModelInfo, now: datetime) -> ModelRow:
    context = f"{model.limit.tokens:,}" if model.limit is not None else "?"
    is_gone = model.retires is not None and model.retires <= now.date()
    title = f"{one_line(model.name)}{f' · retired {model.retires}' if is_gone else ''}"
    return ModelRow(choice.name, model.name, title, figures=(context, *_prices(choice, model)))


def _prices(choice: ProviderChoice, model: ModelInfo) -> tuple[str, str]:
    """Write what it costs; what is not known is said, never zero. Here: whether it is loaded."""
    prices = model.prices
    if prices is None:
        unknown = "?" if choice.is_paid else ""
        return ("", "loaded") if model.is_loaded else (unknown, unknown)
    if prices.input == prices.output == 0:
        return "free", "free"
    return _price(prices.input), _price(prices.output)


def _price(amount: float | None) -> str:
    if amount is None:
        return "?"
    return f"{amount:,.2f}" if round(amount, 2) == round(amount, 8) else f"{amount:,.6g}"


_GAP = 2


class ModelList(PointedList):
    """Rows, and which of them is chosen."""

    class ColumnsMoved(Message):
        """The list is as wide as it was not before."""

    def __init__(self, state_of: Callable[[ModelRow], RowState]) -> None:
        super().__init__(id="choices")
        self._state_of = state_of
        self._rows: list[ModelRow] = []
        self._kept: tuple[str, str] | None = None
        """The row that the user went to; None while the highlight may move by itself."""
        self._width = 0

    @property
    def chosen(self) -> ModelRow | None:
        """The row under the highlight."""
        return self.row_at(self.highlighted)

    @property
    def columns(self) -> Columns:
        """Where things stand, as wide as the list is, or was when it was last on screen."""
        self._width = self.scrollable_content_region.width or self._width
        titles = (Content(row.title).cell_length for row in self._rows if row.note)
        return Columns(self._width - 2, max(titles, default=0) + _GAP)

    def row_at(self, index: int | None) -> ModelRow | None:
        """The row at a place; None for what is no row."""
        return self._rows[index] if index is not None and index < len(self._rows) else None

    def show(self, rows: Sequence[ModelRow], searched: str = "") -> None:
        """Draw these rows, which are those that were `searched`; empty for all."""
        self._rows = list(rows)
        self._draw()
        known = {row.id: place for place, row in enumerate(self._rows) if not row.is_count}
        place = known.get(self._kept) if self._kept else None
        self.highlighted = self._first(searched) if place is None else place

    def keep(self, row: tuple[str, str] | None) -> None:
        """Stay at this row from now on, whatever comes; with None, no longer."""
        self._kept = row

    async def go(self, way: str) -> None:
        """Move the highlight by `cursor_down`, `page_up` and so on, while typing goes on."""
        await self.run_action(way)
        chosen = self.chosen
        self.keep(chosen.id if chosen is not None else None)

    def on_resize(self, event: events.Resize) -> None:
        """Columns follow the width."""
        if event.size.width and self._rows:
            self.call_after_refresh(self._draw_again)

    def _draw_again(self) -> None:
        place = self.highlighted
        self._draw()
        self.highlighted = place
        self.post_message(self.ColumnsMoved())

    def _draw(self) -> None:
        columns = self.columns
        lines = [
            Option(columns.line(row, self._state_of(row)), disabled=row.is_count)
            for row in self._rows
        ]
        self.set_options(lines)

    def _first(self, searched: str) -> int | None:
        """Where the highlight is at first; None where there is no row."""
        places = self._found(searched) if searched else self._usable()
        return next(places, 0 if self._rows else None)

    def _usable(self) -> Iterator[int]:
        """The model in use; with the reader, another that there is, or who can be asked."""
        others = [
            at for at, row in enumerate(self._rows) if row.is_ready and row.provider != READER
        ]
        yield from (at for at in others if self._state_of(self._rows[at]).in_use)
        yield from (at for at in others if self._rows[at].model)
        yield from others

    def _found(self, searched: str) -> Iterator[int]:
        """The provider of that name, at its models if they are there; or the first model."""
        text = fold(searched)
        for row in [row for row in self._rows if text in (row.provider, fold(row.title))]:
            mine = [at for at, each in enumerate(self._rows) if each.provider == row.provider]
            yield from (at for at in mine if self._rows[at].model)
            yield from mine
        models = [at for at, row in enumerate(self._rows) if row.model]
        listed = [at for at in models if not self._rows[at].is_typed]
        yield from (at for at in listed if matches(searched, self._rows[at].model))
        yield from listed or models
