"""How a backlog is cut up: what is read at once, written at once, and embedded at once.

Turns differ a thousandfold in length, and so do the hours of work in a hundred of them: what
may be lost or waited for is bounded by letters as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jitchat.turn import Turn

BATCH = 128
"""Turns that are looked for at once."""
_PART_LETTERS = 32_768
_SLICE, _SLICE_LETTERS = 16, 4_096


def parts_of(turns: Sequence[Turn]) -> Iterator[Sequence[Turn]]:
    """Cut into parts that are written in one transaction each, in the order given."""
    start = letters = 0
    for place, turn in enumerate(turns):
        letters += len(turn.content)
        if letters > _PART_LETTERS and place > start:
            yield turns[start:place]
            start, letters = place, len(turn.content)
    if turns[start:]:
        yield turns[start:]


def slices_of(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Cut into slices to embed, the shortest turns first.

    A model pads every text to the longest beside it, and cannot be interrupted: so texts of one
    length stay together, and few of them where they are long.
    """
    held: list[Turn] = []
    for turn in sorted(turns, key=_length):
        if held and (len(held) == _SLICE or (len(held) + 1) * _length(turn) > _SLICE_LETTERS):
            yield held
            held = []
        held.append(turn)
    if held:
        yield held


def _length(turn: Turn) -> int:
    return len(turn.content)
