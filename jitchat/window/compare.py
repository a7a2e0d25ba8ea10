"""Comparing windows: the difference of two, all modes aligned by turn, sizes swept. Pure.

Nothing is lost between the windows and the rows: a mode's shares, added up over all rows, are
what that mode's window holds.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from jitchat.errors import WindowOverflow
from jitchat.values import Mode
from jitchat.window.budget import Budget
from jitchat.window.window import ContextWindow, Kind, Segment, segment_of_turns, tokens_of

SAME = "Both windows have the same turns."


@dataclass(frozen=True, slots=True)
class Change:
    """A turn, or the segments of one kind without a turn, that two windows hold differently."""

    turn: int
    """Its position; 0 for segments without a turn."""
    kind_before: Kind | None
    """Its kind in the first window; None if it was not in that window."""
    kind_after: Kind | None
    tokens_before: int
    """0 if it was not in the first window."""
    tokens_after: int

    @property
    def name(self) -> str:
        """`entered`, `left`, `moved` or `changed`."""
        if self.kind_before is None:
            return "entered"
        if self.kind_after is None:
            return "left"
        return "changed" if self.kind_before is self.kind_after else "moved"


@dataclass(frozen=True, slots=True)
class Difference:
    """The turns that are not the same in both windows, each kind in order of position."""

    entered: tuple[Change, ...] = ()
    left: tuple[Change, ...] = ()
    moved: tuple[Change, ...] = ()
    """In both windows, as different kinds."""
    changed: tuple[Change, ...] = ()
    """In both windows as the same kind, with a different text or price."""
    parts: tuple[Change, ...] = ()
    """Instructions, tools, statements, in the order of the window."""

    def __bool__(self) -> bool:
        return any(self.by_name.values()) or bool(self.parts)

    @property
    def by_name(self) -> dict[str, tuple[Change, ...]]:
        return {name: getattr(self, name) for name in ("entered", "left", "moved", "changed")}

    @property
    def lost(self) -> tuple[Change, ...]:
        """The turns that are no longer in the window at full text, in order of position."""
        demoted = (each for each in self.moved if each.kind_after is Kind.INDEX)
        gone = (each for each in self.left if each.kind_before is not Kind.INDEX)
        return tuple(sorted((*gone, *demoted), key=lambda each: each.turn))

    @property
    def gained(self) -> tuple[Change, ...]:
        """The turns that are now in the window at full text, in order of position."""
        promoted = (each for each in self.moved if each.kind_before is Kind.INDEX)
        new = (each for each in self.entered if each.kind_after is not Kind.INDEX)
        return tuple(sorted((*new, *promoted), key=lambda each: each.turn))


def difference(before: ContextWindow, after: ContextWindow) -> Difference:
    """Compare two windows of one conversation, by position of their turns."""
    old, new = segment_of_turns(before.segments), segment_of_turns(after.segments)
    changes: list[Change] = []
    for turn in sorted(old | new):
        was, now = old.get(turn), new.get(turn)
        if was is None:
            changes.append(Change(turn, None, new[turn].kind, 0, new[turn].tokens))
        elif now is None:
            changes.append(Change(turn, was.kind, None, was.tokens, 0))
        elif (was.kind, was.text, was.tokens) != (now.kind, now.text, now.tokens):
            changes.append(Change(turn, was.kind, now.kind, was.tokens, now.tokens))

    def named(name: str) -> tuple[Change, ...]:
        return tuple(change for change in changes if change.name == name)

    parts = tuple(_part_changes(before, after))
    return Difference(named("entered"), named("left"), named("moved"), named("changed"), parts)


def _part_changes(before: ContextWindow, after: ContextWindow) -> Iterator[Change]:
    for kind in Kind:
        was = [segment for segment in before.segments if is_part(segment, kind)]
        now = [segment for segment in after.segments if is_part(segment, kind)]
        if _texts(was) != _texts(now):
            kind_before = kind if was else None
            kind_after = kind if now else None
            yield Change(0, kind_before, kind_after, tokens_of(was), tokens_of(now))


def _texts(segments: Iterable[Segment]) -> list[tuple[str, int]]:
    return [(segment.text, segment.tokens) for segment in segments]


def is_part(segment: Segment, kind: Kind) -> bool:
    """Whether a segment is of that kind and has no turn."""
    return segment.turn is None and segment.kind is kind


def twins(planned: Mapping[Mode, ContextWindow | WindowOverflow]) -> dict[Mode, Mode]:
    """Map each mode whose window equals an earlier mode's, byte for byte, to that mode."""
    found: dict[Mode, Mode] = {}
    different: list[ContextWindow] = []
    for mode, window in planned.items():
        if isinstance(window, ContextWindow):
            same = next((each for each in different if _is_same(each, window)), None)
            if same is None:
                different.append(window)
            else:
                found[mode] = same.mode
    return found


