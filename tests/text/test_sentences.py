"""Sentences: where they end, and that no text is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.text.sentences import LONGEST, is_question, marked_sentences, sentences
from tests.examples import examples

quick = examples(30)


def test_a_sentence_ends_at_its_mark_and_keeps_it():
    assert sentences("It works! Does it? Yes… “Good.” Fine") == [
        "It works!", "Does it?", "Yes…", "“Good.”", "Fine",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "whole",
    [
        "Dr. Smith met Mr. Jones at St. Mary's.",
        "Use e.g. no. 5 of vol. 2.",
        "J. R. R. Tolkien wrote it.",
        "Version 3.14 of example.com is out.",
        "Wait... what?",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_end_it(whole):
    assert sentences(f"{whole} Next one.")[-1] == "Next one."
    assert " ".join(sentences(f"{whole} Next one.")[:-1]) == whole


def test_abbreviations_do_not_swallow_the_next_sentence():
    assert sentences("I said no. Then we left.") == ["I said no.", "Then we left."]
    assert sentences("So did I. Good.") == ["So did I.", "Good."]


def test_chinese_and_japanese_sentences_need_no_blank():
    assert sentences("今日は雨。明日は晴れ？はい") == ["今日は雨。", "明日は晴れ？", "はい"]


def test_lines_of_a_paragraph_are_joined_and_items_are_not():
    text = (
        "One sentence\nover two lines.\n\n- first item\n- second item\n2) third\n# Title\n> quote"
    )
    assert sentences(text) == [
        "One sentence over two lines.", "first item", "second item", "third", "Title", "quote",
    ]  # fmt: skip


def test_each_line_of_code_stands_by_itself_and_is_marked():
    text = "Run this:\n```sh\ncd /tmp. ls\n\nmake\n```\nThen wait."
    assert marked_sentences(text) == [
        ("Run this:", False),
        ("cd /tmp. ls", True),
        ("make", True),
        ("Then wait.", False),
    ]


def test_a_fence_that_is_never_closed_ends_with_the_text():
    assert marked_sentences("~~~\nx = 1") == [("x = 1", True)]


def test_what_is_too_long_for_a_sentence_is_cut_at_a_blank():
    pieces = sentences("word " * 1_000)
    assert all(len(piece) <= LONGEST for piece in pieces)
    assert " ".join(pieces) == ("word " * 1_000).strip()
    assert [len(piece) for piece in sentences("x" * 2_500)] == [LONGEST, LONGEST, 500]


@pytest.mark.parametrize("text", ["Really?", "“Really?” ", "Is it?)\n", "本当？", "*sure?*"])
def test_a_question_is_known_by_its_mark(text):
    assert is_question(text)
    assert not is_question(text.replace("?", ".").replace("？", "。"))


@quick
@given(st.text(st.characters(exclude_characters="`~"), max_size=300))
def test_no_word_of_prose_is_lost(text):
    kept = "".join("".join(sentences(text)).split())
    marks = "-*+•#>.)0123456789"
    bare = str.maketrans("", "", marks)
    assert kept.translate(bare) == "".join(text.split()).translate(bare)
