"""The gate: how much of an answer's tool results enters the window. Pure.

A result above the limit is held: the model sees its head and tail, and can have it compacted, keep
the preview, or keep all of it if that fits. All results of an answer are decided together and
share the room: the small ones are included whole; the others get equal parts of the rest.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from jitchat.text.figures import plural
from jitchat.tools.extracting import preview
from jitchat.values import EPHEMERAL, HANDLE_LARGE_RESULTS, REQUEST_CONTEXT, Form, Turn
from jitchat.window import reasons
from jitchat.window.tokens import TokenCounter

LARGE_RESULT = 4_000
"""Default size in tokens above which a result is held."""
PREVIEW = 600
"""Maximum tokens of a preview with its description."""
_LEAST = 120
"""Minimum tokens of a preview; with less room, a notice replaces the result."""
_NOTICE = 48


@dataclass(frozen=True, slots=True)
class Gated:
    """What the window has of a result."""

    text: str
    reason: str
    whole: int
    """Tokens of the whole result."""
    form: Form = Form.WHOLE


def forms_of(
    turns: Sequence[Turn],
    room: int,
    limit: int,
    counter: TokenCounter,
    offered: Collection[str] = EPHEMERAL,
) -> Iterator[Gated]:
    """Yield the form of each result, in order; together they cost at most `room` tokens.

    Notices are included even if they do not fit. A form mentions only tools in `offered`, the
    names of the offered tools.
    """
    sizes = [counter.count(turn.content) for turn in turns]
    held = _held(sizes, room, limit)
    left = room - sum(size for place, size in enumerate(sizes) if place not in held)
    share = min(PREVIEW, left // len(held)) if held else 0
    spare = left - share * len(held)
    for place, (turn, size) in enumerate(zip(turns, sizes, strict=True)):
        if place in held:
            result = _HeldResult(turn, size, frozenset(offered))
            text = _shown(result, share, spare, counter)
            if text == result.notice:
                yield Gated(text, reasons.NO_ROOM_PREVIEW, size, Form.HELD)
            else:
                yield Gated(text, reasons.LARGE_RESULT, size, Form.PREVIEW)
        else:
            yield Gated(turn.content, reasons.RESULT, size)


def _held(sizes: Sequence[int], room: int, limit: int) -> frozenset[int]:
    """Return the places of the results that are too large, or for which no room is left."""
    held = {place for place, size in enumerate(sizes) if size > limit}
    for place in sorted(range(len(sizes)), key=lambda place: -sizes[place]):
        whole = sum(size for other, size in enumerate(sizes) if other not in held)
        if whole + _LEAST * len(held) <= room:
            break
        if sizes[place] > _NOTICE:
            held.add(place)
    return frozenset(held)


@dataclass(frozen=True, slots=True)
class _HeldResult:
    """A held result and the texts that describe it to the model."""

    turn: Turn
    size: int
    offered: frozenset[str]

    @property
    def what(self) -> str:
        lines = plural(self.turn.content.count("\n") + 1, "line")
        return f"#{self.turn.position}: {self.size:,} tokens in {lines}"

    @property
    def notice(self) -> str:
        """The text that replaces the result if there is no room for a preview."""
        reads = f" {REQUEST_CONTEXT} with turn #{self.turn.position} reads it."
        return f"[{self.what}, kept whole.{reads if REQUEST_CONTEXT in self.offered else ''}]"

    def choices(self, spare: int) -> str:
        """Describe what the model can do; `spare` is the room for the whole result."""
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


def _shown(held: _HeldResult, share: int, spare: int, counter: TokenCounter) -> str:
    """Write the preview of a result, or a notice if there is no room for one."""
    if share < _LEAST:
        return held.notice
    choices = held.choices(spare)
    rest = share - counter.count(f"\n{choices}") - 1
    seen = preview(held.turn.content, rest, counter) if rest > 0 else ""
    text = f"{seen}\n{choices}" if seen else choices
    return text if counter.count(text) <= share else held.notice
