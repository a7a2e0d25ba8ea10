"""From a draft to its query, and on to the turns that are shortlisted for it and picked.

Names of speakers are taken out of the words, where they would only find turns that say the
name, and turned into a preference for what that speaker said ("you said" and "I told you"
likewise). A draft of few words that refers back borrows from the message before it, at a
discount. Of a long draft, what asks counts; what is pasted around it counts little, and is not
embedded. What a draft says is not so is looked for as such, beside its words. Whether it asks by
time alone, and whether it is a message that may need nothing, the query says; the index acts on it.

How many of the hits are loaded is for the window's allowance to say, and turns with the same text
are for the window to find: two lines can be alike where the turns differ in one number.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING

from jitchat.text.expressions import expressions
from jitchat.text.focus import ends_of, focus_of
from jitchat.text.languages import ENGLISH
from jitchat.text.needs import Need, need_of
from jitchat.text.negation import negations, spelt_out
from jitchat.text.occasions import Occasion, occasion_of
from jitchat.text.words import content_of, fold, stem, weight_of, words
from jitchat.values import DATE, PLACE, Candidate, Hit, Role

if TYPE_CHECKING:
    from jitchat.text.dates import Span

_REACH = 2_000
_BORROWED_WEIGHT = 0.3
_DENIED_WEIGHT = 0.7
"""Of what a draft negates: its words count as well."""
_ENOUGH_WORDS = 3
_SHORT_WORD = 2
"""Characters. What is that short in a log is a counter."""
MOST_STEMS = 48
"""Of a long draft, so many of the stems that occur are looked up."""
SHORTLIST = 50
"""So many turns a search ranks at the most."""
_ROLES = frozenset(role.value for role in Role)


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for."""

    text: str
    """For the embedder: the draft without speakers' names; empty where it says nothing."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """How much each stem counts, by stem."""
    spelled: Mapping[str, str] = field(default_factory=dict)
    """Each stem as the draft spells it."""
    speakers: frozenset[str] = frozenset()
    """Whose turns are preferred: names or roles, folded."""
    spans: "tuple[Span, ...]" = ()
    """The days that are asked about."""
    language: str = ENGLISH
    """Of the draft, as far as it tells."""
    asks_when: bool = False
    asks_past: bool = False
    """Whether it asks for what was said or done, and not for something new."""
    occasion: Occasion | None = None
    """When that was said which is asked for; None where it is asked for by what it says, too."""
    need: Need | None = None
    """What kind of message the draft is, where it may need nothing."""


def make_query(
    draft: str, before: str, speakers: frozenset[str], today: date | None = None
) -> Query:
    """Make the query of `draft`; `before` is the user's message ahead of it.

    `speakers` are the names and roles that occur in the conversation, folded; `today` is the
    day on which "last week" is said.
    """
    from jitchat.text.dates import spans_in  # noqa: PLC0415  not before the first frame

    need, focus = need_of(draft, speakers - _ROLES), focus_of(draft)
    draft, before = ends_of(focus.asked, _REACH), ends_of(before, _REACH)
    is_said = {name: bool(found.search(draft)) for name, found in expressions("questions").items()}
    preferred, parts = _named(draft, speakers - _ROLES)
    said, language = content_of(draft)
    spelled = {stem(word, language): word for word in _but(said, parts)}
    weights = {each: weight_of(word) for each, word in spelled.items()}
    pasted = [
        word
        for word in _but(content_of(ends_of(focus.pasted, _REACH))[0], parts)
        if len(word) > _SHORT_WORD or not word.isascii()
    ]
    share = _share_of_pasted(len(weights), len(set(pasted)))
    for word in pasted:
        weights.setdefault(stem(word, language), share)
        spelled.setdefault(stem(word, language), word)
    own = _without(draft, parts) if weights else ""
    goes_on = len(weights) < _ENOUGH_WORDS and not parts and is_said["refers_back"]
    if goes_on:
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
        text=own or (_without(before, speakers) if goes_on else ""),
        weights=weights,
        spelled=spelled,
        speakers=preferred or implied,
        spans=spans_in(draft, today),
        language=language,
        asks_when=is_said["asks_when"],
        asks_past=is_said["asks_past"],
        occasion=occasion_of(focus.asked, today),
        need=need,
    )


def _share_of_pasted(asked: int, pasted: int) -> float:
    """Weigh a pasted word: all that are looked up count, together, a quarter of what asks."""
    return min(0.5, max(1, asked) / 4 / max(1, min(pasted, MOST_STEMS)))


def _named(draft: str, names: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Whose turns are preferred, and the words of all names in the draft.

    Of "what did Ann think of Bob's plan", Ann's: a genitive counts where no other name stands.
    """
    said = set(words(draft))
    bare = {word.removesuffix("'s") for word in said}
    parts_of = {name: frozenset(words(name)) for name in names}
    named = {name: parts for name, parts in parts_of.items() if parts and parts <= bare}
    outright = frozenset(name for name, parts in named.items() if parts <= said)
    return outright or frozenset(named), frozenset().union(*named.values())


def _but(said: Iterable[str], names: frozenset[str]) -> list[str]:
    return [word for word in said if word.removesuffix("'s") not in names]


def _without(draft: str, names: frozenset[str]) -> str:
    """The draft without the words of `names`, wherever they stand by themselves."""
    if not names:
        return draft
    bare = ((word, fold(word).strip(".,;:!?'\"()").removesuffix("'s")) for word in draft.split())
    return " ".join(word for word, name in bare if name not in names)


LATE_DECISIONS = 2
FLOOR = 0.25
"""A score below this is no more than chance words in common."""
_WORTH = 0.3


def floor_of(candidates: Sequence[Candidate]) -> float:
    """Find the score below which nothing is picked: `FLOOR`, or three tenths of the best."""
    return max([FLOOR, *(_WORTH * row.score for row in candidates[:1])])


def pick(candidates: Sequence[Candidate]) -> tuple[Hit, ...]:
    """Choose the hits: every candidate that is not below the floor, best first."""
    floor = floor_of(candidates)
    return tuple(Hit(row.turn, row.score, _reason(row)) for row in candidates if row.score >= floor)


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
    DATE: "of the day asked for",
    "later": "said later than what matches as well",
    PLACE: "in the place asked for",
}


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A draft in its place in the conversation."""

    draft: str
    context: str
    """The user's message before the draft, which a draft of few words borrows from; or empty."""
    position: int
    """Only turns ahead of this position are found."""
    today: date
    is_message: bool = True
    """False for words that a model looks for: they are never a message that needs nothing."""

    def query(self, speakers: frozenset[str]) -> Query:
        """Make the query; `speakers` as `make_query` takes them."""
        made = make_query(self.draft, self.context, speakers, self.today)
        return made if self.is_message else replace(made, need=None)
