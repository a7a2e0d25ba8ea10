"""The head of the distilling modes: statements that stand before what `jit` sends.

The statements are part of the window's opening, at most a share of its size: what is recalled
follows them. So long as windows are extended, they keep the head that they were composed with.
Everything is sent while it fits, with the statements that say what these turns do not.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import TypeVar

from jitchat.statements import DocumentLine, MemoryDocument, Observation, Observations, Priority
from jitchat.window.budget import SHARES
from jitchat.window.modes import jit
from jitchat.window.parts import Choice, Parts, block_tokens
from jitchat.window.render import Price
from jitchat.window.window import Segment, tokens_of

_LEVELS = (Priority.LOW, Priority.MEDIUM, Priority.HIGH)
_Statements = TypeVar("_Statements", Observations, MemoryDocument)


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


def fitting_head(
    parts: Parts,
    statements: _Statements,
    write: Callable[[_Statements, Price, int], list[Segment]],
) -> list[Segment]:
    """Write the statements that fit; those of the lowest rank give way, of equals the oldest.

    How many fit is estimated by their length, then counted.
    """
    lines, most = statements.lines, _most(parts)

    def head(indices: Sequence[int], price: Price) -> list[Segment]:
        kept = replace(statements, lines=tuple(lines[index] for index in indices))
        return write(kept, price, len(lines) - len(indices))

    every = head(range(len(lines)), parts.counter.count)
    if tokens_of(every) <= most:
        return every
    rate = tokens_of(every) / sum(len(segment.text) for segment in every)
    ranked = sorted(range(len(lines)), key=lambda index: (_rank(lines[index]), index), reverse=True)

    def estimated(count: int) -> int:
        return tokens_of(head(sorted(ranked[:count]), lambda text: int(rate * len(text))))

    fitting = bisect_right(range(len(lines) + 1), most, key=estimated) - 1
    while tokens_of(written := head(sorted(ranked[:fitting]), parts.counter.count)) > most:
        fitting -= 1
    return written


def _rank(line: Observation | DocumentLine) -> tuple[bool, int]:
    """Rank observations by importance, and lines of a document by day, those kept first."""
    if isinstance(line, Observation):
        return line.superseded is None, _LEVELS.index(line.priority)
    return line.is_kept, (line.day or date.min).toordinal()


def _most(parts: Parts) -> int:
    """Return the tokens that the head may have: it gives way to the last exchange."""
    last = parts.fitting_start(parts.last_exchange, parts.fixed)
    block = block_tokens(parts.sources.history, last, parts.pricing)
    left = parts.room - parts.fixed - block
    return max(0, min(left, parts.budget.share(SHARES.distilled)))
