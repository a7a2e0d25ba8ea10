"""One message answered in several modes at once: choosing modes, their cost, and the reply to keep.

A window that is identical in several modes is sent once.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical
from textual.worker import Worker, WorkerError

from jitchat.compare_modes import ModeComparison
from jitchat.errors import JitchatError, WindowOverflow
from jitchat.events import AnswerProgress, Event, ReasoningFound, ReplyDelta
from jitchat.text.figures import about_cost, enumerated
from jitchat.text.sanitize import one_line
from jitchat.tui.batches import reply_batcher
from jitchat.tui.drawing import Content
from jitchat.tui.figures import cost_figure, reported, tokens
from jitchat.tui.model_rows import READER
from jitchat.tui.notices import notify_error, reports_errors
from jitchat.tui.views.view import Body, Branched, Note, Subject, View, mode_bindings
from jitchat.tui.views.what_if import Side, Windows, compare, title_of
from jitchat.tui.widgets.reply import ReplyView
from jitchat.values import Mode, Status, Usage

_NOTHING = "Nothing to ask. Type a message, then /askall."
_LEAST = 30
"""Least width of a column: if not all fit, only some are shown at a time."""


def _before_asking(side: Side) -> str:
    """Write `1,187 tokens · ~$0.0041`, or why its window is not sent."""
    if side.same_as is not None:
        return f"same window as {side.same_as}, sent once"
    return side.overflow or f"{side.figures[0]} tokens · {side.figures[2]}"


def _cost_of(sides: Sequence[Side]) -> str:
    """Write the windows' total cost: `~$0.0041`, `cost unknown`; empty if free."""
    amounts = [side.amount for side in sides if side.amount is not None]
    total = sum(amounts) if len(amounts) == len(sides) else None
    return about_cost(total) if total != 0 else ""


def state_of(answer: AnswerProgress) -> str:
    if not answer.is_over:
        return _under_way(answer)
    if isinstance(answer.error, WindowOverflow):
        return "does not fit"
    if answer.reply is not None:
        return "done" if answer.reply.status is Status.COMPLETE else "cut"
    if answer.error is not None:
        return "failed"
    return "stopped" if answer.left_at is not None else "not asked"


def _under_way(answer: AnswerProgress) -> str:
    if answer.left_at is None:
        return "planning…"
    if answer.first_at is None:
        return "waiting…"
    return "answering…" if answer.text else "thinking…"


def times_of(answer: AnswerProgress) -> str:
    """Write `first 0.42 s · all 2.10 s`: the time to the first token and to the end, if known."""
    times = (("first", answer.to_first), ("all", answer.took))
    return " · ".join(f"{name} {seconds:.2f} s" for name, seconds in times if seconds is not None)


def figures_of(answer: AnswerProgress) -> str:
    """Write `in 1,187 ✓ · out 210 ✓ · $0.0041`, as far as known.

    Counts that the provider did not report are jitchat's own, marked as estimates.
    """
    if answer.window is None:
        return ""
    usage = answer.usage or Usage(None, None)
    sent, out = usage.input_tokens, usage.output_tokens
    parts = [f"in {reported(sent) if sent is not None else answer.window.used_figure}"]
    if answer.is_over and answer.first_at is not None:
        own = tokens(answer.counted, exact=False)
        parts.append(f"out {reported(out) if out is not None else own}")
    if answer.is_over:
        parts.append(cost_figure(answer.cost, answer.usage))
    return " · ".join(parts)


def trouble_of(answer: AnswerProgress) -> str:
    """Return the error or the notice about the request; usually empty."""
    return one_line(str(answer.error) if answer.error is not None else answer.notice)


def plain(answer: AnswerProgress) -> str:
    figures = (str(answer.mode), state_of(answer), times_of(answer), figures_of(answer))
    head = " · ".join(filter(None, figures))
    return "\n".join(filter(None, (head, trouble_of(answer), answer.text)))


class AnswerColumn(Vertical):
    """Draws one answer; on a narrow screen, its text only while it is selected."""

    def __init__(self, mode: Mode) -> None:
        super().__init__(classes="answer")
        self.mode = mode
        self.twins: tuple[Mode, ...] = ()
        """Modes with an identical window, which share this answer."""
        self._known: tuple[Content, str, str] = Content(f" {mode} "), "", ""
        """The answer's name, state and figures as drawn."""
        self._times = ""
        self._head, self._figures = Note(classes="answer-head"), Note(classes="answer-figures")
        self._trouble = Note(classes="answer-trouble")
        self.text = ReplyView(classes="answer-text")

    def compose(self) -> ComposeResult:
        yield from (self._head, self._figures, self._trouble, self.text)

    async def on_click(self) -> None:
        await self.run_action(f"screen.look_at('{self.mode}')")

    def announce(self, tick: str, figures: str) -> None:
        """Show what is known before the window is sent."""
        self._known = Content.assemble(f"{tick} ", (f" {self.mode} ", "reverse bold")), "", figures
        self.draw()

    def show(self, answer: AnswerProgress) -> None:
        name = Content.styled(f" {' = '.join((self.mode, *self.twins))} ", "reverse bold")
        self._known = name, state_of(answer), figures_of(answer)
        self._times = times_of(answer)
        self.draw()
        self._trouble.show(trouble_of(answer))

    def draw(self) -> None:
        """Draw head and figures; in one line while the column has only one."""
        name, state, figures = self._known
        is_narrow = self.screen.has_class("-narrow")
        is_brief = is_narrow and not self.has_class("-on")
        beside = (state, *([figures] if is_brief else [self._times] if is_narrow else []))
        below = (figures, "" if is_narrow else self._times)
        self._head.update(Content.assemble(name, f" {' · '.join(filter(None, beside))}"))
        self._figures.show("" if is_brief else "\n".join(filter(None, below)))

    async def take(self, event: Event) -> None:
        match event:
            case ReplyDelta(text):
                self.text.add(text)
            case ReasoningFound():
                self.text.finish("")

    async def finish(self, answer: AnswerProgress) -> None:
        self.show(answer)
        self.text.finish(answer.text)


