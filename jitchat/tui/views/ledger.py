"""The ledger of a window: what was considered, what it scored, and what became of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

from rich.cells import cell_len
from textual import on, work
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.worker import Worker

from jitchat.errors import JitchatError
from jitchat.statements import Source
from jitchat.text.figures import plural
from jitchat.text.sanitize import for_terminal, one_line, shorten
from jitchat.text.words import fold
from jitchat.tui.figures import (
    PARTS,
    identity_sentence,
    ledger_note,
    part_bar,
    part_figure,
    used_figure,
)
from jitchat.tui.palette import MUTED
from jitchat.tui.views.view import Another, Body, GoTo, Note, Outcome, Planned, Subject, View
from jitchat.tui.widgets.turn_table import Column, Line, TurnTable, header
from jitchat.why import LEAST_TOLD, Explained, Standing, Why, parts_told, why
from jitchat.window.compare import Change, difference
from jitchat.window.steering import NO_MORE, Hold, Once, Steering
from jitchat.window.window import (
    RERANKER,
    ContextWindow,
    Kind,
    LedgerRow,
    Verdict,
    tokens_of,
)

_LEAST_REASON = 20
"""Cells; in fewer, a reason stands in the note alone."""
_LINE = 120
"""Characters of an index line: two lines of a small terminal."""
_DIGITS = 12
_AT_FULL_TEXT = (Verdict.PINNED, Verdict.RECENT, Verdict.RETRIEVED, Verdict.REQUESTED)
_VERDICTS = [*_AT_FULL_TEXT, Verdict.INDEX, Verdict.LEFT_OUT, "never"]


class Order(StrEnum):
    RANK = "rank"
    TOKENS = "tokens"
    TURN = "turn"
    VERDICT = "verdict"


class Part(StrEnum):
    ALL = "all"
    IN = "in the window"
    OUT = "left out"


@dataclass(frozen=True, slots=True)
class Row:
    turn: int
    rank: int | None
    score: float
    parts: tuple[tuple[str, float], ...]
    tokens: int | None
    """None where the ledger does not say."""
    verdict: str
    reason: str
    note: str
    """All that is known of it, in lines."""

    @property
    def is_there(self) -> bool:
        """Whether the window has it at full text."""
        return self.verdict in _AT_FULL_TEXT

    @property
    def part(self) -> Part:
        """Whether the window has anything of it."""
        return Part.IN if self.is_there or self.verdict == Verdict.INDEX else Part.OUT


_KEYS: dict[Order, Callable[[Row], tuple[bool, int]]] = {
    Order.RANK: lambda row: (row.rank is None, row.rank or 0),
    Order.TOKENS: lambda row: (row.tokens is None, -(row.tokens or 0)),
    Order.TURN: lambda row: (False, row.turn),
    Order.VERDICT: lambda row: (False, _VERDICTS.index(row.verdict)),
}


@dataclass(frozen=True, slots=True)
class Listing:
    """Which rows the user wants to see, and in which order."""

    order: Order = Order.RANK
    part: Part = Part.ALL
    text: str = ""

    @property
    def turn(self) -> int | None:
        """The turn that is asked for by its #id; None where the text is none."""
        digits = self.text.strip().removeprefix("#")
        is_id = digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS
        return int(digits) if is_id else None

    def of(self, rows: Sequence[Row], lines: Mapping[int, str]) -> list[Row]:
        """Choose and sort rows; `lines` are the index lines by turn, for the text to match."""
        text = fold(self.text.strip())

        def is_listed(row: Row) -> bool:
            if self.part not in (Part.ALL, row.part):
                return False
            if self.turn is not None:  # an #id that is being typed
                return str(row.turn).startswith(str(self.turn))
            line = lines.get(row.turn, "")
            return text in fold(f"#{row.turn} {row.verdict} {row.reason} {line}")

        return sorted(filter(is_listed, rows), key=_KEYS[self.order])


def row_of(row: LedgerRow) -> Row:
    figures = row.turn, row.rank, row.score, row.parts, row.tokens
    return Row(*figures, row.verdict.value, row.reason, ledger_note(row))


