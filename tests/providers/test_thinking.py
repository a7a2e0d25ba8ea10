"""Reasoning that a model writes into its text, however the chunks cut it."""

from __future__ import annotations

import pytest

from jitchat.providers.protocols.thinking import ThinkTags
from jitchat.providers.provider import Delta, Piece, Reasoning, ReasoningEnded


def read(*chunks: str, reasoned: bool = False) -> list[Piece]:
    tags = ThinkTags()
    if reasoned:
        tags.reasoned()
    pieces = [piece for chunk in chunks for piece in tags.text(chunk)]
    return joined([*pieces, *tags.end()])


def joined(pieces: list[Piece]) -> list[Piece]:
    """The same with neighbours of one kind made one."""
    made: list[Piece] = []
    for piece in pieces:
        if made and isinstance(piece, Delta | Reasoning) and type(made[-1]) is type(piece):
            made[-1] = type(piece)(made[-1].text + piece.text)
        else:
            made.append(piece)
    return made


ENDED = ReasoningEnded()
TEXTS = {
    "": [],
    "Yes.": [Delta("Yes.")],
    "<think>hm</think>Yes.": [Reasoning("hm"), Delta("Yes.")],
    " \n<think>\nhm\n</think>\n\nYes.\n": [Reasoning("hm\n"), Delta("Yes.\n")],
    "<think>\n\n</think>\n\nYes.": [Delta("Yes.")],
    "<think>hm": [Reasoning("hm")],
    "<think>a </thin b": [Reasoning("a </thin b")],
    "<think>a </thin": [Reasoning("a </thin")],
    "<think>a<</think>b": [Reasoning("a<"), Delta("b")],
    "<think>hm</think>a\n</think>\n<think>b": [Reasoning("hm"), Delta("a\n</think>\n<think>b")],
    "<thinker> is no tag": [Delta("<thinker> is no tag")],
    "<thi": [Delta("<thi")],
    " \n ": [Delta(" \n ")],
    "Say <think>x</think>": [Delta("Say <think>x</think>")],
    "`<think>`": [Delta("`<think>`")],
    "hm\n</think>\n\nYes.": [Delta("hm\n"), ENDED, Delta("Yes.")],
    "hm\n  </think>Yes.": [Delta("hm\n"), ENDED, Delta("Yes.")],
    "hm\r\n</think>\r\nYes.": [Delta("hm\r\n"), ENDED, Delta("Yes.")],
    "</think>Yes.": [ENDED, Delta("Yes.")],
    "hm\n</think>": [Delta("hm\n"), ENDED],
    "hm\n</think>a\n</think>b": [Delta("hm\n"), ENDED, Delta("a\n</think>b")],
    "a </think> b": [Delta("a </think> b")],
    "a\n</thinker>": [Delta("a\n</thinker>")],
    "a\n</thi": [Delta("a\n</thi")],
    "```\n</think>\n```\n": [Delta("```\n</think>\n```\n")],
    "a\n  ~~~html\n</think>\n~~~\nb": [Delta("a\n  ~~~html\n</think>\n~~~\nb")],
    "````\n```\n</think>\n````": [Delta("````\n```\n</think>\n````")],
    "```\n~~~\n</think>\n": [Delta("```\n~~~\n</think>\n")],
    "```\na\n```\n</think>\nYes.": [Delta("```\na\n```\n"), ENDED, Delta("Yes.")],
    "`` a\n</think>\nYes.": [Delta("`` a\n"), ENDED, Delta("Yes.")],
    "a ```\n</think>\nYes.": [Delta("a ```\n"), ENDED, Delta("Yes.")],
    f"hm\n{' ' * 80}</think>": [Delta(f"hm\n{' ' * 80}</think>")],
    f"{'`' * 80}\n</think>\n": [Delta(f"{'`' * 80}\n</think>\n")],
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_tag_is_one_at_the_start_and_text_anywhere_else(text):
    assert read(text) == TEXTS[text]


@pytest.mark.parametrize("text", TEXTS)
def test_a_tag_may_be_split_anywhere(text):
    assert read(*text) == TEXTS[text]
    for split in range(len(text)):
        assert read(text[:split], "", text[split:]) == TEXTS[text], split


def test_after_reasoning_of_its_own_a_closing_tag_is_text():
    assert read("a\n</think>\nb", reasoned=True) == [Delta("a\n</think>\nb")]


def test_text_is_not_held_back_for_what_it_cannot_become():
    tags = ThinkTags()
    assert tags.text("Yes") == [Delta("Yes")]
    assert tags.text(".\n<") == [Delta(".\n")]
    assert tags.text("b>") == [Delta("<b>")]


def test_blanks_without_end_are_not_held_back():
    tags = ThinkTags()
    said = [piece for _ in range(100) for piece in tags.text(" ")]
    assert joined(said) == [Delta(" " * 100)]
