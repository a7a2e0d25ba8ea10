"""BM25 over the turns of one conversation, in memory.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
constants that suit turns of talk. SQLite's own bm25() has both fixed.

A document's length is compared with that of a brief one, not with the mean: in a chat with a
language model, answers are ten times as long as what the user says, and a mean would be theirs.
It counts by its root: what is said in the middle of a long message is found, too.
"""

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jitchat.index.growing import Growing
from jitchat.index.packed_postings import PackedPostings

K1 = 0.9
B = 0.9
_BRIEF = 12.0
"""A document of so many stems is brief in any conversation."""
LONGEST = 12.0
"""A document that is longer than a brief one by more than this counts as if it were not."""
_UNSEEN = 2
"""Stems that never occur count in full, up to so many."""
EITHER = "|"
"""Between stems, any of which is meant: together they are searched as one stem."""
_REMEMBERED = 128
"""Stems: a query has few, and asks for each in several ways."""

Scores = NDArray[np.float32]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Matches:
    """Where one stem of a query occurs, and what each occurrence is worth."""

    documents: Places
    """Ascending, without repeats."""
    values: Scores
    """Of the same shape. Of all stems of a query together, 1 at the most."""
    share: float
    """What the stem is worth of the query, 0 to 1."""

    def weighed(self, weights: Scores) -> "Matches":
        """Let each document count by its weight, shape (all documents,)."""
        return Matches(self.documents, self.values * weights[self.documents], self.share)

    def without(self, documents: NDArray[np.bool_]) -> "Matches":
        """Leave out the documents that are marked, shape (all documents,)."""
        kept = ~documents[self.documents]
        return Matches(self.documents[kept], self.values[kept], self.share)