def row_beside_ledger(why: Why) -> Row | None:
    """Show a turn that the ledger does not have; None where it cannot be in any window."""
    if why.row is not None or why.standing not in (Standing.NEVER, Standing.SENT):
        return None
    verdict = Verdict.RECENT.value if why.standing is Standing.SENT else "never"
    reason = why.standing.value
    if why.placed is None:
        return Row(why.turn, None, 0.0, (), None, verdict, reason, "")
    found = why.placed.candidate
    told = parts_told(found.parts)
    note = f"score {found.score:.2f} = {told}" if told else "score 0.00"
    return Row(why.turn, found.rank, found.score, found.parts, None, verdict, reason, note)


def ruled(rows: Sequence[Row], window: ContextWindow) -> Iterator[Row | Line]:
    """Draw the cut, the floor and the end of the shortlist between rows in order of rank."""
    rules = sorted(_rules(window))
    for row in rows:
        while rules and (row.rank is None or row.rank > rules[0][0]):
            yield Line(f"── {rules.pop(0)[2]} ", fill="─")
        yield row
    for *_, text in rules:
        yield Line(f"── {text} ", fill="─")


def _rules(window: ContextWindow) -> Iterator[tuple[int, int, str]]:
    """The rank behind which each rule is drawn, its place among those of one rank, its text."""
    shortlist = window.shortlist
    cut, end, floor = shortlist.cut, shortlist.end, shortlist.floor
    if cut is not None and cut.rank is not None:
        yield cut.rank, 0, f"cut: #{cut.turn} with {cut.score:.2f} is the last one at full text"
    if floor is not None:
        yield shortlist.above_floor, 1, f"floor {floor:.2f}: nothing below is picked"
    if end is not None and end.rank is not None:
        yield end.rank, 2, f"end of the shortlist: rank {end.rank} with {end.score:.2f}"


@dataclass(frozen=True, slots=True)
class Marks:
    """What the user decided, as it is marked on rows."""

    steering: Steering = field(default_factory=Steering)
    once: Once = NO_MORE

    def of(self, turn: int) -> str:
        """`P`: pinned, `X`: excluded; `+`: wanted for this message, `−`: kept out of it."""
        hold = {Hold.PINNED: "P", Hold.EXCLUDED: "X", None: " "}[self.steering.of(turn)]
        for turns, mark in ((self.once.wanted, "+"), (self.once.dropped, "−")):
            if turn in turns:
                return mark + hold
        return " " + hold


def columns_of(
    rows: Sequence[Row], window: ContextWindow, marks: Marks
) -> Callable[[int], Sequence[Column[Row]]]:
    """Make the columns for a width: parts of no score give theirs to a reason that is too long."""
    largest = max((value for row in rows for _, value in row.parts), default=0.0)
    longest = max((cell_len(one_line(row.reason)) for row in rows), default=0)

    def tokens(row: Row) -> str:
        return part_figure(window, row.tokens) if row.tokens is not None else ""

    def with_parts(parts: Sequence[str]) -> list[Column[Row]]:
        return [
            Column("", lambda row: marks.of(row.turn), 2),
            Column("turn", lambda row: f"#{row.turn}", 6, is_right=True, gap=0),
            Column(
                "rank", lambda row: f"{row.rank:,}" if row.rank else "", 6, is_right=True, gap=0
            ),
            Column(
                "score", lambda row: f"{row.score:.2f}" if row.rank else "", 6, is_right=True, gap=0
            ),
            Column("", lambda _: "", 1, gap=0),
            *(Column(name[:2], partial(_bar, name, largest), 2) for name in parts),
            Column("tokens", tokens, 7, is_right=True),
            Column("verdict", lambda row: row.verdict, 9),
        ]

    every = parts_of(window)

    def fitting(width: int) -> Sequence[Column[Row]]:
        columns = with_parts(every)
        if longest > width - len(header(columns)):
            present = {
                name for row in rows for name, value in row.parts if abs(value) >= LEAST_TOLD
            }
            fewer = with_parts([name for name in every if name in present])
            columns = fewer if width - len(header(fewer)) > _LEAST_REASON else columns
        if width - len(header(columns)) > _LEAST_REASON:
            columns.append(Column("", lambda row: row.reason))
        return columns

    return fitting


