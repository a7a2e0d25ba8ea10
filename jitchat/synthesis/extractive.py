"""The observer that is built in: chosen sentences of the turns, word for word. It needs no model.

What has to be kept in any case stands first: what decides, binds, teaches or is still to be done.
Then the sentences come that say most for their tokens (`selection`), as far as the room goes.
Names and figures of persons, and files, that none of them has are listed at the end of the line.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from jitchat.statements import Observation, Observations, Priority
from jitchat.synthesis import reflection
from jitchat.synthesis.carrying import complete
from jitchat.synthesis.observer import EXTRACTOR, Batch, Made
from jitchat.synthesis.selection import Candidate, Room, select
from jitchat.synthesis.sentences import (
    Sentence,
    joined,
    label_of,
    line_of,
    resolved_days,
    sentences_in,
    sentences_of,
    speaker_of,
    with_items,
    without_items,
    words_of,
)
from jitchat.window.statements import observation_tokens
from jitchat.window.tokens import TokenCounter

_FIRST_SHARE = 0.6
"""Of the room of a reflection, for what is to be kept in any case, ahead of all else."""


class ExtractiveObserver:
    name = EXTRACTOR

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    async def observe(self, batch: Batch) -> Made:
        return await asyncio.to_thread(self.observe_now, batch)

    async def reflect(self, standing: Observations, room: int) -> Made:
        return await asyncio.to_thread(self.reflect_now, standing, room)

    async def aclose(self) -> None: ...

    def observe_now(self, batch: Batch, told: str = "") -> Made:
        """Make the lines of a batch at once; `told` says why nobody else did."""
        said = [sentences_of(turn) for turn in batch.turns]
        last = batch.turns[-1]
        per_line = self._counter.count(f"- {speaker_of(last)}:  (#{last.position})\n")
        known = Counter(word for line in batch.standing.lines for word in words_of(line.text))
        room = Room(batch.room, per_line, known, len(batch.standing.lines))
        candidates = self._candidates(said)
        first = [each for each in candidates if each.is_first]
        needed = sum(each.cost for each in first) + per_line * len({each.line for each in first})
        chosen = select(candidates, replace(room, tokens=max(room.tokens, needed)))
        by_line = _by_line(candidates, chosen)
        lines = [
            line_of(turn, by_line[number])
            for number, turn in enumerate(batch.turns)
            if number in by_line
        ]
        return Made(complete(lines, batch.turns, batch.standing.lines), self.name, told)

    def reflect_now(self, standing: Observations, room: int, told: str = "") -> Made:
        """Choose among the sentences that stand; what says again what another one says goes."""
        lines = reflection.marked(standing.lines)
        repeated = reflection.repeated(lines)
        said = [
            tuple(each for each in sentences_in(line) if (number, each.place) not in repeated)
            for number, line in enumerate(lines)
        ]
        per_line = self._counter.count(f"- {label_of(lines[-1].text)} (#{lines[-1].source.last})\n")
        candidates = self._candidates(said)
        written = observation_tokens(standing, self._counter.count)
        counted = sum(each.cost for each in candidates) + per_line * len(lines)
        # days, times and names take their share of the room as well
        tokens = int(room * min(1.0, counted / max(1, written)))
        chosen = select(candidates, Room(tokens, per_line), _FIRST_SHARE)
        return Made(_kept(lines, _by_line(candidates, chosen)), self.name, told)

    def _candidates(self, said: Sequence[Iterable[Sentence]]) -> list[Candidate]:
        return [
            Candidate(
                sentence,
                number,
                self._counter.count(f" {sentence.text}"),
                sentence.priority is Priority.HIGH,
            )
            for number, sentences in enumerate(said)
            for sentence in sentences
        ]


def _by_line(
    candidates: Sequence[Candidate], chosen: Iterable[int]
) -> Mapping[int, list[Sentence]]:
    found: dict[int, list[Sentence]] = {}
    for number in sorted(chosen):
        found.setdefault(candidates[number].line, []).append(candidates[number].sentence)
    return found


def _kept(
    lines: Sequence[Observation], by_line: Mapping[int, Sequence[Sentence]]
) -> tuple[Observation, ...]:
    """Write the lines anew of the sentences that were chosen; names that nothing has stay."""
    texts = {
        number: label_of(lines[number].text) + joined(said) for number, said in by_line.items()
    }
    carried = {word for text in texts.values() for word in words_of(text)}
    made = []
    for number, line in enumerate(lines):
        items = [each for each in without_items(line.text)[1] if not words_of(each) <= carried]
        carried.update(word for each in items for word in words_of(each))
        if number in texts or items:
            text = texts.get(number, label_of(line.text).rstrip())
            days = resolved_days(by_line.get(number, ()), line.said_at)
            made.append(replace(line, text=with_items(text, items), refers_to=days))
    return tuple(made)
