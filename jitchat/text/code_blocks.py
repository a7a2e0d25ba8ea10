"""The fenced blocks of code in a text, as Markdown has them."""

import re
from textwrap import dedent
from typing import NamedTuple

_FENCED = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[^\s`]*)[^\n`]*\n"
    r"(?P<code>.*?)(?:^[ \t]*(?P=fence)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)


class CodeBlock(NamedTuple):
    language: str
    """Empty where none is named."""
    code: str


def has_code(text: str) -> bool:
    """Whether there may be a block, told at once of a text of any length."""
    return "```" in text or "~~~" in text


def code_blocks(text: str) -> list[CodeBlock]:
    """List the blocks in order; one that is not closed goes to the end."""
    return [
        CodeBlock(found["language"], dedent(found["code"]) if found["indent"] else found["code"])
        for found in _FENCED.finditer(text)
    ]