class AskAllView(View):
    EXPLAINED = "One message, answered in several modes at once; all answers are kept."
    FILLS = True
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "close", "Stop, close", id="ask_all_close"),
        Binding("enter", "ask", "Ask", id="ask_all_yes", priority=True),
        Binding("enter", "go_on", "Keep this one", id="ask_all_go_on", priority=True),
        Binding("n", "decline", "Don't ask", id="ask_all_no"),
        Binding("space", "tick", "Tick", id="ask_all_tick", priority=True),
        Binding("a", "tick_all", "All", id="ask_all_tick_all"),
        *mode_bindings("look_at", "ask_all"),
        Binding("tab", "next(1)", "Next", id="ask_all_next", show=False),
        Binding("shift+tab", "next(-1)", "Back", id="ask_all_back", show=False),
    ]

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._note = Note("ask-all-note")
        self._columns = {mode: AnswerColumn(mode) for mode in Mode}
        self._answers = Container(*self._columns.values(), id="ask-all-answers")
        self._comparison: Windows | None = None
        self._ticked: set[Mode] = set()
        self._asking: ModeComparison | None = None
        self._asker: Worker[JitchatError | None] | None = None
        """The worker that asks; None when done."""
        self.looked_at = Mode.JIT

    def body(self) -> Body:
        return (self._note, self._answers)

    def on_mount(self) -> None:
        """Plan first, to find out which windows differ and what they cost."""
        self.action_look_at(Mode.JIT.value)
        draft, once = self.subject.question
        if not draft.strip():
            self.show_nothing(_NOTHING)
            return
        self.frame.border_title = title_of(self.NAME, draft)
        self._note.update("planning…")
        self.load(partial(compare, self.subject.session, draft, once), self._take_windows)

    def on_resize(self) -> None:
        self._show_columns()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("tick", "tick_all"):
            return self.confirms
        return super().check_action(action, parameters)

    def _take_windows(self, comparison: Windows) -> None:
        """Tick all windows that differ; send them at once if that is fast and free."""
        self._comparison, self._ticked = comparison, set(comparison.modes)
        for mode, column in self._columns.items():
            column.twins = comparison.twins(mode)
        if self.subject.session.provider.name == READER and self._ticked:
            self.action_ask()
        else:
            self.confirms = True
            self._draw_question(comparison)

    def _draw_question(self, comparison: Windows) -> None:
        """Show what is ticked, and ask for confirmation of its cost, which excludes the answers."""
        for side in comparison.sides:
            column, tick = self._columns[side.mode], "   "
            if side.mode in comparison.modes:
                tick = "[✓]" if side.mode in self._ticked else "[ ]"
            column.announce(tick, _before_asking(side))
        sides = [side for side in comparison.different if side.mode in self._ticked]
        who, cost = enumerated([side.mode for side in sides]), _cost_of(sides)
        question = f"Ask {who} for {cost}, plus the answers?"
        if not cost:
            question = f"Ask {who}?"
        elif cost.endswith("unknown"):
            question = f"Ask {who}? The cost is unknown."
        keys = "Enter asks, Space ticks or unticks one, Esc cancels."
        self._note.update(f"{question} {keys}" if sides else f"Nothing is ticked. {keys}")

    def action_tick(self) -> None:
        """Tick or untick the selected window."""
        if self._comparison is None:
            return
        side = next(each for each in self._comparison.sides if each.mode is self.looked_at)
        if side.mode in self._comparison.modes:
            self._ticked ^= {side.mode}
            self._draw_question(self._comparison)
        else:
            self.say(f"{side.mode}: {_before_asking(side)}.")

    def action_tick_all(self) -> None:
        if self._comparison is not None:
            self._ticked = set(self._comparison.modes)
            self._draw_question(self._comparison)

    def action_ask(self) -> None:
        """Ask now, unless a reply is being written."""
        comparison = self._comparison
        if comparison is None or not self._ticked or not self.is_free():
            return
        self.confirms = False
        jit = next(side.same_as for side in comparison.sides if side.mode is Mode.JIT) or Mode.JIT
        modes = [mode for mode in comparison.modes if mode in self._ticked]
        modes.sort(key=lambda mode: mode is not jit)
        self._asking = ModeComparison(self.subject.session, *self.subject.question, modes)
        if self.looked_at not in modes:
            self.action_look_at(modes[0].value)
        self._show_columns()
        self._note.update("Esc stops all answers and keeps what was received.")
        self._asker = self._ask(self._asking)

    @property
    def _modes(self) -> list[Mode]:
        """The modes that have a column: all of them before asking, then those asked."""
        return list(self._asking.answers) if self._asking is not None else list(Mode)

    def _show_columns(self) -> None:
        """Show as many columns as fit, including the selected one."""
        modes, width = self._modes, self._answers.size.width
        is_narrow = self.has_class("-narrow")
        room = len(modes) if is_narrow or not width else max(1, width // _LEAST)
        start = max(0, modes.index(self.looked_at) - room + 1)
        for mode, column in self._columns.items():
            column.display = mode in modes[start : start + room]
            column.draw()

    async def on_unmount(self) -> None:
        """Wait for the answers to end, keeping what was received."""
        if self._asker is not None:
            self._asker.cancel()
            with suppress(WorkerError):
                await self._asker.wait()

    @work(group="ask")
    async def _ask(self, asking: ModeComparison) -> JitchatError | None:
        """Return why nothing was sent."""
        batches = {
            mode: reply_batcher(partial(self.call_later, self._take_event, mode))
            for mode in asking.answers
        }
        try:
            await asking.run(lambda mode, event: batches[mode].take(event))
        except JitchatError as refused:
            return refused
        finally:
            for batch in batches.values():
                batch.flush()
        return None

    async def _take_event(self, mode: Mode, event: Event) -> None:
        self.subject.session.memory.index.throttle.attend()
        if self._asking is not None:
            column = self._columns[mode]
            column.show(self._asking.answers[mode])
            await column.take(event)

    @on(Worker.StateChanged)
    async def _worker_changed(self, message: Worker.StateChanged) -> None:
        """Show the final answers, and which one the conversation continues with."""
        asker, asking = message.worker, self._asking
        if asking is None or asker is not self._asker or not asker.is_finished:
            return
        self._asker = None
        error = asker.result or asking.error
        if error is not None:
            notify_error(self, error)
        for mode, answer in asking.answers.items():
            await self._columns[mode].finish(answer)
        self._note.update(self._how_it_goes_on(asking))

    def _how_it_goes_on(self, asking: ModeComparison) -> str:
        if asking.goes_on is None:
            rest = "is kept as it was" if self.subject.sent is not None else "stays in the prompt"
            return f"There was no answer. The message {rest}."
        mode = next(mode for mode, place in asking.replies.items() if place == asking.goes_on)
        if len(asking.replies) == 1:
            return f"Esc keeps the answer in {mode}."
        return f"Enter keeps the highlighted answer; Esc keeps {mode}'s."

    def copyable(self) -> str:
        answers = self._asking.answers.values() if self._asking is not None else ()
        return "\n\n".join(map(plain, answers))

    def action_look_at(self, mode: str) -> None:
        wanted = Mode(mode)
        if wanted not in self._modes:
            self.say(f"{wanted} was not asked{self._why_not(wanted)}.")
            return
        self.looked_at = wanted
        for column in self._columns.values():
            column.set_class(column.mode is self.looked_at, "-on")
        self._show_columns()
        self._columns[self.looked_at].text.focus()

    def _why_not(self, mode: Mode) -> str:
        sides = self._comparison.sides if self._comparison is not None else ()
        same = next((side.same_as for side in sides if side.mode is mode), None)
        return f": its window is the same as that of {same}" if same is not None else ""

    def action_next(self, step: int) -> None:
        modes = self._modes
        self.action_look_at(modes[(modes.index(self.looked_at) + step) % len(modes)].value)

    @reports_errors
    async def action_go_on(self) -> None:
        if self._asking is None:
            return
        position = self._asking.replies.get(self.looked_at)
        if self._asker is not None:
            self.say("Answers are being written. Esc stops them.")
        elif position is None:
            self.say(f"There is no answer in {self.looked_at}: choose another.")
        else:
            await asyncio.to_thread(self.subject.session.memory.switch_to, position)
            self.dismiss(Branched(position, clears_draft=self.subject.sent is None))

    def action_close(self) -> None:
        """Stop the answers; if they have ended, close with the answer named in the note."""
        asking = self._asking
        if self._asker is not None:
            self._asker.cancel()
        elif asking is None or asking.said is None:
            self.dismiss(None)
        else:
            clears = asking.goes_on is not None and self.subject.sent is None
            self.dismiss(Branched(asking.goes_on or asking.said.position, clears))

    def action_another(self, name: str) -> None:
        """Open another view, unless an answer must be chosen first."""
        if self._asker is None and (self._asking is None or self._asking.said is None):
            super().action_another(name)
        else:
            self.say("Choose an answer first, with Enter or Esc.")