def _is_same(one: ContextWindow, other: ContextWindow) -> bool:
    """Whether both make the same request. Sizes are compared first, since most of them differ."""
    if (one.used, len(one.segments)) != (other.used, len(other.segments)):
        return False
    return one.messages() == other.messages() and one.tools == other.tools


_Order = tuple[bool, int, tuple[bool, ...]]

SINGLY = 12
"""How many turns that are in the same windows, as the same kinds, have a row each; the earlier ones
share one."""


@dataclass(frozen=True, slots=True)
class Share:
    """The part of one window that a turn, or several, take up."""

    kind: Kind
    """Full text takes precedence over an index line."""
    tokens: int


@dataclass(frozen=True, slots=True)
class AlignedRow:
    """A turn, or several that are alike, in each window that holds it."""

    turns: tuple[int | None, ...]
    """Positions, ascending; a single None for segments without a turn, such as the instructions."""
    shares: Mapping[Mode, Share]
    """By mode; without the modes whose windows hold none of the turns."""

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes whose windows hold the turns, in the order of the modes."""
        return tuple(mode for mode in Mode if mode in self.shares)


def align(windows: Iterable[ContextWindow], singly: int = SINGLY) -> tuple[AlignedRow, ...]:
    """Align windows of different modes, by turn.

    Turns that only some of the windows hold come first, starting with those that most of them
    hold; turns of the same windows are ordered by position.
    """
    given = tuple(windows)
    modes = frozenset(window.mode for window in given)
    shares = _shares(given)

    def order(turn: int | None) -> _Order:
        missing = tuple(mode in modes and mode not in shares[turn] for mode in Mode)
        return not any(missing), sum(missing), missing

    rows: list[AlignedRow] = []
    for _, turns in groupby(sorted(shares, key=lambda turn: (order(turn), turn or 0)), key=order):
        rows += _gathered([AlignedRow((turn,), shares[turn]) for turn in turns], singly)
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


def _gathered(rows: Iterable[AlignedRow], singly: int) -> list[AlignedRow]:
    """Merge the earlier rows of each large group of similar rows, at the place of the first."""
    groups: dict[tuple[tuple[Mode, Kind], ...], list[AlignedRow]] = {}
    for row in rows:
        kinds = tuple((mode, row.shares[mode].kind) for mode in row.modes)
        groups.setdefault(kinds, []).append(row)
    made = list[AlignedRow]()
    for group in groups.values():
        early = group[:-singly] if len(group) > singly + 1 else []
        made += [_merged(early)] if early else []
        made += group[len(early) :]
    return sorted(made, key=lambda row: row.turns[0] or 0)


def _merged(rows: list[AlignedRow]) -> AlignedRow:
    summed = {
        mode: Share(share.kind, sum(row.shares[mode].tokens for row in rows))
        for mode, share in rows[0].shares.items()
    }
    return AlignedRow(tuple(turn for row in rows for turn in row.turns), summed)


LEAST = 512
"""The smallest size of a grid, in tokens."""
_STEPS = 44
_ROUND = 16
"""Steps are multiples of this, in tokens."""


def size_grid(present: Budget) -> tuple[Budget, ...]:
    """List budgets of all sizes from `LEAST` tokens to all that the model takes.

    They are in even ratios, ascending, 46 at most, and include `present`.
    """
    sizes = _grid(min(LEAST, present.budget), present.budget, present.most)
    return tuple(present if size == present.most else present.of_size(size) for size in sizes)


def _grid(low: int, high: int, present: int) -> list[int]:
    """List steps from `low` to `high` in even ratios, and `present`."""
    ratio = (high / low) ** (1 / _STEPS)
    steps = {round(low * ratio**step / _ROUND) * _ROUND for step in range(1, _STEPS)}
    return sorted({low, high, present, *(step for step in steps if low < step < high)})
