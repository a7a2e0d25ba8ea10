"""Where files are split, without losing any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.files.split import PART, split_lines, split_markdown, split_table

LINES = st.lists(
    st.sampled_from(
        ["# One", "## Two", "", "text " * 90, "def f():", "    return 1", "```", "x" * 9_000]
    ),
    max_size=60,
).map("\n".join)


@given(LINES | st.text())
def test_parts_add_up_to_the_whole(text: str) -> None:
    for cut in (split_lines, split_markdown):
        parts = cut(text)
        assert "".join(part.text for part in parts) == text
        assert max(len(part.text) for part in parts) <= 2 * PART


def test_code_is_split_where_definitions_begin() -> None:
    code = "".join(f"def f{number}():\n" + "    do_it()\n" * 90 + "\n\n" for number in range(4))
    parts = split_lines(code)
    behind = split_lines(code, 101)
    assert behind[0].locator == f"lines 101–{100 + parts[0].text.count(chr(10))}"

    assert [part.text.partition("(")[0] for part in parts] == [
        "def f0",
        "def f1",
        "def f2",
        "def f3",
    ]
    assert [part.locator for part in parts][:2] == ["lines 1–93", "lines 94–186"]


def test_markdown_is_split_at_headings_outside_code() -> None:
    text = (
        "Ahead.\n# Install\n"
        + "word " * 400
        + "\n```\n# no heading\n```\n## Linux\n### Debian\napt\n"
    )

    assert [part.locator for part in split_markdown(text)] == [
        "beginning",
        "§ Install",
        "§ Debian",
    ]


def test_rows_of_a_table_are_kept_with_their_header() -> None:
    table = "port,owner\n" + "".join(f'{number},"of\nAnn"\n' for number in range(400))
    first, second, *_ = split_table(table)

    assert first.text.startswith("port,owner\n")
    assert not first.head
    assert second.head == "port,owner\n"
    rows = int(first.locator.rpartition("–")[2])
    assert second.locator.startswith(f"rows {rows + 1}–")
    assert second.text.startswith(f'{rows - 1},"of\nAnn"\n')


@pytest.mark.parametrize("line", ["x" * 50_000, "# " * 25_000, '"' + "x" * 200_000])
def test_text_without_line_breaks_is_split_too(line: str) -> None:
    assert all(len(part.text) <= 2 * PART for part in split_markdown(line))


def test_a_part_of_chinese_has_about_as_many_tokens_as_one_of_english() -> None:
    for text in ("网关监听端口八千四百四十三。" * 2_000, "网关监听端口八千四百四十三。\n" * 2_000):
        for parts in (split_lines(text), split_table(text)):
            assert {len(part.text) for part in parts[:-1]} < set(range(PART // 4, PART // 2))
            assert "".join(part.text for part in parts) == text