def _bar(name: str, largest: float, row: Row) -> str:
    """Two cells, as high as the part's share of the largest; `−` for one that takes away."""
    value = dict(row.parts).get(name, 0.0)
    if value <= -LEAST_TOLD:
        return "−−"
    return part_bar(value, largest) * 2 if value >= LEAST_TOLD else ""


def parts_of(window: ContextWindow | None) -> Sequence[str]:
    """Name the parts of a score, in the order of their bars: the reranker's where one ran."""
    is_reranked = window is not None and window.reranking and not window.reranking.fallback
    return (*PARTS, RERANKER) if is_reranked else PARTS


def legend(window: ContextWindow | None = None) -> Content:
    names = [Content.assemble((name[:2], "bold underline"), name[2:]) for name in parts_of(window)]
    return Content("parts of the score: ") + Content(" ").join(names)


def never_line(window: ContextWindow) -> str:
    """Sum up what was never considered; empty where nothing was not."""
    never = window.never_candidates
    if never is None:
        return ""
    return f"{never.sentence} ({part_figure(window, never.tokens)} tokens)"


def tool_lines(window: ContextWindow, listing: Listing) -> Iterator[Line]:
    """List the tools: what each takes or would take, whether it is offered, and why."""
    offered = [each for each in window.segments if each.kind is Kind.TOOLS]
    listed = [(each.reason, each.tokens, "offered") for each in offered]
    out = Verdict.LEFT_OUT.value
    listed += [(f"{e.name}: {e.reason}", e.tokens, out) for e in window.tools_left_out]
    taken = part_figure(window, tokens_of(offered))
    left_out = part_figure(window, sum(each.tokens for each in window.tools_left_out))
    heading = f"{plural(len(offered), 'tool')} offered, {taken} tokens; not offered: {left_out}"
    yield from _lines(window, listing, f"{heading} tokens", listed)


def file_lines(window: ContextWindow, listing: Listing) -> Iterator[Line]:
    """List the files, then the parts that were found: what became of each, and why."""
    files = sum(not row.file.locator for row in window.files)
    sent = [each for each in window.segments if each.file is not None]
    listed = [
        (f"#{row.file.turn} {row.file.place}: {row.reason}", row.tokens, row.verdict.value)
        for row in window.files
    ]
    heading = f"{plural(files, 'file')} attached, {part_figure(window, tokens_of(sent))} tokens"
    yield from _lines(window, listing, heading, listed)


def _lines(
    window: ContextWindow, listing: Listing, heading: str, listed: Sequence[tuple[str, int, str]]
) -> Iterator[Line]:
    """Draw what is no turn, each with its tokens and its verdict, as far as it is listed."""
    text = fold(listing.text.strip())
    parts = {
        verdict: Part.OUT if verdict == Verdict.LEFT_OUT else Part.IN for *_, verdict in listed
    }
    shown = [
        row for row in listed if listing.part in (Part.ALL, parts[row[2]]) and text in fold(row[0])
    ]
    if shown:
        yield Line(f"── {heading} ", fill="─")
    for named, tokens, verdict in shown:
        figure = part_figure(window, tokens)
        style = "" if parts[verdict] is Part.IN else MUTED
        yield Line(f"{figure:>7} {verdict:9} {one_line(named)}", style, can_be_chosen=True)


def elsewhere_lines(window: ContextWindow, listing: Listing) -> dict[str, Source]:
    """List the turns of other conversations that were considered, each with where it stands."""
    text = fold(listing.text.strip())
    lines: dict[str, Source] = {}
    for row in window.elsewhere:
        part = Part.IN if row.verdict in _AT_FULL_TEXT else Part.OUT
        told = one_line(f"{row.name} {row.score:.2f} {row.reason}")
        if listing.part in (Part.ALL, part) and text in fold(f"{told} {row.verdict}"):
            figure = part_figure(window, row.tokens)
            lines[f"{figure:>7} {row.verdict.value:9} ↗{told}"] = row.source
    return lines


