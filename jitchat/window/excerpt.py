"""Choosing the passages of a long text that are sent. Pure.

Blocks are scored by BM25 against the query's terms. The more of the chosen passages have a word,
the less the word counts, so that the excerpt covers the whole query before it repeats itself. A
word in a block's heading, in the line that introduces the block, or in the preceding block counts
for less than one in the block itself.

A turn that was found by its meaning alone has none of the words, and its vector covers the whole
turn, so it does not rank passages. For such a turn the passages that its index line was made from
are chosen, or its beginning if they are not in the text either.

Of data, such as a log or a table, a line does not continue the one before. Every line that is worth
its tokens is taken while there is room, even if it repeats others: all of them may be asked for.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, groupby

from jitchat.text.blocks import LONG_PARAGRAPH, Block, blocks_of, records_of
from jitchat.text.words import stems
from jitchat.values import Term
from jitchat.window import reasons
from jitchat.window.render import Price, shares
from jitchat.window.window import Excerpt, Passage

_K1, _B = 1.2, 0.75
"""BM25's usual parameters for documents of many lengths."""
_IN_BROUGHT, _IN_PREVIOUS = 0.5, 0.25
"""Weight of a word in the blocks that a block brings along, and in the block before it."""
_REPEATED = 0.5
"""Factor on a word's weight for each chosen block that already has it."""
_LEAST = 0.1
"""A block that gains less than this share of the first block's gain is not worth its tokens."""
_FIRST = 1.5
"""The first block may cost this many times the room for passages: it matters most."""
_MOST = 24
"""How many of the best blocks are considered."""
_MISFITS = 3
"""After this many blocks that did not fit, the excerpt is considered full."""
_WORDS = 4
_REMEMBERED = 64
"""Texts whose blocks and prices are cached: as the user types, the same turns come up again."""


@dataclass(frozen=True, slots=True)
class Room:
    limit: int
    """Tokens for the passages and the markers between them."""
    marker: int
    """Tokens of a marker for what is left out."""
    is_for_data: bool = False
    """Whether the texts are data, not prose."""


def excerpt_of(
    texts: tuple[str, ...], terms: Sequence[Term], summary: str, room: Room, price: Price
) -> Excerpt:
    """Choose passages of a turn's `texts` that fit the room; if none fits, the best one.

    `summary` is the turn's index line. The texts are its content and those of its calls, of which
    at least one is not blank.
    """
    blocks, stems_of = _blocks(texts, room.is_for_data)
    costs = _costs(texts, price, room.is_for_data)
    words = {term.stem: term.word for term in terms}
    by_draft = {term.stem: term.weight for term in terms}
    by_summary = dict.fromkeys(stems(summary), 1.0)
    chosen = _Chosen(blocks, costs, room)
    for weights, reason in ((by_draft, reasons.MATCHES), (by_summary, reasons.IN_SUMMARY)):
        if shared := _shared(blocks, stems_of, weights, is_data=room.is_for_data):
            _choose(chosen, shared, stems_of, weights)
            return chosen.excerpt(partial(_reason, reason, shared, weights, words))
    first, *others = _candidates(blocks)
    chosen.take(first, is_forced=True)
    for number in others:
        if not chosen.take(number):
            break
    return chosen.excerpt(lambda _: reasons.BEGINNING)


def passages_of_data(text: str, query: str, room: Room, price: Price) -> list[tuple[int, int]]:
    """Choose passages that have words of a query; the fewer blocks have a word, the more it counts.

    None are chosen if the text has none of the words.
    """
    asked = frozenset(stems(query))
    blocks, stems_of = _blocks((text,), room.is_for_data)
    having = Counter[str]()
    for block, own in zip(blocks, stems_of, strict=True):
        having.update(asked.intersection(own.union(*(stems_of[each] for each in block.brings))))
    terms = [
        Term(each, each, math.log(1 + len(stems_of) / count)) for each, count in having.items()
    ]
    if not terms:
        return []
    excerpt = excerpt_of((text,), terms, "", room, price)
    return [(passage.start, passage.end) for passage in excerpt.passages]


