"""When a conversation is observed: after a reply, when a window does not fit, or on request.

Owns the observing of one session. A pass is made from the current observations and stored only if
they are unchanged when it is ready: of two passes that overlap, the later one is refused and made
again. A message sent meanwhile, and a crash, find the observations that were committed before.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from enum import StrEnum

from jitchat.errors import StaleObservations
from jitchat.events import MemoryUpdated, ObservationDue
from jitchat.memory import Memory
from jitchat.statements import Observation
from jitchat.store.observations import ObservationPass, PassKind
from jitchat.store.path import Path
from jitchat.synthesis import policy
from jitchat.synthesis.observer import Batch, Observer
from jitchat.synthesis.passes import PassMaker
from jitchat.synthesis.policy import Due, Observe, Standing, Thresholds
from jitchat.text.sanitize import one_line
from jitchat.values import Turn
from jitchat.window.history import History
from jitchat.window.statements import observation_tokens
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
        self._in_need = PassMaker(None, counter)
        """The built-in observer, for passes that a message waits for."""
        self.thresholds, self.consent = rules.thresholds, rules.consent
        self._is_running = False

    @property
    def observer(self) -> str:
        """The observer's name."""
        return self._maker.observer.name

    # The current observations.

    def standing(self, before: int | None = None) -> Standing:
        """Return what the policy decides on, for the turns before a position or for all."""
        before = self._end if before is None else before
        observations = self._memory.distilled(before).observations
        tokens = observation_tokens(observations, self._counter.count)
        return Standing(self._history_before(before), observations, tokens)

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
            yield ObservationDue(_turns_of(due), _tokens_of(due, self.standing()), self.observer)
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
        self._is_running, may_reflect, tries = True, True, 0
        try:
            while tries < _TRIES:
                due = await asyncio.to_thread(self._next_due, limit, everything, may_reflect)
                try:
                    made = await self._made(due, self._maker)
                except StaleObservations:
                    tries += 1
                    await asyncio.to_thread(self._memory.refresh)
                    continue
                if made is None and (due is None or isinstance(due, Observe) or not may_reflect):
                    return
                # observing continues even if the observations cannot be condensed
                may_reflect, tries = made is not None, 0
                if made is not None:
                    yield MemoryUpdated(made)
        finally:
            self._is_running = False

    def _next_due(self, limit: int, everything: bool, may_reflect: bool) -> Due:
        standing, thresholds = self.standing(), self.thresholds
        due = policy.due(standing, thresholds, limit, may_reflect=may_reflect)
        return policy.all_due(standing, thresholds, limit) if due is None and everything else due

    async def make_room(
        self, limit: int, before: int, fits: Callable[[], bool]
    ) -> AsyncGenerator[MemoryUpdated, None]:
        """Observe until a window fits, including the previous exchange if necessary.

        Does nothing if the user turned observing off.
        """
        tries = 0
        while self.consent is not Consent.OFF and not await asyncio.to_thread(fits):
            standing = await asyncio.to_thread(self.standing, before)
            due = policy.due_in_need(standing, self.thresholds, limit)
            try:
                made = await self._made(due, self._in_need, before)
            except StaleObservations:
                tries += 1
                await asyncio.to_thread(self._memory.refresh)
                made = None
                if tries < _TRIES:
                    continue
            if made is None:
                return
            yield MemoryUpdated(made, is_needed=True)

    async def _made(
        self, due: Due, maker: PassMaker, before: int | None = None
    ) -> ObservationPass | None:
        """Make and store the first due pass; None if it has no result.

        Raises:
            StaleObservations: The observations have changed meanwhile.

        """
        path, passes = await asyncio.to_thread(self._chain, before)
        standing = await asyncio.to_thread(self.standing, before)
        made = await self._make(due, maker, standing, passes)
        if made is None:
            return None
        stored = replace(made, follows=passes[-1].id if passes else None)
        return await asyncio.to_thread(self._memory.observed.add, path, stored)

    def _chain(self, before: int | None) -> tuple[Path, list[ObservationPass]]:
        path = self._path
        return path, self._memory.observed.passes(path, self._end if before is None else before)

    async def _make(
        self,
        due: Due,
        maker: PassMaker,
        standing: Standing,
        passes: Sequence[ObservationPass],
    ) -> ObservationPass | None:
        if isinstance(due, Observe):
            turns = _unobserved(due.batches, standing.observations.through)
            if not turns:
                return None
            first = self._first_behind(standing.observations.through)
            tokens = sum(standing.costs(turns))
            room = int(due.density * tokens)
            out = frozenset(turn.position for turn in turns) & self._excluded
            batch = Batch(turns, room, standing.observations, out)
            return await maker.observe(batch, first, tokens)
        if due is None or not passes:
            return None
        return await maker.reflect(standing.observations, due, passes[0].first)

    def _first_behind(self, through: int) -> int:
        return next(start for start, _ in self._path.behind(through))

    @property
    def _excluded(self) -> frozenset[int]:
        return frozenset(turn for turn, hold in self._memory.pins.items() if hold == "excluded")

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
    for batch in batches:
        left = tuple(turn for turn in batch if turn.position > through)
        if left:
            return left
    return ()


def _turns_of(due: Due) -> tuple[int, int] | None:
    """Return the first and last position due; None for a reflection."""
    if not isinstance(due, Observe):
        return None
    return due.batches[0][0].position, due.batches[-1][-1].position


def _tokens_of(due: Due, standing: Standing) -> int:
    if not isinstance(due, Observe):
        return standing.observed
    return sum(sum(standing.costs(batch)) for batch in due.batches)
