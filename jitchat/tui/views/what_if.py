"""The same message in every mode: its windows side by side as figures, bars and a row per turn."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

from textual import events
from textual.binding import Binding
from textual.reactive import reactive
from textual.widget import Widget

from jitchat.errors import WindowOverflow
from jitchat.planning import Planned as Plan
from jitchat.savings import Comparison
from jitchat.session import Session
from jitchat.text.figures import Figure, Mark, about_cost, enumerated, percent, plural
from jitchat.text.sanitize import shorten
from jitchat.tui.drawing import MUTED, Content
from jitchat.tui.figures import SIGNS, assumed_mark
from jitchat.tui.views import view
from jitchat.tui.views.table_view import TableView
from jitchat.tui.widgets.budget_bar import PATTERNS, STYLES, legend, stacked
from jitchat.tui.widgets.turn_table import Column, Line, TurnTable
from jitchat.values import Mode
from jitchat.window.budget import Budget
from jitchat.window.carriers import statements_in
from jitchat.window.compare import AlignedRow, align, twins
from jitchat.window.steering import Once
from jitchat.window.window import ContextWindow, Kind
from jitchat.writing.calls import full_text

_TITLE = 48
"""Most characters of the message in the title."""
_TEXT = 80
"""Most characters of a turn in its row."""


@dataclass(frozen=True, slots=True)
class Side:
    """One mode's window in figures, as displayed."""

    mode: Mode
    used: int = 0
    sizes: tuple[tuple[Kind, int], ...] = ()
    """Tokens of each segment kind in the window."""
    figures: tuple[str, ...] = ()
    """The columns of `FIGURES`; empty for a window that does not fit."""
    overflow: str = ""
    stands: tuple[Kind, int] | None = None
    """The segment kind that replaces turns, and the last position replaced; None if none."""
    same_as: Mode | None = None
    """An earlier mode with the identical window; None if there is none."""
    mark: Mark = Mark.COUNTED
    """How its tokens are known."""
    amount: float | None = None
    """The cost of its input in US dollars; None if unknown."""
    cached: int = 0
    """Tokens that the provider should still have in its cache."""


FIGURES = {"tokens": 14, "of full": 8, "input": 14, "stable": 10, "free": 10, "reserve": 8}
"""Column titles with their widths; `input` is its cost, without an answer."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of all modes for one question."""

    budget: Budget
    sides: tuple[Side, ...]
    rows: tuple[AlignedRow, ...]
    texts: Mapping[int, str]
    """The beginnings of the turns in the rows, by position."""

    @property
    def widest(self) -> Figure:
        """Tokens of the largest window: the scale of the bars."""
        largest = max(self.sides, key=lambda side: side.used)
        return Figure(largest.used, largest.mark)

    @property
    def different(self) -> tuple[Side, ...]:
        """The sides without those whose window is identical to an earlier one."""
        return tuple(side for side in self.sides if side.same_as is None)

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes whose window fits and is not identical to an earlier one."""
        return tuple(side.mode for side in self.different if not side.overflow)

    def twins(self, mode: Mode) -> tuple[Mode, ...]:
        """Later modes with the identical window."""
        return tuple(side.mode for side in self.sides if side.same_as is mode)


def compare(session: Session, draft: str, once: Once) -> Windows:
    """Plan the windows and align them. Blocking: call in a thread."""
    question, planned = session.compare(draft, once)
    same = twins(planned)
    rows = align(
        plan
        for mode, plan in planned.items()
        if isinstance(plan, ContextWindow) and mode not in same
    )
    wanted = {turn for row in rows for turn in row.turns[:1]}
    return Windows(
        budget=once.budget or session.options.budget,
        sides=tuple(
            replace(side_of(mode, plan, session.comparison), same_as=same.get(mode))
            for mode, plan in planned.items()
        ),
        rows=rows,
        texts={
            turn.position: shorten(full_text(turn), _TEXT)
            for turn in (*session.memory.turns, question.turn)
            if turn.position in wanted
        },
    )


def side_of(mode: Mode, planned: Plan, compared: Callable[[ContextWindow], Comparison]) -> Side:
    if isinstance(planned, WindowOverflow):
        return Side(mode, overflow=f"does not fit: {planned.over} tokens over the budget")
    sizes = tuple((kind, planned.tokens_of(kind)) for kind in Kind if planned.tokens_of(kind))
    comparison = compared(planned)
    figures = (
        str(planned.used_figure),
        percent(1 - planned.saving),
        about_cost(comparison.amount) if comparison.cost else "no charge",
        str(planned.figure(planned.stable_tokens)),
        str(planned.figure(planned.free)),
        f"{planned.budget.reserve:,}",
    )
    statements = statements_in(planned)
    stands = (statements.kind, planned.distilled_through) if statements is not None else None
    return Side(
        mode,
        planned.used,
        sizes,
        figures,
        stands=stands,
        mark=planned.mark,
        amount=comparison.amount,
        cached=comparison.sent.cached_tokens,
    )


_SHORT = {kind: SIGNS[kind].short for kind in Kind} | {Kind.DRAFT: "you"}
_NAME = 2 + max(map(len, Mode))
"""Columns for the name of a mode."""
_TURN, _SHARE, _BARE_SHARE, _BEGINS = 10, 14, 9, 20
"""Columns for a turn's id, for a mode's share with and without the kind's name, and the least for
the turn's beginning."""


