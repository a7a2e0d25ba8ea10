"""What the views have in common that compare a message's windows in all modes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from textual import events, on, work
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.planning import Planned as Plan
from jitchat.session import Session
from jitchat.text.figures import plural
from jitchat.text.sanitize import shorten
from jitchat.tui.figures import assumed_mark, part_figure, used_figure
from jitchat.tui.palette import MUTED
from jitchat.tui.views.view import GoTo, Outcome, Planned, Subject, View, asked_of
from jitchat.tui.widgets.budget_bar import PATTERNS, to_scale
from jitchat.tui.widgets.row_list import PointedList
from jitchat.values import Mode, Turn
from jitchat.window.budget import Budget
from jitchat.window.compare import AlignedRow, align
from jitchat.window.cost import window_cost, windows_cost
from jitchat.window.steering import Once
from jitchat.window.window import ContextWindow, Kind

_TITLE = 48
"""Characters of the message in the title, at most."""


class ComparingView(View):
    """A view of one message; its windows are planned in a thread."""

    @dataclass
    class Compared(Message):
        """The windows were planned, or cannot be."""

        outcome: Comparison | JitchatError

    def name_message(self, draft: str) -> None:
        """Have the message in the title."""
        title = f"{self.NAME}: {shorten(draft, _TITLE)}" if draft.strip() else self.NAME
        self.query_one("#view-frame").border_title = Content(title)

    @work(thread=True, exclusive=True, group="compare")
    def compare(self) -> None:
        """Plan; `show_comparison` follows, or why there is nothing to show."""
        outcome: Comparison | JitchatError
        try:
            outcome = compare(self.subject.session, *asked_of(self.subject))
        except JitchatError as error:
            outcome = error
        if not get_current_worker().is_cancelled:
            self.post_message(self.Compared(outcome))

    def show_comparison(self, comparison: Comparison) -> None:
        """Draw what was planned."""
        raise NotImplementedError

    @on(Compared)
    def _compared(self, message: Compared) -> None:
        if isinstance(message.outcome, JitchatError):
            self.show_nothing(str(message.outcome))
        else:
            self.show_comparison(message.outcome)


TEXT_WIDTH = 80
"""Characters of a turn in its row, at most."""


@dataclass(frozen=True, slots=True)
class Side:
    """One mode's window in figures, as they stand on screen."""

    mode: Mode
    used: int = 0
    """In tokens."""
    sizes: tuple[tuple[Kind, int], ...] = ()
    """Tokens of each kind that is there."""
    figures: tuple[str, ...] = ()
    """As `FIGURES` names them; empty for a window that does not fit."""
    overflow: str = ""
    """Why there is no window."""


FIGURES = ("tokens", "of full", "price", "stable", "free", "reserve")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The windows of all modes for one question."""

    said: Turn
    """The turn that the draft is, or would be."""
    budget: Budget
    sides: tuple[Side, ...]
    rows: tuple[AlignedRow, ...]
    texts: Mapping[int, str]
    """How the turns of the rows begin, by position."""
    cost: str
    """What sending all of those windows would cost, without the answers."""

    @property
    def widest(self) -> int:
        """Tokens of the largest window: the scale of the bars."""
        return max((side.used for side in self.sides), default=0)

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that fit."""
        return tuple(side.mode for side in self.sides if not side.overflow)


def compare(session: Session, draft: str, once: Once) -> Comparison:
    """Plan the windows and align them; takes a thread's time."""
    question, planned = session.compare(draft, once)
    price = _price_of(session)
    windows = [each for each in planned.values() if isinstance(each, ContextWindow)]
    rows = align(windows)
    wanted = {turn for row in rows for turn in row.turns[:1]}
    known = [*session.memory.turns, question.turn]
    return Comparison(
        said=question.turn,
        budget=once.budget or session.options.budget,
        sides=tuple(side_of(mode, each, price) for mode, each in planned.items()),
        rows=rows,
        texts={
            turn.position: shorten(turn.content, TEXT_WIDTH)
            for turn in known
            if turn.position in wanted
        },
        cost=windows_cost(windows, price),
    )


