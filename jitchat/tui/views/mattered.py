"""Which turn mattered: the reply's window without each retrieved turn, answered again."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace

from textual import on, work
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.worker import Worker

from jitchat.errors import JitchatError
from jitchat.subcall.comparing import Measure, measure_of
from jitchat.subcall.leave_one_out import Tried, cost_of_trials, leave_one_out, trials_of
from jitchat.tui.cells import BESIDE
from jitchat.tui.views.mattered_rows import (
    CUT,
    NO_WINDOW,
    NOTHING_RETRIEVED,
    Sheet,
    answer_of,
    header,
    plain,
    question_of,
    row_line,
    state_of,
)
from jitchat.tui.views.miss_rows import heading
from jitchat.tui.views.replied import STREAMING, Replied, replied, why_none
from jitchat.tui.views.subject import GoTo, Subject
from jitchat.tui.views.view import View
from jitchat.tui.widgets.pointed_list import PointedList
from jitchat.turn import Status

_READER = "reader"


class MatteredView(View):
    """How much the answer changes without each turn."""

    CSS_PATH = ["view.tcss", "mattered.tcss"]  # noqa: RUF012  Textual's own shape
    NAME = "Which turn mattered"
    EXPLAINED = "Asked again without each retrieved turn: how much the answer changes."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("y", "ask", "Ask", id="mattered_yes"),
        Binding("n", "refuse", "Do not ask", id="mattered_no"),
        Binding("y", "copy", "Copy", id="mattered_copy"),
    ]

    @dataclass
    class Looked(Message):
        """What can be tried, or why nothing can."""

        outcome: Sheet | str | JitchatError
        measure: Measure | None = None
        cost: float | None = None
        """Of all requests, in US dollars; None where that is not known."""

    @dataclass
    class Heard(Message):
        """What came of one trial."""

        tried: Tried

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._sheet: Sheet | None = None
        self._measure: Measure | None = None
        self._asks = False
        self._asking: Worker[None] | None = None
        self._heading, self._state = Static(id="mattered-heading"), Static(id="mattered-state")
        self._header = Static(Content(header()), id="mattered-header")
        self._list = PointedList(id="mattered-list", compact=True)
        self._answer = Static(id="mattered-answer")
        self._below = VerticalScroll(self._answer, id="mattered-below")

    def body(self) -> Iterable[Widget]:
        """Message and reply, how far it is, a bar a turn, the answer without one."""
        yield self._heading
        yield self._state
        yield self._header
        yield self._list
        yield self._below

    def on_mount(self) -> None:
        """The window is read first; nothing is sent before it is known what that takes."""
        self._list.focus()
        self._look()

    def on_resize(self) -> None:
        """Rows are cut where the list ends."""
        self._fill()

    def copyable(self) -> str:
        """Write every bar and every answer."""
        return "\n".join(plain(self._sheet)) if self._sheet is not None else ""

    def check_action(
        self,
        action: str,
        parameters: tuple[object, ...],  # noqa: ARG002  Textual's own shape
    ) -> bool | None:
        """Y asks where that is the question, and copies elsewhere."""
        if action in ("ask", "refuse"):
            return self._asks
        return not self._asks if action == "copy" else True

    def action_ask(self) -> None:
        """Agree to the requests."""
        self._start()

    def action_refuse(self) -> None:
        """Send nothing."""
        self.dismiss(None)

    def action_close(self) -> None:
        """Stop asking first, keeping what came; then leave."""
        if self._asking is not None and self._asking.is_running:
            self._asking.cancel()
            self.notify("Stopped. Esc closes the view.", markup=False)
        else:
            self.dismiss(None)

    @work(thread=True, group="mattered")
    def _look(self) -> None:
        try:
            message = self._looked_up()
        except JitchatError as error:
            message = self.Looked(error)
        self.post_message(message)

    def _looked_up(self) -> Looked:
        session, found = self.subject.session, replied(self.subject)
        if found is None:
            return self.Looked(why_none(self.subject))
        if found.window is None or found.reply.status is not Status.COMPLETE:
            return self.Looked(_why_not(found))
        provider = session.provider
        exact = provider.name == _READER and found.window.model == provider.model
        trials = trials_of(found.window, control=not exact)
        if not trials:
            return self.Looked(NOTHING_RETRIEVED)
        wanted = {trial.turn for trial in trials}
        turns = (turn for turn in session.memory.turns if turn.position in wanted)
        texts = {turn.position: turn.content[:400] for turn in turns}
        measure = measure_of(session.memory.embedder, exact=exact)
        sheet = Sheet(found, trials, texts, measure.name, exact)
        identity = found.window_id
        ending = session.memory.archive.ending(identity) if identity is not None else None
        size = ending.usage.output_tokens if ending is not None and ending.usage else None
        return self.Looked(sheet, measure, cost_of_trials(trials, session.options.prices, size))

    @on(Looked)
    def _looked(self, message: Looked) -> None:
        outcome = message.outcome
        if isinstance(outcome, Sheet):
            self._sheet, self._measure = outcome, message.measure
            name = f"{self.NAME} for #{outcome.replied.reply.position}"
            self.query_one("#view-frame").border_title = name
            self._fill()
            if outcome.exact:
                self._start()
            else:
                self._ask(outcome, message.cost)
            return
        for part in (self._heading, self._state, self._header, self._list, self._below):
            part.display = False
        self.show_nothing(str(outcome))

    def _ask(self, sheet: Sheet, cost: float | None) -> None:
        """Say what it takes, and who answers if that is another model than then."""
        window, model = sheet.replied.window, self.subject.session.provider.model
        told = question_of(sheet, model, cost)
        if window is not None and window.model != model:
            told += f" The reply is by {window.model}: more than the turns may differ."
        self._asks = True
        self._state.update(Content(told))
        self.refresh_bindings()

    def _start(self) -> None:
        self._asks = False
        self.refresh_bindings()
        if self._sheet is not None:
            self._state.update(Content(state_of(self._sheet)))
            self._asking = self._run(self._sheet)

    @work(group="mattered-asking", exclusive=True)
    async def _run(self, sheet: Sheet) -> None:
        session, window = self.subject.session, sheet.replied.window
        if window is None or self._measure is None:
            return
        reply = sheet.replied.reply.content, self._measure
        options = session.request_options(window)
        trying = leave_one_out(session.provider, options, window, sheet.trials, reply)
        async with aclosing(trying) as found:
            async for tried in found:
                self.post_message(self.Heard(tried))

    @on(Heard)
    def _heard(self, message: Heard) -> None:
        if self._sheet is None:
            return
        here = self._turn_here()
        tried = {**self._sheet.tried, message.tried.trial.turn: message.tried}
        self._sheet = replace(self._sheet, tried=tried)
        self._state.update(Content(state_of(self._sheet)))
        self._fill(here)

    @on(OptionList.OptionSelected)
    def _go_to(self) -> None:
        turn = self._turn_here()
        if turn is not None:
            self.dismiss(GoTo(turn))

    @on(OptionList.OptionHighlighted)
    def _show_answer(self) -> None:
        place, sheet = self._list.highlighted, self._sheet
        if sheet is not None and place is not None:
            self._answer.update(Content(answer_of(sheet, sheet.rows[place])))

    def _turn_here(self) -> int | None:
        """The turn under the cursor; None on the unchanged window, or without rows."""
        place, sheet = self._list.highlighted, self._sheet
        return sheet.rows[place].turn if sheet is not None and place is not None else None

    def _fill(self, here: int | None = None) -> None:
        """Draw the rows, with the cursor on its turn; else on the one that mattered most."""
        sheet = self._sheet
        if sheet is None:
            return
        width, rows = max(20, self._list.size.width - BESIDE), sheet.rows
        self._heading.update(Content(heading(sheet.replied, width)))
        places = {trial.turn: place for place, trial in enumerate(rows)}
        here = self._turn_here() if here is None else here
        self._list.set_options([row_line(sheet, trial, width) for trial in rows])
        self._list.highlighted = places.get(here, 0) if here is not None else 0
        self._show_answer()


def _why_not(found: Replied) -> str:
    """Say why no answer can be compared with a reply."""
    if found.window is None:
        return NO_WINDOW
    status = found.reply.status
    return STREAMING if status is Status.STREAMING else CUT.format(status=status)
