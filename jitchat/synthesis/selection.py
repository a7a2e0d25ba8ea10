"""Choosing sentences for a limited room: the most information per token, each item once. Pure.

The worth of a sentence is the sum over its words, each weighted by how rare it is among the lines
(inverse document frequency) and discounted for each chosen sentence that already has it, divided by
the sentence's tokens. So a name or a figure that nothing else carries comes first, and repetition
last. After the greedy algorithm for budgeted coverage: H. Lin and J. Bilmes, "Multi-document
Summarization via Budgeted Maximization of Submodular Functions" (2010).
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jitchat.synthesis.sentences import Sentence

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
