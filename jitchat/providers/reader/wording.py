"""What `reader` says, and how to know its own words again.

An earlier citation of its own repeats what somebody else said: it is cited, and said to be that,
only where the window does not hold the source itself.
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
_CITATION = re.compile(
    r"(?:- )?[“`](?P<quote>(?>.*(?=[”`] \()))[”`]"
    r" \((?:#(?P<source>\d++), .*|my earlier reply #\d++, which quoted #(?P<first>\d++))\)"
)


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
    return f"{_marked(sentence)} ({source})"


def cited_again(passage: Passage, quote: str, source: int) -> str:
    """Quote an earlier citation of its own; `source` is the turn that it cited."""
    return f"{_marked(quote)} (my earlier reply #{passage.turn}, which quoted #{source})"


def citations_in(passage: Passage) -> list[tuple[str, int]]:
    """List what an earlier reply of its own quoted, with the turn that it came from."""
    if not passage.whole or not is_own(passage):
        return []
    found = map(_CITATION.fullmatch, passage.text.strip().splitlines())
    return [(each["quote"], int(each["source"] or each["first"])) for each in found if each]


def _marked(sentence: str) -> str:
    quote = shortened(sentence, _LONGEST_QUOTE)
    return f"`{quote}`" if _CODE.search(quote) and "`" not in quote else f"“{quote}”"


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