def change_line(before: ContextWindow, after: ContextWindow) -> str:
    """Say who came in and who lost their place."""

    def turns(changes: Sequence[Change]) -> str:
        sizes = ((turn.turn, abs(turn.tokens_after - turn.tokens_before)) for turn in changes)
        return ", ".join(f"#{turn} ({tokens:,})" for turn, tokens in sizes)

    found = difference(before, after)
    if not found.gained and not found.lost:
        return "Nothing came in or lost its place."
    parts = [f"came in: {turns(found.gained)}"] if found.gained else []
    parts += [f"lost their place: {turns(found.lost)}"] if found.lost else []
    return " · ".join([*parts, f"used {used_figure(before)} → {used_figure(after)}"])


def note_of(row: Row, line: str, marks: Marks) -> str:
    """Say all that is known of a row; `line` is its index line, empty where none is known."""
    head = f"#{row.turn}: {shorten(line, _LINE)}" if line else f"#{row.turn}"
    hold = marks.steering.of(row.turn)
    decided = f"{hold} by you" if hold is not None else ""
    return "\n".join(filter(None, (head, "" if decided in row.note else decided, row.note)))


def why_empty(window: ContextWindow) -> str:
    """Say why there are no rows, and what makes some; empty where there are rows."""
    if window.ledger or window.elsewhere:
        return ""
    never = window.never_candidates
    if never is not None:
        return "No turn was considered: " + never.reason + ". Type a message that asks for one."
    return "Every turn is in the window, so that none had to be chosen. A longer talk fills this."


_SENT = "This window was sent and stays as it is. Close the view to steer the next one."


@dataclass(frozen=True, slots=True)
class Ledger:
    """A window, with what is known of the turns of its ledger."""

    window: ContextWindow
    lines: Mapping[int, str]
    """Index lines, by turn."""
    marks: Marks


