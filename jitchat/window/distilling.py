"""The head of the distilling modes: statements that stand before what `jit` sends.

The statements are part of the window's opening, at most a share of its size: what is recalled
follows them. So long as windows are extended, they keep the head that they were composed with.
Everything is sent while it fits, with the statements that say what these turns do not.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace

from jitchat.statements import DocumentLine, MemoryDocument, Observation, Observations, Priority
from jitchat.window.budget import SHARES
from jitchat.window.modes import jit
from jitchat.window.parts import Choice, Parts, block_tokens
from jitchat.window.render import Price
from jitchat.window.statements import document_segments, observation_segments
from jitchat.window.window import Segment, tokens_of


def choose_with_head(
    parts: Parts,
    write_head: Callable[[], Sequence[Segment]],
    through: int,
    always: Sequence[Segment] = (),
) -> Choice:
    """Choose as `jit` does, behind the statements that stand for the turns up to `through`.

    `always` are those that are sent even if every turn is.
    """
    opening = (*parts.opening_of_everything, *always)
    whole = parts.whole + tokens_of(always)
    everything = replace(parts, opening_of_everything=opening, whole=whole)
    if everything.is_small:
        return jit.choose(everything)
    head = write_head()
    choice = jit.composed(replace(parts, opening=(*parts.opening, *head)))
    return replace(choice, distilled_through=through) if head else choice


def observations_head(parts: Parts, observations: Observations) -> list[Segment]:
    """Write the observations that fit.

    Superseded ones give way first, then the least important, then the oldest.
    """
    lines = observations.lines

    def write(indices: Sequence[int], price: Price) -> list[Segment]:
        kept = replace(observations, lines=tuple(lines[index] for index in indices))
        return observation_segments(kept, price, len(lines) - len(indices))

    return _fitting(parts, write, [_importance(line) for line in lines])


def document_head(parts: Parts, document: MemoryDocument) -> list[Segment]:
    """Write the lines of a document that fit: the oldest give way first, those kept last."""
    lines = document.lines

    def write(indices: Sequence[int], price: Price) -> list[Segment]:
        kept = replace(document, lines=tuple(lines[index] for index in indices))
        return document_segments(kept, price, len(lines) - len(indices))

    return _fitting(parts, write, [_recency(line) for line in lines])


_LEVELS = (Priority.LOW, Priority.MEDIUM, Priority.HIGH)


def _importance(line: Observation) -> tuple[bool, int]:
    return line.superseded is None, _LEVELS.index(line.priority)


def _recency(line: DocumentLine) -> tuple[bool, int]:
    return line.is_kept, line.day.toordinal() if line.day is not None else 0


_Write = Callable[[Sequence[int], Price], list[Segment]]


def _fitting(parts: Parts, write: _Write, ranks: Sequence[tuple[bool, int]]) -> list[Segment]:
    """Write the lines of the highest ranks that fit; of equals, the later.

    How many fit is estimated by their length, then counted.
    """
    most, price = _most(parts), parts.counter.count
    every = write(range(len(ranks)), price)
    if tokens_of(every) <= most:
        return every
    rate = tokens_of(every) / sum(len(segment.text) for segment in every)
    ranked = sorted(range(len(ranks)), key=lambda index: (ranks[index], index), reverse=True)

    def estimated(count: int) -> int:
        return tokens_of(write(sorted(ranked[:count]), lambda text: int(rate * len(text))))

    fitting = bisect_right(range(len(ranked) + 1), most, key=estimated) - 1
    while True:
        head = write(sorted(ranked[:fitting]), price)
        if tokens_of(head) <= most:
            return head
        fitting -= 1


def _most(parts: Parts) -> int:
    """Return the tokens that the head may have: it gives way to the last exchange."""
    last = parts.fitting_start(parts.last_exchange, parts.fixed)
    block = block_tokens(parts.sources.history, last, parts.pricing)
    left = parts.room - parts.fixed - block
    return max(0, min(left, parts.budget.share(SHARES.distilled)))
