"""Find the statements among recalled turns that a later one replaces.

A later statement replaces an earlier one by the same speaker if it says that something changed
("now", "no longer", "moved") and is about the same thing: both share words that are rare among the
turns. If it says that something else holds beside the first ("also", "on iOS", "if we …"), both are
kept. In doubt, both are kept: a stale statement does less harm than a lost one. The signs are in
`data/superseded.toml`, for ten languages.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from jitchat.text.expressions import says
from jitchat.text.words import content_of, stem
from jitchat.values import Turn

_LONGEST = 400
"""Characters. A longer turn says more than what was replaced."""
_RARE = 0.1
"""Maximum share of the turns that have a rare word."""
_FEW = 3
"""A word in so few turns is rare among any number of turns."""
_SHARED = 0.2
"""Minimum share of the words of the briefer statement that are rare and in both. On cases written
by hand, .15 recognises 65 of 104 corrections in place of 57, and twice as many others."""
_ROOT = 5
"""Letters by which inflected forms of one word are compared."""


def superseded(turns: Sequence[Turn], draft: str = "") -> dict[int, int]:
    """Return the position of each statement that was replaced, with that of its replacement.

    If several replace it, the last counts. With a draft, only statements that share one of its rare
    words count. At most a few hundred turns, in any order.
    """
    brief = [turn for turn in turns if len(turn.content) <= _LONGEST]
    brief.sort(key=lambda turn: turn.position)
    said = [_roots(turn.content) for turn in brief]
    often = Counter(root for roots in said for root in roots)
    most = max(_FEW, _RARE * len(said))
    rare = frozenset(root for root, count in often.items() if count <= most)
    asked = _roots(draft) if draft else rare
    found = {}
    for place, newer in enumerate(brief):
        if _replaces(newer.content):
            for older, roots in zip(brief[:place], said, strict=False):
                shared = rare & roots & said[place]
                least = _SHARED * min(len(roots), len(said[place]))
                is_about_same = not shared.isdisjoint(asked) and len(shared) >= least
                if is_about_same and older.speaker == newer.speaker and roots != said[place]:
                    found[older.position] = newer.position
    return found


@lru_cache(maxsize=1 << 12)
def _roots(text: str) -> frozenset[str]:
    """Return the beginnings of the stems of a text's content words."""
    said, language = content_of(text)
    return frozenset(stem(word, language)[:_ROOT] for word in said)


@lru_cache(maxsize=1 << 12)
def _replaces(text: str) -> bool:
    """Return whether a statement can replace an earlier one."""
    return says("superseded", "changed", text) and not says("superseded", "both", text)
