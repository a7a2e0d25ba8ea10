"""Making passes: an observer's result, checked and completed, before it is stored.

A pass is made completely or not at all. A result must not be empty, only name the given turns, and
not be repetitive. One that fails is replaced by that of the extractor, which needs no model, and
the pass's note states that; none of it is stored.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from jitchat.statements import Observation, Observations
from jitchat.store.observations import ObservationPass, PassKind
from jitchat.synthesis.carrying import complete
from jitchat.synthesis.extractive import ExtractiveObserver
from jitchat.synthesis.observer import Batch, Made, Observer
from jitchat.synthesis.policy import Reflect
from jitchat.synthesis.sentences import sentences_of, words_in
from jitchat.values import Turn
from jitchat.window.statements import observation_line, observation_tokens
from jitchat.window.tokens import TokenCounter

_LEAST_REPEATED, _REPEATED = 3, 0.5
"""Too repetitive: a line that occurs this often and makes up this share of the lines, or a line in
which this share of word sequences is repeated."""
_LEAST_LEFT = 0.1
"""The share of the standing lines' words that a reflection must keep."""
_USED = 0.5
"""The share of its room that a reflection must fill, if that is less."""
_SEQUENCE = 4
"""Length in words of the sequences by which repetition within a line is detected."""
_LONG = 24
"""Words of the shortest line that is checked for repetition."""


class PassMaker:
    """Makes passes; stores nothing."""

    def __init__(self, observer: Observer | None, counter: TokenCounter) -> None:
        """Without an observer, the extractor makes the passes."""
        self._extractor = ExtractiveObserver(counter)
        self.observer: Observer = observer or self._extractor
        self._counter = counter

    async def observe(self, batch: Batch, first: int, tokens: int) -> ObservationPass:
        """Observe a batch; `first` is the position after the last pass, `tokens` the turns' sum."""
        shown = tuple(turn for turn in batch.turns if turn.position not in batch.kept_out)
        out = tuple(turn for turn in batch.turns if turn.position in batch.kept_out)
        made = Made((), self._extractor.name)
        if shown:
            made = await self._made(replace(batch, turns=shown))
        if out:
            own = self._extractor.observe_now(replace(batch, turns=out))
            made = replace(made, lines=(*made.lines, *own.lines))
        lines = complete(made.lines, batch.turns, batch.standing.lines)
        after = sum(self._counter.count(observation_line(line)) for line in lines)
        note = _note(made, tokens, after)
        return ObservationPass(PassKind.OBSERVE, first, batch.last, lines, made.by, note)

    async def _made(self, batch: Batch) -> Made:
        made = await self.observer.observe(batch)
        fault = fault_of(made.lines, batch.turns)
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
        own: Observer = self._extractor
        for observer in [own] if self.observer is own else [self.observer, own]:
            best: ObservationPass | None = None
            for room in wanted.rooms:
                made = await observer.reflect(standing, room)
                if reflection_fault(made.lines, standing.lines, room / before):
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

    async def aclose(self) -> None:
        await self.observer.aclose()


def _note(made: Made, before: int, after: int) -> dict[str, object]:
    note: dict[str, object] = {"before": before, "after": after}
    if made.notice:
        note["told"] = made.notice
    if made.input_tokens or made.output_tokens:
        note |= {"input": made.input_tokens, "output": made.output_tokens, "cost": made.cost}
    return note


def fault_of(lines: Sequence[Observation], turns: Sequence[Turn]) -> str:
    """State, as a clause, why lines cannot replace turns; empty if they can."""
    if not lines:
        has_content = any(each.words for turn in turns for each in sentences_of(turn))
        return "it wrote no lines" if has_content else ""
    positions = {turn.position for turn in turns}
    if any(positions.isdisjoint(line.source.turns) for line in lines):
        return "a line names none of the turns that were sent"
    return _form_fault(lines)


def reflection_fault(
    lines: Sequence[Observation], standing: Sequence[Observation], allowed: float = 1.0
) -> str:
    """State, as a clause, why lines cannot replace the standing ones; empty if they can.

    `allowed` is the room that the lines had, as a share of the standing lines' size.
    """
    if not lines:
        return "it wrote no lines"
    known = {turn for line in standing for turn in line.source.turns}
    if any(known.isdisjoint(line.source.turns) for line in lines):
        return "a line names turns that no earlier line named"
    before, after = words_in(standing), words_in(lines)
    if len(after) < min(_LEAST_LEFT, _USED * allowed) * len(before):
        return "it kept almost nothing"
    return _form_fault(lines)


def _form_fault(lines: Sequence[Observation]) -> str:
    if any(not line.text.strip() for line in lines):
        return "a line is empty"
    texts = Counter(line.text.casefold() for line in lines)
    most = max(texts.values())
    if most >= _LEAST_REPEATED and most >= _REPEATED * len(lines):
        return "it repeats a line"
    if any(_is_repetitive(line.text) for line in lines):
        return "a line repeats itself"
    return ""


def _is_repetitive(text: str) -> bool:
    """Whether most word sequences of a text repeat earlier ones."""
    words = text.casefold().split()
    if len(words) < _LONG:
        return False
    sequences = [tuple(words[at : at + _SEQUENCE]) for at in range(len(words) - _SEQUENCE + 1)]
    return len(set(sequences)) < (1 - _REPEATED) * len(sequences)
