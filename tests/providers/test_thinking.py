"""Reasoning that a model writes into its text, however the chunks cut it."""

from __future__ import annotations

from jitchat.providers.protocols.thinking import ThinkTags
from jitchat.providers.provider import Piece, ReasoningDelta, ReasoningFound, ReplyDelta


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
        if (
            made
            and isinstance(piece, ReplyDelta | ReasoningDelta)
            and type(made[-1]) is type(piece)
        ):
            made[-1] = type(piece)(made[-1].text + piece.text)
        else:
            made.append(piece)
    return made


ENDED = ReasoningFound()
TEXTS = {
    "": [],
    "Yes.": [ReplyDelta("Yes.")],
    "<think>hm</think>Yes.": [ReasoningDelta("hm"), ReplyDelta("Yes.")],
    " \n<think>\nhm\n</think>\n\nYes.\n": [ReasoningDelta("hm\n"), ReplyDelta("Yes.\n")],
    "<think>\n\n</think>\n\nYes.": [ReplyDelta("Yes.")],
    "<think>hm": [ReasoningDelta("hm")],
    "<think>a </thin b": [ReasoningDelta("a </thin b")],
    "<think>a </thin": [ReasoningDelta("a </thin")],
    "<think>a<</think>b": [ReasoningDelta("a<"), ReplyDelta("b")],
    "<think>hm</think>a\n</think>\n<think>b": [
        ReasoningDelta("hm"),
        ReplyDelta("a\n</think>\n<think>b"),
    ],
    "<thinker> is no tag": [ReplyDelta("<thinker> is no tag")],
    "<thi": [ReplyDelta("<thi")],
    " \n ": [ReplyDelta(" \n ")],
    "Say <think>x</think>": [ReplyDelta("Say <think>x</think>")],
    "`<think>`": [ReplyDelta("`<think>`")],
    "hm\n</think>\n\nYes.": [ReplyDelta("hm\n"), ENDED, ReplyDelta("Yes.")],
    "hm\n  </think>Yes.": [ReplyDelta("hm\n"), ENDED, ReplyDelta("Yes.")],
    "hm\r\n</think>\r\nYes.": [ReplyDelta("hm\r\n"), ENDED, ReplyDelta("Yes.")],
    "</think>Yes.": [ENDED, ReplyDelta("Yes.")],
    "hm\n</think>": [ReplyDelta("hm\n"), ENDED],
    "hm\n</think>a\n</think>b": [ReplyDelta("hm\n"), ENDED, ReplyDelta("a\n</think>b")],
    "a </think> b": [ReplyDelta("a </think> b")],
    "a\n</thinker>": [ReplyDelta("a\n</thinker>")],
    "a\n</thi": [ReplyDelta("a\n</thi")],
    "```\n</think>\n```\n": [ReplyDelta("```\n</think>\n```\n")],
    "a\n  ~~~html\n</think>\n~~~\nb": [ReplyDelta("a\n  ~~~html\n</think>\n~~~\nb")],
    "````\n```\n</think>\n````": [ReplyDelta("````\n```\n</think>\n````")],
    "```\n~~~\n</think>\n": [ReplyDelta("```\n~~~\n</think>\n")],
    "```\na\n```\n</think>\nYes.": [ReplyDelta("```\na\n```\n"), ENDED, ReplyDelta("Yes.")],
    "`` a\n</think>\nYes.": [ReplyDelta("`` a\n"), ENDED, ReplyDelta("Yes.")],
    "a ```\n</think>\nYes.": [ReplyDelta("a ```\n"), ENDED, ReplyDelta("Yes.")],
    f"hm\n{' ' * 80}</think>": [ReplyDelta(f"hm\n{' ' * 80}</think>")],
    f"{'`' * 80}\n</think>\n": [ReplyDelta(f"{'`' * 80}\n</think>\n")],
}


def test_a_tag_is_one_at_the_start_and_text_anywhere_else():
    for text, pieces in TEXTS.items():
        assert read(text) == pieces, repr(text)


def test_a_tag_may_be_split_anywhere():
    for text, pieces in TEXTS.items():
        assert read(*text) == pieces, repr(text)
        for split in range(len(text)):
            assert read(text[:split], "", text[split:]) == pieces, (text, split)


def test_after_reasoning_of_its_own_a_closing_tag_is_text():
    assert read("a\n</think>\nb", reasoned=True) == [ReplyDelta("a\n</think>\nb")]


def test_text_is_not_held_back_for_what_it_cannot_become():
    tags = ThinkTags()
    assert tags.text("Yes") == [ReplyDelta("Yes")]
    assert tags.text(".\n<") == [ReplyDelta(".\n")]
    assert tags.text("b>") == [ReplyDelta("<b>")]


def test_blanks_without_end_are_not_held_back():
    tags = ThinkTags()
    said = [piece for _ in range(100) for piece in tags.text(" ")]
    assert joined(said) == [ReplyDelta(" " * 100)]
