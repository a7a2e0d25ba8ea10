# ruff: noqa: T201
"""Fits the tables of jitchat/window/data/o200k.toml to o200k_base, weighted by word frequency.

Run it manually in a separate environment; tiktoken must find its vocabulary. It takes a minute:

    pip install numpy tiktoken wordfreq
    python tools/fit_estimate.py            # prints the tables' errors before and after the fit
    python tools/fit_estimate.py --new      # the same, but starts from equal prices for all pairs
    python tools/fit_estimate.py --write    # writes the tables as well

tests/window/test_estimate.py then measures the errors on whole texts.

These parameters are fitted one after the other, while the squared error falls: the price of each
pair of letters, from lower-case words after a space; for each case, the price factor of pairs; and
for each lead and case, the credit that a word has before it costs a second token. English counts
more than all other languages together. Words in capitals or with a lead other than a space are
mostly code, so only English counts there. Within a language each word is weighted by its frequency
(wordfreq, Robyn Speer 2022). Words of even rank are fitted; those of odd rank are for measuring.
The Vietnamese syllables and Chinese words are the most frequent ones that are a single token. The
prices of other scripts, punctuation and runs are set manually, from texts.
"""

import re
import sys
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import tiktoken
from wordfreq import top_n_list, word_frequency

TABLES = Path(__file__).parents[1] / "jitchat" / "window" / "data" / "o200k.toml"
LATIN = "ca cs da de es fi fil fr hu id is it lt lv ms nb nl pl pt ro sh sk sl sv tr".split()  # noqa: SIM905
"""wordfreq's languages in Latin script, except English and Vietnamese."""
ENGLISH = 4.0
"""The weight of English; all other languages together have 1."""
WORDS = 3_000
"""Number of the most frequent words used of each language."""
SYLLABLES, CHINESE = 180, 300
"""Numbers of listed ones, on which the price of unlisted ones depends."""
UNFOLDED = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe"})
VIETNAMESE = re.compile(r"[ƠơƯư\u1ea0-\u1ef9]|^.{,3}[ĂăĐđ]")
LEADS = ("", " ", "_", "/")
"""None, a space, a character that merges with words, one that does not."""
CASES = (str.lower, str.capitalize, str.upper)
ROUNDS = 8
ENCODING = tiktoken.get_encoding("o200k_base")


@dataclass(frozen=True, eq=False)
class Words:
    """Distinct words; all arrays have one row per word, except `rows` and `pairs`."""

    words: Sequence[str]
    weights: np.ndarray
    """They add up to 1."""
    accents: np.ndarray
    """The cost of a word's accents, in hundredths of a token."""
    rows: np.ndarray
    """For each occurrence of a pair of letters, the index of its word."""
    pairs: np.ndarray
    """For each occurrence, the pair: 27 × first letter + second letter."""

    @classmethod
    def of(cls, weights: dict[str, float]) -> "Words":
        """Count the pairs of lower-case words."""
        folded = [fold(word) for word in weights]
        found = [
            (row, 27 * (first - 96) + second - 96)
            for row, (plain, _) in enumerate(folded)
            for first, second in pairwise(b"`%b`" % plain.encode())
        ]
        rows, pairs = np.array(found).T
        share = np.array(list(weights.values()))
        accents = np.array([cost for _, cost in folded], dtype=float)
        return cls(list(weights), share / share.sum(), accents, rows, pairs)

    def sums(self, prices: np.ndarray) -> np.ndarray:
        """Return the sum of the prices of each word's pairs, in units of 0.12 tokens."""
        return np.bincount(self.rows, prices[self.pairs], len(self.words))

    def charged(self, sums: np.ndarray, price: int, credit: int) -> np.ndarray:
        """Return the estimated tokens of each word."""
        return 1 + np.maximum(0, price * sums / 10 + self.accents - credit) / 100

    def error(self, tokens: np.ndarray, charged: np.ndarray) -> float:
        """Return the weighted mean squared error."""
        return float(self.weights @ (charged - tokens) ** 2)


@cache
def tokens_of(words: Words, lead: str, case: int) -> np.ndarray:
    """Return the number of tokens of each word with a lead and in a case."""
    texts = [lead + CASES[case](word) for word in words.words]
    return np.array([len(each) for each in ENCODING.encode_ordinary_batch(texts)])


def fold(word: str) -> tuple[str, int]:
    """Return a word in the letters a to z, and the cost of its accents, as estimate.py does."""
    if word.isascii():
        return word, 0
    bare = unicodedata.normalize("NFD", word.lower().translate(UNFOLDED))
    plain = re.sub("[^a-z]", "", bare)
    return plain, 19 + 37 * max(1, len(bare) - len(plain))


def latin_words(languages: dict[str, float], odd: int) -> Words:
    """Return the words of even or odd rank of some languages, given with their weights."""
    found: dict[str, float] = {}
    for language, weight in languages.items():
        top = top_n_list(language, WORDS, "small")[odd::2]
        known = {word: word_frequency(word, language, "small") for word in top if is_plain(word)}
        total = sum(known.values())
        for word, frequency in known.items():
            found[word] = found.get(word, 0.0) + weight * frequency / total
    return Words.of(found)


def is_plain(word: str) -> bool:
    return word.isalpha() and len(word) < 24 and bool(fold(word)[0])


