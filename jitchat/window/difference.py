"""What differs between two windows, by turn: who came in, who lost their place. Pure.

Nothing is lost between the windows and the rows: what a row tells of a mode, added up over all
rows, is what that window holds.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from jitchat.values import Mode
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


_Order = tuple[bool, int, tuple[bool, ...]]

SINGLY = 12
"""So many turns that are in the same windows, in the same way, have a row each; the ones before
them share one."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one window has of a turn, or of several."""

    kind: Kind
    """As what; full text wins over an index line."""
    tokens: int


@dataclass(frozen=True, slots=True)
class AlignedRow:
    """A turn, or several that are alike, in each window that holds it."""

    turns: tuple[int | None, ...]
    """Positions, ascending; None alone for what stems from no turn: the instructions."""
    shares: Mapping[Mode, Share]
    """By mode; a mode whose window holds none of it is not there."""

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes whose windows hold it, in the order of the modes."""
        return tuple(mode for mode in Mode if mode in self.shares)


def align(windows: Iterable[ContextWindow], singly: int = SINGLY) -> tuple[AlignedRow, ...]:
    """Align windows of different modes, by turn.

    Turns that not all of the windows hold come first, those that most of them hold ahead; among
    turns of the same windows, by position.
    """
    given = tuple(windows)
    shares, modes = _shares(given), frozenset(window.mode for window in given)
    order = {turn: _order(known, modes) for turn, known in shares.items()}
    rows: list[AlignedRow] = []
    for _, alike in groupby(
        sorted(shares, key=lambda t: (order[t], t or 0)), key=order.__getitem__
    ):
        rows += _gathered([AlignedRow((turn,), shares[turn]) for turn in alike], singly)
    return tuple(rows)


def _shares(windows: Iterable[ContextWindow]) -> dict[int | None, dict[Mode, Share]]:
    found: dict[int | None, dict[Mode, Share]] = {}
    for window in windows:
        for segment in window.segments:
            known = found.setdefault(segment.turn, {})
            before = known.get(window.mode)
            kind = before.kind if before and before.kind is not Kind.INDEX else segment.kind
            tokens = segment.tokens + (before.tokens if before else 0)
            known[window.mode] = Share(kind, tokens)
    return found


def _order(shares: Mapping[Mode, Share], modes: frozenset[Mode]) -> _Order:
    """In all of them last; else the more, the earlier; and those of the same modes together."""
    missing = tuple(mode in modes and mode not in shares for mode in Mode)
    return not any(missing), sum(missing), missing


def _gathered(rows: list[AlignedRow], singly: int) -> list[AlignedRow]:
    """Put the earlier ones of many that are alike into one row, where the first of them was."""
    groups: dict[tuple[tuple[Mode, Kind], ...], list[AlignedRow]] = {}
    for row in rows:
        groups.setdefault(_manner(row), []).append(row)
    made = list[AlignedRow]()
    for group in groups.values():
        early = group[:-singly] if len(group) > singly + 1 else []
        made += [_together(early)] if early else []
        made += group[len(early) :]
    return sorted(made, key=lambda row: row.turns[0] or 0)


def _manner(row: AlignedRow) -> tuple[tuple[Mode, Kind], ...]:
    return tuple((mode, row.shares[mode].kind) for mode in row.modes)


def _together(rows: list[AlignedRow]) -> AlignedRow:
    summed = {
        mode: Share(share.kind, sum(row.shares[mode].tokens for row in rows))
        for mode, share in rows[0].shares.items()
    }
    return AlignedRow(tuple(turn for row in rows for turn in row.turns), summed)