class Postings:
    """Where each stem occurs, and how often. Documents are numbered from 0."""

    def __init__(self) -> None:
        self._packs: list[PackedPostings] = []
        self._packed = 0
        """Documents of the packs."""
        self._numbers: dict[str, int] = {}
        """Of the stems in packs."""
        self._occurrences: dict[str, tuple[array[int], array[int]]] = {}
        """Behind the packs."""
        self._lengths = Growing(np.uint32)
        self._found: dict[str, tuple[Places, NDArray[np.uint32]]] = {}
        """What `_where` found last."""
        self._brief: float | None = None
        """What `brief` gave last."""
        self.generation = 0
        """Counted up whenever documents come or go."""
        self._groups: tuple[Places, int, NDArray[np.float64]] | None = None
        """Which documents were grouped last, into how many groups, and their damping."""

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, stems: Iterable[str]) -> None:
        number, length = len(self._lengths), 0
        for stem, count in Counter(stems).items():
            documents, counts = self._occurrences.setdefault(stem, (array("I"), array("I")))
            documents.append(number)
            counts.append(count)
            length += count
        self._lengths.append(length)
        self._forget()

    def pack(self, start: int, stop: int) -> PackedPostings:
        """Make one pack of the documents from `start` on, where one begins or the last ends."""
        made = PackedPostings.of(self._occurrences, self._packed, stop, self._number_of)
        if start < self._packed:
            made = self._packs.pop().followed_by(made)
        self._keep(lambda documents: (bisect_left(documents, stop), len(documents)))
        self._packs.append(made)
        self._packed = stop
        self._forget()
        return made

    def add_pack(self, made: PackedPostings, lengths: NDArray[np.uint32]) -> None:
        """Add documents that were packed, of these lengths, behind those that are."""
        self._packs.append(made)
        self._lengths.extend(lengths)
        self._packed = len(self._lengths)
        self._forget()

    def numbered(self, stems: Iterable[str]) -> NDArray[np.uint32]:
        """Number stems as the packs do."""
        return np.fromiter(map(self._number_of, stems), dtype=np.uint32)

    def spelled(self, made: PackedPostings) -> list[str]:
        """Name the stems of a pack."""
        spelled = list(self._numbers)
        return [spelled[number] for number in made.stems.tolist()]

    def take_back(self, size: int) -> None:
        """Keep the first `size` documents, as if no other had been added."""
        if size < self._packed:
            ahead = (pack for pack in self._packs if pack.start < size)
            self._packs = [pack.ahead_of(size) for pack in ahead]
            self._packed = size
        self._keep(lambda documents: (0, bisect_left(documents, size)))
        self._lengths.cut(size)
        self._forget()

    def _keep(self, part: Callable[["array[int]"], tuple[int, int]]) -> None:
        """Keep of what is behind the packs a part of each stem's documents."""
        kept = {}
        for stem, (documents, counts) in self._occurrences.items():
            start, stop = part(documents)
            if start < stop:
                kept[stem] = documents[start:stop], counts[start:stop]
        self._occurrences = kept

    @property
    def lengths(self) -> NDArray[np.uint32]:
        """Stems of each document, shape (documents,)."""
        return self._lengths.rows

    @property
    def brief(self) -> float:
        """`brief_of` the documents."""
        if self._brief is None:
            self._brief = brief_of(self.lengths)
        return self._brief

    def rarest(self, weights: Mapping[str, float], count: int) -> dict[str, float]:
        """Keep the `count` stems of a query that occur and are worth most, and some that do not.

        Those that never occur count no more, together, than those that do, or than two of them.
        """
        worths = self.worths(weights)
        chosen = sorted(worths, key=lambda stem: -worths[stem])[:count]
        unseen = [stem for stem in weights if stem not in worths][:count]
        rarity = _rarity(0, len(self))
        missing = rarity * sum(weights[stem] for stem in unseen)
        most = max(sum(worths[stem] for stem in chosen), _UNSEEN * rarity)
        share = min(1.0, most / missing) if missing else 1.0
        return {
            **{stem: weights[stem] for stem in chosen},
            **{stem: share * weights[stem] for stem in unseen},
        }

    def worths(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Tell what each stem of a query that occurs is worth: its weight times its rarity."""
        occurring = (stem for stem in weights if len(self._where(stem)[0]))
        return {stem: weights[stem] * self._rarity(stem) for stem in occurring}

    def matches(self, weights: Mapping[str, float]) -> list[Matches]:
        """Find the stems of a query that occur, with what they are worth where.

        Values are BM25 over its largest possible value for the query, so that a score means
        the same in any query.
        """
        gains = {stem: weight * self._rarity(stem) for stem, weight in weights.items()}
        best, lengths = sum(gains.values()), self.lengths
        found = []
        for stem, gain in gains.items():
            documents, counts = self._where(stem)
            if len(documents):
                damping = damped(lengths[documents], self.brief)
                values = (gain / best) * counts / (counts + damping)
                found.append(Matches(documents, values.astype(np.float32), gain / best))
        return found

    def scores_of_groups(
        self, weights: Mapping[str, float], group_of: Places, groups: int
    ) -> Scores:
        """Score the first `groups` groups as if each were one document, shape (groups,).

        `group_of` has the group of every document, shape (documents,), ascending.
        """
        found = np.zeros(groups, dtype=np.float32)
        damping, best = self._damping_of_groups(group_of, groups), 0.0
        for stem, weight in weights.items():
            documents, counts = self._where(stem)
            often = np.bincount(group_of[documents], counts, groups)[:groups].astype(np.float64)
            gain = weight * _rarity(int(np.count_nonzero(often)), groups)
            found += np.asarray(gain * often / (often + damping), dtype=np.float32)
            best += gain
        return found / np.float32(best or 1.0)

    def contains(self, stem: str, documents: Places) -> NDArray[np.bool_]:
        """Whether each of `documents` has a stem, shape of `documents`."""
        having = self._where(stem)[0]
        if not len(having):
            return np.zeros(len(documents), dtype=np.bool_)
        place = np.minimum(np.searchsorted(having, documents), len(having) - 1)
        return np.asarray(having[place] == documents)

    def _damping_of_groups(self, group_of: Places, groups: int) -> NDArray[np.float64]:
        """From question to question, the groups are the same: they are measured once."""
        known = self._groups
        if known is None or known[0] is not group_of or known[1] != groups:
            lengths = np.bincount(group_of, self.lengths, groups)[:groups]
            known = group_of, groups, damped(lengths, brief_of(lengths))
            self._groups = known
        return known[2]

    def _where(self, stem: str) -> tuple[Places, NDArray[np.uint32]]:
        """Find the documents that have a stem, ascending, and how often each has it."""
        if stem not in self._found:
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            found = [self._located(each) for each in stem.split(EITHER)]
            self._found[stem] = found[0] if len(found) == 1 else _merged(found)
        return self._found[stem]

    def _located(self, stem: str) -> tuple[Places, NDArray[np.uint32]]:
        number = self._numbers.get(stem)
        parts = [pack.where(number) for pack in self._packs] if number is not None else []
        behind, often = map(_numbers, self._occurrences.get(stem, _NOWHERE))
        documents = np.concatenate([*(part[0] for part in parts), behind])
        counts = np.concatenate([*(part[1] for part in parts), often])
        return documents.astype(np.int64), counts.astype(np.uint32)

    def has(self, stem: str) -> bool:
        """Whether some document has a stem."""
        if stem in self._occurrences:
            return True
        number = self._numbers.get(stem)
        return number is not None and any(len(pack.where(number)[0]) for pack in self._packs)

    def having(self, stem: str) -> int:
        """Count the documents that have a stem."""
        return len(self._where(stem)[0])

    @property
    def packed_stems(self) -> Collection[str]:
        """The stems of the packs; more come, and none goes, though it be taken back."""
        return self._numbers.keys()

    @property
    def unpacked_stems(self) -> Collection[str]:
        """The stems that occur behind the packs."""
        return self._occurrences.keys()

    def _forget(self) -> None:
        self.generation += 1
        self._groups = self._brief = None
        if self._found:
            self._found.clear()

    def _number_of(self, stem: str) -> int:
        return self._numbers.setdefault(stem, len(self._numbers))

    def _rarity(self, stem: str) -> float:
        return _rarity(len(self._where(stem)[0]), len(self))


def brief_of(lengths: NDArray[Any]) -> float:
    """Tell how long a brief document is: the lower quartile, and no fewer stems than `_BRIEF`."""
    return max(_BRIEF, float(np.quantile(lengths, 0.25))) if len(lengths) else _BRIEF


def damped(lengths: NDArray[Any], brief: float) -> NDArray[np.float64]:
    """Say how many occurrences are worth half of the most there can be, shape of `lengths`."""
    return np.asarray(K1 * (1 - B + B * np.sqrt(np.minimum(lengths / brief, LONGEST))))


def summed(matches: Iterable[Matches], size: int) -> Scores:
    """Add up what a query's stems are worth, shape (size,)."""
    found = np.zeros(size, dtype=np.float32)
    for match in matches:
        found[match.documents] += match.values
    return found


def covered(matches: Iterable[Matches], size: int) -> Scores:
    """Find the share of the query that each document has, 0 to 1, shape (size,)."""
    found = np.zeros(size, dtype=np.float32)
    for match in matches:
        found[match.documents] += np.float32(match.share)
    return found


_NOWHERE = array("I"), array("I")


def _merged(
    found: Iterable[tuple[Places, NDArray[np.uint32]]],
) -> tuple[Places, NDArray[np.uint32]]:
    """Add up where several stems occur, as if they were one."""
    documents, counts = (np.concatenate(each) for each in zip(*found, strict=True))
    kept, places = np.unique(documents, return_inverse=True)
    return kept, np.bincount(places, counts, len(kept)).astype(np.uint32)


def _rarity(having: int, documents: int) -> float:
    """The inverse document frequency, above 0 even for a stem that every document has."""
    return math.log(1 + (documents - having + 0.5) / (having + 0.5))


def _numbers(values: "array[int]") -> NDArray[np.uint32]:
    """A copy: an array that is looked at cannot grow."""
    return np.frombuffer(values.tobytes(), dtype=np.uint32)