def draw_sides(comparison: Windows, mode: Mode, width: int) -> Content:
    """Draw a table of figures, a bar per window, and the legend of the bars.

    `mode` is the current one; `width` is in columns.
    """
    sides = comparison.sides
    lines = [Content.styled(" " * _NAME + _in_columns(list(FIGURES), width), MUTED)]
    lines += [figures_line(side, width, in_use=side.mode is mode) for side in sides]
    lines += [bar_line(side, comparison.widest.count, width) for side in comparison.different]
    kinds = {kind for side in sides for kind, _ in side.sizes}
    lines.append(Content(" " * _NAME) + legend(kinds))
    cached = _cached(comparison)
    if cached:
        lines.append(Content.styled(cached, MUTED))
    return Content("\n").join(lines)


def _cached(comparison: Windows) -> str:
    """Write `of the input, cached: jit ~338`; empty if nothing is expected to be cached."""
    sizes = [
        f"{side.mode} {Figure(side.cached, Mark.ESTIMATED)}"
        for side in comparison.different
        if side.cached
    ]
    return f" of the input, cached: {' · '.join(sizes)}" if sizes else ""


def figures_line(side: Side, width: int, *, in_use: bool) -> Content:
    mark, style = ("▸", "bold") if in_use else (" ", "")
    name = f"{mark}{side.mode}".ljust(_NAME)
    if side.overflow:
        return Content.assemble((name, style), ("  " + side.overflow, "$text-error"))
    if side.same_as is not None:
        told = f"  identical to the window of {side.same_as}"
        return Content.assemble((name, style), (told, MUTED))
    return Content.assemble((name, style), _in_columns(side.figures, width))


def _in_columns(texts: Sequence[str], width: int) -> str:
    """Align texts in the columns that fit whole into `width` cells, after the mode's name."""
    line = ""
    for text, room in zip(texts, FIGURES.values(), strict=True):
        if _NAME + len(line) + room > width:
            break
        line += f"{text:>{room}}"
    return line


def bar_line(side: Side, widest: int, width: int) -> Content:
    """Draw a mode's bar: the largest window takes the full width."""
    room, name = width - _NAME, f" {side.mode}".ljust(_NAME)
    if side.overflow:
        return Content.assemble(name, ("╳" * max(len(Kind), room), "$text-error"))
    return Content(name) + stacked(dict(side.sizes), widest, room)


def columns_of(comparison: Windows, width: int) -> Sequence[Column[AlignedRow]]:
    """Draw a turn's row: each window's share of it, and its beginning or the number of turns.

    `width` is in columns; if it is small, kinds are shown by their patterns only.
    """
    sides = comparison.different
    is_wide = _TURN + _SHARE * len(sides) + _BEGINS <= width
    share = partial(_share_of, is_named=is_wide)
    room = _SHARE if is_wide else _BARE_SHARE

    def label(row: AlignedRow) -> str:
        first, last = row.turns[0], row.turns[-1]
        if first is None:
            return ""
        return f"#{first}" if first == last else f"#{first}…#{last}"

    def beginning(row: AlignedRow) -> Content:
        first = row.turns[0]
        if first is None:
            text = "instructions"
        elif len(row.turns) > 1:
            text = plural(len(row.turns), "turn")
        else:
            text = comparison.texts.get(first) or "nothing asked yet"
        return Content.styled(text, MUTED)

    return [
        Column("turn", label, _TURN),
        *(Column(side.mode.value, partial(share, side), room, gap=0) for side in sides),
        Column("begins", beginning, gap=0),
    ]


def _share_of(side: Side, row: AlignedRow, *, is_named: bool) -> Content:
    share = row.shares.get(side.mode)
    if share is None:
        return _absence(side, row)
    name = f" {_SHORT[share.kind]}" if is_named else ""
    return Content.assemble(
        (PATTERNS[share.kind], STYLES[share.kind]), f"{name} {Figure(share.tokens, side.mark)}"
    )


