"""Choosing the passages of a long turn that the window gets. Pure.

Blocks are scored by BM25 against the query's terms: a word counts the less the more of the
passages that are chosen already have it, so that the excerpt covers what is asked for before it
says the same again. A word in the heading of a block, in the line that announces it, or in the
block ahead of it counts for less than one of its own.

A turn that was found by its meaning alone has none of the words. Its vector is one for the whole
turn and tells nothing about passages: there, what its index line was made of is chosen, and its
beginning where that is not in the text either.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain

from jitchat.text.blocks import Block, blocks_of
from jitchat.text.words import stems
from jitchat.values import Term
from jitchat.window import reasons
from jitchat.window.render import Price, shares
from jitchat.window.window import Excerpt, Passage

_K1, _B = 1.2, 0.75
"""Of BM25, as usual for documents of many lengths."""
_BROUGHT, _AHEAD = 0.5, 0.25
"""What a word counts that what the block brings has, or the block ahead of it."""
_AGAIN = 0.5
"""What a word counts for each chosen block that has it."""
_LEAST = 0.1
"""A block that brings less than this share of what the first one did is not worth its tokens."""
_FIRST = 1.5
"""The first block may cost so much more than there is room for passages: it is what matters."""
_MOST = 24
"""So many of the best blocks are looked at."""
_MISFITS = 3
"""After so many blocks that there was no room for, the excerpt is taken to be full."""
_WORDS = 4
_REMEMBERED = 64
"""Texts whose blocks and prices are kept: as the user types, the same turns come up again."""


@dataclass(frozen=True, slots=True)
class Room:
    limit: int
    """Tokens for the passages and the markers between them."""
    marker: int
    """What a marker of what is left out costs."""


def excerpt_of(text: str, terms: Sequence[Term], summary: str, room: Room, price: Price) -> Excerpt:
    """Choose passages of `text` for the room that there is; where none fits, the best one.

    `summary` is the turn's index line. `text` is not blank.
    """
    blocks, stems_of = _blocks(text)
    costs = _costs(text, price)
    words = {term.stem: term.word for term in terms}
    by_draft = {term.stem: term.weight for term in terms}
    by_summary = dict.fromkeys(stems(summary), 1.0)
    chosen = _Chosen(blocks, costs, room)
    for weights, reason in ((by_draft, reasons.MATCHES), (by_summary, reasons.IN_SUMMARY)):
        if shared := _shared(blocks, stems_of, weights):
            _choose(chosen, shared, stems_of, weights)
            return chosen.excerpt(partial(_reason, reason, shared, weights, words))
    first, *others = _candidates(blocks)
    chosen.take(first, is_forced=True)
    for number in others:
        if not chosen.take(number):
            break
    return chosen.excerpt(lambda _: reasons.BEGINNING)


def together(text: str, terms: Sequence[Term]) -> float:
    """Tell how much of the query one block has, with what it brings: 0 to 1.

    Of many words some turn has all, scattered; an answer has them together.
    """
    weights = {term.stem: term.weight for term in terms}
    shared = _shared(*_blocks(text), weights).values()
    sums = (sum(weights[stem] * share for stem, share in found.items()) for found in shared)
    return max(sums, default=0.0) / (sum(weights.values()) or 1.0)


@lru_cache(maxsize=_REMEMBERED)
def _blocks(text: str) -> tuple[tuple[Block, ...], tuple[frozenset[str], ...]]:
    """Split a text; the stems of each block."""
    blocks = blocks_of(text)
    return blocks, tuple(frozenset(stems(text[block.start : block.end])) for block in blocks)


@lru_cache(maxsize=_REMEMBERED)
def _costs(text: str, price: Price) -> tuple[int, ...]:
    """Price the blocks of a text; they add up to its price."""
    return tuple(shares([text[block.start : block.end] for block in _blocks(text)[0]], price))


def _candidates(blocks: Sequence[Block]) -> list[int]:
    """Number the blocks that say something; of a text of headings alone, these."""
    saying = [number for number, block in enumerate(blocks) if not block.is_frame]
    return saying or list(range(len(blocks)))


Shared = Mapping[int, Mapping[str, float]]
"""For each block that has to do with what is wanted: what each stem counts there, 0 to 1."""


def _shared(
    blocks: Sequence[Block], stems_of: Sequence[frozenset[str]], weights: Mapping[str, float]
) -> Shared:
    """Find the blocks that share stems with what is wanted; none where no block has one itself."""
    own = [weights.keys() & found for found in stems_of]
    if not any(own):
        return {}
    made = {}
    for number in _candidates(blocks):
        shared = dict.fromkeys(own[number - 1] if number else (), _AHEAD)
        for brought in blocks[number].brings:
            shared |= dict.fromkeys(own[brought], _BROUGHT)
        if shared := shared | dict.fromkeys(own[number], 1.0):
            made[number] = shared
    return made


def _choose(
    chosen: "_Chosen",
    shared: Shared,
    stems_of: Sequence[frozenset[str]],
    weights: Mapping[str, float],
) -> None:
    """Take the block that brings most, then the one that brings most beside it, and so on."""
    norms = chosen.norms(_candidates(chosen.blocks))
    often: Counter[str] = Counter()

    def gain(number: int) -> float:
        found = shared[number].items()
        return norms[number] * sum(
            weights[stem] * share * _AGAIN ** often[stem] for stem, share in found
        )

    left = sorted(shared, key=lambda number: -gain(number))[:_MOST]
    first, least = left[0], _LEAST * gain(left[0])
    misfits = 0
    while left and misfits < _MISFITS:
        best = max(left, key=gain)
        left.remove(best)
        if gain(best) < least:
            break
        if chosen.take(best):
            often.update(weights.keys() & stems_of[best])
        else:
            misfits += 1
    if not chosen.numbers:
        chosen.take(first, is_forced=True)


def _reason(
    reason: str,
    shared: Shared,
    weights: Mapping[str, float],
    words: Mapping[str, str],
    run: Iterable[int],
) -> str:
    """Say why a run of blocks was chosen, by the words that count most there."""
    worth: dict[str, float] = {}
    for stem, share in chain.from_iterable(shared[number].items() for number in run):
        worth[stem] = max(worth.get(stem, 0.0), weights[stem] * share)
    best = sorted(worth, key=lambda stem: -worth[stem])[:_WORDS]
    return reason.format(words=", ".join(words.get(stem, stem) for stem in best))


class _Chosen:
    """The blocks that were chosen, with what they bring, and what they cost."""

    def __init__(self, blocks: Sequence[Block], costs: Sequence[int], room: Room) -> None:
        self.blocks, self._costs, self._room = blocks, costs, room
        self.numbers: frozenset[int] = frozenset()
        self._own: set[int] = set()
        """Those that were not just brought."""

    def norms(self, candidates: Sequence[int]) -> Mapping[int, float]:
        """BM25's factor for the length of each block."""
        lengths = {
            number: self.blocks[number].end - self.blocks[number].start for number in candidates
        }
        mean = sum(lengths.values()) / len(lengths)
        return {
            number: (_K1 + 1) / (1 + _K1 * (1 - _B + _B * length / mean))
            for number, length in lengths.items()
        }

    def take(self, number: int, *, is_forced: bool = False) -> bool:
        """Take a block with what it brings, if there is room."""
        wanted = self.numbers.union((number,), self.blocks[number].brings)
        # a gap that costs no more than its marker is filled
        between = sum(min(self._room.marker, self._cost(gap)) for gap in self._gaps(wanted))
        limit = self._room.limit * (1.0 if self.numbers else _FIRST)
        if self._cost(wanted) + between > limit and not is_forced:
            return False
        self.numbers = wanted
        self._own.add(number)
        return True

    def excerpt(self, reason_of: Callable[[Sequence[int]], str]) -> Excerpt:
        """Make passages of blocks that follow each other.

        `reason_of` says why the blocks of one were chosen, given those that were not just brought.
        """
        passages, left_out, at = [], [], 0
        small = (gap for gap in self._gaps(self.numbers) if self._cost(gap) <= self._room.marker)
        kept = self.numbers.union(*small)
        for run in _runs(kept):
            first, last = self.blocks[run[0]], self.blocks[run[-1]]
            own = sorted(self._own.intersection(run))
            reason = reason_of(own) if own else reasons.FRAMES
            left_out.append(self._cost(range(at, run[0])))
            passages.append(Passage(first.start, last.end, self._cost(run), reason))
            at = run[-1] + 1
        left_out.append(self._cost(range(at, len(self.blocks))))
        return Excerpt(tuple(passages), tuple(left_out))

    def _cost(self, numbers: Iterable[int]) -> int:
        return sum(self._costs[number] for number in numbers)

    def _gaps(self, kept: frozenset[int]) -> Iterator[range]:
        """Find what lies ahead of, between and behind the blocks that are kept."""
        at = 0
        for run in _runs(kept):
            if at < run[0]:
                yield range(at, run[0])
            at = run[-1] + 1
        if at < len(self.blocks):
            yield range(at, len(self.blocks))


def _runs(numbers: frozenset[int]) -> Iterator[range]:
    """Gather numbers that follow each other, ascending."""
    ordered = sorted(numbers)
    start = 0
    for place in range(1, len(ordered) + 1):
        if place == len(ordered) or ordered[place] != ordered[place - 1] + 1:
            yield range(ordered[start], ordered[place - 1] + 1)
            start = place
