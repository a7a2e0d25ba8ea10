"""Facts in the cold store: short statements that the conversations of a project share.

Nothing is deleted: a superseded fact gets the day on which it was superseded, and a forgotten fact
stays, so that it is not proposed again. Which facts a new one supersedes is decided within the
transaction that stores it, so that two instances cannot both keep contradicting statements.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from jitchat.errors import UsageError
from jitchat.statements import DELETED, Fact, FactKind, FactState, Source
from jitchat.store.database import Database
from jitchat.text.contradiction import supersedes
from jitchat.text.sanitize import one_line, repair, shorten
from jitchat.text.words import fold

LONGEST = 400
"""Maximum characters of a fact."""
_COLUMNS = "id, text, kind, conversation, first, last, stated_on, valid_until, state, superseded_by"
_CLOSE = "UPDATE facts SET valid_until = ?, superseded_by = ?, changes = changes + 1 WHERE id = ?"
_STANDING = (FactState.KEPT, FactState.PROPOSED)


@dataclass(frozen=True, slots=True)
class Change:
    """The outcome of keeping a fact."""

    kept: Fact
    superseded: tuple[Fact, ...] = ()
    """The superseded facts, as they were before."""


class FactStore:
    """The facts of one project."""

    def __init__(self, database: Database, project: str, now: Callable[[], datetime]) -> None:
        self._database, self.project, self._now = database, project, now

    def stamp(self) -> int:
        """Return a number that changes whenever the facts change."""
        query = "SELECT IFNULL(SUM(changes), 0) FROM facts WHERE project = ?"
        return int(self._database.fetch_one(query, (self.project,))[0])

    def all(self) -> list[Fact]:
        """List all facts, including superseded and forgotten ones, the oldest first."""
        with self._database.read() as connection:
            query = f"SELECT {_COLUMNS} FROM facts WHERE project = ? ORDER BY id"  # noqa: S608  a constant
            return [_fact(row) for row in connection.execute(query, (self.project,))]

    def holding(self) -> list[Fact]:
        """List the kept facts that still hold, the oldest first."""
        return [fact for fact in self.all() if fact.holds]

    def propose(self, facts: Sequence[Fact]) -> list[Fact]:
        """Store the facts that are not known yet, as proposals; return those.

        A fact is known if the same text, ignoring case, was taken from the same turn before, is
        valid, or was forgotten.
        """
        made: list[Fact] = []
        with self._database.write():
            known = self.all()
            for fact in facts:
                if not any(_is_same(fact, other) for other in [*known, *made]):
                    made.append(self._put(replace(fact, state=FactState.PROPOSED)))
        return made

    def keep(self, fact: Fact) -> Change:
        """Keep a fact, proposed or new; the facts that it supersedes no longer hold."""
        with self._database.write() as connection:
            known = {each.id: each for each in self.all()}
            fact = known.get(fact.id, fact)
            kept = replace(fact, state=FactState.KEPT)
            kept = self._set_state(kept) if fact.id else self._put(kept)
            over = tuple(
                each
                for each in known.values()
                if each.holds and each.id != kept.id and supersedes(kept.text, each.text)
            )
            until = (kept.stated_on or self._now().date()).isoformat()
            connection.executemany(_CLOSE, [(until, kept.id, each.id) for each in over])
        return Change(kept, over)

    def forget(self, fact: Fact) -> Fact:
        """Forget a fact: no window carries it any more, and it is never proposed again."""
        return self._set_state(replace(fact, state=FactState.FORGOTTEN))

    def edit(self, fact: Fact, text: str) -> Change:
        """Replace a fact by one with another text and the same source.

        Raises:
            UsageError: The text is empty, or too long for a fact.

        """
        edited = replace(fact, id=0, text=fact_text(text), valid_until=None)
        with self._database.write() as connection:
            kept = self._put(replace(edited, state=FactState.KEPT))
            connection.execute(_CLOSE, (self._now().date().isoformat(), kept.id, fact.id))
        return Change(kept, (fact,))

    def restore(self, facts: Mapping[int, Fact]) -> None:
        """Store facts as they are, by number; `superseded_by` is one of the numbers.

        A fact with the same text, source and day is known, and stays as it is here.
        """
        with self._database.write() as connection:
            known = {(fact.text, fact.source, fact.stated_on): fact.id for fact in self.all()}
            fresh = {
                number: self._put(fact)
                for number, fact in facts.items()
                if (fact.text, fact.source, fact.stated_on) not in known
            }
            for number, fact in fresh.items():
                over, until = fresh.get(facts[number].superseded_by or 0), fact.valid_until
                over_id = over.id if over is not None else None
                if until is not None:
                    connection.execute(_CLOSE, (until.isoformat(), over_id, fact.id))

    def find(self, wanted: str) -> list[Fact]:
        """Find valid facts by id, or by their text or a part of it; several if several match.

        A number is an id. If a fact has exactly the wanted text, partial matches are ignored.
        """
        standing = [fact for fact in self.all() if fact.state in _STANDING and fact.is_valid]
        digits = wanted.strip().removeprefix("#")
        if digits.isascii() and digits.isdigit():
            return [fact for fact in standing if fact.id == int(digits)]
        plain = fold(one_line(wanted))
        whole = [fact for fact in standing if fold(fact.text) == plain]
        return whole or [fact for fact in standing if plain and plain in fold(fact.text)]

    def _put(self, fact: Fact) -> Fact:
        source, day = fact.source, fact.stated_on or self._now().date()
        conversation = source.conversation if source is not None else None
        with self._database.write() as connection:
            cursor = connection.execute(
                "INSERT INTO facts (project, text, kind, conversation, first, last, stated_on,"
                " state) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(self.project, fact.text, fact.kind),
                    None if conversation == DELETED else conversation,
                    *(source and source.first, source and source.last, day.isoformat()),
                    fact.state,
                ),
            )
        return replace(fact, id=cursor.lastrowid or 0, stated_on=day)

    def _set_state(self, fact: Fact) -> Fact:
        self._database.execute(
            "UPDATE facts SET state = ?, changes = changes + 1 WHERE id = ?", (fact.state, fact.id)
        )
        return fact


def fact_text(text: str) -> str:
    """Return a text as the single line of a fact.

    Raises:
        UsageError: The text is empty, or too long for a fact.

    """
    plain = one_line(repair(text))
    if not plain:
        raise UsageError("A fact needs a text.", "Write it after the command: /remember TEXT.")
    if len(plain) > LONGEST:
        raise UsageError(
            f"“{shorten(plain, 40)}” has {len(plain):,} characters; a fact has at most {LONGEST}.",
            "Shorten it to the one statement to remember.",
        )
    return plain


def _is_same(fact: Fact, other: Fact) -> bool:
    if fold(fact.text) != fold(other.text):
        return False
    is_known = other.state is FactState.FORGOTTEN or other.is_valid
    return is_known or (fact.source is not None and fact.source == other.source)


def _fact(row: Sequence[Any]) -> Fact:
    identity, text, kind, conversation, first, last, stated_on, until, state, over = row
    source = Source(first, last, conversation or DELETED) if first is not None else None
    said, ended = (date.fromisoformat(day) if day else None for day in (stated_on, until))
    return Fact(identity, text, FactKind(kind), source, said, ended, FactState(state), over)
