"""What markdown-it itself reads of a text: a reference for texts without formulas and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from jitchat.text.sanitize import for_terminal
from tests.text.markdown.replies import letters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

_READER = MarkdownIt(
    "commonmark",
    {"html": False, "inline_definitions": True, "store_labels": True, "maxNesting": 32},
).enable("strikethrough")


def words_of(text: str) -> str:
    """Everything that is to be read of a text, without white space."""
    tokens = _READER.parse(text)
    inlines = [child for token in tokens for child in token.children or ()]
    used = {child.meta["label"] for child in inlines if "label" in child.meta}
    return letters(for_terminal("".join(_words(text, tokens, used))).cells)


def _words(text: str, tokens: Sequence[Token], used: set[str]) -> Iterator[str]:
    for token in tokens:
        if token.type == "definition":
            if token.meta["id"] in used:
                used.remove(token.meta["id"])
            else:
                first, last = token.map or (0, 0)
                yield "".join(text.split("\n")[first:last])
        elif token.type in ("fence", "code_block"):
            yield token.info + token.content
        elif token.type == "list_item_open" and token.info:
            yield token.info + token.markup
        elif token.type == "inline":
            yield from _inline(token.children or ())


def _inline(tokens: Sequence[Token]) -> Iterator[str]:
    for number, token in enumerate(tokens):
        if token.type in ("text", "code_inline"):
            yield token.content
        elif token.type == "image":
            yield from (
                _inline(token.children or ()) if token.children else (_leads_to(token, "src"),)
            )
        elif token.type == "link_open" and tokens[number + 1].type == "link_close":
            yield _leads_to(token, "href")


def _leads_to(token: Token, name: str) -> str:
    title = f' "{token.attrs["title"]}"' if "title" in token.attrs else ""
    return f"{token.attrs[name]}{title}"