def best_block_share(texts: tuple[str, ...], terms: Sequence[Term]) -> float:
    """Return the largest share of the query's weight in one block and what it brings, 0 to 1.

    A long turn may have all words scattered over it; an answer has them close together.
    """
    weights = {term.stem: term.weight for term in terms}
    shared = _shared(*_blocks(texts, False), weights, is_data=False).values()
    sums = (sum(weights[stem] * share for stem, share in found.items()) for found in shared)
    return max(sums, default=0.0) / (sum(weights.values()) or 1.0)


@dataclass(frozen=True, slots=True)
class _Block(Block):
    """A block of one of a turn's texts."""

    call: int = 0
    """As in `Passage`."""

    def of(self, texts: Sequence[str]) -> str:
        return texts[self.call][self.start : self.end]


@lru_cache(maxsize=_REMEMBERED)
def _blocks(
    texts: tuple[str, ...], is_data: bool, /
) -> tuple[tuple[_Block, ...], tuple[frozenset[str], ...]]:
    """Split texts into blocks; return them and the stems of each."""
    blocks: list[_Block] = []
    split = records_of if is_data else blocks_of
    for call, text in enumerate(texts):
        blocks += _blocks_of_text(text, call, len(blocks), split)
    return tuple(blocks), tuple(frozenset(stems(block.of(texts))) for block in blocks)


def _blocks_of_text(
    text: str, call: int, before: int, split: Callable[[str], Iterable[Block]]
) -> Iterator[_Block]:
    """Split a text into blocks, numbered from `before`.

    The first line of a call names the tool and its short arguments: the others bring it along.
    """
    head, end, _ = text.partition("\n")
    size = len(head + end) if call and len(head) <= LONG_PARAGRAPH else 0
    if size:
        yield _Block(0, size, call=call)
    first = before + bool(size)
    brought = (before,) if size else ()
    for block in split(text[size:]):
        brings = (*brought, *(first + number for number in block.brings))
        span = block.start + size, block.end + size
        yield _Block(*span, brings, block.is_frame, call)


@lru_cache(maxsize=_REMEMBERED)
def _costs(texts: tuple[str, ...], price: Price, is_data: bool, /) -> tuple[int, ...]:
    """Price the blocks of texts; the prices add up to that of all of them."""
    return tuple(shares([block.of(texts) for block in _blocks(texts, is_data)[0]], price))


def _candidates(blocks: Sequence[_Block]) -> list[int]:
    """List the blocks that have content, by number; all blocks if there are only headings."""
    with_content = [number for number, block in enumerate(blocks) if not block.is_frame]
    return with_content or list(range(len(blocks)))


Shared = Mapping[int, Mapping[str, float]]
"""By number of a block that shares stems with the query: the weight of each stem there, 0 to 1."""


def _shared(
    blocks: Sequence[_Block],
    stems_of: Sequence[frozenset[str]],
    weights: Mapping[str, float],
    *,
    is_data: bool,
) -> Shared:
    """Find the blocks that share stems with `weights`; empty if no block has one itself."""
    own = [weights.keys() & found for found in stems_of]
    if not any(own):
        return {}
    made = {}
    for number in _candidates(blocks):
        is_continued = number and not is_data
        shared = dict.fromkeys(own[number - 1] if is_continued else (), _IN_PREVIOUS)
        for brought in blocks[number].brings:
            shared |= dict.fromkeys(own[brought], _IN_BROUGHT)
        if shared := shared | dict.fromkeys(own[number], 1.0):
            made[number] = shared
    return made


