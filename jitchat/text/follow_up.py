"""Judge whether a message is about something that was made before, and about what kind of thing.

The expressions, in ten languages, are in `data/artefacts.toml`. A message can have several signs:
"make it shorter" points and edits, "how do I boil an egg?" is general. The sum of their weights
decides; a message with little of either is unclear.
"""

from dataclasses import dataclass
from functools import lru_cache

from jitchat.text.expressions import data, expressions
from jitchat.text.focus import ends_of
from jitchat.text.needs import need_of
from jitchat.text.words import fold, is_unspaced, stems

_EACH_END = 200
"""Characters of a message that are read at each end; the text between them is likely pasted."""
_FEW_TERMS = 4
"""A brief message has at most this many stems of its own."""
_TERMS_OF_A_WORD = 3
"""Stems, mostly bigrams, for a word of a script without spaces."""
_REFERS = 1
"""The sum from which a message refers to something; a negative one is about nothing earlier."""
_KIND = "of_"
"""Begins the names of expressions for a kind of thing."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    refers: bool = False
    """Whether it is about something that was made before."""
    is_vague: bool = False
    """Whether nothing but its brevity says so."""
    is_general: bool = False
    """Whether it is about nothing that was made before; neither if that is unclear."""
    kinds: frozenset[str] = frozenset()
    """The kinds of things that its words imply."""
    terms: frozenset[str] = frozenset()
    """The stems of its content words, without the words of its signs."""

    @property
    def is_clear(self) -> bool:
        """Whether more than its brevity says that it is about something that was made before."""
        return self.refers and not self.is_vague


@lru_cache(maxsize=1 << 10)
def is_about_everything(message: str) -> bool:
    """Whether a message is about the whole conversation: "sum it up", "list all decisions"."""
    return bool(expressions("artefacts")["conversation"].search(_plain(message)))


@lru_cache(maxsize=1 << 10)
def follow_up_of(message: str) -> FollowUp:
    """Judge a message by its words alone."""
    need = need_of(message)
    if need is not None and need.is_certain:
        return FollowUp(is_general=True)
    if not message.strip():
        return FollowUp()
    known = data("artefacts")
    patterns = expressions("artefacts")
    plain = _plain(message)
    signs = {name for name, pattern in patterns.items() if pattern.search(plain)}
    bare = plain
    for sign in known["signs_without_content"]:
        bare = patterns[sign].sub(" ", bare)
    terms = frozenset(term for term in stems(bare) if len(term) > 2 or not term.isascii())
    if len(terms) <= _FEW_TERMS * (_TERMS_OF_A_WORD if is_unspaced(bare) else 1):
        signs.add("brief")
    if need is not None:
        signs.add("self_contained")
    total = sum(weight for sign, weight in known["weights"].items() if sign in signs)
    kinds = {sign.removeprefix(_KIND) for sign in signs if sign.startswith(_KIND)}
    for sign in signs & known["implies"].keys():
        kinds.update(known["implies"][sign])
    is_vague = "brief" in signs and total - known["weights"]["brief"] < _REFERS
    return FollowUp(total >= _REFERS, is_vague, total < 0, frozenset(kinds), terms)


def _plain(message: str) -> str:
    """Fold what is read of a message, on one line."""
    return " ".join(fold(ends_of(message, _EACH_END)).split())
