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
from jitchat.window.statements import document_segments, observation_segments
from jitchat.window.window import Segment, tokens_of


def choose_with_head(
    parts: Parts, head: Sequence[Segment], through: int, always: Sequence[Segment] = ()
) -> Choice:
    """Choose as `jit` does, behind the statements that stand for the turns up to `through`.

    `always` are those that are sent even if every turn is.
    """
    headed = replace(
        parts,
        opening=(*parts.opening, *head),
        opening_of_everything=(*parts.opening_of_everything, *always),
        whole=parts.whole + tokens_of(always),
    )
    choice = jit.choose(headed)
    is_in = head and not headed.is_small
    return replace(choice, distilled_through=through) if is_in else choice


def observations_head(parts: Parts, observations: Observations) -> list[Segment]:
    """Write the observations that fit: the least important give way first, then the oldest."""
    lines, price = observations.lines, parts.counter.count

    def write(indices: Sequence[int]) -> list[Segment]:
        kept = replace(observations, lines=tuple(lines[index] for index in indices))
        return observation_segments(kept, price, len(lines) - len(indices))

    return _fitting(write, [_importance(line) for line in lines], _most(parts))


def document_head(parts: Parts, document: MemoryDocument) -> list[Segment]:
    """Write the lines of a document that fit: the oldest give way first, those kept last."""
    lines, price = document.lines, parts.counter.count

    def write(indices: Sequence[int]) -> list[Segment]:
        kept = replace(document, lines=tuple(lines[index] for index in indices))
        return document_segments(kept, price, len(lines) - len(indices))

    return _fitting(write, [_recency(line) for line in lines], _most(parts))


_LEVELS = (Priority.LOW, Priority.MEDIUM, Priority.HIGH)


def _importance(line: Observation) -> tuple[bool, int]:
    return line.superseded is None, _LEVELS.index(line.priority)


def _recency(line: DocumentLine) -> tuple[bool, int]:
    return line.is_kept, line.day.toordinal() if line.day is not None else 0


def _fitting(
    write: Callable[[Sequence[int]], list[Segment]], ranks: Sequence[tuple[bool, int]], most: int
) -> list[Segment]:
    """Write the lines of the highest ranks that fit into `most` tokens; of equals, the later."""
    ranked = sorted(range(len(ranks)), key=lambda index: (ranks[index], index), reverse=True)

    def written(count: int) -> list[Segment]:
        return write(sorted(ranked[:count]))

    counts = range(len(ranked) + 1)
    fitting = bisect_right(counts, most, key=lambda count: tokens_of(written(count))) - 1
    return written(fitting)


def _most(parts: Parts) -> int:
    """Return the tokens that the head may have: it gives way to the last exchange."""
    last = parts.fitting_start(parts.last_exchange, parts.fixed)
    block = block_tokens(parts.sources.history, last, parts.pricing)
    left = parts.room - parts.fixed - block
    return max(0, min(left, parts.budget.share(SHARES.distilled)))
