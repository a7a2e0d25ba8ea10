"""LoCoMo's F1: the overlap in stems of an answer and the gold answer.

After `task_eval/evaluation.py` of snap-research/locomo, with the same Porter stemmer, whose rules
are in `data/porter.toml`. The Snowball stemmers of jitchat's libraries would occasionally change an
answer's F1. The index uses the stems of `jitchat.text.words`, never these.
"""

import re
import statistics
import string
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from jitchat.bench import read_data
from jitchat.bench.questions import ABSTENTION
from jitchat.text.stance import disclaims

_LAST_STEPS = ("y", "ally", "double_suffix", "suffix", "last_suffix", "e", "ll")


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """Return the stem of a word in lower case, by Porter's algorithm."""
    steps = read_data("porter")
    if word in steps["irregular"]:
        return str(steps["irregular"][word])
    if len(word) <= 2:
        return word
    word = _step(word, steps["plural"])
    base = _step(word, steps["past"])
    if base != word and not word.endswith(("ied", "eed")):
        base = _step(base, steps["without_past"])
    for name in _LAST_STEPS:
        base = _step(base, steps[name])
    return base


def _step(word: str, rules: Iterable[tuple[str, str, str]]) -> str:
    for pattern, replacement, condition in rules:
        match = re.search(pattern, word)
        if match:
            base = word[: match.start()]
            return base + replacement if re.search(condition, _kinds(base)) else word
    return word


def _kinds(word: str) -> str:
    """Return v for each vowel, w for w, x and y, and c for any other consonant.

    y is a vowel after a consonant.
    """
    kinds = ""
    for letter in word:
        if letter in "aeiou" or (letter == "y" and kinds.endswith(("c", "w"))):
            kinds += "v"
        else:
            kinds += "w" if letter in "wxy" else "c"
    return kinds


_PUNCTUATION = str.maketrans("", "", string.punctuation)
_SMALL_WORDS = re.compile(r"\b(?:a|an|the|and)\b")


def answer_f1(category: str, answer: str, gold: str) -> float:
    """Score an answer, 0 to 1; where no turn answers, it is right to say that it is not known."""
    if category == ABSTENTION:
        return float(disclaims(answer))
    if category == "multi-hop":  # the mean over the gold parts, each with the answer's best part
        parts = answer.split(",")
        return statistics.fmean(
            max(_f1(part, wanted) for part in parts) for wanted in gold.split(",")
        )
    if category == "open-domain":
        gold = gold.partition(";")[0]
    return _f1(answer, gold)


def _f1(answer: str, gold: str) -> float:
    found, wanted = _stems(answer), _stems(gold)
    shared = (found & wanted).total()
    return 2 * shared / (found.total() + wanted.total()) if shared else 0.0


def _stems(text: str) -> Counter[str]:
    """Count the stems of a text, without punctuation, articles and `and`."""
    plain = text.lower().translate(_PUNCTUATION)
    return Counter(stem(word) for word in _SMALL_WORDS.sub(" ", plain).split())
