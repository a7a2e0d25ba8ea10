"""One message, answered in each mode at once: what that costs, the answers, which one goes on."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.worker import Worker, WorkerError

from jitchat.compare_modes import ModeComparison
from jitchat.errors import JitchatError, WindowOverflow
from jitchat.events import AnswerProgress, Event, ReasoningFound, ReplyDelta
from jitchat.text.sanitize import one_line
from jitchat.tui.batches import reply_batcher
from jitchat.tui.figures import cost_figure, reported, tokens, used_figure
from jitchat.tui.notices import notify_error, reports_errors
from jitchat.tui.views.view import ALL_MODES, Body, Branched, Note, Subject, View, mode_bindings
from jitchat.tui.views.what_if import Comparison, compare, title_of
from jitchat.tui.widgets.reply import ReplyBody
from jitchat.values import Mode, Status, Usage

_NOTHING = f"There is nothing to ask. Type a message, then ask {ALL_MODES} with Alt+A."


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
    """`first 0.42 s · all 2.10 s`: to its first token and to its end, as far as it is."""
    times = (("first", answer.to_first), ("all", answer.took))
    return " · ".join(f"{name} {seconds:.2f} s" for name, seconds in times if seconds is not None)


def figures_of(answer: AnswerProgress) -> str:
    """`in 1,187 ✓ · out 210 ✓ · $0.0041`, as far as it is known.

    What the provider did not report is the own count, marked as an estimate.
    """
    if answer.window is None:
        return ""
    usage = answer.usage or Usage(None, None)
    sent, out = usage.input_tokens, usage.output_tokens
    parts = [f"in {reported(sent) if sent is not None else used_figure(answer.window)}"]
    if answer.is_over and answer.first_at is not None:
        own = tokens(answer.counted, exact=False)
        parts.append(f"out {reported(out) if out is not None else own}")
    if answer.is_over:
        parts.append(cost_figure(answer.cost, answer.usage))
    return " · ".join(parts)


def trouble_of(answer: AnswerProgress) -> str:
    """Say what went wrong, or what is to be known of the request; mostly empty."""
    return one_line(str(answer.error) if answer.error is not None else answer.told)


def plain(answer: AnswerProgress) -> str:
    figures = (str(answer.mode), state_of(answer), times_of(answer), figures_of(answer))
    head = " · ".join(filter(None, figures))
    return "\n".join(filter(None, (head, trouble_of(answer), answer.text)))


class AnswerColumn(Vertical):
    """Draws one answer; on a narrow screen, its text only while it is the one that is looked at."""

    def __init__(self, mode: Mode) -> None:
        super().__init__(classes="answer")
        self.mode = mode
        self._head, self._figures = Note(classes="answer-head"), Note(classes="answer-figures")
        self._trouble = Note(classes="answer-trouble")
        self._text, self._follows = ReplyBody(""), False
        self.scroll = VerticalScroll(self._text, classes="answer-text")

    def compose(self) -> ComposeResult:
        yield from (self._head, self._figures, self._trouble, self.scroll)

    async def on_click(self) -> None:
        await self.run_action(f"screen.look_at('{self.mode}')")

    def announce(self, state: str) -> None:
        """Show what is known of the answer before it is asked for."""
        self._head.update(Content.assemble((f" {self.mode} ", "reverse bold"), f" {state}"))

    def show(self, answer: AnswerProgress) -> None:
        self.announce(" · ".join(filter(None, (state_of(answer), times_of(answer)))))
        self._figures.update(figures_of(answer))
        self._trouble.show(trouble_of(answer))

    async def take(self, event: Event) -> None:
        match event:
            case ReplyDelta(text):
                self._text.add(text, typing=False)
                if not self._follows and self.scroll.max_scroll_y:
                    # The end stays in view from now on, until the user scrolls.
                    self._follows = True
                    self.scroll.anchor()
            case ReasoningFound():
                await self._text.finish("")

    async def finish(self, answer: AnswerProgress) -> None:
        self.show(answer)
        await self._text.finish(answer.text)


class AskAllView(View):
    NAME = f"Ask {ALL_MODES}"
    EXPLAINED = "One message, asked in each mode at once; all of its answers are kept."
    FILLS = True
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "close", "Stop, close", id="ask_all_close"),
        Binding("enter", "ask", "Ask", id="ask_all_yes", priority=True),
        Binding("enter", "go_on", "Go on with it", id="ask_all_go_on", priority=True),
        *mode_bindings("look_at", "ask_all"),
        Binding("tab", "next(1)", "Next", id="ask_all_next", show=False),
        Binding("shift+tab", "next(-1)", "Back", id="ask_all_back", show=False),
        Binding("n", "decline", "Do not ask", id="ask_all_no"),
    ]

    @dataclass
    class Reported(Message):
        mode: Mode
        event: Event

    @dataclass
    class Ended(Message):
        error: JitchatError | None
        """Why nothing was asked, or what could not be stored."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._note = Note("ask-all-note")
        self._columns = {mode: AnswerColumn(mode) for mode in Mode}
        self._asking: ModeComparison | None = None
        self._asker: Worker[None] | None = None
        """What asks, until it is over."""
        self.looked_at = Mode.JIT

    def body(self) -> Body:
        return (self._note, Container(*self._columns.values(), id="ask-all-answers"))

    def on_mount(self) -> None:
        """Ask, after a question where it may cost something."""
        self.action_look_at(Mode.JIT.value)
        draft, once = self.subject.question
        if not draft.strip():
            self.show_nothing(_NOTHING)
            return
        self.frame.border_title = title_of(self.NAME, draft)
        prices = self.subject.session.options.prices
        if prices is not None and prices.is_free:
            self.action_ask()
        else:
            self._note.update("planning…")
            self.load(partial(compare, self.subject.session, draft, once), self._ask_first)

    def _ask_first(self, comparison: Comparison) -> None:
        """Ask whether it may cost that much; the answers are not in that."""
        for side in comparison.sides:
            figures = side.overflow or f"{side.figures[0]} tokens · {side.figures[2]}"
            self._columns[side.mode].announce(figures)
        self.confirms = True
        question = f"{self.NAME} for {comparison.cost}, and what the answers cost?"
        if comparison.cost.endswith("unknown"):
            question = f"{self.NAME}? What that costs is not known."
        self._note.update(f"{question} Enter asks, Esc does not.")

    def action_ask(self) -> None:
        """Ask now, unless a reply is on its way: that message is being asked already."""
        if not self.is_free():
            return
        self.confirms = False
        self._asking = ModeComparison(self.subject.session, *self.subject.question)
        self._note.update(f"Esc stops {ALL_MODES} and keeps what came.")
        self._asker = self._ask(self._asking)

    async def on_unmount(self) -> None:
        """Have the answers end first, with what came of them."""
        if self._asker is not None:
            self._asker.cancel()
            with suppress(WorkerError):
                await self._asker.wait()

    @work(group="ask")
    async def _ask(self, asking: ModeComparison) -> None:
        def report(mode: Mode, event: Event) -> None:
            self.post_message(self.Reported(mode, event))

        batches = {mode: reply_batcher(partial(report, mode)) for mode in Mode}
        error: JitchatError | None = None
        try:
            await asking.run(lambda mode, event: batches[mode].take(event))
        except JitchatError as refused:
            error = refused
        finally:
            for batch in batches.values():
                batch.flush()
            self.post_message(self.Ended(error or asking.error))

    @on(Reported)
    async def _reported(self, message: Reported) -> None:
        self.subject.session.memory.index.throttle.attend()
        if self._asking is not None:
            column = self._columns[message.mode]
            column.show(self._asking.answers[message.mode])
            await column.take(message.event)

    @on(Ended)
    async def _ended(self, message: Ended) -> None:
        """Show each answer whole, and say with which the conversation goes on."""
        self._asker = None
        if message.error is not None:
            notify_error(self, message.error)
        if self._asking is not None:
            for mode, answer in self._asking.answers.items():
                await self._columns[mode].finish(answer)
            self._note.update(self._how_it_goes_on(self._asking))

    def _how_it_goes_on(self, asking: ModeComparison) -> str:
        if asking.goes_on is None:
            rest = "is kept as it was" if self.subject.sent is not None else "stays in the prompt"
            return f"None of the {ALL_MODES.removeprefix('all ')} was answered. The message {rest}."
        mode = next(mode for mode, place in asking.replies.items() if place == asking.goes_on)
        if len(asking.replies) == 1:
            return f"Esc keeps the answer in {mode}."
        return f"Enter keeps the highlighted answer; Esc keeps {mode}'s."

    def copyable(self) -> str:
        answers = self._asking.answers.values() if self._asking is not None else ()
        return "\n\n".join(map(plain, answers))

    def action_look_at(self, mode: str) -> None:
        self.looked_at = Mode(mode)
        for column in self._columns.values():
            column.set_class(column.mode is self.looked_at, "-on")
        self._columns[self.looked_at].scroll.focus()

    def action_next(self, step: int) -> None:
        modes = list(Mode)
        self.action_look_at(modes[(modes.index(self.looked_at) + step) % len(modes)].value)

    @reports_errors
    async def action_go_on(self) -> None:
        if self._asking is None:
            return
        position = self._asking.replies.get(self.looked_at)
        if self._asker is not None:
            self.say("Answers are on their way. Esc stops them.")
        elif position is None:
            self.say(f"Nothing came in {self.looked_at}: choose another.")
        else:
            await asyncio.to_thread(self.subject.session.memory.switch_to, position)
            self.dismiss(Branched(position, clears_draft=self.subject.sent is None))

    def action_close(self) -> None:
        """Stop what is on its way; else leave, with the answer that the note names."""
        asking = self._asking
        if self._asker is not None:
            self._asker.cancel()
        elif asking is None or asking.said is None:
            self.dismiss(None)
        else:
            clears = asking.goes_on is not None and self.subject.sent is None
            self.dismiss(Branched(asking.goes_on or asking.said.position, clears))

    def action_another(self, name: str) -> None:
        """Open another view, unless the chat has to follow these answers first."""
        if self._asker is None and (self._asking is None or self._asking.said is None):
            super().action_another(name)
        else:
            self.say("Enter or Esc goes on with an answer first.")
