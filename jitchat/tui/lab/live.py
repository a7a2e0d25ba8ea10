"""The live demo: one question in each mode, answered live.

A round asks for one fact in longer and longer conversations. The modes are asked one after another,
because a local model answers one request at a time.
"""

import asyncio
from dataclasses import replace
from functools import partial
from time import monotonic

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical
from textual.screen import Screen
from textual.widgets import Static

from jitchat.errors import JitchatError, UsageError
from jitchat.events import AnswerProgress
from jitchat.lab.costs import Answerer, estimate_run, sentence
from jitchat.lab.experiment import Result
from jitchat.lab.live import LENGTHS, MODES, USUAL, Setup, opened
from jitchat.lab.service import LabService
from jitchat.text.sanitize import one_line
from jitchat.tui.app import JitchatApp
from jitchat.tui.backend import Backend
from jitchat.tui.dialogs.fetch import FetchScreen
from jitchat.tui.lab import live_state
from jitchat.tui.lab.lab_screen import LabScreen
from jitchat.tui.lab.live_state import LiveState, Phase
from jitchat.tui.lab.setup import answerer_line
from jitchat.tui.lab.start import ConfirmScreen
from jitchat.values import Conversation, Mode
from jitchat.weights import Weights

_ENDS = "The demo repeats rounds until you press Esc; P makes it play automatically."
_BESIDE = 110
"""Terminal columns from which the modes are shown side by side."""
_TICK = 0.25
"""Seconds between redraws while the model reads a window."""
DWELL = 6.0
"""Seconds that verdicts are shown when playing automatically."""


def _confirm(answerer: Answerer) -> ConfirmScreen:
    """State what a round sends: one question at every length."""
    budget = sentence(estimate_run(replace(USUAL.experiment, lengths=LENGTHS), answerer))
    return ConfirmScreen("Send this?", (answerer_line(answerer), f"A round: {budget}", _ENDS))


class ModeColumn(Vertical):
    def __init__(self, mode: Mode) -> None:
        super().__init__(classes="live-mode")
        self.mode, self._lines = mode, Static()
        self.border_title = mode.value

    def compose(self) -> ComposeResult:
        yield self._lines

    def show(self, state: LiveState, *, is_flat: bool) -> None:
        width = max(30, self.content_size.width)
        lines = live_state.column(state, self.mode, width, monotonic(), is_flat=is_flat)
        self._lines.update(lines)
        self.set_class(self.mode in state.answers and self.mode not in state.decided, "-asked")


