"""Making passes: an observer's result, checked and completed, before it is stored.

A pass is made completely or not at all. A result that fails the checks is replaced by that of the
extractor, which needs no model, and the pass's note states that.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from jitchat.statements import Observation, Observations
from jitchat.store.observations import ObservationPass, PassKind
from jitchat.synthesis import checks
from jitchat.synthesis.carrying import complete
from jitchat.synthesis.extractive import ExtractiveObserver
from jitchat.synthesis.observer import Batch, Made, Observer
from jitchat.synthesis.policy import Reflect
from jitchat.values import Turn
from jitchat.window.statements import observation_line, observation_tokens
from jitchat.window.tokens import TokenCounter


class PassMaker:
    """Makes passes; stores nothing."""

    def __init__(self, observer: Observer | None, counter: TokenCounter) -> None:
        """Without an observer, the extractor makes the passes."""
        self._extractor = ExtractiveObserver(counter)
        self.observer: Observer = observer or self._extractor
        self._counter = counter

    async def observe(self, batch: Batch, first: int, tokens: int) -> ObservationPass:
        """Observe a batch; `first` is the position after the last pass, `tokens` the turns' sum."""
        shown = replace(batch, turns=tuple(_without(batch.turns, batch.kept_out)))
        made = await self._made(shown) if shown.turns else Made((), self._extractor.name)
        if len(shown.turns) < len(batch.turns):
            out = tuple(turn for turn in batch.turns if turn.position in batch.kept_out)
            own = self._extractor.observe_now(replace(batch, turns=out))
            made = replace(made, lines=(*made.lines, *own.lines))
        lines = complete(made.lines, batch.turns, batch.standing.lines)
        note = _note(made, tokens, self._tokens_of(lines))
        return ObservationPass(PassKind.OBSERVE, first, batch.last, lines, made.by, note)

    async def _made(self, batch: Batch) -> Made:
        made = await self.observer.observe(batch)
        fault = checks.fault_of(made.lines, batch.turns)
        if not fault:
            return made
        notice = ". ".join(filter(None, (made.notice, f"{made.by}: {fault}")))
        own = self._extractor.observe_now(batch)
        return replace(made, lines=own.lines, by=own.by, notice=notice)

    async def reflect(
        self, standing: Observations, wanted: Reflect, first: int
    ) -> ObservationPass | None:
        """Rewrite the standing observations, at stronger levels while they are too large.

        `first` is the position of the first observed turn. None if they cannot be made smaller.
        """
        before = observation_tokens(standing, self._counter.count)
        for reflect in self._reflectors():
            best: ObservationPass | None = None
            for room in wanted.rooms:
                made = await reflect(standing, room)
                if checks.reflection_fault(made.lines, standing.lines, room / before):
                    break
                after = observation_tokens(replace(standing, lines=made.lines), self._counter.count)
                if after < before:
                    note, through = _note(made, before, after), standing.through
                    kind = PassKind.REFLECT
                    best = ObservationPass(kind, first, through, made.lines, made.by, note)
                    if after <= wanted.most:
                        return best
            if best is not None:
                return best
        return None

    def _reflectors(self) -> list[Callable[[Observations, int], Awaitable[Made]]]:
        own = self._extractor.reflect
        return [own] if self.observer is self._extractor else [self.observer.reflect, own]

    def _tokens_of(self, lines: Sequence[Observation]) -> int:
        return sum(self._counter.count(observation_line(line)) for line in lines)

    async def aclose(self) -> None:
        await self.observer.aclose()


def _without(turns: Sequence[Turn], out: frozenset[int]) -> list[Turn]:
    return [turn for turn in turns if turn.position not in out]


def _note(made: Made, before: int, after: int) -> dict[str, object]:
    note: dict[str, object] = {"before": before, "after": after}
    if made.notice:
        note["told"] = made.notice
    if made.input_tokens or made.output_tokens:
        note |= {"input": made.input_tokens, "output": made.output_tokens, "cost": made.cost}
    return note
