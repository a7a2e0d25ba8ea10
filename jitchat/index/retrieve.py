"""Build a draft's query, and pick hits from the shortlist.

Speakers' names are removed from the query's words, because they would only find turns that mention
the name; instead, turns by that speaker are preferred ("you said" and "I told you" work likewise).
A short draft that refers back borrows words from the message before it and names from its answer,
at a lower weight. In a long draft, the question counts in full; pasted text counts little and is
not embedded. Negated statements are looked up as negations in addition to their words. The query
also records whether the draft asks by time alone and whether it may need no recall; the index acts
on that.

The window's allowance decides how many of the hits are loaded. The window also removes turns with
identical text, because two index lines can be equal although the turns differ in one number.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING

from jitchat.text.contradiction import supersedes
from jitchat.text.entities import entities
from jitchat.text.expressions import expressions
from jitchat.text.focus import ends_of, focus_of
from jitchat.text.languages import ENGLISH
from jitchat.text.needs import Need, need_of
from jitchat.text.negation import negations, spelt_out
from jitchat.text.time_filters import TimeFilter, time_filter_of
from jitchat.text.words import content_of, fold, stem, weight_of, words
from jitchat.values import DATE, PLACE, Candidate, Hit, IndexEntry, Role

if TYPE_CHECKING:
    from jitchat.text.dates import Span

_EACH_END = 2_000
_BORROWED_WEIGHT = 0.3
_DENIED_WEIGHT = 0.7
"""The weight of a negation; its words count as well."""
_MOST_NAMED = 8
"""Maximum names, and maximum figures, that a draft borrows from an answer."""
_FIGURE = re.compile(r"\b\d[\d.,:]*\d\b")
_ENOUGH_WORDS = 3
_SHORT_WORD = 2
"""Characters. A word this short in a log is usually a counter."""
MOST_STEMS = 48
"""Maximum stems looked up for a long draft, of those that occur."""
SHORTLIST = 120
"""Maximum turns that a search ranks."""
_ROLES = frozenset(role.value for role in Role)


@dataclass(frozen=True, slots=True)
class Query:
    """What a search looks for."""

    text: str
    """The text to embed: the draft without speakers' names; empty if it has no content words."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """The weight of each stem."""
    spelled: Mapping[str, str] = field(default_factory=dict)
    """Each stem as the draft spells it."""
    speakers: frozenset[str] = frozenset()
    """Names or roles whose turns are preferred, folded."""
    spans: "tuple[Span, ...]" = ()
    """The days named in the draft."""
    language: str = ENGLISH
    """The language detected in the draft."""
    asks_when: bool = False
    asks_past: bool = False
    """Whether the draft asks for what was said or done, not for something new."""
    time_filter: TimeFilter | None = None
    """The time filter of a draft that asks by time alone; None if the draft has other words."""
    need: Need | None = None
    """The kind of message, if it may need no recall; else None."""


def make_query(
    draft: str, before: str, speakers: frozenset[str], today: date | None = None
) -> Query:
    """Make the query for `draft`; `before` is the text it may borrow words from.

    `speakers` are the names and roles that occur in the conversation, folded; expressions such as
    "last week" are relative to `today`.
    """
    from jitchat.text.dates import spans_in  # noqa: PLC0415  not before the first frame

    need, focus = need_of(draft, speakers - _ROLES), focus_of(draft)
    draft, before = ends_of(focus.asked, _EACH_END), ends_of(before, _EACH_END)
    is_said = {name: bool(found.search(draft)) for name, found in expressions("questions").items()}
    preferred, parts = _named(draft, speakers - _ROLES)
    said, language = content_of(draft)
    spelled = {stem(word, language): word for word in _but(said, parts)}
    weights = {each: weight_of(word) for each, word in spelled.items()}
    pasted = [
        word
        for word in _but(content_of(ends_of(focus.pasted, _EACH_END))[0], parts)
        if len(word) > _SHORT_WORD or not word.isascii()
    ]
    share = _share_of_pasted(len(weights), len(set(pasted)))
    for word in pasted:
        weights.setdefault(stem(word, language), share)
        spelled.setdefault(stem(word, language), word)
    own = _without(draft, parts) if weights else ""
    borrows = len(weights) < _ENOUGH_WORDS and not parts and is_said["refers_back"]
    if borrows:
        borrowed, its_language = content_of(before)
        for word in _but(borrowed, speakers):
            key = stem(word, its_language)
            weights.setdefault(key, _BORROWED_WEIGHT * weight_of(word))
            spelled.setdefault(key, word)
    for each in negations(draft, language) if own else ():
        weights.setdefault(each, _DENIED_WEIGHT)
        spelled.setdefault(each, spelt_out(each))
    by_both = is_said["you_said"] and is_said["i_said"]
    spoken = {"assistant": is_said["you_said"], "user": is_said["i_said"]}
    implied = frozenset(role for role in speakers if spoken.get(role) and not by_both)
    return Query(
        text=own or (_without(before, speakers) if borrows else ""),
        weights=weights,
        spelled=spelled,
        speakers=preferred or implied,
        spans=spans_in(draft, today),
        language=language,
        asks_when=is_said["asks_when"],
        asks_past=is_said["asks_past"],
        time_filter=time_filter_of(focus.asked, today),
        need=need,
    )


