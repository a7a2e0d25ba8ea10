"""The windows of several modes, turn by turn: which turn is in which of them, and as what.

Nothing is lost between the windows and the rows: what a row tells of a mode, added up over all
rows, is what that window holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from jitchat.turn import Mode
from jitchat.window.window import ContextWindow, Kind

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


def aligned(windows: Iterable[ContextWindow], singly: int = SINGLY) -> tuple[AlignedRow, ...]:
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
