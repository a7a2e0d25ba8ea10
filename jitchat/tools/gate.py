"""The gate: how much of what the tools of one answer gave back enters the window. Pure.

A result above the limit is held: the model sees its head and tail, and may have it compacted, keep
the preview, or keep all of it where that fits. All results of an answer are decided together, and
share the room: the small ones first, whole; what is left goes to the others in equal parts.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from jitchat.text.figures import plural
from jitchat.tools.preview import preview
from jitchat.values import EPHEMERAL, HANDLE_LARGE_RESULTS, REQUEST_CONTEXT, Turn
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


def forms_of(
    turns: Sequence[Turn],
    room: int,
    limit: int,
    counter: TokenCounter,
    offered: Collection[str] = EPHEMERAL,
) -> Iterator[Form]:
    """Give the form of each result, in order; together they cost at most `room` tokens.

    Where even the notices do not fit, they are given all the same. A form names only tools that
    are `offered`, by name.
    """
    sizes = [counter.count(turn.content) for turn in turns]
    held = _held(sizes, room, limit)
    left = room - sum(size for place, size in enumerate(sizes) if place not in held)
    share = min(PREVIEW, left // len(held)) if held else 0
    spare = left - share * len(held)
    for place, (turn, size) in enumerate(zip(turns, sizes, strict=True)):
        if place in held:
            told = _Told(turn, size, frozenset(offered))
            text = _shown(told, share, spare, counter)
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


@dataclass(frozen=True, slots=True)
class _Told:
    """What is said of a result that is held."""

    turn: Turn
    size: int
    offered: frozenset[str]

    @property
    def what(self) -> str:
        lines = plural(self.turn.content.count("\n") + 1, "line")
        return f"#{self.turn.position}: {self.size:,} tokens in {lines}"

    @property
    def notice(self) -> str:
        """Stand for the result where there is no room for a preview."""
        reads = f" {REQUEST_CONTEXT} with turn #{self.turn.position} reads it."
        return f"[{self.what}, kept whole.{reads if REQUEST_CONTEXT in self.offered else ''}]"

    def choices(self, spare: int) -> str:
        """Say what may be done; `spare` is the room for all of it."""
        over = self.size - spare
        whole = "keep_all"
        if over > 0:
            whole = f"not keep_all, which needs {over:,} more than there are"
        compact = f" {HANDLE_LARGE_RESULTS}: compact with an instruction, keep_preview, or {whole}."
        reads = f" {REQUEST_CONTEXT} reads on in #{self.turn.position}."
        return (
            f"[{self.what}; this is a preview, all of it is kept."
            f"{compact if HANDLE_LARGE_RESULTS in self.offered else ''}"
            f"{reads if REQUEST_CONTEXT in self.offered else ''}]"
        )


def _shown(held: _Told, share: int, spare: int, counter: TokenCounter) -> str:
    """Write the preview of a result, or a notice where there is no room for one."""
    if share < _LEAST:
        return held.notice
    told = held.choices(spare)
    rest = share - counter.count(f"\n{told}") - 1
    seen = preview(held.turn.content, rest, counter).text if rest > 0 else ""
    text = f"{seen}\n{told}" if seen else told
    return text if counter.count(text) <= share else held.notice
