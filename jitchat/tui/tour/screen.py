"""The chat that does the steps of the tour, each by what a user would do there."""

from functools import partial

from textual.timer import Timer

from jitchat.tui.backend import Backend
from jitchat.tui.telling import telling
from jitchat.tui.tour.asking import AskingScreen
from jitchat.tui.tour.lab import ShowsRun
from jitchat.tui.tour.steps import STEPS, Ask, Compare, Measure
from jitchat.tui.views.what_if import Comparison, Sides, WhatIfView
from jitchat.values import Conversation

LOOK_EVERY = 0.25
"""Seconds between two looks at the lab."""
_LAB = "rot('quick')"
"""The action that opens it, and begins a quick run where that costs nothing."""
_NO_LAB = "the lab did not open here; `jitchat rot` runs it."


class TourScreen(AskingScreen):
    """The tour of the demo conversation."""

    def __init__(
        self, backend: Backend, conversation: Conversation, pace: float | None = None
    ) -> None:
        super().__init__(backend, conversation, pace)
        self._looks: Timer | None = None

    @property
    def is_measuring(self) -> bool:
        """Whether the lab is being watched: more of a run comes, or one may."""
        return self._looks is not None

    @telling
    async def do(self, place: int) -> None:
        """Do a step, or show again what came of it."""
        if self.session is None:
            return
        self._look_no_more()
        await self.clear()
        self.set_off(place)
        match STEPS[place - 1]:
            case Ask() as step:
                await self.ask(self.session, step, place)
            case Compare() as step:
                self._compare(step)
            case Measure() as step:
                await self._measure(step)

    def end(self) -> None:
        """Leave a chat like any other."""
        self._look_no_more()
        super().end()

    def _compare(self, step: Compare) -> None:
        self.action_view("what_if")
        self.arrive(step.says(None, self.needle))
        view = self.app.screen
        if isinstance(view, WhatIfView):
            self.dress(view)
            view.call_after_refresh(self._follow_plans, view, step)

    def _follow_plans(self, view: WhatIfView, step: Compare) -> None:
        """Tell of the windows once they are planned."""

        def planned(comparison: Comparison | None) -> None:
            if comparison is not None and self.is_dressed(view):
                self.arrive(step.says(comparison, self.needle))

        for sides in view.query(Sides):  # none, where it is closed again by now
            view.watch(sides, "comparison", planned)

    async def _measure(self, step: Measure) -> None:
        await self.run_action(_LAB)
        if self.app.screen is self:
            self.arrive(_NO_LAB)
            return
        self.arrive(step.says(None, False))
        self._looks = self.set_interval(LOOK_EVERY, partial(self._look, step))

    def _look(self, step: Measure) -> None:
        """Tell how far the run is; the bar comes with the screen that shows one."""
        lab = self.app.screen
        if not isinstance(lab, ShowsRun):
            return
        if not self.is_dressed(lab):
            self.dress(lab)
        is_running = lab.progress.is_running
        if is_running:
            self.follow(step.says(lab.state.tallies, True))
        else:
            self._look_no_more()
            self.arrive(step.says(lab.state.tallies, False))

    def _look_no_more(self) -> None:
        if self._looks is not None:
            self._looks.stop()
            self._looks = None