def fit_pairs(words: Words, prices: np.ndarray, price: int, credit: int) -> None:
    """Move each pair's price by one while the error falls; changes `prices` in place.

    A price affects only the words with that pair, so the error is computed for these alone.
    """
    tokens, sums = tokens_of(words, " ", 0), words.sums(prices)
    order = np.argsort(words.pairs, kind="stable")
    borders = np.searchsorted(words.pairs[order], np.arange(prices.size + 1))
    holders = [
        np.unique(words.rows[order[start:end]], return_counts=True)
        for start, end in pairwise(borders)
    ]
    spent = price * sums / 10 + words.accents - credit

    def errors(rows: np.ndarray, spent: np.ndarray) -> float:
        wrong = 1 + np.maximum(0, spent) / 100 - tokens[rows]
        return float(words.weights[rows] @ wrong**2)

    for number in range(1, ROUNDS + 1):
        moved = 0
        for pair, (rows, counts) in enumerate(holders):
            now = errors(rows, spent[rows])
            for step in (1, -1):
                tried = spent[rows] + step * price / 10 * counts
                if rows.size and 0 <= prices[pair] + step <= 9 and errors(rows, tried) < now:
                    spent[rows] = tried
                    prices[pair] += step
                    moved += 1
                    break
        print(f"  round {number}: {moved} prices moved")
        if not moved:
            return


def fit_price(words: Words, sums: np.ndarray, tokens: np.ndarray) -> int:
    """Return the best price factor, each tried with its best credit, in hundredths of 0.12."""
    return min(range(80, 200, 4), key=lambda price: fit_credit(words, sums, tokens, price))


def fit_credit(words: Words, sums: np.ndarray, tokens: np.ndarray, price: int) -> tuple[float, int]:
    """Return the least error and its credit, in hundredths of a token."""
    return min(
        (words.error(tokens, words.charged(sums, price, credit)), credit)
        for credit in range(-100, 200, 2)
    )


def single_tokens(language: str, lead: str, length: int | None) -> Iterator[str]:
    """Yield the words of a language that are one token, the most frequent first."""
    for word in top_n_list(language, 30_000, "small"):
        if length in (None, len(word)) and len(ENCODING.encode_ordinary(lead + word)) == 1:
            yield word


def report(tables: dict[str, Any], prices: np.ndarray, sets: dict[str, Words]) -> None:
    """Print the tables' errors: the bias of the total, and the deviation per word."""
    for name, words in sets.items():
        sums = words.sums(prices)
        print(f"  {name}")
        for case, price in enumerate(tables["pair_price"]):
            for lead, mark in enumerate(LEADS):
                tokens = tokens_of(words, mark, case)
                charged = words.charged(sums, price, tables["credit"][lead][case])
                bias = float(words.weights @ charged / (words.weights @ tokens) - 1)
                deviation = words.error(tokens, charged) ** 0.5
                written = f"{mark}{CASES[case]('word')}"
                print(f"    {written!r:8} {bias:+7.1%} in total, ±{deviation:.3f} tokens per word")


def replaced(text: str, name: str, value: str) -> str:
    """Return the tables' text with one value replaced, keeping the comments."""
    pattern = rf'^{name} = (?:"""\n.*?\n"""|[^\n]*)$'
    return re.sub(pattern, lambda _: f"{name} = {value}", text, flags=re.MULTILINE | re.DOTALL)


def block(words: Sequence[str], each: int) -> str:
    """Write words as a multi-line string, `each` per line."""
    lines = [" ".join(words[at : at + each]) for at in range(0, len(words), each)]
    return '"""\n' + "\n".join(lines) + '\n"""'


def main() -> None:
    text = TABLES.read_text("utf-8")
    tables = tomllib.loads(text)
    prices = np.array([int(digit) for digit in "".join(tables["pairs"].split())])
    others = dict.fromkeys(LATIN, 1 / len(LATIN))
    everything = latin_words({"en": ENGLISH} | others, odd=0)
    english = latin_words({"en": 1.0}, odd=0)
    held_out = {"other languages": latin_words(others, 1), "English": latin_words({"en": 1.0}, 1)}
    print(f"{len(everything.words)} words of {len(LATIN) + 1} languages; before:")
    report(tables, prices, held_out)
    if "--new" in sys.argv:
        prices[:] = 5
    fit_pairs(everything, prices, tables["pair_price"][0], tables["credit"][1][0])
    for case in range(len(CASES)):
        words = everything if case < 2 else english
        price = fit_price(words, words.sums(prices), tokens_of(words, " ", case))
        tables["pair_price"][case] = price
        for lead, mark in enumerate(LEADS):
            words = everything if mark == " " and case < 2 else english
            found = fit_credit(words, words.sums(prices), tokens_of(words, mark, case), price)
            tables["credit"][lead][case] = found[1]
    print("after:")
    report(tables, prices, held_out)
    syllables = [word for word in single_tokens("vi", " ", None) if VIETNAMESE.search(word)]
    syllables, chinese = syllables[:SYLLABLES], list(single_tokens("zh", "", 2))[:CHINESE]
    if "--write" in sys.argv:
        digits = "".join(map(str, prices))
        rows = [digits[at : at + 27] for at in range(0, len(digits), 27)]
        for name, value in {
            "pairs": block(rows, 1),
            "credit": str(tables["credit"]),
            "pair_price": str(tables["pair_price"]),
            "syllables": block(syllables, 16),
            "chinese": block(chinese, 18),
        }.items():
            text = replaced(text, name, value)
        TABLES.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
