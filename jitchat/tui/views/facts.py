"""The facts remembered for the project, with their sources, and proposed ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual.binding import Binding

from jitchat.statements import Fact, FactState
from jitchat.store.facts import Change
from jitchat.text.figures import plural
from jitchat.tui.chat.facts import TEMPORARY
from jitchat.tui.drawing import MUTED
from jitchat.tui.views.table_view import TableView
from jitchat.tui.views.view import Planned, Subject
from jitchat.tui.widgets.turn_table import Column, TurnTable

NONE_YET = (
    "No facts are remembered for this project. Lasting statements that you make are proposed below"
    " the prompt; /remember TEXT keeps one at once."
)
TYPED = "You typed this fact; it has no source turn."
_MARKS = {FactState.PROPOSED: "?", FactState.KEPT: "●", FactState.FORGOTTEN: "×"}
_WIDE = 100
"""Columns from which the table shows all details of a fact; otherwise the note does."""


class FactsView(TableView[Fact]):
    """All facts; A also shows those that are no longer valid."""

    EXPLAINED = "Facts shared by the project's chats: ● kept, ? proposed, × forgotten."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("k", "on_row('keep')", "Keep", id="facts_keep"),
        Binding("e", "on_row('edit')", "Edit", id="facts_edit"),
        Binding("x", "on_row('forget')", "Forget", id="facts_forget"),
        Binding("a", "all", "All", id="facts_all"),
    ]

    def __init__(self, subject: Subject) -> None:
        table = TurnTable[Fact](
            _columns,
            id="facts-table",
            key=lambda fact: fact.id,
            style=lambda fact: "" if fact.holds else MUTED,
        )
        super().__init__(subject, table, "facts")
        self._known: list[Fact] = []
        self._project = ""
        self._shows_all = self._is_changed = False

    def read(self) -> None:
        if self.subject.session.memory.conversation.is_temporary:
            self.show_nothing(TEMPORARY)
        else:
            self.load(self._read, self._show)

    def _read(self) -> tuple[str, list[Fact]]:
        facts = self.subject.session.memory.facts
        return facts.project, facts.all()

    def _show(self, read: tuple[str, list[Fact]]) -> None:
        self._project, self._known = read
        known = self._known
        shown = [fact for fact in known if self._shows_all or _is_current(fact)]
        self.show_nothing("" if shown else NONE_YET)
        self.table.show(shown)
        self.show_note()

    @property
    def sum(self) -> str:
        """`project work · 3 facts hold · 1 proposed`."""
        hold = sum(fact.holds for fact in self._known)
        proposed = sum(
            fact.state is FactState.PROPOSED and _is_current(fact) for fact in self._known
        )
        told = f"project {self._project} · {plural(hold, 'fact holds')}"
        return f"{told} · {proposed} proposed" if proposed else told

    def about(self, fact: Fact) -> str:
        """Write a fact's details: its text, then its kind, day and source."""
        source = f"from {_source(fact)}" if fact.source is not None else "typed"
        over = f", then {fact.superseded_by}" if fact.superseded_by else ""
        until = f", until {fact.valid_until}{over}" if fact.valid_until is not None else ""
        return f"{fact.text}\n{fact.kind.capitalize()}, said {_said(fact)}, {source}{until}"

    def open_row(self, fact: Fact) -> None:
        """Open the source turn in the transcript, or here if it is of another conversation."""
        if fact.source is None:
            self.say(TYPED)
        else:
            self.open_source(fact.source)

    def keep(self, fact: Fact) -> None:
        if fact.state is not FactState.KEPT:
            self.write(lambda: self.subject.session.memory.facts.keep(fact), self._changed)

    def forget(self, fact: Fact) -> None:
        self.write(lambda: self.subject.session.memory.facts.forget(fact), self._changed)

    def edit(self, fact: Fact) -> None:
        self.edit_line.edit(fact.text, partial(self._take_edit, fact))

    def _take_edit(self, fact: Fact, text: str) -> None:
        if text.strip() != fact.text:
            self.write(lambda: self.subject.session.memory.facts.edit(fact, text), self._changed)

    def action_all(self) -> None:
        self._shows_all = not self._shows_all
        self._show((self._project, self._known))

    @property
    def planned(self) -> Planned | None:
        return Planned() if self._is_changed else None

    def _changed(self, _: Change | Fact) -> None:
        self._is_changed = True
        self.read()


def _columns(width: int) -> Sequence[Column[Fact]]:
    """Return the columns for a width."""
    narrow: tuple[Column[Fact], ...] = (
        Column("", lambda fact: _MARKS[fact.state], 1),
        Column("no", lambda fact: f"{fact.id}", 4, is_right=True),
        Column("kind", lambda fact: fact.kind.value.partition(" ")[0], 10),
    )
    wide: tuple[Column[Fact], ...] = (
        Column("said", _said, 10),
        Column("holds", _validity, 16),
        Column("source", _source, 16),
    )
    return (*narrow, *(wide if width >= _WIDE else ()), Column("fact", lambda fact: fact.text))


def _is_current(fact: Fact) -> bool:
    return fact.is_valid and fact.state is not FactState.FORGOTTEN


def _said(fact: Fact) -> str:
    return fact.stated_on.isoformat() if fact.stated_on is not None else ""


def _validity(fact: Fact) -> str:
    if fact.valid_until is not None:
        return f"until {fact.valid_until}"
    return "yes" if fact.holds else "—"


def _source(fact: Fact) -> str:
    return fact.source.name if fact.source is not None else "typed"
