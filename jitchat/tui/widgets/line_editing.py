"""What shells do with words and with what was cut, as functions of a line and a column."""

import re
from dataclasses import dataclass


@dataclass
class Killed:
    """What was cut last, to be put back; what one key cuts after another is one text."""

    text: str = ""
    _key: int = -1
    """The number of the key that cut it."""

    def add(self, text: str, key: int, *, is_ahead: bool) -> None:
        """Take what a key cut behind the cursor, or ahead of it."""
        if key != self._key + 1:
            self.text = ""
        self.text = text + self.text if is_ahead else self.text + text
        self._key = key


def recased(text: str, how: str) -> str:
    """Write a word in capitals (`upper`), without (`lower`), or with one (`capitalize`)."""
    if how == "capitalize":
        return re.sub(r"\w+", lambda word: word[0].capitalize(), text, count=1)
    return text.upper() if how == "upper" else text.lower()


def transposed(line: str, column: int) -> tuple[int, int, str] | None:
    """Exchange the word at a column with the one before it: from where to where, and by what."""
    words = [match.span() for match in re.finditer(r"\w+", line)]
    after = next((n for n, (_, end) in enumerate(words) if end > column), len(words) - 1)
    if after < 1:
        return None
    (begin, middle), (second, end) = words[after - 1], words[after]
    return begin, end, line[second:end] + line[middle:second] + line[begin:middle]


def word_before(line: str, column: int) -> int:
    """Find where the word ahead of a column begins; a word is all between two blanks."""
    ahead = line[:column].rstrip()
    return max(ahead.rfind(" "), ahead.rfind("\t")) + 1
