"""The gate: how much of what the tools of one answer gave back enters the window. Pure.

A result above the limit is held: the model sees its head and tail, and may have it compacted, keep
the preview, or keep all of it where that fits. All results of an answer are decided together, and
share the room: the small ones first, whole; what is left goes to the others in equal parts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jitchat.text.figures import plural
from jitchat.tools.preview import preview
from jitchat.values import HANDLE_LARGE_RESULTS, REQUEST_CONTEXT, Turn
from jitchat.window import reasons
from jitchat.window.tokens import TokenCounter

LARGE_RESULT = 4_000
"""Tokens from which on a result is held, where the settings say nothing else."""
PREVIEW = 600
"""Tokens of a preview, with what is said of it, at the most."""
_LEAST = 120
"""Tokens of one; in less room, a notice stands for the result."""
_NOTICE = 48


@dataclass(frozen=True, slots=True)
class Form:
    """What the window has of a result."""

    text: str
    reason: str
    whole: int
    """Tokens of all of the result."""
    is_whole: bool = False


def forms_of(turns: Sequence[Turn], room: int, limit: int, counter: TokenCounter) -> Iterator[Form]:
    """Give the form of each result, in order; together they cost at most `room` tokens.

    Where even the notices do not fit, they are given all the same.
    """
    sizes = [counter.count(turn.content) for turn in turns]
    held = _held(sizes, room, limit)
    left = room - sum(size for place, size in enumerate(sizes) if place not in held)
    share = min(PREVIEW, left // len(held)) if held else 0
    spare = left - share * len(held)
    for place, (turn, size) in enumerate(zip(turns, sizes, strict=True)):
        if place in held:
            text = _shown(turn, size, share, spare, counter)
            yield Form(text, reasons.HELD.format(tokens=size), size)
        else:
            yield Form(turn.content, reasons.RESULT, size, is_whole=True)


def _held(sizes: Sequence[int], room: int, limit: int) -> frozenset[int]:
    """Choose the results that are too large, or that the others leave no room for."""
    held = {place for place, size in enumerate(sizes) if size > limit}
    for place in sorted(range(len(sizes)), key=lambda place: -sizes[place]):
        whole = sum(size for other, size in enumerate(sizes) if other not in held)
        if whole + _LEAST * len(held) <= room:
            break
        if sizes[place] > _NOTICE:
            held.add(place)
    return frozenset(held)


def _shown(turn: Turn, size: int, share: int, spare: int, counter: TokenCounter) -> str:
    """Write the preview of a result, or a notice where there is no room for one."""
    lines = turn.content.count("\n") + 1
    what = f"#{turn.position}: {size:,} tokens in {plural(lines, 'line')}"
    notice = f"[{what}, kept whole. {REQUEST_CONTEXT} with turn #{turn.position} reads it.]"
    if share < _LEAST:
        return notice
    over = size - spare
    whole = "keep_all" if over <= 0 else f"not keep_all, which needs {over:,} more than there are"
    told = (
        f"[{what}; this is a preview, all of it is kept. {HANDLE_LARGE_RESULTS}: compact with an"
        f" instruction, keep_preview, or {whole}. {REQUEST_CONTEXT} reads on in"
        f" #{turn.position}.]"
    )
    rest = share - counter.count(f"\n{told}") - 1
    seen = preview(turn.content, rest, counter).text if rest > 0 else ""
    text = f"{seen}\n{told}" if seen else told
    return text if counter.count(text) <= share else notice
