"""Classify drafts for which nothing may need to be recalled.

A message made of set phrases alone (thanks, a greeting, "go on", "yes please") needs nothing,
whatever was said before. A message about the last answer ("make it shorter") may need the turns
that the answer was about. A task or a question of general knowledge that refers to nothing earlier
(no "my", "we", "that", "again") may need nothing; the index decides by its words. The phrases and
the expressions are in `data/needs.toml`.

Any other draft has no kind and is searched for.
"""

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import cache

from jitchat.text.expressions import data, expressions
from jitchat.text.words import fold, is_unspaced

_LONGEST_PHRASES = 120
"""Maximum characters of a draft made of set phrases alone."""
_LONGEST_TASK = 240
"""Maximum characters of a self-contained task or question; a longer draft gives context."""


@dataclass(frozen=True, slots=True)
class Need:
    """A kind of message."""

    kind: str
    """A noun phrase: `a greeting`."""
    is_certain: bool
    """Whether nothing needs to be recalled, whatever was said before."""
    makes: bool = False
    """Whether the message asks to make something new."""
    is_definite: bool = False
    """Whether it refers to something known ("the deploy script") or to how the user does it."""
    names: frozenset[str] = frozenset()
    """Words capitalised within a sentence, folded."""


_WORD = re.compile(r"(?<!\w)[^\W\d_][^\W_]+")
_SELECTOR = re.compile("[\ufe00-\ufe0f]")
"""Selects the emoji or text presentation of the character before it."""
_QUOTES = str.maketrans("", "", '"“”„«»‹›「」')
_OPENINGS = ("task", "asks_of_any", "explains", "how_i", "general", "loose")
_TASKS = ("task", "asks_of_any")
_OF_THE_USER = ("how_i", "unspaced", "loose")
"""Openings that may ask how the user does something; scripts without articles do not show it."""
_NAMED_AFTER = ("thanks", "greeting", "goodbye")
"""After these, one word that is not a phrase is taken for a name."""


def need_of(draft: str, speakers: frozenset[str] = frozenset()) -> Need | None:
    """Return the kind of a draft, or None if it may need anything.

    `speakers` are the names of the conversation's speakers, folded.
    """
    text = draft.strip()
    if not text or len(text) > _LONGEST_TASK:
        return None
    plain = " ".join(fold(text).split())
    bare = _bare(plain)
    if not bare:
        return _certain("no_words")
    if expressions("needs")["thanks_for"].fullmatch(plain):
        return _certain("thanks")
    if len(bare) <= _LONGEST_PHRASES and (kind := _phrases_alone(bare, speakers)):
        return _certain(kind)
    without_material = expressions("needs")["brings"].sub(":", plain.translate(_QUOTES))
    need = _self_contained(without_material, speakers)
    return replace(need, names=_names(text)) if need is not None else None


def _certain(kind: str) -> Need:
    return Need(data("needs")["kinds"][kind], is_certain=True)


def _names(text: str) -> frozenset[str]:
    """Return the capitalised words except the first word, folded."""
    words = _WORD.findall(text.partition(" ")[2])
    return frozenset(fold(word) for word in words if word[0].isupper())


@cache
def generic_words() -> frozenset[str]:
    """Read the words for kinds of things to make, folded."""
    return frozenset(data("needs")["words"]["generic"].split())


def _bare(plain: str) -> str:
    """Keep letters, digits and what joins them; replace everything else by single spaces."""
    kept = (
        letter if letter in "'-;" or unicodedata.category(letter)[0] in "LMN" else " "
        for letter in _SELECTOR.sub("", plain)
    )
    words = (word.strip("-;'") for word in "".join(kept).split())
    return " ".join(filter(None, words))


@cache
def _phrases() -> dict[str, str]:
    """Read the kind of each folded phrase; "" for a filler. A phrase has only one kind."""
    found: dict[str, str] = {}
    for name, text in data("needs")["phrases"].items():
        for phrase in text.replace("\n", "").split("|"):
            bare = _bare(fold(phrase))
            if bare:
                found.setdefault(bare, "" if name == "fillers" else name)
    return found


def _phrases_alone(bare: str, speakers: frozenset[str]) -> str:
    """Return the kind of a text that consists of phrases only, or "" if it does not."""
    named, kind, at, filled = False, "", 0, ""
    while at < len(bare):
        phrase = _phrase_at(bare, at)
        if phrase:
            phrase_kind = _phrases().get(phrase, "acknowledgement")
            kind, filled = kind or phrase_kind, filled or phrase
            at += len(phrase)
        else:
            word = bare[at:].partition(" ")[0]
            is_name = word in speakers or (kind in _NAMED_AFTER and not named and word.isalpha())
            if not is_name or is_unspaced(word):
                return ""
            named = named or word not in speakers
            at += len(word)
        at += bare[at : at + 1] == " "
    return kind or ("acknowledgement" if filled else "")


def _phrase_at(bare: str, at: int) -> str:
    """Find the longest phrase that starts at index `at` and ends at the end of a word."""
    known = _phrases()
    for size in range(len(bare) - at, 0, -1):
        phrase = bare[at : at + size]
        if phrase in known:
            following = bare[at + size : at + size + 1]
            if not following or following == " " or is_unspaced(phrase[-1]):
                return phrase
    laughter = expressions("needs")["laughter"].match(bare, at)
    return laughter[0] if laughter else ""


def _self_contained(plain: str, speakers: frozenset[str]) -> Need | None:
    """Recognise a task or question of general knowledge that refers to nothing; else None."""
    patterns = expressions("needs")
    words = set(_bare(plain).replace("'s", "").split())
    if patterns["refers"].search(plain) or not words.isdisjoint(speakers):
        return None
    opening = _opening(plain)
    if opening is None:
        return None
    name, about = opening
    if patterns["i"].search(about):
        return None
    new = patterns["indefinite"].search(about)
    back, known = patterns["points_back"].search(about), patterns["definite"].search(about)
    if back and not (new and new.start() < back.start()):
        return None
    is_definite = bool(known and not (new and new.start() < known.start()))
    is_definite |= bool(patterns["related"].search(about))
    return Need(
        data("needs")["kinds"][name],
        is_certain=False,
        makes=name in _TASKS,
        is_definite=name in _OF_THE_USER or (is_definite and name != "general"),
    )


def _opening(plain: str) -> tuple[str, str] | None:
    """Return the name of the expression that matches the opening words, and what follows them."""
    patterns = expressions("needs")
    opened = plain.lstrip("¿¡!.,;:-\"'([ ")
    if polite := patterns["polite"].match(opened):
        opened = opened[polite.end() :]
    for name in _OPENINGS:
        if match := patterns[name].match(opened):
            return name, opened[match.end(1 if match[1] else 0) :].strip()
    if patterns["unspaced"].search(opened):
        return "unspaced", ""
    bare = patterns["bare"].match(opened.rstrip(" ?!."))
    return ("bare", opened[bare.end(1) :].strip()) if bare else None
