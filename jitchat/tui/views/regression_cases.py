"""How noted cases are drawn: a line each, and all that is known of one. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from rich.cells import cell_len
from textual import on, work
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.worker import get_current_worker

from jitchat.errors import JitchatError
from jitchat.regression_cases import CaseChecker, CaseResult
from jitchat.store.regression_cases import Case, CaseKind, Cases
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.figures import BESIDE, cut
from jitchat.tui.palette import MUTED
from jitchat.tui.views.view import GoTo, Subject, View
from jitchat.tui.widgets.row_list import PointedList
from jitchat.why import Standing

_KINDS = {CaseKind.MISS: "missing", CaseKind.KEPT: "kept"}
_MOST = 200
"""Characters of a message."""


def header() -> str:
    """Name the columns."""
    return _columns("", "turn", "noted", "then", "now") + "message"


def case_line(case: Case, checked: CaseResult | None, width: int) -> Content:
    """`✓ #9  missing  left out  in the window  #61 what did we …`: at most `width` cells.

    None stands for a case that was not tried yet.
    """
    mark, style = "…", MUTED
    if checked is not None:
        mark, style = ("✓", "") if checked.passes else ("✗", "bold")
    then = _told(checked.then) if checked is not None else ""
    now = _told(checked.now) if checked is not None else "not tried yet"
    line = _columns(mark, f"#{case.wanted.position}", _KINDS[case.kind], then, now)
    said = one_line(f"#{case.said.position} {case.said.content[:_MOST]}")
    text = cut(said, max(0, width - cell_len(line)))
    return Content.assemble((line + text, style))


def note_of(case: Case, checked: CaseResult | None) -> str:
    """Say what the wanted turn says, and why it is found or not."""
    turn = case.wanted
    what = f"#{turn.position} {one_line(turn.speaker)}: {shorten(turn.content, _MOST)}"
    return what if checked is None else f"{' '.join(checked.sentences)}\n{what}"


def _columns(mark: str, turn: str, kind: str, then: str, now: str) -> str:
    return f"{mark:<1} {turn:<6} {kind:<8} {then:<17} {now:<17} "


def _told(standing: Standing | None) -> str:
    return standing.value if standing is not None else "no window"


NONE_YET = (
    "No cases are noted in this conversation yet. ! on a reply, or Alt+W, points at the turn that"
    " it lacked; that is a case then."
)


class RegressionCasesView(View):
    """Whether what was missing once is found by the settings of today."""

    CSS_PATH = ["view.tcss", "regression_cases.tcss"]  # noqa: RUF012  Textual's own shape
    NAME = "Check"
    EXPLAINED = "Noted messages, planned anew: is the wanted turn there? Enter goes to it."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("m", "go_to_message", "To the message", id="cases_message"),
        Binding("delete", "forget", "Take back", id="cases_forget"),
        Binding("u", "undo", "Undo", id="cases_undo"),
    ]

    @dataclass
    class Listed(Message):
        """The cases, not tried yet."""

        cases: list[Case]

    @dataclass
    class Tried(Message):
        """One of them, tried."""

        checked: CaseResult

    @dataclass
    class Failed(Message):
        """They cannot be read, or not be tried."""

        error: JitchatError

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._cases: list[Case] = []
        self._checked: dict[tuple[int, int], CaseResult] = {}
        """By the keys of its two turns."""
        self._forgotten: list[Case] = []
        self._header, self._note = (
            Static(Content(header()), id="cases-header"),
            Static(id="cases-note"),
        )
        self._list = PointedList(id="cases-list", compact=True)

    def body(self) -> Iterable[Widget]:
        """The cases, and all that is known of the one under the cursor."""
        yield self._header
        yield self._list
        yield self._note

    def on_mount(self) -> None:
        """They are tried at once."""
        self._list.focus()
        self._try_all()

    def on_resize(self) -> None:
        """Rows are cut where the list ends."""
        self._fill()

    def copyable(self) -> str:
        """Write each case, and why one fails."""
        lines = [self.sum, header()]
        for case in self._cases:
            checked = self._checked.get(_key(case))
            lines += [str(case_line(case, checked, 200)), f"  {note_of(case, checked)}"]
        return "\n".join(line.rstrip() for line in lines)

    @property
    def case(self) -> Case | None:
        """The one under the cursor; None without cases."""
        place = self._list.highlighted
        return self._cases[place] if place is not None and place < len(self._cases) else None

    @property
    def sum(self) -> str:
        """`5 cases · 4 found · 1 not`; while they are tried, how far that is."""
        tried = [self._checked[_key(case)] for case in self._cases if _key(case) in self._checked]
        found = sum(each.passes for each in tried)
        told = f"{plural(len(self._cases), 'case')} · {found:,} found · {len(tried) - found:,} not"
        left = len(self._cases) - len(tried)
        return f"{told} · {left:,} to try" if left else told

    @on(OptionList.OptionSelected)
    def action_go_to(self) -> None:
        """Show the wanted turn."""
        if self.case is not None:
            self.dismiss(GoTo(self.case.wanted.position))

    def action_go_to_message(self) -> None:
        """Show the message that lacked it."""
        if self.case is not None:
            self.dismiss(GoTo(self.case.said.position))

    def action_forget(self) -> None:
        """Take the case back."""
        if self.case is not None:
            self._forgotten.append(self.case)
            self._write(self.case, is_wanted=False)

    def action_undo(self) -> None:
        """Note again what was taken back last."""
        if self._forgotten:
            self._write(self._forgotten.pop(), is_wanted=True)
        else:
            self.notify("Nothing was taken back here.", markup=False)

    @work(thread=True, exclusive=True, group="cases")
    def _try_all(self) -> None:
        worker, session = get_current_worker(), self.subject.session
        try:
            cases = Cases(session.memory.store.database).of(session.memory.conversation.id)
            self.post_message(self.Listed(cases))
            for checked in CaseChecker(session).all(cases):
                if worker.is_cancelled:
                    return
                self.post_message(self.Tried(checked))
        except JitchatError as error:
            self.post_message(self.Failed(error))

    @work(thread=True, group="cases-noting")
    def _write(self, case: Case, *, is_wanted: bool) -> None:
        cases = Cases(self.subject.session.memory.store.database)
        try:
            (cases.put if is_wanted else cases.remove)(case)
        except JitchatError as error:
            self.post_message(self.Failed(error))
        else:
            self.app.call_from_thread(self._try_all)

    @on(Listed)
    def _listed(self, message: Listed) -> None:
        self._cases = message.cases
        self.show_nothing("" if self._cases else NONE_YET)
        for part in (self._header, self._list, self._note):
            part.display = bool(self._cases)
        self._fill()

    @on(Tried)
    def _tried(self, message: Tried) -> None:
        key = _key(message.checked.case)
        self._checked[key] = message.checked
        place = next((at for at, case in enumerate(self._cases) if _key(case) == key), None)
        if place is not None:
            self._list.replace_option_prompt_at_index(place, self._drawn(self._cases[place]))
        self._tell()

    @on(Failed)
    def _failed(self, message: Failed) -> None:
        self.tell(message.error)

    @on(OptionList.OptionHighlighted)
    def _tell(self) -> None:
        """Write the sum, and the note on the case under the cursor."""
        self.query_one("#view-frame").border_subtitle = self.sum if self._cases else ""
        case = self.case
        note = note_of(case, self._checked.get(_key(case))) if case is not None else ""
        self._note.update(Content(note))

    def _fill(self) -> None:
        here = self._list.highlighted or 0
        self._list.set_options([self._drawn(case) for case in self._cases])
        self._list.highlighted = min(here, len(self._cases) - 1) if self._cases else None
        self._tell()

    def _drawn(self, case: Case) -> Content:
        width = max(20, self._list.size.width - BESIDE)
        return case_line(case, self._checked.get(_key(case)), width)


def _key(case: Case) -> tuple[int, int]:
    return case.said.id, case.wanted.id