class LedgerView(View):
    NAME = "Ledger"
    EXPLAINED = "Every turn that was considered: its score, its price, why it is in or out."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("slash", "find", "Why", id="ledger_find", key_display="/"),
        Binding("s", "sort", "Sort", id="ledger_sort"),
        Binding("i", "part('in the window')", "In", id="ledger_in"),
        Binding("o", "part('left out')", "Out", id="ledger_out"),
        Binding("space", "toggle_once", "Once", id="ledger_once", key_display="␣"),
        Binding("p", "hold('pinned')", "Pin", id="ledger_pin"),
        Binding("x", "hold('excluded')", "Exclude", id="ledger_exclude"),
        Binding("u", "undo", "Undo", id="ledger_undo"),
    ]

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._once, self._is_steered = subject.once, False
        self._holds: list[Worker[None]] = []
        """The writing of pins and exclusions."""
        window = subject.window
        self._ledger = Ledger(window, {}, Marks(once=subject.once)) if window is not None else None
        self._listing = Listing()
        self._given: str | None = None
        """The text that the view was opened with; None without one."""
        self._why: Why | None = None
        self._elsewhere: dict[str, Source] = {}
        """The turns of other conversations that are listed, by their lines."""
        """The answer for the turn that is asked for."""
        self._sums, self._change = Note("ledger-sums"), Note("ledger-change")
        self._legend = Static(legend(window), id="ledger-legend")
        self._answer, self._note = Note("ledger-answer"), Note("ledger-note")
        self._table = TurnTable[Row](
            (),
            id="ledger-table",
            key=lambda row: row.turn,
            style=lambda row: "" if row.is_there else MUTED,
        )
        self._input = Input(placeholder="text, or #id: why, or why not?", id="ledger-text")

    def body(self) -> Body:
        return (
            self._sums,
            self._change,
            self._input,
            self._answer,
            self._legend,
            self._table,
            self._note,
        )

    def on_mount(self) -> None:
        """Show what is on the chat's screen at once; its index lines follow."""
        self._table.list.focus()
        sent = self.subject.sent
        which = f"the window sent for #{sent.position}" if sent is not None else "the next window"
        self.frame.border_title = f"{self.NAME} of {which}"
        if self._ledger is not None:
            self._show(self._ledger)
        self._read(self.subject.window)
        if self.subject.explained:
            self.call_after_refresh(self.ask_about, f"#{self.subject.explained}")

    def copyable(self) -> str:
        head = [str(part.content) for part in (self._sums, self._answer) if part.display]
        lines = [*head, *self._table.text(), str(self._note.content)]
        return "\n".join(line.rstrip() for line in lines if line.strip())

    def action_close(self) -> None:
        """Leave a text that was typed first, then the view."""
        if self._input.has_focus and self._input.value != self._given:
            self._input.value = ""
            self._leave_text()
        else:
            self._leave(lambda planned: planned)

    def action_another(self, name: str) -> None:
        self._leave(lambda planned: Another(name, planned))

    @work(group="leave")
    async def _leave(self, outcome: Callable[[Planned | None], Outcome | None]) -> None:
        """Leave once each pin is written: the chat plans what was steered, too."""
        for writing in self._holds:
            await writing.wait()
        self.dismiss(outcome(Planned(self._once) if self._is_steered else None))

    def action_find(self) -> None:
        self._input.display = True
        self._input.focus()

    def ask_about(self, text: str) -> None:
        """Look for a text, or ask for a turn by its #id."""
        self.action_find()
        self._input.value = self._given = text

    def action_sort(self) -> None:
        orders = list(Order)
        after = orders[(orders.index(self._listing.order) + 1) % len(orders)]
        self._fill(replace(self._listing, order=after))

    def action_part(self, name: str) -> None:
        """List one part of the rows; again, all of them."""
        part = Part.ALL if self._listing.part == name else Part(name)
        self._fill(replace(self._listing, part=part))

    def action_toggle_once(self) -> None:
        """Take the turn out of this message or bring it in, and no further."""
        row = self._table.row
        if row is None or not self._may_steer():
            return
        if row.turn in self.subject.session.steering.excluded:
            self.say(f"#{row.turn} is excluded: X takes that back.")
        else:
            self._once = self._once.toggled(row.turn, is_there=row.is_there)
            self._is_steered = True
            self._read()

    def action_hold(self, hold: str) -> None:
        """Pin or exclude the turn; a second time takes that back."""
        row = self._table.row
        if row is not None and self._may_steer():
            self._hold(row.turn, Hold(hold))

    def action_undo(self) -> None:
        """Take the last pin or exclusion back, made here or in the chat."""
        changes = self.subject.pins.changes
        if not self._may_steer():
            return
        if changes:
            last = changes.pop()
            self._hold(last.turn, last.before, undoes=True)
        else:
            self.say("Nothing was pinned or excluded since this was opened.")

    def _may_steer(self) -> bool:
        if self.subject.sent is not None:
            self.say(_SENT)
        return self.subject.sent is None

    def _hold(self, turn: int, hold: Hold | None, *, undoes: bool = False) -> None:
        def change() -> None:
            with suppress(LookupError):  # the turn is gone
                self.subject.pins.make(self.subject.session, turn, hold, undoes=undoes)

        self._is_steered = True
        self._holds.append(self.write(change, lambda _: self._read()))

    @on(Input.Changed)
    def _look_for_text(self, event: Input.Changed) -> None:
        self._why = None
        self._answer.display = False
        self._fill(replace(self._listing, text=event.value))
        self._explain()

    @on(Input.Submitted)
    def _leave_text(self) -> None:
        """Back to the table, which keeps to the text."""
        self._input.display = bool(self._input.value)
        self._table.list.focus()

    @on(OptionList.OptionSelected)
    def _go_to(self) -> None:
        row, elsewhere = self._table.row, self._elsewhere.get(self._table.line)
        if row is not None:
            self._leave(lambda planned: GoTo(row.turn, planned))
        elif elsewhere is not None:
            self.show_elsewhere(elsewhere)

    @on(OptionList.OptionHighlighted)
    def _show_note(self) -> None:
        row, ledger = self._table.row, self._ledger
        if ledger is not None:
            note = self._table.line or never_line(ledger.window)
            if row is not None:
                note = note_of(row, ledger.lines.get(row.turn, ""), ledger.marks)
            self._note.update(note)

    def _read(self, window: ContextWindow | None = None) -> None:
        """Plan, unless a window is given, and read the index lines of its ledger."""
        read = partial(self._planned, self._once, window)
        self.load(read, self._show_planned, refuse=self._show_refusal)

    def _planned(self, once: Once, window: ContextWindow | None) -> Ledger:
        subject, session = self.subject, self.subject.session
        planned = window or session.preview(subject.draft, subject.mode, once)
        entries = session.memory.index.entries({row.turn for row in planned.ledger})
        lines = {entry.turn: entry.summary for entry in entries}
        return Ledger(planned, lines, Marks(session.steering, once))

    def _show_planned(self, ledger: Ledger) -> None:
        before, self._ledger = self._ledger, ledger
        is_other = before is not None and before.window != ledger.window
        if before is not None and is_other and self._is_steered:
            self._change.show(change_line(before.window, ledger.window))
        self._show(ledger)
        self._explain()

    def _show_refusal(self, error: JitchatError) -> None:
        self._ledger = None
        self._table.show([])
        self._note.update()
        self.show_nothing(str(error), hides=False)

    def _explain(self) -> None:
        """Answer for the turn that is asked for by its #id."""
        if self._listing.turn is not None and self._ledger is not None:
            read = partial(self._explained, self._listing.turn, self._ledger)
            self.load(read, self._show_why, refuse=self._show_answer, group="why")

    def _explained(self, turn: int, ledger: Ledger) -> tuple[Why, str]:
        subject, session = self.subject, self.subject.session
        draft, kept_out = subject.draft, session.keeps_out(ledger.marks.once)
        if subject.sent is not None:
            draft, kept_out = subject.sent.content, frozenset()
        answer = why(session.memory, Explained(ledger.window, draft, subject.sent, kept_out), turn)
        return answer, "".join(entry.summary for entry in session.memory.index.entries([turn]))

    def _show_why(self, result: tuple[Why, str]) -> None:
        answer, line = result
        if self._ledger is None or answer.turn != self._listing.turn:
            return
        self._why = answer
        self._ledger = replace(self._ledger, lines={**self._ledger.lines, answer.turn: line})
        self._show_answer(answer)
        self._fill()

    def _show_answer(self, answer: Why | JitchatError) -> None:
        self._answer.show(for_terminal(str(answer)))

    def _show(self, ledger: Ledger) -> None:
        self.show_nothing(why_empty(ledger.window), hides=False)
        self._legend.update(legend(ledger.window))
        self._sums.update(f"{ledger.window.mode}: {identity_sentence(ledger.window)}")
        self._fill()

    def _fill(self, listing: Listing | None = None) -> None:
        """Show the rows of the listing; a turn that was asked for stands among them."""
        self._listing = listing = listing or self._listing
        ledger = self._ledger
        if ledger is None:
            return
        window, rows = ledger.window, [row_of(row) for row in ledger.window.ledger]
        extra = row_beside_ledger(self._why) if self._why is not None else None
        shown = listing.of([*rows, *([extra] if extra else [])], ledger.lines)
        is_ruled = listing.order is Order.RANK and shown and not listing.text
        items: list[Row | Line] = [*(ruled(shown, window) if is_ruled else shown)]
        never = never_line(window)
        if never and listing.part is not Part.IN and not listing.text:
            items.append(Line(never, can_be_chosen=True))
        self._elsewhere = elsewhere_lines(window, listing)
        if self._elsewhere:
            items.append(Line("── turns of other conversations ", fill="─"))
        items += [Line(text, can_be_chosen=True) for text in self._elsewhere]
        items += (*file_lines(window, listing), *tool_lines(window, listing))
        columns = columns_of(shown, window, ledger.marks)
        self._table.show(items, at=listing.turn, columns=columns)
        of = f"{len(shown):,} of " if len(shown) != len(rows) else ""
        count = f"{of}{plural(len(rows), 'turn')}"
        self.frame.border_subtitle = f"by {listing.order} · {listing.part} · {count}"
        self._show_note()
