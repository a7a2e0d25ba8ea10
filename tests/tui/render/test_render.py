"""What is shown is what was said: every reply is drawn in full, in order, at its own place."""

from __future__ import annotations

import re
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it.token import Token
from rich.cells import cell_len
from textual.content import Span

from jitchat.text.markdown.html import html_of
from jitchat.tui.render import code as code_module
from jitchat.tui.render.reading import copied
from jitchat.tui.render.render import Growing, render
from tests.examples import examples
from tests.text.markdown.cases import CASES
from tests.text.markdown.reference import words_of
from tests.text.markdown.replies import ANYTHING, REPLIES, letters, real_replies, tables
from tests.tui.render.looks import (
    THEMES,
    look,
    on_screen,
    require_order,
    require_places,
    rows,
)


@pytest.mark.parametrize(("reply", "words"), CASES)
def test_what_is_not_syntax_stands_on_the_screen(reply: str, words: str):
    for name in THEMES:
        for width in (200, 40):
            lines = render(reply, look(width, name))
            assert on_screen(lines) == letters(words)
            assert all(cell_len("".join(p.text for p in line)) <= width for line in lines)


@given(REPLIES, st.sampled_from(THEMES), st.integers(20, 120))
@examples(150)
def test_every_reply_stands_on_the_screen_in_order(reply, name, width):
    source, words = reply
    lines = render(source, look(width, name))
    assert on_screen(lines) == letters(words)
    require_places(source, lines)
    require_order(lines)


@given(tables(), st.integers(20, 200))
@examples(150)
def test_every_cell_of_a_table_stands_on_the_screen(table, width):
    source, words = table
    lines = render(source, look(width))
    require_places(source, lines)
    pieces = [piece for line in lines for piece in line if piece.span[0] < piece.span[1]]
    pieces.sort(key=lambda piece: piece.span)
    assert letters("".join(piece.text for piece in pieces)) == letters(words)


@given(ANYTHING, st.integers(1, 60))
@examples(600)
def test_nothing_of_any_text_is_lost_or_out_of_place(text, width):
    lines = render(text, look(width))
    require_places(text, lines)


@given(ANYTHING.filter(lambda text: not re.search(r"[$\\<|]|[ab1é]\*+[ab1é]|日[*~]|[*~]日", text)))
@examples(300)
def test_the_words_are_those_of_the_reference(text):
    assert on_screen(render(text, look(60))) == words_of(text)


LETTER = """\
Dear Ann,
your day:
**9:00** Break
**9:30** Report
\\[ a^2 \\]
\\[ b^2 \\]

Best,
[Your Name]"""


def test_a_line_of_the_reply_is_a_line_on_the_screen_in_a_page_and_in_a_copy():
    words = LETTER.replace("**", "").replace("\\[ a^2 \\]", "a²").replace("\\[ b^2 \\]", "b²")
    lines = render(LETTER, look())
    assert rows(lines) == words.split("\n")
    assert copied(LETTER, lines) == LETTER.replace("**", "")
    assert html_of(LETTER).count("<br />") == LETTER.count("\n") - 2


@pytest.mark.parametrize(
    ("reply", "bold"),
    [
        ("**注意：**后面", "注意："),
        ("他说：**“你好”**然后走了", "“你好”"),
        ("これは**「強調」**です", "「強調」"),
        ("**API**s of un**bold**ed", "APIbold"),
        ("2**10**2 and **5*3*2**", "5*3*2"),
    ],
)
def test_what_asterisks_enclose_is_bold_in_every_script_and_a_product_is_not(reply, bold):
    pieces = [piece for line in render(reply, look()) for piece in line]
    assert "".join(piece.text for piece in pieces if piece.style.bold) == bold
    assert not any(piece.style.italic for piece in pieces)


def test_real_replies_stand_on_the_screen():
    for reply in real_replies():
        lines = render(reply, look(100))
        require_places(reply, lines)
        if "$" not in reply and "\\" not in reply and "|" not in reply:
            assert on_screen(lines) == words_of(reply)