def side_of(mode: Mode, planned: Plan, price: Callable[[int], float | None]) -> Side:
    """Read the figures off a window."""
    if isinstance(planned, WindowOverflow):
        return Side(mode, overflow=_why_not(planned))
    sizes = {kind: planned.tokens_of(kind) for kind in Kind}
    figures = (
        used_figure(planned),
        f"{(1 - planned.saving) * 100:.0f} %",
        "no charge" if price(planned.used) == 0 else window_cost(planned, price),
        part_figure(planned, planned.stable_tokens),
        part_figure(planned, planned.free),
        f"{planned.budget.reserve:,}",
    )
    present = tuple((kind, tokens) for kind, tokens in sizes.items() if tokens)
    return Side(mode, planned.used, present, figures)


def _why_not(overflow: WindowOverflow) -> str:
    return f"does not fit: {overflow.overshoot:,} tokens over the budget"


def _price_of(session: Session) -> Callable[[int], float | None]:
    prices = session.options.prices
    return prices.of_input if prices is not None else lambda _: None


STYLES = {kind: f"$kind-{kind.value}" for kind in Kind}
_SHORT = {Kind.SYSTEM: "sys", Kind.RECENT: "rec", Kind.INDEX: "idx", Kind.RETRIEVED: "ret"}
_SHORT |= {Kind.PINNED: "pin", Kind.DRAFT: "you"}
_NAME = 9
"""Cells for the name of a mode."""
_COLUMNS = (14, 8, 14, 10, 10, 8)
"""Cells for each of the figures."""
_TURN, _SHARE = 10, 14
"""Cells for a turn's id, and for what one mode has of it."""

TABLE_HEADER = f"{'turn':<{_TURN}}" + "".join(f"{mode:<{_SHARE}}" for mode in Mode) + "begins"


def draw_sides(comparison: Comparison, mode: Mode, width: int) -> Content:
    """A table of the figures, then a bar a mode, then what the bars are made of.

    `mode` is the one in use; `width` is in cells.
    """
    sides = comparison.sides
    lines = [Content.assemble((figures_header(), MUTED))]
    lines += [figures_line(side, in_use=side.mode is mode) for side in sides]
    lines += [bar_line(side, comparison.widest, width) for side in sides]
    return Content("\n").join([*lines, _legend(comparison)])


def mode_at(comparison: Comparison, line: int) -> Mode | None:
    """Tell whose line of that drawing it is, the first of all lines being 0."""
    modes = [side.mode for side in comparison.sides]
    return modes[(line - 1) % len(modes)] if 1 <= line <= 2 * len(modes) else None


def figures_header() -> str:
    """What the figures are."""
    return " " * _NAME + _in_columns(FIGURES)


def figures_line(side: Side, *, in_use: bool) -> Content:
    """A mode's figures, or why it has none."""
    mark, style = ("▸", "bold") if in_use else (" ", "")
    name = f"{mark}{side.mode}".ljust(_NAME)
    if side.overflow:
        return Content.assemble((name, style), ("  " + side.overflow, "$text-error"))
    return Content.assemble((name, style), _in_columns(side.figures))


def _in_columns(texts: tuple[str, ...]) -> str:
    columns = zip(texts, _COLUMNS, strict=True)
    return "".join(f"{text:>{width}}" for text, width in columns)


def bar_line(side: Side, widest: int, width: int) -> Content:
    """A mode's bar: the window that is widest has all of the room."""
    room, name = max(len(Kind), width - _NAME), f" {side.mode}".ljust(_NAME)
    if side.overflow:
        return Content.assemble(name, ("╳" * room, "$text-error"))
    shares = {kind.value: tokens for kind, tokens in side.sizes}
    cells = to_scale(shares | {"free": widest - side.used}, room)
    bar = [(PATTERNS[kind] * cells[kind], STYLES[kind]) for kind, _ in side.sizes]
    return Content.assemble(name, *bar)


