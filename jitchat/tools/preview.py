"""The head and tail of a large text, in whole lines, with counts: what a model sees first."""

from bisect import bisect_right
from dataclasses import dataclass

from jitchat.text.figures import plural
from jitchat.tools.units import lines_of
from jitchat.window.tokens import TokenCounter

_HEAD = 2 / 3
"""The head's share of a preview."""
_BETWEEN = 12
"""Tokens reserved for the line that states what is left out."""
_LONGEST_LINE = 1_000
"""Maximum characters of a line; the middle of a longer one is left out and its size stated."""


@dataclass(frozen=True, slots=True)
class Preview:
    head: str
    tail: str
    lines: int
    """Lines of the whole text."""
    left_out: int
    """Lines between head and tail."""

    @property
    def text(self) -> str:
        """Head and tail, with a line between them that states what is left out."""
        if not self.left_out:
            return f"{self.head}{self.tail}"
        return f"{self.head}[… {plural(self.left_out, 'line')} left out …]\n{self.tail}"


def preview(text: str, room: int, counter: TokenCounter) -> Preview:
    """Show as many whole lines of both ends as fit in `room` tokens, two thirds from the head."""
    room -= _BETWEEN
    lines = [_shown(line) for line in lines_of(text)]
    head = _fitting(lines, int(room * _HEAD), counter)
    rest = lines[head:]
    tail = _fitting(rest[::-1], room - counter.count("".join(lines[:head])), counter)
    left_out = len(rest) - tail
    end = "".join(rest[len(rest) - tail :])
    return Preview("".join(lines[:head]), end, len(lines), left_out)


def _shown(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    half = _LONGEST_LINE // 2
    return f"{line[:half]}[… {len(line) - 2 * half:,} characters …]{line[-half:]}"


def _fitting(lines: list[str], room: int, counter: TokenCounter) -> int:
    """Return how many of the first lines fit."""
    most = min(len(lines), max(0, room))  # a line has at least one token
    return bisect_right(range(1, most + 1), room, key=lambda n: counter.count("".join(lines[:n])))
