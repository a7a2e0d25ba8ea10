"""The fenced code blocks of a Markdown text."""

from typing import NamedTuple


class CodeBlock(NamedTuple):
    language: str
    """Empty if none is given."""
    code: str


def has_code(text: str) -> bool:
    """Return whether there may be a block; fast for texts of any length."""
    return "```" in text or "~~~" in text


def code_blocks(text: str) -> list[CodeBlock]:
    """List the blocks in order; an unclosed block extends to the end of the text."""
    if not has_code(text):
        return []
    from markdown_it import MarkdownIt  # noqa: PLC0415  not on the first frame

    tokens = MarkdownIt("commonmark").parse(text)
    fences = (token for token in tokens if token.type == "fence")
    return [CodeBlock(next(iter(each.info.split()), ""), each.content) for each in fences]
