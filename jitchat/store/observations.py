"""Observations in the cold store: passes, each of which follows the one before it.

Invariant: along any path of a conversation, each turn is observed at most once, and the observed
turns are a prefix of the path. A pass is stored only if it continues from the latest valid pass: of
two that overlap, the second is refused. Nothing is deleted; a pass can be undone, and with it all
passes that follow it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from jitchat.errors import StaleObservations
from jitchat.statements import Observation, Observations
from jitchat.store.database import Database
from jitchat.store.path import Path, tree_of
from jitchat.text.figures import moment_of
from jitchat.typed_data import read, written


class PassKind(StrEnum):
    OBSERVE = "observe"
    """Adds its lines to the current ones."""
    REFLECT = "reflect"
    """Replaces all current lines."""
    EDIT = "edit"
    """Replaces all current lines, on behalf of the user."""

    @property
    def replaces(self) -> bool:
        return self is not PassKind.OBSERVE


@dataclass(frozen=True, slots=True)
class ObservationPass:
    kind: PassKind
    first: int
    last: int
    """Positions of the turns that it covers; if it replaces, of all observed turns."""
    lines: tuple[Observation, ...]
    made_by: str
    """The name of a model or of a built-in observer."""
    note: Mapping[str, Any] = field(default_factory=dict)
    """Details as plain values: tokens, fallbacks that were used, what was cut."""
    made_at: datetime | None = None
    """None before it is stored."""
    id: int = 0
    """The cold store's key; 0 before it is stored."""
    follows: int | None = None
    """The id of the previous pass; None for the first."""


_PASSES = """
    SELECT id, follows, kind, first, last, made_by, made_at, note FROM observation_passes p
    WHERE conversation = ? AND last < ? AND undone_at IS NULL ORDER BY last, id
"""


_STAMP = """
    SELECT IFNULL(MAX(id), 0), COUNT(undone_at) FROM observation_passes WHERE conversation = ?
"""
_NEWEST = """
    SELECT last, undone_at FROM observation_passes WHERE conversation = ? ORDER BY id DESC
"""


class ObservationStore:
    """The passes of one conversation."""

    def __init__(self, database: Database, conversation: str, now: Callable[[], datetime]) -> None:
        self._database, self._conversation, self._now = database, conversation, now

    def stamp(self) -> tuple[int, int]:
        """Return a pair that changes whenever the passes change."""
        last, undone = self._database.fetch_one(_STAMP, (self._conversation,)) or (0, 0)
        return last, undone

    def standing(self, path: Path, before: int) -> Observations:
        """Return the observations of a path's turns before a position."""
        passes = self.passes(path, before)
        lines: tuple[Observation, ...] = ()
        for each in passes:
            lines = each.lines if each.kind.replaces else (*lines, *each.lines)
        return Observations(lines, passes[-1].last if passes else 0)

    def passes(self, path: Path, before: int) -> list[ObservationPass]:
        """List the valid passes on a path before a position, in order."""
        with self._database.read() as connection:
            rows = connection.execute(_PASSES, (self._conversation, before)).fetchall()
            known = {row[0]: row for row in rows if row[4] in path}
            chain: list[Sequence[Any]] = []
            for tip in reversed(known.values()):
                chain = _chain(known, tip)
                if chain:
                    break
            return [self._pass_of(row) for row in chain]

    def is_paused(self, path: Path) -> bool:
        """Whether the user undid the latest pass on a path: no automatic passes are made then."""
        rows = self._database.fetch_all(_NEWEST, (self._conversation,))
        return next((undone is not None for last, undone in rows if last in path), False)

    def add(self, path: Path, made: ObservationPass) -> ObservationPass:
        """Store a pass after the one with the id that it `follows`.

        The path is extended by the turns and passes that were added to it since.

        Raises:
            StaleObservations: Another pass is the latest by now, or `made` does not continue it.

        """
        with self._database.write() as connection:
            tree = tree_of(connection, self._conversation)
            path = replace(tree, head=tree.leaf_below(path.head)).path()
            standing = self.passes(path, path.head + 1)
            tip = standing[-1] if standing else None
            through = tip.last if tip is not None else 0
            follows = tip.id if tip is not None else None
            if made.follows != follows or not _continues(made, path, through):
                raise StaleObservations(
                    "The observations changed during a pass; its result was not stored.",
                    "The next pass observes its turns.",
                )
            made_at = self._now()
            identity = connection.execute(
                "INSERT INTO observation_passes"
                " (conversation, follows, kind, first, last, made_by, made_at, note)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(self._conversation, made.follows, made.kind, made.first, made.last),
                    *(made.made_by, made_at.isoformat(), json.dumps(dict(made.note))),
                ),
            ).lastrowid
            lines = [written(line) for line in made.lines]
            connection.executemany(
                "INSERT INTO observations (pass, number, line) VALUES (?, ?, ?)",
                [(identity, number, line) for number, line in enumerate(lines)],
            )
            return replace(made, made_at=made_at, id=identity or 0)

    def undo(self, made: ObservationPass) -> None:
        """Undo a pass and all passes that follow it.

        Lines that they replaced are restored; turns that only these passes covered are unobserved.
        """
        self._database.execute(
            "UPDATE observation_passes SET undone_at = ? WHERE id = ? AND undone_at IS NULL",
            (self._now().isoformat(), made.id),
        )

    def undo_all(self) -> None:
        """Undo all observations of the conversation: they can be made again."""
        self._database.execute(
            "UPDATE observation_passes SET undone_at = ?"
            " WHERE conversation = ? AND undone_at IS NULL",
            (self._now().isoformat(), self._conversation),
        )

    def _pass_of(self, row: Sequence[Any]) -> ObservationPass:
        identity, follows, kind, first, last, made_by, made_at, note = row
        rows = self._database.fetch_all(
            "SELECT line FROM observations WHERE pass = ? ORDER BY number", (identity,)
        )
        return ObservationPass(
            PassKind(kind),
            first,
            last,
            tuple(read(Observation, json.loads(line)) for (line,) in rows),
            made_by,
            json.loads(note),
            moment_of(made_at),
            identity,
            follows,
        )


def _continues(made: ObservationPass, path: Path, through: int) -> bool:
    """Whether a pass covers the turns after the observed ones, or replaces all of those."""
    if made.kind.replaces:
        return made.last == through
    first = next((start for start, _ in path.behind(through)), None)
    return made.first == first and made.first <= made.last and made.last in path


def _chain(known: Mapping[int, Sequence[Any]], tip: Sequence[Any]) -> list[Sequence[Any]]:
    """Return the passes from the first up to `tip`; empty if one between them was undone."""
    chain = [tip]
    while chain[-1][1] is not None:
        before = known.get(chain[-1][1])
        if before is None:
            return []
        chain.append(before)
    return chain[::-1]