@given(st.one_of(REPLIES.map(lambda reply: reply[0]), ANYTHING), st.data())
@examples(100)
def test_a_reply_that_grows_is_drawn_as_if_it_came_at_once(text, data):
    growing, at = Growing(), 0
    while at < len(text):
        at = min(len(text), at + data.draw(st.integers(1, 40)))
        begun = text[:at]
        require_places(begun, growing.draw(begun, look(50)))
    assert growing.draw(text, look(50), is_complete=True) == render(text, look(50))


ITEMS = st.lists(
    st.tuples(
        st.sampled_from(
            ["- ", "- ", "* ", " - ", "  - ", "   - ", "    - ", "9. ", "10. ", "7) ", ""]
        ),
        st.text("ab`*|>#-= \n日", max_size=12) | st.just("a [b] *c* `d`"),
        st.sampled_from(["\n", "\n", "\n\n", "\n  \n  more\n"]),
    ).map("".join),
    max_size=12,
).map("".join)
ROWS = st.lists(
    st.lists(
        st.sampled_from(["", "a", "`b\\|c`", "*d*", "long words " * 3, "日本", "e" * 30]),
        max_size=4,
    ),
    max_size=12,
).map(lambda rows: "| h | k |\n|--:|---|\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows))

PARAGRAPHS = st.lists(
    st.sampled_from(["some words of it", "*", "**", "_", "`", "[", "](b)", "|", "$", "<", "日本語"])
    | st.sampled_from(
        [" ", " ", "\n", "\n---\n", "\n--|--\n", "\\", "- a", "1. b", "# c", "![d](e)"]
    ),
    max_size=40,
).map(" ".join)


@given(
    st.tuples(
        st.sampled_from(["", "Words.\n\n"]),
        ITEMS | ROWS | PARAGRAPHS,
        st.sampled_from(["", "After."]),
    ),
    st.integers(20, 60),
    st.data(),
)
@examples(100)
def test_a_block_looks_at_any_cut_as_if_it_came_at_once(parts, width, data):
    growing, text, at = Growing(), "".join(parts), 0
    while at < len(text):
        at = min(len(text), at + data.draw(st.integers(1, 20)))
        assert growing.draw(text[:at], look(width)) == Growing().draw(text[:at], look(width))
    assert growing.draw(text, look(width), is_complete=True) == render(text, look(width))


def test_a_line_does_not_look_like_a_heading_while_a_list_or_code_begins_below_it():
    growing = Growing()
    text = "The ports:\n- 8443\n\nSo:\n```\nx\n```\n"
    for end in range(1, len(text)):
        pieces = [piece for line in growing.draw(text[:end], look()) for piece in line]
        assert not any(piece.style.bold or piece.text in ("-", "`", "``") for piece in pieces)


@pytest.mark.parametrize(
    "text",
    [
        "A paragraph of some words.\n\n- one\n- two\n\n```\ncode\n```\n\n" * 100,
        "A paragraph of *some* words, and of `code`. " * 100,
        "- an item of some words\n" * 200,
        "1. an item of some words\n\n   in two paragraphs\n\n" * 100,
        "| a | b |\n|---|---|\n" + "| some words | more of them |\n" * 200,
    ],
)
def test_finished_blocks_items_and_rows_are_drawn_once(monkeypatch: pytest.MonkeyPatch, text: str):
    from jitchat.tui.render import render as module

    parsed: list[int] = []
    parse = module.parse

    def parse_rest(text: str, start: int = 0, rows: int = 0) -> list[Token]:
        parsed.append(len(text) - max(start, rows))
        return parse(text, start, rows)

    monkeypatch.setattr(module, "parse", parse_rest)
    growing = Growing()
    for at in range(0, len(text), 20):
        growing.draw(text[:at], look(60))
    assert max(parsed) < 250


def test_control_characters_become_visible_and_direction_marks_do_not_act():
    shown = rows(render("a\x1b[31mred \u202etxt b\u200bc\n\n```\n\x07\t\x9b\n```\n", look(60)))
    assert shown[0] == "a␛[31mred �txt bc"
    assert shown[-2].split() == ["␇", "�"]


def test_a_long_line_of_code_goes_on_in_the_next_or_is_cut():
    code = f"```\n{'x' * 50}\n```"
    assert rows(render(code, look(34)))[1:3] == ["  " + "x" * 30, "↳ " + "x" * 20]
    assert rows(render(code, look(34, wraps_code=False)))[1] == "  " + "x" * 29 + "…"


def test_code_is_coloured_in_the_language_that_it_names_and_only_then():
    named, bare = ("```python\ndef f(): pass\n```", "```\ndef f(): pass\n```")
    assert len({piece.style for piece in render(named, look())[1]}) > 2
    assert len({piece.style for piece in render(bare, look())[1]}) == 1


FUNCTIONS = "".join(f"function f{number}(x) {{ return '{number}'; }}\n\n" for number in range(300))
LINES = "".join(f"line {number} of the 'text'\n" for number in range(300))
LONG_CODE = {
    "js": FUNCTIONS,
    "php": f"<?php\n{FUNCTIONS}",
    "html": f"<p>One</p>\n<script>\n{FUNCTIONS}</script>\n<p>Two</p>\n",
    "python": f'"""Text\n\n{LINES}"""\n' + LINES.replace("line", "line ="),
    "c": f"/*\n{LINES}*/\nint x;\n",
}


@pytest.mark.parametrize("language", LONG_CODE)
def test_code_that_is_highlighted_by_sections_looks_as_if_highlighted_at_once(
    language: str, monkeypatch: pytest.MonkeyPatch
):
    reply = f"```{language}\n{LONG_CODE[language]}\n```"
    by_sections = render(reply, look())
    monkeypatch.setattr(code_module, "_SECTION", len(reply))
    assert by_sections == render(reply, look())


def test_of_code_that_grows_only_the_end_is_highlighted_again(monkeypatch: pytest.MonkeyPatch):
    lengths: list[int] = []
    highlighted = code_module._highlighted.__wrapped__

    def counted(code: str, language: str) -> list[Span]:
        lengths.append(len(code))
        return highlighted(code, language)

    monkeypatch.setattr(code_module, "_highlighted", lru_cache(maxsize=128)(counted))
    growing = Growing()
    for end in range(100, len(FUNCTIONS), 100):
        growing.draw(f"```js\n{FUNCTIONS[:end]}", look())
    assert max(lengths) < 3_000


def test_chinese_and_japanese_break_between_characters_but_not_before_punctuation():
    assert rows(render("日本語の文章がここに、あります。", look(20)))[:2] == [
        "日本語の文章がここ",
        "に、あります。",
    ]
    assert rows(render("一二三四五六七八九，十", look(18)))[:2] == ["一二三四五六七八", "九，十"]


def test_a_word_that_is_longer_than_a_line_is_broken_between_clusters():
    family = "👩‍👩‍👧"
    assert rows(render(family * 5, look(4))) == [family * 2, family * 2, family]


def test_lists_are_indented_below_their_text_and_nested_ones_have_other_bullets():
    text = "1. one two three\n10. ten\n    - a\n      - b\n        - c\n"
    assert rows(render(text, look(12))) == [
        " 1. one two",
        "    three",
        "10. ten",
        "    ◦ a",
        "      ▪ b",
        "        ▪ c",
    ]


def test_a_quotation_keeps_its_paragraphs_apart():
    assert rows(render("> One.\n>\n> Two.", look(20))) == ["▌ One.", "▌", "▌ Two."]


def test_a_reply_of_five_thousand_characters_takes_less_time_than_a_frame():
    """Not a measurement: work that grows with the square of the length would take seconds."""
    text = "word *of* `it` and [a link](https://example.org)\n" * 2_000
    assert len(render(text, look(100))) > 100
