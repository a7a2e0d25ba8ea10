"""Tags around foreign text: chosen so that nothing in the text can open or close them."""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import count

from jitchat.text.sanitize import skeleton

_OPENS = re.compile("[<＜﹤]")


def fence(tag: str, pieces: Sequence[str]) -> list[str]:
    """Put the opening tag on the first piece and the closing tag on the last."""
    if not pieces:
        return []
    marked = list(pieces)
    marked[0] = f"<{tag}>\n{marked[0]}"
    marked[-1] = f"{marked[-1]}</{tag}>\n"
    return marked


def free_tag(tag: str, texts: Iterable[str]) -> str:
    """Choose `tag`, or the first of tag-1, tag-2 … that opens or closes in none of the texts.

    Anything that a model could read as the tag counts: `<U+200B/Turn>` and `＜／ｔｕｒｎ＞`.
    """
    return tag + free_number(numbers_taken(tag, texts))


def numbers_taken(tag: str, texts: Iterable[str]) -> frozenset[str]:
    """Find the numbers with which a tag, given as a pattern, occurs: `-1`; empty without number."""
    written = re.compile(rf"<\s*+/?+\s*+{tag}(-\d+)?", re.IGNORECASE)
    suspects = "\n".join(text for text in texts if _OPENS.search(text))
    return frozenset(written.findall(skeleton(suspects)))


def free_number(taken: Collection[str]) -> str:
    if not taken:
        return ""
    return next(f"-{number}" for number in count(1) if f"-{number}" not in taken)
