"""Replies made up together with what is to be read of them, and real ones."""

from __future__ import annotations

import json
import re
from functools import cache

from hypothesis import strategies as st

from tests.benchmarks.streaming_screen import MARKDOWN
from tests.long_answers import ANSWER, prose
from tests.support import SHARED

Said = tuple[str, str]
"""A piece of Markdown, and what is to be read of it."""

ALPHABET = "ab1 \n\n#*_`~-+.>|[]()!<\\$&:\"'=/é日。\t"
"""Mostly what has a meaning in Markdown."""
ANYTHING = st.text(st.sampled_from(ALPHABET), max_size=120)
WORDS = st.sampled_from(
    [
        "alpha",
        "β",
        "word",
        "<T>",
        "naïve",
        "日本語",
        "x<y>z",
        "10%",
        "a_b_c",
        "C++",
        "don't",
        "(see)",
        "3.11",
        "&co",
    ]
)


def _wrapped(before: str, after: str | None = None) -> st.SearchStrategy[Said]:
    return WORDS.map(lambda word: (f"{before}{word}{before if after is None else after}", word))


INLINE = st.one_of(
    WORDS.map(lambda word: (word, word)),
    _wrapped("**"),
    _wrapped("*"),
    _wrapped("~~"),
    _wrapped("`"),
    _wrapped("[", "](https://example.org/hidden 'and hidden')"),
    st.sampled_from(
        [
            ("&amp;", "&"),
            ("&lt;b&gt;", "<b>"),
            ("\\*", "*"),
            ("$\\alpha$", "α"),
            ("\\(\\{a\\}\\)", "{a}"),
            ("$x_1|y$", "x₁|y"),
            ("one<br>two", "onetwo"),
            ("https://example.org/__a__", "https://example.org/__a__"),
            ("<https://example.org/b>", "https://example.org/b"),
            ("$5", "$5"),
            ("<your-name>", "<your-name>"),
        ]
    ),
)


def joined(parts: list[Said], between: str = " ") -> Said:
    return between.join(part[0] for part in parts), "".join(part[1] for part in parts)


LINE = st.lists(INLINE, min_size=1, max_size=6).map(joined)


def _paragraph(lines: list[Said]) -> Said:
    """Start each line with a word, so that nothing else is made of its beginning."""
    return joined([("so " + line[0], "so" + line[1]) for line in lines], "\n")


PARAGRAPH = st.lists(LINE, min_size=1, max_size=3).map(_paragraph)


def _item(number: int, mark: str, line: Said) -> Said:
    return f"{number}{mark} {line[0]}", f"{number}{mark}{line[1]}"


NUMBERED = st.tuples(
    st.sampled_from(".)"), st.lists(st.tuples(st.integers(0, 999), LINE), min_size=1, max_size=5)
).map(lambda made: joined([_item(number, made[0], line) for number, line in made[1]], "\n"))
BULLETS = st.lists(LINE, min_size=1, max_size=4).map(
    lambda lines: joined([(f"- {line[0]}", line[1]) for line in lines], "\n")
)
QUOTE = LINE.map(lambda line: (f"> so {line[0]}", f"so{line[1]}"))
HEADING = st.tuples(st.integers(1, 6), LINE).map(
    lambda made: (f"{'#' * made[0]} {made[1][0]}", made[1][1])
)
CODE = st.tuples(
    st.sampled_from(("", "python", "c++ title=x")),
    st.text("ab <>*_$\\{}|\n#é日", max_size=40),
).map(lambda made: (f"````{made[0]}\n{made[1]}\n````", made[0] + made[1]))


@st.composite
def tables(draw: st.DrawFn) -> Said:
    rows = draw(st.lists(st.lists(INLINE, min_size=1, max_size=5), min_size=1, max_size=4))
    rule = "|" + "---|" * len(rows[0])
    lines = [f"| {' | '.join(cell[0] for cell in row)} |" for row in rows]
    return "\n".join([lines[0], rule, *lines[1:]]), "".join(cell[1] for row in rows for cell in row)


BLOCK = st.one_of(PARAGRAPH, NUMBERED, BULLETS, QUOTE, HEADING, CODE)
BETWEEN = ("<!-- -->", "<!---->")
"""Text between blocks, so that one does not go on in the next."""


def _reply(blocks: list[Said]) -> Said:
    return joined([part for block in blocks for part in (block, BETWEEN)], "\n\n")


REPLIES = st.lists(BLOCK, min_size=1, max_size=5).map(_reply)


@cache
def real_replies() -> list[str]:
    """Replies of the tests' fixtures, and of public chats where these are shared."""
    replies = [ANSWER.format(prose=prose(1)), MARKDOWN]
    chats = SHARED / "data" / "beam" / "beam10.json"
    if chats.exists():
        turns = [turn for chat in json.loads(chats.read_text("utf-8")) for turn in chat["turns"]]
        said = [turn["content"] for turn in turns if turn["role"] == "assistant"]
        replies += said[:: max(1, len(said) // 250)]
    return replies


def letters(text: str) -> str:
    """The text without white space."""
    return re.sub(r"\s+", "", text)
