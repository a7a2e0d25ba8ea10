"""Line editing as in shells: words and the kill buffer, as functions of a line and a column."""

import re
from dataclasses import dataclass

from jitchat.draft import EMPTY, Draft
from jitchat.text.graphemes import words


@dataclass
class Killed:
    """The text cut last, for yanking; consecutive cuts are joined."""

    text: Draft = EMPTY
    _key: int = -1
    """The number of the key that cut it."""

    def add(self, text: Draft, key: int, *, is_ahead: bool) -> None:
        """Add a text cut by a key from after the cursor or, if `is_ahead`, from before it."""
        if key != self._key + 1:
            self.text = EMPTY
        self.text = text + self.text if is_ahead else self.text + text
        self._key = key


def recased(text: str, how: str) -> str:
    """Convert a word to upper case, lower case or, with `capitalize`, a capital first letter."""
    if how == "capitalize":
        return re.sub(r"\w+", lambda word: word[0].capitalize(), text, count=1)
    return text.upper() if how == "upper" else text.lower()


def transposed(line: str, column: int) -> tuple[int, int, str] | None:
    """Swap the word at a column with the one before it.

    Return the start and end of the range to replace, and the new text; None if there are not two
    words.
    """
    spans = words(line)
    after = next((n for n, (_, end) in enumerate(spans) if end > column), len(spans) - 1)
    if after < 1:
        return None
    (begin, middle), (second, end) = spans[after - 1], spans[after]
    return begin, end, line[second:end] + line[middle:second] + line[begin:middle]


def word_before(line: str, column: int) -> int:
    """Return the start of the word before a column; words are separated by spaces or tabs."""
    before = line[:column].rstrip()
    return max(before.rfind(" "), before.rfind("\t")) + 1
