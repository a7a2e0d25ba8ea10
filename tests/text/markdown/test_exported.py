"""A reply in a file: as HTML in full, and as Markdown without harm to what follows it."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from jitchat.text.markdown.closing import closed
from jitchat.text.markdown.html import html_of
from tests.examples import examples
from tests.text.markdown.cases import CASES
from tests.text.markdown.reference import words_of
from tests.text.markdown.replies import ANYTHING, REPLIES, letters, real_replies, tables


class Page(HTMLParser):
    """What a page says, list numbers included, and which elements are open where it ends."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.said: list[str] = []
        self.opened: list[str] = []
        self.around_headings: list[list[str]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("br", "hr", "img", "input"):
            return
        if tag == "h2":
            self.around_headings.append(list(self.opened))
        self.opened.append(tag)
        self.said += [str(value) for name, value in attrs if name == "value"]

    def handle_endtag(self, tag: str) -> None:
        if tag in self.opened:
            while self.opened.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def words_in(text: str) -> str:
    return letters("".join(Page(html_of(text)).said).replace("🖼", ""))


def without_marks(words: str) -> str:
    """A number's sign is written by the page's reader, and so are its leading zeros."""
    return letters(words).replace(".", "").replace(")", "").replace("0", "")


@pytest.mark.parametrize(("reply", "words"), CASES)
def test_a_page_says_what_the_reply_says(reply: str, words: str):
    page = Page(html_of(reply))
    assert page.opened == []
    said = words_in(reply.replace("\r ", "␍ "))
    assert without_marks(said) == without_marks(words)


@given(st.one_of(REPLIES, tables()))
@examples(150)
def test_a_page_says_what_any_reply_says(reply):
    source, words = reply
    assert without_marks(words_in(source)) == without_marks(words)


def test_a_page_says_what_real_replies_say():
    for reply in real_replies():
        if "$" not in reply and "\\" not in reply and "|" not in reply:
            assert without_marks(words_in(reply)) == without_marks(words_of(reply))


def test_a_page_loads_nothing_and_runs_nothing():
    page = html_of('![x](https://e.org/p.png "t") [a](javascript:x) <script>alert(1)</script>')
    assert page == (
        '<p><a href="https://e.org/p.png" title="t">🖼 x</a> [a](javascript:x) '
        "&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"
    )


OPEN = (
    "```python\nx = 1",
    "````\n```\nx\n```",
    "~~~\nx",
    "text\n\n<!-- a comment",
    "<script>\nlet a = 1;\n\nlet b;",
    "<pre>\nx",
    "<style>\n",
    "<textarea>\n",
    "<?php\n",
    "<!DOCTYPE html",
    "<![CDATA[ x",
    "<details>\n<summary>More</summary>\n\nhidden",
    "a <b>bold and <i>more",
    "<table><tr><td>x",
    "a <title> b",
    "a <script> b",
    "<dialog>\nx",
    "<article><header><nav>",
    "<select><option>a",
    "<!--\n```\nx",
    "$$\na + b",
    "$$\na\n\nb",
    "\\[ a = b",
)


@pytest.mark.parametrize("reply", OPEN)
def test_what_a_reply_leaves_open_is_closed(reply: str):
    text = closed(reply)
    assert text.startswith(reply)
    assert len(text) > len(reply)
    assert closed(text) == text


@given(st.one_of(st.sampled_from(OPEN), ANYTHING, REPLIES.map(lambda reply: reply[0])))
@examples(300)
def test_the_next_heading_of_a_file_is_a_heading_and_inside_of_nothing(reply):
    rendered = MarkdownIt("commonmark").render(f"{closed(reply)}\n\n## next turn")
    page = Page(rendered.replace("<!--", "&lt;!--") if "-->" not in rendered else rendered)
    assert rendered.endswith("<h2>next turn</h2>\n")
    assert not set(page.around_headings[-1]) & {"details", "b", "i", "table", "td", "div", "pre"}


@pytest.mark.parametrize(
    "reply",
    ["done", "```\nx\n```", "List<T> and Map<String, List<T>>", "<br>", "$5 and $6", "a <b>b</b>"],
)
def test_nothing_is_added_to_what_is_whole(reply: str):
    assert closed(reply) == reply
