"""What differs between two windows, by turn: who came in, who lost their place. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jitchat.window.window import ContextWindow, Kind, Segment

SAME = "Both windows have the same turns."


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one turn."""

    turn: int
    kind_before: Kind | None
    """As what it was there; None where it was not."""
    kind_after: Kind | None
    tokens_before: int
    """0 where it was not there."""
    tokens_after: int


@dataclass(frozen=True, slots=True)
class Difference:
    """The turns that are not the same in both windows, each kind in order of position."""

    entered: tuple[Change, ...] = ()
    left: tuple[Change, ...] = ()
    moved: tuple[Change, ...] = ()
    """In both, as something else."""
    changed: tuple[Change, ...] = ()
    """In both as the same, with another text or price."""
    new_instructions: bool = False
    """Whether the system prompt is another one."""

    def __bool__(self) -> bool:
        """Whether anything differs."""
        turns = (*self.entered, *self.left, *self.moved, *self.changed)
        return bool(turns) or self.new_instructions

    @property
    def by_name(self) -> dict[str, tuple[Change, ...]]:
        """Each kind under its name on screen."""
        return {
            "entered": self.entered,
            "left": self.left,
            "moved": self.moved,
            "changed": self.changed,
        }

    @property
    def lost(self) -> tuple[Change, ...]:
        """Those that are no longer there at full text, in order of position."""
        demoted = (each for each in self.moved if each.kind_after is Kind.INDEX)
        gone = (each for each in self.left if each.kind_before is not Kind.INDEX)
        return tuple(sorted((*gone, *demoted), key=lambda each: each.turn))

    @property
    def gained(self) -> tuple[Change, ...]:
        """Those that are now there at full text, in order of position."""
        promoted = (each for each in self.moved if each.kind_before is Kind.INDEX)
        new = (each for each in self.entered if each.kind_after is not Kind.INDEX)
        return tuple(sorted((*new, *promoted), key=lambda each: each.turn))


def difference(before: ContextWindow, after: ContextWindow) -> Difference:
    """Compare two windows; of one conversation, for turns are told by position."""
    old, new = _by_turn(before), _by_turn(after)
    changes = [_change(turn, old.get(turn), new.get(turn)) for turn in sorted(old | new)]
    both = [each for each in changes if each.kind_before and each.kind_after]
    return Difference(
        entered=tuple(each for each in changes if each.kind_before is None),
        left=tuple(each for each in changes if each.kind_after is None),
        moved=tuple(each for each in both if each.kind_before is not each.kind_after),
        changed=tuple(
            each
            for each in both
            if each.kind_before is each.kind_after and _is_other(old[each.turn], new[each.turn])
        ),
        new_instructions=_instructions(before) != _instructions(after),
    )


def _by_turn(window: ContextWindow) -> dict[int, Segment]:
    """Find each turn's segment; full text wins over an index line."""
    kinds = window.kind_of_turns()
    return {turn: segment for turn, segment in _segments(window) if kinds[turn] is segment.kind}


def _segments(window: ContextWindow) -> Iterator[tuple[int, Segment]]:
    for segment in window.segments:
        if segment.turn is not None:
            yield segment.turn, segment


def _change(turn: int, old: Segment | None, new: Segment | None) -> Change:
    return Change(
        turn,
        old.kind if old else None,
        new.kind if new else None,
        old.tokens if old else 0,
        new.tokens if new else 0,
    )


def _is_other(old: Segment, new: Segment) -> bool:
    return (old.text, old.tokens) != (new.text, new.tokens)


def _instructions(window: ContextWindow) -> list[str]:
    return [segment.text for segment in window.segments if segment.turn is None]
