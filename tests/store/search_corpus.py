"""Stored turns in fourteen scripts, and what can be asked for in them."""

from __future__ import annotations

import random
import tomllib
import unicodedata
from typing import TYPE_CHECKING

from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = tomllib.loads((ROOT / "tests/data/search_words.toml").read_text("utf-8"))
_PUNCTUATION = ".,;:!?()[]{}*`\"'。「」។။।"
WITHOUT_BLANKS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
"""The beginnings of the names that Unicode gives to the characters of scripts without blanks."""


def turns_in_every_script(count: int, seed: int = 1) -> list[str]:
    """Make texts: a few sentences of one script each, with names, code and numbers among them."""
    luck = random.Random(seed)
    scripts = [name for name in WORDS if name != "mixed"]
    mixed = WORDS["mixed"]["words"].split()
    texts = []
    for number in range(count):
        script = WORDS[scripts[number % len(scripts)]]
        sentences = []
        for _ in range(luck.randint(1, 4)):
            words = luck.choices(script["words"].split(), k=luck.randint(2, 9))
            for _ in range(luck.choice((0, 0, 1, 1, 2))):
                added = luck.choice((*mixed, str(luck.randint(0, 99_999))))
                words.insert(luck.randrange(len(words) + 1), luck.choice((added, f" {added} ")))
            sentences.append(script["blank"].join(words) + script["stop"])
        texts.append(luck.choice((" ", "\n", "\n\n- ")).join(sentences))
    return texts


def wanted_in(text: str) -> set[str]:
    """What a user can ask for that is in a text, as it stands there."""
    pieces = {piece.strip(_PUNCTUATION) for piece in text.split()}
    wanted = {piece for piece in pieces if any(map(str.isalnum, piece))}
    for run, is_unspaced in _runs(text):
        if is_unspaced:
            wanted |= {run[at : at + size] for size in range(1, 5) for at in range(len(run))}
        else:
            wanted.add(run)
    pictures = {letter for letter in text if unicodedata.category(letter) == "So"}
    return wanted | {letter for letter in pictures if "REGIONAL" not in unicodedata.name(letter)}


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Split a text into runs of letters, marks and digits, with or without blanks between words."""
    run, was_unspaced = "", False
    for letter in f"{text} ":
        category = unicodedata.category(letter)
        is_part = category[0] in "LMN" or (category == "Cf" and run != "")
        is_unspaced = unicodedata.name(letter, "").startswith(WITHOUT_BLANKS)
        is_unspaced = was_unspaced if category == "Cf" else is_unspaced
        if run and (not is_part or is_unspaced != was_unspaced):
            if any(map(str.isalnum, run)):
                yield run, was_unspaced
            run = ""
        if is_part:
            run += letter
            was_unspaced = is_unspaced
