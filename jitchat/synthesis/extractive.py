"""The built-in observer: selected sentences of the turns, verbatim. It needs no model.

Sentences that must be kept come first: decisions, commitments, lessons and open tasks. Then the
sentences with the most information per token, as far as there is room. Names and figures that a
person mentioned, and files, that none of them has are listed at the end of the line.

The worth of a sentence is the sum over its words, each weighted by how rare it is among the lines
(inverse document frequency) and discounted for each chosen sentence that already has it, divided by
the sentence's tokens. So a name or a figure that nothing else carries comes first, and repetition
last. After the greedy algorithm for budgeted coverage: H. Lin and J. Bilmes, "Multi-document
Summarization via Budgeted Maximization of Submodular Functions" (2010).
"""

import asyncio
import heapq
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from jitchat.statements import Observation, Observations, Priority
from jitchat.synthesis import reflection, sentences
from jitchat.synthesis.carrying import complete
from jitchat.synthesis.extraction import facts_by_rule
from jitchat.synthesis.observer import EXTRACTOR, Batch, FactsMade, Made
from jitchat.synthesis.sentences import Sentence
from jitchat.values import Turn
from jitchat.window.statements import observation_tokens
from jitchat.window.tokens import TokenCounter

_REPEATED = 0.7
"""Factor on a word's weight for each chosen sentence that already has it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    sentence: Sentence
    line: int
    """The number of the line that it belongs to."""
    cost: int
    """Tokens of the sentence alone."""
    is_first: bool = False
    """Whether it is considered before all candidates that are not first."""


@dataclass(frozen=True, slots=True)
class Room:
    tokens: int
    per_line: int
    """Tokens of a line without its sentences."""
    known: Mapping[str, int] = field(default_factory=Counter)
    """By stem: how many of the standing lines have it."""
    lines: int = 0
    """The number of standing lines."""


def select(candidates: Sequence[Candidate], room: Room, first_share: float = 1.0) -> set[int]:
    """Choose candidates, by number; `first_share` is the share of the room for the first ones."""
    picker = _Picker(candidates, room)
    picker.take((n for n, each in enumerate(candidates) if each.is_first), first_share)
    picker.take(range(len(candidates)))
    return picker.chosen


class _Picker:
    def __init__(self, candidates: Sequence[Candidate], room: Room) -> None:
        self._candidates, self._room = candidates, room
        self._rarity = _rarity(candidates, room)
        self._times_chosen = Counter(room.known)
        self._lines: set[int] = set()
        self._spent = 0
        self.chosen: set[int] = set()

    def take(self, numbers: Iterable[int], share: float = 1.0) -> None:
        """Take the best of some candidates, one at a time, while there is room."""
        most = int(self._room.tokens * share)
        queue = [(-self._gain(number), number) for number in numbers if number not in self.chosen]
        heapq.heapify(queue)
        while queue:
            known, number = heapq.heappop(queue)
            gain = self._gain(number)
            if gain < -known:  # sentences chosen since have some of its words
                heapq.heappush(queue, (-gain, number))
                continue
            cost = self._cost(number)
            if gain > 0 and self._spent + cost <= most:
                self._spent += cost
                self._lines.add(self._candidates[number].line)
                self.chosen.add(number)
                self._times_chosen.update(self._candidates[number].sentence.words)

    def _gain(self, number: int) -> float:
        sentence = self._candidates[number].sentence
        gain = sum(
            self._rarity[word] * _REPEATED ** self._times_chosen[word] for word in sentence.words
        )
        return sentence.worth * gain / self._cost(number)

    def _cost(self, number: int) -> int:
        candidate = self._candidates[number]
        return candidate.cost + (0 if candidate.line in self._lines else self._room.per_line)


def _rarity(candidates: Sequence[Candidate], room: Room) -> dict[str, float]:
    words = {(word, item.line) for item in candidates for word in item.sentence.words}
    lines = Counter(word for word, _ in words)
    total = room.lines + len({candidate.line for candidate in candidates})
    return {
        word: math.log(1 + total / (count + room.known.get(word, 0)))
        for word, count in lines.items()
    }


_FIRST_SHARE = 0.6
"""The share of a reflection's room for what must be kept, before everything else."""
_ITEMS = 0.25
"""The maximum share for names and figures whose sentences are dropped."""