class LiveScreen(LabScreen):
    """Dismissed with True after playing to its end automatically."""

    CSS_PATH = ["lab.tcss", "live.tcss"]  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("space,enter", "next", "Next", id="live_next"),
        Binding("p", "play", "Play, pause", id="live_play"),
        Binding("plus,equals_sign", "near(1)", "More near", id="live_more"),
        Binding("minus", "near(-1)", "Fewer", id="live_fewer"),
        Binding("right", "depth(1)", "Later", id="live_later"),
        Binding("left", "depth(-1)", "Earlier", id="live_earlier"),
        Binding("escape,q", "close", "End", id="live_end"),
    ]
    NAME = "Live"

    def __init__(
        self,
        backend: Backend,
        pace: float | None = None,
        first: Setup = USUAL,
        count: int = len(LENGTHS),
    ) -> None:
        """With a `pace`, it plays `count` questions and ends; 2 is half the normal speed."""
        super().__init__()
        self._backend = backend
        self._service: LabService | None = None
        self.pace, self.plays, self._left = pace, pace is not None, count
        self.state = LiveState(first, first.near, first.depth)
        self._head, self._asked = Static(id="live-setup"), Static(id="live-asked")
        self._columns = [ModeColumn(mode) for mode in live_state.SHOWN]
        self._score, self._log = Static(id="live-score"), Static(id="live-log")

    def body(self) -> ComposeResult:
        yield self._head
        yield self._asked
        yield Container(*self._columns, id="live-modes")
        yield self._score
        yield self._log

    def on_mount(self) -> None:
        self.set_interval(_TICK, self._tick)
        self._look()

    def fit(self) -> None:
        self.set_class(self.size.width < _BESIDE, "-stacked")
        self.call_after_refresh(self._draw)

    def _tick(self) -> None:
        """Count the seconds while the model reads a window."""
        if self.state.phase is Phase.ASKING:
            self._draw()

    def _draw(self) -> None:
        self._head.update(live_state.setup_line(self.state))
        self._asked.update(live_state.question_lines(self.state))
        for each in self._columns:
            each.show(self.state, is_flat=self.has_class("-stacked"))
        self._score.update(live_state.score_lines(self.state))
        self._log.update(live_state.log_lines(self.state, self._log.size.width))

    @work(exclusive=True, group="look")
    async def _look(self) -> None:
        """Begin at once with a model that is known to be free; ask before using any other."""
        try:
            service = await asyncio.to_thread(self._backend.live_service)
        except JitchatError as error:
            self._lacks(await asyncio.to_thread(self._backend.missing_weights), str(error))
            return
        try:
            answerer = await asyncio.to_thread(service.answerer)
        except JitchatError as error:
            self._fail(str(error))
            return
        if answerer.is_here or await self.app.push_screen_wait(_confirm(answerer)):
            self._service = service
            self._begin(self.state.setup)
        else:
            self._change(self.state.failed("Nothing was sent. Press Space to ask again."))

    def _lacks(self, wanted: Weights | None, why: str) -> None:
        """Say why there is no model, and offer to download one, if that helps."""
        other = "Use another model with `jitchat demo --live --model NAME`."
        again = "Press Space to offer it again." if wanted is not None else ""
        self._change(self.state.failed(f"{why} {again} {other}"))
        if self.pace is not None:
            self.app.exit(return_code=1, message=self.state.error)
        elif wanted is not None:
            self.app.push_screen(FetchScreen(self._backend, wanted), self._fetched)

    def _fetched(self, is_here: bool | None) -> None:
        if is_here:
            self._look()

    def _begin(self, setup: Setup) -> None:
        self._left -= 1
        self._change(self.state.begun(setup))
        self._ask(setup)

    @work(exclusive=True, group="ask")
    async def _ask(self, setup: Setup) -> None:
        assert self._service is not None  # noqa: S101  for mypy
        try:
            await asyncio.to_thread(self._service.prepare, setup.experiment)
            lab = await asyncio.to_thread(self._service.begin, setup.experiment)
            async with opened(lab, setup) as question:
                self.entitle(one_line(lab.file.run.model))
                self._change(self.state.made(question.fact))
                for mode in MODES:
                    result, failure = await question.ask(mode, self._hear)
                    self._take(result)
                    if failure is not None:
                        self._fail(str(failure))
                        return
        except JitchatError as error:
            self._fail(str(error), is_lasting=not isinstance(error, UsageError))

    def _hear(self, answer: AnswerProgress) -> None:
        self._change(self.state.heard(answer))

    def _take(self, result: Result) -> None:
        self._change(self.state.took(result))
        if self.state.phase is Phase.ANSWERED and self.plays:
            self._dwell()

    def _fail(self, why: str, *, is_lasting: bool = True) -> None:
        """Say why a question failed; `is_lasting` means that the next one would fail as well."""
        self._change(self.state.failed(why))
        if not is_lasting and self.plays:
            self._dwell()
        elif self.pace is not None:
            self.app.exit(return_code=1, message=self.state.error)

    def _dwell(self) -> None:
        number = len(self.state.results)
        self.set_timer(DWELL * (self.pace or 1.0), partial(self._go_on, number))

    def _go_on(self, number: int) -> None:
        """Continue automatically, unless it was paused or a key was pressed meanwhile."""
        if not self.plays or self.state.is_busy or len(self.state.results) != number:
            return
        if self.pace is not None and self._left <= 0:
            self.dismiss(True)
        else:
            self.action_next()

    def _change(self, state: LiveState) -> None:
        self.state = state
        self._draw()

    def action_next(self) -> None:
        if self._service is None:
            self._look()
        elif self.state.is_busy:
            self.notify("This question is still being answered.", markup=False)
        else:
            self._begin(self.state.next)

    def action_play(self) -> None:
        self.plays = not self.plays
        self.notify("Playing automatically." if self.plays else "Paused.", markup=False)
        if self.plays and self.state.phase is Phase.ANSWERED:
            self._dwell()

    def action_near(self, step: int) -> None:
        self._change(self.state.dialled(near=step))

    def action_depth(self, step: int) -> None:
        self._change(self.state.dialled(depth=step))


class LiveApp(JitchatApp):
    """The live demo as an app of its own."""

    CSS_PATH = ["../app.tcss", "../chat/screen.tcss"]  # noqa: RUF012  Textual's own shape

    def __init__(
        self, backend: Backend, conversation: Conversation, pace: float | None = None
    ) -> None:
        super().__init__(backend, conversation)
        self._pace = pace

    def get_default_screen(self) -> Screen[object]:  # type: ignore[override]
        return Screen()

    async def on_ready(self) -> None:
        await super().on_ready()
        live = LiveScreen(self._backend, self._pace)

        def leave(_: bool | None) -> None:
            """Print the score to the terminal."""
            score = live_state.score_lines(live.state) if live.state.results else None
            self.exit(return_code=0, message=score and str(score))

        self.push_screen(live, leave)