def _absence(side: Side, row: AlignedRow) -> Content:
    """Draw a dot, or the segment kind that replaces the turns."""
    kind, through = side.stands or (Kind.RECENT, 0)
    if not all(turn is not None and turn <= through for turn in row.turns):
        return Content.styled("·", MUTED)
    return Content.assemble((PATTERNS[kind], STYLES[kind]), (f" {_SHORT[kind]}", MUTED))


def items_of(comparison: Windows) -> Iterator[AlignedRow | Line]:
    """Group the rows by the modes that have them, each with a heading."""
    for modes, group in groupby(comparison.rows, key=lambda row: row.modes):
        rows = list(group)
        turns = sum(len(row.turns) for row in rows if row.turns[0] is not None)
        alone = " alone" if len(modes) == 1 < len(comparison.modes) else ""
        is_everywhere = len(modes) == len(comparison.different)
        where = "every window" if is_everywhere else f"{enumerated(modes)}{alone}"
        yield Line(f"── in {where} · {plural(turns, 'turn')} ──", MUTED)
        yield from rows


def title_of(name: str, draft: str) -> Content:
    """Write a view's title with its message."""
    return Content(f"{name}: {shorten(draft, _TITLE)}" if draft.strip() else name)


_CORNERS = 6
"""Cells of a frame's border that hold no title."""
_NO_QUESTION = "Nothing is asked yet: these windows have no question, so nothing is recalled."


class Sides(Widget):
    comparison: reactive[Windows | None] = reactive(None, layout=True)

    def __init__(self, mode: Mode) -> None:
        super().__init__(id="what-if-sides")
        self._mode = mode
        self.styles.height = 2 + 2 * len(Mode)

    def watch_comparison(self, comparison: Windows | None) -> None:
        if comparison is not None:
            lines = len(comparison.sides) + len(comparison.different)
            self.styles.height = 2 + lines + bool(_cached(comparison))

    def render(self) -> Content:
        if self.comparison is None:
            return Content("planning…")
        return draw_sides(self.comparison, self._mode, self.size.width)

    async def on_click(self, event: events.Click) -> None:
        """Figures and bars; a click on a mode's line uses that mode."""
        if self.comparison is None:
            return
        drawn = [side.mode for side in (*self.comparison.sides, *self.comparison.different)]
        if 1 <= event.y <= len(drawn):
            await self.run_action(f"screen.use('{drawn[event.y - 1]}')")


class WhatIfView(TableView[AlignedRow]):
    EXPLAINED = "The same message planned in each mode, side by side. Nothing is sent."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "on_row('open_row')", "Go to turn", id="what_if_go_to", priority=True),
        *view.mode_bindings("use", "what_if"),
        Binding("a", "ask_all", "Ask all", id="what_if_ask_all"),
    ]

    def __init__(self, subject: view.Subject) -> None:
        super().__init__(subject, TurnTable((), id="what-if-table"), "what-if")
        self._sides = Sides(subject.mode)

    def body(self) -> view.Body:
        return (self._sides, self.note, self.table)

    def read(self) -> None:
        """Show the frame at once; the windows follow."""
        draft, once = self.subject.question
        sent = self.subject.sent
        self.frame.border_title = title_of(self.NAME, draft)
        note = "" if draft.strip() else _NO_QUESTION
        if sent is not None:
            note = f"Re-planned for #{sent.position} with the current conversation."
        self.note.show(note)
        self.load(partial(compare, self.subject.session, draft, once), self._show)

    def _show(self, comparison: Windows) -> None:
        budget, widest = comparison.budget, comparison.widest
        scale = f"one scale: the longest bar is {widest} tokens · " if widest.count else ""
        limit = f"limit {budget.limit:,}{assumed_mark(budget)}"
        has_room = len(scale) + len(limit) < self.frame.size.width - _CORNERS
        self.frame.border_subtitle = f"{scale}{limit}" if has_room else limit
        self._sides.comparison = comparison
        self.table.show(list(items_of(comparison)), columns=partial(columns_of, comparison))

    def copyable(self) -> str:
        """Write figures, bars of 60 columns, and rows."""
        comparison = self._sides.comparison
        if comparison is None:
            return ""
        sides = str(draw_sides(comparison, self.subject.mode, 60 + _NAME)).splitlines()
        return "\n".join([*(line.rstrip() for line in sides), "", *self.table.text()])

    def show_note(self) -> None:
        """The note is on all rows."""

    def open_row(self, row: AlignedRow) -> None:
        position = row.turns[0]
        if position is not None and position in self.subject.session.memory.snapshot.path:
            self.dismiss(view.GoTo(position))
        else:
            self.say("That turn is not in the conversation yet.")

    def action_use(self, mode: str) -> None:
        self.dismiss(view.Planned(mode=Mode(mode)))

    def action_ask_all(self) -> None:
        if self.is_free():
            self.open_over(view.make_view("ask_all", self.subject))