def _share_of_pasted(asked: int, pasted: int) -> float:
    """Return a pasted word's weight: together, they weigh a quarter of the question's words."""
    return min(0.5, max(1, asked) / 4 / max(1, min(pasted, MOST_STEMS)))


def _named(draft: str, names: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the speakers to prefer, and the words of all names in the draft.

    "What did Ann think of Bob's plan" prefers Ann: a name in the genitive counts only if there is
    no other name.
    """
    said = set(words(draft))
    bare = {word.removesuffix("'s") for word in said}
    named = {name: parts for name, parts in _called(names) if parts <= bare}
    outright = frozenset(name for name, parts in named.items() if parts <= said)
    return outright or frozenset(named), frozenset().union(*named.values())


def _called(names: Iterable[str]) -> list[tuple[str, frozenset[str]]]:
    """List the words by which each name is called: the first, if no other name has it, then all."""
    parts_of = {name: words(name) for name in names}
    having = Counter(word for parts in parts_of.values() for word in set(parts))
    called = [
        (name, frozenset(parts[:1]))
        for name, parts in parts_of.items()
        if parts and having[parts[0]] == 1 and content_of(parts[0])[0]
    ]
    return called + [(name, frozenset(parts)) for name, parts in parts_of.items() if parts]


def _but(said: Iterable[str], names: frozenset[str]) -> list[str]:
    return [word for word in said if word.removesuffix("'s") not in names]


def _without(draft: str, names: frozenset[str]) -> str:
    """Remove the words of `names` from the draft, except inside other words."""
    if not names:
        return draft
    bare = ((word, fold(word).strip(".,;:!?'\"()").removesuffix("'s")) for word in draft.split())
    return " ".join(word for word, name in bare if name not in names)


LATE_DECISIONS = 12
"""Maximum decisions that are looked up, the latest."""
FLOOR = 0.25
"""A score below this is no more than chance words in common."""
_WORTH = 0.3


def standing(decisions: Sequence[IndexEntry]) -> tuple[IndexEntry, ...]:
    """Leave out the decisions that a later one repeats or replaces. Both are oldest first."""
    return tuple(
        entry
        for place, entry in enumerate(decisions)
        if not any(supersedes(later.summary, entry.summary) for later in decisions[place + 1 :])
    )


def floor_of(candidates: Sequence[Candidate]) -> float:
    """Return the score below which nothing is picked: `FLOOR`, or `_WORTH` times the best score."""
    return max([FLOOR, *(_WORTH * row.score for row in candidates[:1])])


def pick(candidates: Sequence[Candidate]) -> tuple[Hit, ...]:
    """Return the hits: every candidate that is not below the floor, best first."""
    floor = floor_of(candidates)
    return tuple(Hit(row.turn, row.score, _reason(row)) for row in candidates if row.score >= floor)


def beyond(candidates: Sequence[Candidate]) -> tuple[Hit, ...]:
    """Return every candidate that `pick` leaves, best first."""
    floor = floor_of(candidates)
    return tuple(row.by_rank for row in candidates if row.score < floor)


def _reason(row: Candidate) -> str:
    strongest = max(row.parts, key=lambda part: part[1], default=("", 0.0))[0]
    words = f" on “{', '.join(row.matched[:4])}”" if row.matched else ""
    best = "best " if row.rank == 1 else ""
    if strongest in ("lexical", "context") and words:
        return f"{best}lexical match{words}"
    why = _WHY.get(strongest, f"{best}score")
    return f"{why}, lexical match{words}" if words else why


_WHY = {
    "dense": "close in meaning",
    "context": "among turns that match",
    "neighbour": "beside turns that match",
    "stretch": "in a stretch of talk that matches",
    DATE: "from the day asked about",
    "later": "newer than a turn that matches as well",
    PLACE: "at the position asked for",
}


def borrowed_from(message: str, answer: str) -> str:
    """Return the text from which a short draft borrows words: a message, and what its answer names.

    Of the answer, only names, identifiers and figures are borrowed.
    """
    said = ends_of(answer, _EACH_END)
    named = [*entities(said)[:_MOST_NAMED], *_FIGURE.findall(said)[:_MOST_NAMED]]
    return "\n".join((message, *named))


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A draft and its place in the conversation."""

    draft: str
    context: str
    """The text from which a short draft borrows words; empty if none."""
    position: int
    """Only turns before this position are found."""
    today: date
    is_message: bool = True
    """False for a model's query, for which retrieval is never skipped."""

    def query(self, speakers: frozenset[str]) -> Query:
        """Make the query. `speakers` is as in `make_query`."""
        made = make_query(self.draft, self.context, speakers, self.today)
        return made if self.is_message else replace(made, need=None)
