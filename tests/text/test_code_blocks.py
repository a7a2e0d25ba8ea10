"""Blocks of code, as models write them."""

from __future__ import annotations

import pytest

from jitchat.text.code_blocks import CodeBlock, code_blocks, has_code


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("no code, but `some`", []),
        ("```python\nprint(1)\n```", [("python", "print(1)\n")]),
        ("a\n~~~\n```\n~~~\nb\n```sh title=x\nls\n```\n", [("", "```\n"), ("sh", "ls\n")]),
        ("1. do\n   ```sh\n   ls\n     -l\n   ```\n2. done", [("sh", "ls\n  -l\n")]),
        ("````md\n```py\n1\n```\n````", [("md", "```py\n1\n```\n")]),
        ("```\nnot closed", [("", "not closed")]),
        ("```\n```", [("", "")]),
        ("inline ```code``` here", []),
    ],
)
def test_blocks_are_found_with_their_language(text, blocks):
    assert code_blocks(text) == [CodeBlock(*block) for block in blocks]
    assert has_code(text) or not blocks
