"""What `reader` says, and how to know its own words again.

It cites sources, never itself: an earlier citation of its own repeats what somebody else said.
"""

from __future__ import annotations

import re

from jitchat.providers.reader.passages import Passage
from jitchat.text.safe import shortened

ABOUT = (
    "I am the embedded reader, not a language model: I quote what the window holds. Ask me about"
    " something that was said in this conversation."
)
_NOT_HELD = "The window does not hold an answer to that."
_LONGEST_QUOTE = 600
"""In characters."""
_CODE = re.compile(r"\s--[a-z]|[{};]$|^\$ ")
_CITATION = re.compile(r"(?:- )?[“`](?>.*[”`] \(#\d+, ).*\)")


def not_held(turns: int) -> str:
    """Say that the window, with so many earlier turns at full text, has no answer."""
    if not turns:
        return f"{_NOT_HELD} It has no earlier turn at full text."
    held = f"{turns} earlier turns" if turns > 1 else "1 earlier turn"
    return f"{_NOT_HELD} It has {held} at full text, and no sentence there fits the question."


def cited(passage: Passage, sentence: str) -> str:
    """Quote a sentence with its source."""
    where = f"#{passage.turn}, {passage.who}" + (f", {passage.day}" if passage.day else "")
    source = where if passage.whole else f"{where}, index line"
    quote = shortened(sentence, _LONGEST_QUOTE)
    marked = f"`{quote}`" if _CODE.search(quote) and "`" not in quote else f"“{quote}”"
    return f"{marked} ({source})"


def is_own(passage: Passage) -> bool:
    """Whether the reader said this."""
    text = passage.text.strip()
    if text == ABOUT or text.startswith(_NOT_HELD):
        return True
    if not passage.whole:
        # the summary of a long citation may lack its source
        return passage.who == "assistant" and text.startswith(("“", "- “", "`", "- `"))
    lines = text.splitlines()
    return bool(lines) and all(_CITATION.fullmatch(line) for line in lines)
