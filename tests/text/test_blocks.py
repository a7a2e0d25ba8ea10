"""The blocks in which a text is quoted: paragraphs, list items, table rows, code."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jitchat.text.blocks import LONG_PARAGRAPH, LONG_UNIT, Block, blocks_of
from tests.examples import examples

CODE = "```python\nport = 8443\n\nprint(port)\n```\n"
LINES = st.sampled_from(
    (
        *(
            "",
            "",
            "A sentence. Another one!",
            "The ports are:",
            "- 8443",
            "  - nested: x",
            "1. one",
        ),
        *("## Heading", "**Bold**", "```", "~~~~", "| a | b |", "|---|---|", "| 1 | 2 |", "    x"),
        *("word " * 130, "One is short. " * 60, "x" * 1_500, "`a`\r", "\u2028", "- " + "y. " * 99),
    )
)
TEXTS = st.lists(LINES, max_size=30).map("\n".join) | st.text(max_size=300)


def texts_of(text: str) -> list[str]:
    return [text[block.start : block.end] for block in blocks_of(text)]


def block_with(text: str, part: str) -> Block:
    return next(each for each in blocks_of(text) if part in text[each.start : each.end])


def brought(text: str, part: str) -> list[str]:
    blocks = blocks_of(text)
    numbers = block_with(text, part).brings
    return [text[blocks[each].start : blocks[each].end].strip() for each in numbers]


@examples(60)
@given(TEXTS)
def test_blocks_are_the_text_in_order(text: str):
    assert "".join(texts_of(text)) == (text if text.strip() else "")


@examples(60)
@given(TEXTS)
def test_what_a_block_brings_is_there_and_is_not_the_block_itself(text: str):
    blocks = blocks_of(text)
    for number, block in enumerate(blocks):
        assert list(block.brings) == sorted(set(block.brings) - {number})
        assert all(0 <= each < len(blocks) for each in block.brings)


@examples(60)
@given(TEXTS)
def test_what_is_longer_than_a_unit_is_one_line_of_code(text: str):
    for said in texts_of(text):
        assert len(said.strip()) <= LONG_UNIT + 1 or len(said.strip().splitlines()) == 1


def test_a_paragraph_an_item_and_code_are_a_block_each():
    text = f"Hello there.\nIt goes on.\n\n- one\n  and more\n- two\n\n{CODE}\nEnd."
    assert texts_of(text) == [
        *("Hello there.\nIt goes on.\n\n", "- one\n  and more\n", "- two\n\n", f"{CODE}\n", "End."),
    ]


def test_a_long_paragraph_is_divided_between_sentences():
    said = [f"Sentence number {number} tells of the harbour." for number in range(40)]
    parts = texts_of(" ".join(said))
    assert len(parts) > 3
    assert all(part.strip().endswith("harbour.") for part in parts)
    assert all(part.startswith("Sentence") for part in parts)
    assert max(map(len, parts)) <= LONG_PARAGRAPH


def test_an_item_brings_what_announces_its_list_and_the_heading_above():
    text = "# Servers\n\nThe ports are:\n\n- 8443\n- admin:\n  - 9090\n- 22\n\nThat is all.\n"
    assert brought(text, "- 8443") == ["# Servers", "The ports are:"]
    assert brought(text, "9090") == ["# Servers", "The ports are:", "- admin:"]
    assert brought(text, "- 22") == ["# Servers", "The ports are:"]
    assert brought(text, "That is all") == ["# Servers"]


def test_a_line_that_ends_in_a_colon_belongs_to_the_paragraph_after_it():
    text = "The password is:\n\ntulip77\n\nNext."
    assert (brought(text, "tulip77"), brought(text, "Next")) == (["The password is:"], [])


def test_a_row_brings_the_header_of_its_table():
    text = "| name | port |\n|------|-----:|\n| web | 8443 |\n| ssh | 22 |\n"
    assert brought(text, "8443") == ["| name | port |\n|------|-----:|"]
    assert block_with(text, "name").is_frame


def test_a_huge_code_block_is_divided_between_lines_and_each_part_brings_both_fences():
    lines = [f"value_{number} = compute({number})" for number in range(90)]
    text = "Look:\n\n~~~~py\n" + "\n".join(lines) + "\n~~~\n~~~~\nDone."
    found = brought(text, "value_44 ")
    assert found == ["Look:", "~~~~py", "~~~~"]
    part = block_with(text, "value_44 ")
    assert set(text[part.start : part.end].splitlines()) < set(lines)


def test_a_fence_that_is_never_closed_goes_to_the_end():
    text = "```\n" + "some line of code\n" * 100 + "# no heading\n"
    assert all(block.brings == (0,) for block in blocks_of(text)[1:])
    assert not any(block.is_frame for block in blocks_of(text)[1:])


def test_a_long_item_brings_its_beginning():
    text = "- First it says this. " + "And then it says that. " * 60
    assert all(block.brings == (0,) for block in blocks_of(text)[1:])