def _choose(
    chosen: "_Chosen",
    shared: Shared,
    stems_of: Sequence[frozenset[str]],
    weights: Mapping[str, float],
) -> None:
    """Take the block with the largest gain, then the one that adds most to it, and so on."""
    norms = chosen.norms(_candidates(chosen.blocks))
    times_chosen: Counter[str] = Counter()

    def gain(number: int) -> float:
        found = shared[number].items()
        return norms[number] * sum(
            weights[stem] * share * _REPEATED ** times_chosen[stem] for stem, share in found
        )

    left = sorted(shared, key=lambda number: -gain(number))
    first, least = left[0], _LEAST * gain(left[0])
    if chosen.room.is_for_data:
        most = chosen.room.limit // chosen.room.marker
        left = [number for number in left[:most] if gain(number) >= least]
        least = 0.0
    else:
        left = left[:_MOST]
    misfits = 0
    while left and misfits < _MISFITS:
        best = max(left, key=gain)
        left.remove(best)
        if gain(best) < least:
            break
        if chosen.take(best):
            times_chosen.update(weights.keys() & stems_of[best])
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
    """Name the words that count most in a run of blocks, as the reason for choosing it."""
    worth: dict[str, float] = {}
    for stem, share in chain.from_iterable(shared[number].items() for number in run):
        worth[stem] = max(worth.get(stem, 0.0), weights[stem] * share)
    best = sorted(worth, key=lambda stem: -worth[stem])[:_WORDS]
    return reason.format(words=", ".join(words.get(stem, stem) for stem in best))


class _Chosen:
    """The chosen blocks, with the blocks that they bring along, and their cost."""

    def __init__(self, blocks: Sequence[_Block], costs: Sequence[int], room: Room) -> None:
        self.blocks, self._costs, self.room = blocks, costs, room
        self.numbers: frozenset[int] = frozenset()
        self._own: set[int] = set()
        """The blocks that were chosen themselves, not brought along by others."""

    def norms(self, candidates: Sequence[int]) -> Mapping[int, float]:
        """Return BM25's length factor for each block."""
        lengths = {
            number: self.blocks[number].end - self.blocks[number].start for number in candidates
        }
        mean = sum(lengths.values()) / len(lengths)
        return {
            number: (_K1 + 1) / (1 + _K1 * (1 - _B + _B * length / mean))
            for number, length in lengths.items()
        }

    def take(self, number: int, *, is_forced: bool = False) -> bool:
        """Take a block with the blocks that it brings along, if they fit."""
        wanted = self.numbers.union((number,), self.blocks[number].brings)
        # a gap that costs no more than a marker is filled
        between = sum(min(self.room.marker, self._cost(gap)) for gap in self._gaps(wanted))
        limit = self.room.limit * (1.0 if self.numbers else _FIRST)
        if self._cost(wanted) + between > limit and not is_forced:
            return False
        self.numbers = wanted
        self._own.add(number)
        return True

    def excerpt(self, reason_of: Callable[[Sequence[int]], str]) -> Excerpt:
        """Make a passage of each run of consecutive blocks of one text.

        `reason_of` gets the blocks of a run that were chosen themselves, and returns the reason.
        """
        passages, left_out, at = [], [], 0
        small = (gap for gap in self._gaps(self.numbers) if self._cost(gap) <= self.room.marker)
        kept = self.numbers.union(*small)
        for run in chain.from_iterable(map(self._by_text, _runs(kept))):
            first, last = self.blocks[run[0]], self.blocks[run[-1]]
            own = sorted(self._own.intersection(run))
            reason = reason_of(own) if own else reasons.FRAMES
            left_out.append(self._cost(range(at, run[0])))
            cost = self._cost(run)
            passages.append(Passage(first.start, last.end, cost, reason, first.call))
            at = run[-1] + 1
        left_out.append(self._cost(range(at, len(self.blocks))))
        return Excerpt(tuple(passages), tuple(left_out))

    def _by_text(self, run: range) -> Iterator[Sequence[int]]:
        for _, of_text in groupby(run, lambda number: self.blocks[number].call):
            yield list(of_text)

    def _cost(self, numbers: Iterable[int]) -> int:
        return sum(self._costs[number] for number in numbers)

    def _gaps(self, kept: frozenset[int]) -> Iterator[range]:
        """Find the gaps before, between and after the kept blocks."""
        at = 0
        for run in _runs(kept):
            if at < run[0]:
                yield range(at, run[0])
            at = run[-1] + 1
        if at < len(self.blocks):
            yield range(at, len(self.blocks))


def _runs(numbers: frozenset[int]) -> Iterator[range]:
    """Group consecutive numbers, ascending."""
    ordered = sorted(numbers)
    start = 0
    for place in range(1, len(ordered) + 1):
        if place == len(ordered) or ordered[place] != ordered[place - 1] + 1:
            yield range(ordered[start], ordered[place - 1] + 1)
            start = place
