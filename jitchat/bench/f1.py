"""LoCoMo's F1: the overlap in stems of an answer and the gold answer.

After `task_eval/evaluation.py` of snap-research/locomo, for the four categories that are asked,
with the same Porter stemmer: M. F. Porter, "An algorithm for suffix stripping", Program 14.3
(1980), with the changes of NLTK's `PorterStemmer`. The Snowball stemmers of jitchat's libraries
would occasionally change an answer's F1. The index uses the stems of `jitchat.text.words`, never
these.
"""

import re
import statistics
import string
from collections import Counter
from functools import lru_cache

from jitchat.bench.questions import ABSTENTION
from jitchat.text.stance import disclaims

_IRREGULAR = {
    "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "innings": "inning",
    "outings": "outing", "cannings": "canning",
} | {word: word for word in (
    "sky", "news", "inning", "outing", "canning", "howe", "proceed", "exceed", "succeed",
)}  # fmt: skip

_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
    ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
    ("fulli", "ful"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion",
    "ou", "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _without_past(_singular(word))
    if word.endswith("y") and len(word) > 2 and _kinds(word[:-1]).endswith("c"):
        word = word[:-1] + "i"
    word = _replaced(_without_double_suffix(word), _STEP_3)
    return _without_ending(_without_suffix(word))


def _singular(word: str) -> str:
    """Step 1a: plurals."""
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_past(word: str) -> str:
    """Step 1b: -ed and -ing."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        base = word.removesuffix(suffix)
        if base != word and "v" in _kinds(base):
            return _mended(base)
    return word


def _mended(base: str) -> str:
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if base[-1] == base[-2:-1] and _kinds(base).endswith("c"):
        return base if base[-1] in "lsz" else base[:-1]
    return base + "e" if _measure(base) == 1 and _is_short(base) else base


def _without_double_suffix(word: str) -> str:
    """Step 2. -ally is removed before the suffix that it hides; -logy is measured with its l."""
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _without_double_suffix(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replaced(word, _STEP_2)


def _replaced(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    for suffix, other in rules:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + other if _measure(base) > 0 else word
    return word


def _without_suffix(word: str) -> str:
    """Step 4; -ion is removed only after s and t."""
    for suffix in _STEP_4:
        if word.endswith(suffix):
            base = word[:-3] if suffix.endswith("ion") else word[: -len(suffix)]
            return base if _measure(base) > 1 else word
    return word


def _without_ending(word: str) -> str:
    """Step 5: a last e, and one of two l."""
    if word.endswith("e"):
        size = _measure(word[:-1])
        if size > 1 or (size == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _kinds(word: str) -> str:
    """Return c for each consonant and v for each vowel; y is a vowel after a consonant."""
    kinds = ""
    for letter in word:
        is_vowel = kinds.endswith("c") if letter == "y" else letter in "aeiou"
        kinds += "v" if is_vowel else "c"
    return kinds


def _measure(word: str) -> int:
    """Porter's m: the number of times that a consonant follows a vowel."""
    return _kinds(word).count("vc")


def _is_short(word: str) -> bool:
    """Porter's *o: consonant, vowel, consonant except w, x, y; or just a vowel and a consonant."""
    kinds = _kinds(word)
    return kinds == "vc" or (kinds.endswith("cvc") and word[-1] not in "wxy")


_PUNCTUATION = str.maketrans("", "", string.punctuation)
_SMALL_WORDS = re.compile(r"\b(?:a|an|the|and)\b")


def answer_f1(category: str, answer: str, gold: str) -> float:
    """Score an answer, 0 to 1; where no turn answers, it is right to say that it is not known."""
    if category == ABSTENTION:
        return float(disclaims(answer))
    if category == "multi-hop":  # the mean over the gold parts, each with the answer's best part
        parts = answer.split(",")
        return statistics.fmean(max(_f1(part, each) for part in parts) for each in gold.split(","))
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