def _legend(comparison: Comparison) -> Content:
    there = {kind for side in comparison.sides for kind, _ in side.sizes}
    parts: list[tuple[str, str]] = [(" " * _NAME, "")]
    for kind in (kind for kind in Kind if kind in there):
        parts += [(PATTERNS[kind], STYLES[kind]), (f" {kind}  ", MUTED)]
    return Content.assemble(*parts)


def sections(comparison: Comparison) -> Iterator[tuple[str, list[AlignedRow]]]:
    """The rows by the modes that hold them, each with a heading."""
    for modes, rows in groupby(comparison.rows, key=lambda row: row.modes):
        alike = list(rows)
        turns = sum(len(row.turns) for row in alike if row.turns[0] is not None)
        yield f"{_held_by(modes, comparison.modes)} · {plural(turns, 'turn')}", alike


def _held_by(modes: tuple[Mode, ...], fitting: tuple[Mode, ...]) -> str:
    if len(modes) == len(Mode):
        return "in all three"
    alone = " alone" if len(modes) == 1 < len(fitting) else ""
    return f"in {' and '.join(modes)}{alone}"


def heading(told: str) -> Content:
    """A line between the rows."""
    return Content.assemble((f"── {told} ──", MUTED))


def scale_sentence(comparison: Comparison) -> str:
    """Say how many tokens the bars are wide, and what the limit is."""
    limit = f"limit {comparison.budget.limit:,}{assumed_mark(comparison.budget)}"
    if not comparison.widest:
        return limit
    return f"one scale: the longest bar is {comparison.widest:,} tokens · {limit}"


def row_line(row: AlignedRow, comparison: Comparison) -> Content:
    """A row of the table."""
    parts: list[tuple[str, str]] = [(label_of(row).ljust(_TURN), "")]
    for mode in Mode:
        share = row.shares.get(mode)
        told = "·" if share is None else f" {_SHORT[share.kind]} {share.tokens:,}"
        sign = [] if share is None else [(PATTERNS[share.kind], STYLES[share.kind])]
        parts += [*sign, (told.ljust(_SHARE - len(sign)), MUTED if share is None else "")]
    return Content.assemble(*parts, (beginning_of(row, comparison), MUTED))


def label_of(row: AlignedRow) -> str:
    """`#12`, or `#1…#54` for several; empty for what is no turn."""
    first, last = row.turns[0], row.turns[-1]
    if first is None:
        return ""
    return f"#{first}" if first == last else f"#{first}…#{last}"


def beginning_of(row: AlignedRow, comparison: Comparison) -> str:
    """How the turn begins, or of how many the row is."""
    first = row.turns[0]
    if first is None:
        return "instructions"
    if len(row.turns) > 1:
        return plural(len(row.turns), "turn")
    return comparison.texts.get(first, "") or "nothing is asked yet"


def plain(comparison: Comparison, mode: Mode) -> str:
    """All of it as text, a bar of 60 cells included."""
    lines = [line.rstrip() for line in str(draw_sides(comparison, mode, 60 + _NAME)).splitlines()]
    lines += ["", TABLE_HEADER]
    for told, rows in sections(comparison):
        lines += [f"── {told}", *(str(row_line(row, comparison)).rstrip() for row in rows)]
    return "\n".join(lines)


_NO_QUESTION = (
    "Nothing is asked yet: these are the windows for no question, so nothing is recalled."
)


class Sides(Widget):
    """Figures and bars, a line a mode each."""

    comparison: reactive[Comparison | None] = reactive(None, layout=True)

    @dataclass
    class Clicked(Message):
        """The user points at a mode."""

        mode: Mode

    def __init__(self, mode: Mode) -> None:
        super().__init__(id="what-if-sides")
        self._mode = mode

    def render(self) -> Content:
        """For the present width."""
        if self.comparison is None:
            return Content("planning…")
        return draw_sides(self.comparison, self._mode, self.size.width)

    def on_click(self, event: events.Click) -> None:
        """Say whose line was clicked."""
        mode = mode_at(self.comparison, event.y) if self.comparison is not None else None
        if mode is not None:
            self.post_message(self.Clicked(mode))


