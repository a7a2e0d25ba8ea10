"""The fenced blocks of code in a text, as Markdown has them."""

from typing import NamedTuple


class CodeBlock(NamedTuple):
    language: str
    """Empty where none is named."""
    code: str


def has_code(text: str) -> bool:
    """Whether there may be a block, told at once of a text of any length."""
    return "```" in text or "~~~" in text


def code_blocks(text: str) -> list[CodeBlock]:
    """List the blocks in order; one that is not closed goes to the end."""
    if not has_code(text):
        return []
    from markdown_it import MarkdownIt  # noqa: PLC0415  not on the first frame

    tokens = MarkdownIt("commonmark").parse(text)
    fences = (token for token in tokens if token.type == "fence")
    return [CodeBlock(next(iter(each.info.split()), ""), each.content) for each in fences]
