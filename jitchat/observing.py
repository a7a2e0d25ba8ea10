"""When a conversation is observed: after a reply, or on request.

Owns the observing of one session. A pass is made from the current observations and stored only if
they are unchanged when it is ready: of two passes that overlap, the later one is refused and made
again. A message sent meanwhile, and a crash, find the observations that were committed before.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

from jitchat.errors import StaleObservations
from jitchat.events import MemoryUpdated, ObservationDue
from jitchat.memory import Memory
from jitchat.statements import Observation
from jitchat.store.observations import ObservationPass, PassKind
from jitchat.store.path import Path
from jitchat.synthesis import policy
from jitchat.synthesis.observer import Batch, Observer
from jitchat.synthesis.passes import PassMaker
from jitchat.synthesis.policy import Due, Observe, Reflect, Standing, Thresholds
from jitchat.text.sanitize import one_line
from jitchat.values import Turn
from jitchat.window.history import History
from jitchat.window.statements import observation_tokens
from jitchat.window.steering import Hold
from jitchat.window.tokens import TokenCounter

_TRIES = 3
"""After this many stale passes in a row, the work is left for the next reply."""
BY_USER = "you"
"""The author of an edit."""


class Consent(StrEnum):
    """Whether turns are observed without asking."""

    ASK = "ask"
    AUTO = "auto"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class ObserveRules:
    thresholds: Thresholds = field(default_factory=Thresholds)
    consent: Consent = Consent.AUTO


class Observing:
    """Observes the path of one conversation. One loop at a time; safe with other instances."""

    def __init__(
        self,
        memory: Memory,
        history_before: Callable[[int], History],
        counter: TokenCounter,
        observer: Observer | None,
        rules: ObserveRules,
    ) -> None:
        self._memory, self._history_before, self._counter = memory, history_before, counter
        self._maker = PassMaker(observer, counter)
        self.thresholds, self.consent = rules.thresholds, rules.consent
        self._is_running = False

    @property
    def observer(self) -> str:
        """The observer's name."""
        return self._maker.observer.name

    # The current observations.

    def standing(self) -> Standing:
        """Return what the policy decides on."""
        observations = self._memory.distilled(self._end).observations
        tokens = observation_tokens(observations, self._counter.count)
        return Standing(self._history_before(self._end), observations, tokens)

    def passes(self) -> list[ObservationPass]:
        """List the current passes on the path, in order."""
        return self._memory.observed.passes(self._path, self._end)

    def due(self, limit: int) -> Due:
        return policy.due(self.standing(), self.thresholds, limit)

    @property
    def _path(self) -> Path:
        return self._memory.snapshot.path

    @property
    def _end(self) -> int:
        return self._path.head + 1

    # Making passes.

    async def after_reply(self, limit: int) -> AsyncGenerator[MemoryUpdated | ObservationDue, None]:
        """Observe what is due; if the user must be asked first, yield `ObservationDue` instead."""
        if self.consent is Consent.OFF or self._is_running:
            return
        due = await asyncio.to_thread(self._due_unasked, limit)
        if due is None:
            return
        if self.consent is Consent.ASK:
            standing = await asyncio.to_thread(self.standing)
            yield _question(due, standing, self.observer)
            return
        async with aclosing(self.run(limit)) as made:
            async for event in made:
                yield event

    def _due_unasked(self, limit: int) -> Due:
        return None if self._memory.observed.is_paused(self._path) else self.due(limit)

    async def run(
        self, limit: int, *, everything: bool = False
    ) -> AsyncGenerator[MemoryUpdated, None]:
        """Make the passes that are due, in order; with `everything`, all that are possible."""
        if self._is_running:
            return
        self._is_running = True
        may_reflect = True
        try:
            while True:
                due_now = partial(self._next_due, limit, everything, may_reflect)
                due, made = await self._make_pass(due_now)
                if made is not None:
                    yield MemoryUpdated(made)
                elif not isinstance(due, Reflect) or not may_reflect:
                    return
                # observing continues even if the observations cannot be condensed
                may_reflect = made is not None
        finally:
            self._is_running = False

    def _next_due(self, limit: int, everything: bool, may_reflect: bool) -> Due:
        standing, thresholds = self.standing(), self.thresholds
        due = policy.due(standing, thresholds, limit, may_reflect=may_reflect)
        return policy.all_due(standing, thresholds, limit) if due is None and everything else due

    async def _make_pass(self, due_now: Callable[[], Due]) -> tuple[Due, ObservationPass | None]:
        """Make and store the first due pass; return what was due, and the pass if it has a result.

        If the observations change meanwhile, what is due is decided again.
        """
        for _ in range(_TRIES):
            due = await asyncio.to_thread(due_now)
            try:
                return due, await self._made(due)
            except StaleObservations:
                await asyncio.to_thread(self._memory.refresh)
        return None, None

    async def _made(self, due: Due) -> ObservationPass | None:
        """Make and store a pass for what is due; None if it has no result.

        Raises:
            StaleObservations: The observations have changed meanwhile.

        """
        path, passes, standing = await asyncio.to_thread(self._state)
        through = standing.observations.through
        made: ObservationPass | None = None
        if isinstance(due, Observe) and (turns := _unobserved(due.batches, through)):
            first = next(start for start, _ in path.behind(through))
            tokens = sum(standing.costs(turns))
            pins = self._memory.pins
            positions = (turn.position for turn in turns)
            out = frozenset(turn for turn in positions if pins.get(turn) == Hold.EXCLUDED)
            batch = Batch(turns, int(due.density * tokens), standing.observations, out)
            made = await self._maker.observe(batch, first, tokens)
        elif isinstance(due, Reflect) and passes:
            made = await self._maker.reflect(standing.observations, due, passes[0].first)
        if made is None:
            return None
        stored = replace(made, follows=passes[-1].id if passes else None)
        return await asyncio.to_thread(self._memory.observed.add, path, stored)

    def _state(self) -> tuple[Path, list[ObservationPass], Standing]:
        return self._path, self.passes(), self.standing()

    # Changes by the user.

    def undo(self) -> ObservationPass | None:
        """Undo the last pass; None if there is none. Observing then pauses until requested."""
        passes = self.passes()
        if not passes:
            return None
        self._memory.observed.undo(passes[-1])
        return passes[-1]

    def reset(self) -> None:
        """Discard all observations of the conversation."""
        self._memory.observed.undo_all()

    def edit(self, number: int, text: str) -> ObservationPass | None:
        """Replace a line with the user's text; an empty text removes it.

        `number` counts the current lines from 0. Returns None if there is no such line.
        """
        passes = self.passes()
        lines = list(self._memory.distilled(self._end).observations.lines)
        if not passes or not 0 <= number < len(lines):
            return None
        wanted = one_line(text).strip()
        edited = [replace(lines[number], text=wanted)] if wanted else list[Observation]()
        last, kept = passes[-1], (*lines[:number], *edited, *lines[number + 1 :])
        made = ObservationPass(PassKind.EDIT, last.first, last.last, kept, BY_USER, follows=last.id)
        return self._memory.observed.add(self._path, made)

    async def aclose(self) -> None:
        await self._maker.aclose()


def _unobserved(batches: tuple[tuple[Turn, ...], ...], through: int) -> tuple[Turn, ...]:
    """Return the turns of the first batch that no other pass has observed meanwhile."""
    left = (tuple(turn for turn in batch if turn.position > through) for batch in batches)
    return next((turns for turns in left if turns), ())


def _question(due: Observe | Reflect, standing: Standing, observer: str) -> ObservationDue:
    if isinstance(due, Reflect):
        return ObservationDue(None, standing.observed, observer)
    turns = due.batches[0][0].position, due.batches[-1][-1].position
    tokens = sum(sum(standing.costs(batch)) for batch in due.batches)
    return ObservationDue(turns, tokens, observer)