class ExtractiveObserver:
    name = EXTRACTOR

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    async def observe(self, batch: Batch) -> Made:
        return await asyncio.to_thread(self.observe_now, batch)

    async def reflect(self, standing: Observations, room: int) -> Made:
        return await asyncio.to_thread(self.reflect_now, standing, room)

    async def facts(self, turns: Sequence[Turn], conversation: str) -> FactsMade:
        return await asyncio.to_thread(facts_by_rule, turns, conversation)

    async def aclose(self) -> None: ...

    def observe_now(self, batch: Batch, notice: str = "") -> Made:
        """Make the lines of a batch synchronously; `notice` states why no model did."""
        said = [sentences.sentences_of(turn) for turn in batch.turns]
        last = batch.turns[-1]
        per_line = self._counter.count(f"- {sentences.speaker_of(last)}:  (#{last.position})\n")
        standing = batch.standing.lines
        known = Counter(word for line in standing for word in sentences.words_of(line.text))
        room = Room(batch.room, per_line, known, len(standing))
        candidates = self._candidates(said)
        first = [candidate for candidate in candidates if candidate.is_first]
        first_lines = {candidate.line for candidate in first}
        needed = sum(candidate.cost for candidate in first) + per_line * len(first_lines)
        chosen = select(candidates, replace(room, tokens=max(room.tokens, needed)))
        by_line = _by_line(candidates, chosen)
        lines = [
            sentences.line_of(turn, by_line[number])
            for number, turn in enumerate(batch.turns)
            if number in by_line
        ]
        return Made(complete(lines, batch.turns, batch.standing.lines), self.name, notice)

    def reflect_now(self, standing: Observations, room: int, notice: str = "") -> Made:
        """Choose among the standing sentences, without those that repeat others."""
        lines = reflection.marked(standing.lines)
        repeated = reflection.repeated(lines)
        said = [
            [part for part in sentences.sentences_in(line) if (number, part.place) not in repeated]
            for number, line in enumerate(lines)
        ]
        label = sentences.label_of(lines[-1].text)
        per_line = self._counter.count(f"- {label} (#{lines[-1].source.last})\n")
        candidates = self._candidates(said)
        written = observation_tokens(standing, self._counter.count)
        counted = sum(candidate.cost for candidate in candidates) + per_line * len(lines)
        # dates, times and names take their share of the room too
        tokens = int(room * min(1.0, counted / max(1, written)))
        chosen = select(candidates, Room(tokens, per_line), _FIRST_SHARE)
        by_line = _by_line(candidates, chosen)
        items = self._items_left(lines, by_line, int(tokens * _ITEMS))
        return Made(_written(lines, by_line, items), self.name, notice)

    def _items_left(
        self, lines: Sequence[Observation], by_line: Mapping[int, Sequence[Sentence]], room: int
    ) -> Mapping[int, list[str]]:
        """Map lines to the names and figures that no chosen sentence has, newest lines first."""
        carried = {word for said in by_line.values() for part in said for word in part.words}
        found: dict[int, list[str]] = {}
        for number in range(len(lines) - 1, -1, -1):
            line = lines[number]
            text = line.text.removeprefix(sentences.label_of(line.text))
            bare, listed = sentences.without_items(text)
            of_person = sentences.is_of_person(line)
            for item in (*listed, *sentences.items_in(bare, of_person=of_person)):
                cost = self._counter.count(f", {item}")
                if not sentences.words_of(item) <= carried and cost <= room:
                    room -= cost
                    carried |= sentences.words_of(item)
                    found.setdefault(number, []).append(item)
        return found

    def _candidates(self, said: Sequence[Iterable[Sentence]]) -> list[Candidate]:
        candidates: list[Candidate] = []
        for line, of_line in enumerate(said):
            for sentence in of_line:
                cost = self._counter.count(f" {sentence.text}")
                is_first = sentence.priority is Priority.HIGH
                candidates.append(Candidate(sentence, line, cost, is_first))
        return candidates


def _by_line(candidates: Sequence[Candidate], chosen: Iterable[int]) -> dict[int, list[Sentence]]:
    found: dict[int, list[Sentence]] = {}
    for number in sorted(chosen):
        found.setdefault(candidates[number].line, []).append(candidates[number].sentence)
    return found


def _written(
    lines: Sequence[Observation],
    by_line: Mapping[int, Sequence[Sentence]],
    items: Mapping[int, Sequence[str]],
) -> tuple[Observation, ...]:
    """Rewrite lines from the sentences that were chosen and the names that stay with them."""
    made = []
    for number, line in enumerate(lines):
        said, also = by_line.get(number, ()), items.get(number, ())
        if said or also:
            label = sentences.label_of(line.text)
            text = label + sentences.joined(said) if said else label.rstrip()
            days = sentences.resolved_days(said, line.said_at)
            made.append(replace(line, text=sentences.with_items(text, also), refers_to=days))
    return tuple(made)
