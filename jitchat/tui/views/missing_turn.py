"""Pointing at the turn that a reply lacked: it is listed, searched for and noted."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rich.cells import cell_len, set_cell_size
from textual import on, work
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static

from jitchat.errors import JitchatError
from jitchat.store.regression_cases import Case, CaseKind, Cases
from jitchat.text.sanitize import one_line, shorten
from jitchat.text.sentences import turn_references
from jitchat.tui.figures import BESIDE, cut
from jitchat.tui.views.view import Replied, Subject, View, replied, why_none
from jitchat.tui.widgets.row_list import PointedList
from jitchat.values import Turn
from jitchat.why import Explained, Standing, why
from jitchat.window.window import ContextWindow, Kind

MOST = 50
"""Rows; a text finds the others."""
_EXCERPT = 300
_MARKS = {CaseKind.MISS: "!", CaseKind.KEPT: "K"}
_SPEAKER = 10


@dataclass(frozen=True, slots=True)
class Row:
    """A turn ahead of the message."""

    turn: Turn
    standing: str
    """What it was in the window that was sent, in one or two words."""
    is_there: bool
    """Whether that is at full text."""
    text: str
    """Of the turn, in one line; where it was searched for, around what was found."""
    noted: Case | None = None


def suggested(turns: Sequence[Turn], replied: Replied, noted: Mapping[int, Case]) -> list[int]:
    """List what is shown before anything is typed: noted turns, the ledger's, then the latest."""
    known = {turn.position for turn in turns if turn.position < replied.said.position}
    ledger = replied.window.ledger if replied.window is not None else ()
    wanted = [*noted, *(row.turn for row in ledger), *sorted(known, reverse=True)]
    return [position for position in dict.fromkeys(wanted) if position in known][:MOST]


def row_of(turn: Turn, replied: Replied, noted: Case | None, text: str = "") -> Row:
    """Make the row of a turn."""
    kind, standing = _standing(turn.position, replied.window)
    is_there = kind not in (None, Kind.INDEX)
    return Row(turn, standing, is_there, text or shorten(turn.content, _EXCERPT), noted)


def row_line(row: Row, width: int) -> Content:
    """`! #20   never        user       We moved it to …`: at most `width` cells."""
    mark = _MARKS[row.noted.kind] if row.noted is not None else " "
    speaker = set_cell_size(one_line(row.turn.speaker), _SPEAKER)
    line = f"{mark} {f'#{row.turn.position}':<6} {row.standing:<10} {speaker} "
    text = cut(one_line(row.text), max(0, width - cell_len(line)))
    return Content.assemble((line + text, "bold" if row.noted is not None else ""))


def header() -> str:
    """Name the columns."""
    return f"  {'turn':<6} {'in window':<10} {'speaker':<{_SPEAKER}} what it says"


def noted_line(case: Case) -> str:
    """Say what was noted."""
    what = "was missing" if case.kind is CaseKind.MISS else "was rightly there"
    return f"Noted: #{case.wanted.position} {what}."


def heading(replied: Replied, width: int) -> str:
    """Write the message and the reply, a line each."""
    told = (("message", replied.said), ("reply", replied.reply))
    lines = (f"{name} #{turn.position}: {one_line(turn.content[:width])}" for name, turn in told)
    return "\n".join(shorten(line, max(20, width)) for line in lines)


def _standing(position: int, window: ContextWindow | None) -> tuple[Kind | None, str]:
    if window is None:
        return None, "unknown"
    kind = window.kind_of_turns().get(position)
    if kind is not None:
        return kind, "index line" if kind is Kind.INDEX else kind.value
    considered = any(row.turn == position for row in window.ledger)
    return None, Standing.LEFT_OUT.value if considered else "never"


_NO_WINDOW = "No window was sent from here for this reply, so no ledger tells why."


@dataclass(frozen=True, slots=True)
class Asked:
    """A reply, and what is listed for it."""

    replied: Replied | None
    """None where there is none."""
    rows: Sequence[Row] = ()
    noted: Mapping[int, Case] = field(default_factory=dict)
    """By the position of the wanted turn."""