class WhatIfView(ComparingView):
    """The windows of all modes for one message."""

    CSS_PATH = ["view.tcss", "what_if.tcss"]  # noqa: RUF012  Textual's own shape
    NAME = "What if"
    EXPLAINED = "The same message in each mode, planned side by side: nothing is requested."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "go_to", "Go to turn", id="what_if_go_to", priority=True),
        Binding("1,f", "use('full')", "Full", id="what_if_full"),
        Binding("2,r", "use('recency')", "Recency", id="what_if_recency"),
        Binding("3,j", "use('jit')", "Jit", id="what_if_jit"),
        Binding("a", "ask_all", "Ask all", id="what_if_ask_all"),
    ]

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._sides, self._note = Sides(subject.mode), Static(id="what-if-note")
        self._list = PointedList(id="what-if-rows", compact=True)
        self._rows: list[AlignedRow | None] = []
        """Of each line of the list; None for a heading."""

    def body(self) -> Iterable[Widget]:
        """Figures and bars, a note, and a row a turn."""
        yield self._sides
        yield self._note
        yield Static(Content(TABLE_HEADER), id="what-if-header")
        yield self._list

    def on_mount(self) -> None:
        """The frame is there at once; the windows follow."""
        draft, _ = asked_of(self.subject)
        sent = self.subject.sent
        self.name_message(draft)
        told = f"Planned anew for #{sent.position}, as the conversation is now." if sent else ""
        told = told or ("" if draft.strip() else _NO_QUESTION)
        self._note.update(Content(told))
        self._note.display = bool(told)
        self._list.focus()
        self.compare()

    def show_comparison(self, comparison: Comparison) -> None:
        """Draw figures, bars and rows."""
        self._sides.comparison = comparison
        self.query_one("#view-frame").border_subtitle = scale_sentence(comparison)
        self._fill(comparison)

    def show_nothing(self, why: str) -> None:
        """Say why; no window is being planned then."""
        self._sides.display = False
        super().show_nothing(why)

    def _fill(self, comparison: Comparison) -> None:
        lines: list[Content | Option] = []
        for told, rows in sections(comparison):
            lines.append(Option(heading(told), disabled=True))
            lines += [row_line(row, comparison) for row in rows]
            self._rows += [None, *rows]
        self._list.set_options(lines)
        self._list.action_first()

    def copyable(self) -> str:
        """Write figures, bars and rows."""
        comparison = self._sides.comparison
        return plain(comparison, self.subject.mode) if comparison is not None else ""

    def action_go_to(self) -> None:
        """Show the turn of the row in the transcript."""
        place = self._list.highlighted
        row = self._rows[place] if place is not None and place < len(self._rows) else None
        position = row.turns[0] if row is not None else None
        if position is not None and self.subject.session.memory.turn_at(position) is not None:
            self.dismiss(GoTo(position))
        elif row is not None:
            self.notify("That is no turn of the conversation yet.", markup=False)

    @on(OptionList.OptionSelected)
    def _row_clicked(self) -> None:
        self.action_go_to()

    @on(Sides.Clicked)
    def _side_clicked(self, message: Sides.Clicked) -> None:
        self.action_use(message.mode.value)

    def action_use(self, mode: str) -> None:
        """Use a mode from now on."""
        self.dismiss(Planned(mode=Mode(mode)))

    def action_ask_all(self) -> None:
        """Have the message answered in all modes."""
        from jitchat.tui.views.ask_all import AskAllView  # noqa: PLC0415  not for a look at windows

        if self.subject.is_busy():
            self.notify("A reply is on its way. Ask when it is there.", markup=False)
            return
        self.app.push_screen(AskAllView(self.subject), self._asked)

    def _asked(self, outcome: Outcome | None) -> None:
        if outcome is not None:
            self.dismiss(outcome)
