"""Closes what a Markdown text leaves open, so that it does not swallow what follows it in a file.

Viewers read more than our parser does: HTML is HTML to them. So markdown-it reads the text with
HTML, ahead of a heading that has to come out as one.
"""

from html.parser import HTMLParser

from markdown_it import MarkdownIt
from markdown_it.token import Token

from jitchat.text.expressions import packaged
from jitchat.text.markdown.formulas import open_delimiter

_PROBE = "\n\n# _"


def closed(text: str) -> str:
    """Return the text with the ends of its code, comment, formula and HTML elements added."""
    delimiter, reader = open_delimiter(text), MarkdownIt("commonmark")
    text += f"\n{delimiter}" if delimiter else ""
    tokens = reader.parse(f"{text}{_PROBE}")
    while tokens[-1].type != "heading_close":
        text += f"\n{_end_of(tokens[-1])}"
        tokens = reader.parse(f"{text}{_PROBE}")
    elements = _Elements()
    for token in tokens:
        for part in (token, *(token.children or ())):
            if part.type.startswith("html_"):
                elements.feed(part.content)
    unclosed = "".join(f"</{name}>" for name in reversed(elements.opened))
    return f"{text}\n\n{unclosed}" if unclosed else text


def _end_of(block: Token) -> str:
    content = block.content.lstrip().lower()
    known = packaged(__package__, "closing.toml")["ends"].items()
    ends = (end for start, end in known if content.startswith(start))
    return block.markup or next(ends)


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        if tag in packaged(__package__, "closing.toml")["elements"].split():
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while tag in self.opened and self.opened.pop() != tag:
            pass