class MissWork(View):
    """A view whose work is done off the event loop; what is outdated is for it to drop."""

    @dataclass
    class Looked(Message):
        """What is listed for a text, or why nothing is."""

        serial: int
        outcome: Asked | JitchatError

    @dataclass
    class Noted(Message):
        """A case was noted or taken back, with what the ledger had said of its turn."""

        case: Case
        told: str
        is_there: bool
        """Whether it is noted now."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._writing = threading.Lock()
        self._replied: Replied | None = None
        """What the view is about, once it was read; None until then."""
        self._next: tuple[int, str] | None = None
        """What is to be looked up after what is under way; None for nothing."""
        self._looks = False

    def look(self, serial: int, text: str) -> None:
        """List the turns that hold a text, or bear its #id; for an empty one, the likely ones.

        One after the other: of what is asked for meanwhile, only the last.
        """
        self._next = serial, text
        if not self._looks:
            self._look_next()

    @on(Looked)
    def _look_next(self) -> None:
        wanted, self._next = self._next, None
        self._looks = wanted is not None
        if wanted is not None:
            self._look(*wanted)

    @work(thread=True, group="missing_turn")
    def _look(self, serial: int, text: str) -> None:
        outcome: Asked | JitchatError
        try:
            found = self._replied = self._replied or replied(self.subject)
            outcome = self._listed(found, text) if found is not None else Asked(None)
        except JitchatError as error:
            outcome = error
        self.post_message(self.Looked(serial, outcome))

    @work(thread=True, group="miss-noting")
    def note(self, case: Case, replied: Replied, *, is_wanted: bool) -> None:
        """Note a case, or take it back; one after the other."""
        memory = self.subject.session.memory
        cases = Cases(memory.store.database)
        try:
            with self._writing:
                (cases.put if is_wanted else cases.remove)(case)
            told = self._told(case, replied) if is_wanted else ""
        except JitchatError as error:
            self.app.call_from_thread(self.tell, error)
            return
        self.post_message(self.Noted(case, told, is_wanted))

    def _told(self, case: Case, replied: Replied) -> str:
        """Say what the ledger of then says of a turn."""
        if replied.window is None:
            return f"{noted_line(case)} {_NO_WINDOW}"
        said, memory = replied.said, self.subject.session.memory
        explained = Explained(replied.window, said.content, said)
        return f"{noted_line(case)} {why(memory, explained, case.wanted.position)}"

    def _listed(self, found: Replied, text: str) -> Asked:
        memory = self.subject.session.memory
        turns = memory.turns
        known = {turn.position: turn for turn in turns if turn.position < found.said.position}
        cases = Cases(memory.store.database).of(memory.conversation.id)
        noted = {case.wanted.position: case for case in cases if case.said == found.said}
        excerpts = self._excerpts(turns, found, noted, text)
        rows = (
            row_of(known[at], found, noted.get(at), excerpt)
            for at, excerpt in excerpts.items()
            if at in known
        )
        return Asked(found, tuple(rows)[:MOST], noted)

    def _excerpts(
        self, turns: Sequence[Turn], found: Replied, noted: Mapping[int, Case], text: str
    ) -> dict[int, str]:
        """Find positions with what is to be shown of the turn; empty: its beginning."""
        text = text.strip()
        if not text:
            return dict.fromkeys(suggested(turns, found, noted), "")
        named = dict.fromkeys(sorted(turn_references(f"#{text}" if text.isdecimal() else text)), "")
        if text.startswith("#"):
            return named
        memory = self.subject.session.memory
        hits = memory.store.search(text, 4 * MOST, memory.conversation.id)
        return named | {position: excerpt for _, position, excerpt in hits}


_FIRST = "Nothing is ahead of this message that could have been missing."
_NO_HIT = "No turn ahead of this message holds that."
_ASKS = "Which turn was missing? Enter notes it; Alt+K tries all that is noted again."


class MissingTurnView(MissWork):
    """What the reply should have had before it."""

    CSS_PATH = ["view.tcss", "missing_turn.tcss"]  # noqa: RUF012  Textual's own shape
    NAME = "Wrong reply"
    EXPLAINED = "Enter notes the turn that this reply lacked, to be checked later (Alt+K)."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("k", "kept", "Rightly there", id="miss_kept"),
        Binding("delete", "forget", "Take back", id="miss_forget"),
        Binding("u", "undo", "Undo", id="miss_undo"),
        Binding("slash", "find", "Search", id="miss_find", key_display="/"),
        Binding("down", "to_list", show=False),
    ]

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._asked = Asked(None)
        self._forgotten: list[Case] = []
        """Cases that were taken back here, the last one last."""
        self._serial = self._shown = 0
        """Of the text as it stands, and of the text that the rows are of."""
        self._is_submitted = False
        """Whether Enter waits for the rows of the text as it stands."""
        self._heading, self._note = Static(id="miss-heading"), Static(id="miss-note")
        self._header = Static(Content(header()), id="miss-header")
        self._input = Input(placeholder="search: words of the turn, or its #id", id="miss-text")
        self._list = PointedList(id="miss-list", compact=True)

    def body(self) -> Iterable[Widget]:
        """Message and reply, the search, the turns, what is known of the one that was noted."""
        yield self._heading
        yield self._input
        yield self._header
        yield self._list
        yield self._note

    def on_mount(self) -> None:
        """What the ledger considered is listed at first."""
        self._input.focus()
        self._look_now()

    def on_resize(self) -> None:
        """Rows are cut where the list ends."""
        self._fill()

    @property
    def row(self) -> Row | None:
        """The row under the cursor; None without rows."""
        place, rows = self._list.highlighted, self._asked.rows
        return rows[place] if place is not None and place < len(rows) else None

    def copyable(self) -> str:
        """Write message and reply, the turns, and the note."""
        lines = [str(self._heading.content), header()]
        lines += [str(row_line(row, 200)) for row in self._asked.rows]
        return "\n".join(line.rstrip() for line in [*lines, str(self._note.content)])

    def action_find(self) -> None:
        """Type words or a #id."""
        self._input.focus()

    def action_to_list(self) -> None:
        """From the text to the turns."""
        self._list.focus()

    def action_kept(self) -> None:
        """The turn was there, and rightly."""
        row = self.row
        if row is None:
            return
        if row.is_there:
            self._note_row(row, CaseKind.KEPT)
        else:
            told = f"#{row.turn.position} was not in the window: Enter notes that it was missing."
            self.notify(told, markup=False)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        """Take the first row of what was typed: the rows on screen may still be of another text."""
        if self._shown == self._serial:
            self.action_miss()
        else:
            self._is_submitted = True

    @on(OptionList.OptionSelected)
    def action_miss(self) -> None:
        """The turn under the cursor was missing, unless the window had all of it."""
        row = self.row
        if row is None:
            return
        if row.is_there:
            told = f"#{row.turn.position} was in the window at full text ({row.standing}), so it"
            self.notify(f"{told} was not missing: K notes that it was rightly there.", markup=False)
        else:
            self._note_row(row, CaseKind.MISS)

    def action_forget(self) -> None:
        """Take back what was noted about the turn."""
        row, replied = self.row, self._asked.replied
        if row is None or row.noted is None or replied is None:
            self.notify("Nothing is noted about this turn.", markup=False)
        else:
            self.note(row.noted, replied, is_wanted=False)

    def action_undo(self) -> None:
        """Note again what was taken back last."""
        if self._forgotten and self._asked.replied is not None:
            self.note(self._forgotten.pop(), self._asked.replied, is_wanted=True)
        else:
            self.notify("Nothing was taken back here.", markup=False)

    @on(Input.Changed)
    def _look_now(self) -> None:
        self._serial += 1
        self._is_submitted = False
        self.look(self._serial, self._input.value)

    @on(MissWork.Looked)
    def _looked(self, message: MissWork.Looked) -> None:
        """Show what was found, unless something else was asked for since."""
        if message.serial != self._serial:
            return
        self._shown = message.serial
        is_submitted, self._is_submitted = self._is_submitted, False
        if isinstance(message.outcome, JitchatError):
            self.tell(message.outcome)
            return
        self._asked = message.outcome
        replied = self._asked.replied
        for part in (self._input, self._header, self._list, self._note):
            part.display = replied is not None
        empty = "" if self._asked.rows else _NO_HIT if self._input.value.strip() else _FIRST
        self.show_nothing(empty if replied is not None else why_none(self.subject))
        if replied is not None:
            name = f"{self.NAME}: #{replied.reply.position}"
            self.query_one("#view-frame").border_title = name
        if not str(self._note.content):
            self._note.update(Content(_ASKS))
        self._fill(at=0)
        if is_submitted:
            self.action_miss()

    @on(MissWork.Noted)
    def _noted(self, message: MissWork.Noted) -> None:
        case, noted = message.case, dict(self._asked.noted)
        if message.is_there:
            noted[case.wanted.position] = case
        else:
            noted.pop(case.wanted.position, None)
            self._forgotten.append(case)
        told = message.told or f"Taken back: #{case.wanted.position}. U notes it again."
        self._note.update(Content(told))
        rows = (replace(row, noted=noted.get(row.turn.position)) for row in self._asked.rows)
        self._asked = replace(self._asked, rows=tuple(rows), noted=noted)
        self._fill()

    def _note_row(self, row: Row, kind: CaseKind) -> None:
        replied = self._asked.replied
        if replied is not None:
            moment = self.subject.session.memory.store.now()
            case = Case(replied.said, row.turn, kind, replied.window_id, moment)
            self.note(case, replied, is_wanted=True)

    def _fill(self, at: int | None = None) -> None:
        """Draw the rows; the cursor stays where it is if it is not put `at` another one."""
        if self._asked.replied is not None:
            width = max(20, self._heading.content_size.width)
            self._heading.update(Content(heading(self._asked.replied, width)))
        here, width = self._list.highlighted, max(20, self._list.size.width - BESIDE)
        self._list.set_options([row_line(each, width) for each in self._asked.rows])
        self._list.highlighted = (here if at is None else at) if self._asked.rows else None
