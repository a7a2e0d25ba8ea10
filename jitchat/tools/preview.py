"""The head and tail of a large text, in whole lines, with counts: what a model sees first."""

from bisect import bisect_right

from jitchat.text.figures import plural
from jitchat.tools.units import lines_of
from jitchat.window.tokens import TokenCounter

_HEAD = 2 / 3
"""The head's share of a preview."""
_BETWEEN = 12
"""Tokens reserved for the line that states what is left out."""
_LONGEST_LINE = 1_000
"""Maximum characters of a line; the middle of a longer one is left out and its size stated."""


def preview(text: str, room: int, counter: TokenCounter) -> str:
    """Show as many whole lines of both ends as fit in `room` tokens, two thirds from the head.

    A line between them states how many lines are left out.
    """
    room -= _BETWEEN
    lines = [_shown(line) for line in lines_of(text)]
    head = _fitting(lines, int(room * _HEAD), counter)
    rest = lines[head:]
    tail = _fitting(rest[::-1], room - counter.count("".join(lines[:head])), counter)
    left_out = len(rest) - tail
    note = f"[… {plural(left_out, 'line')} left out …]\n" if left_out else ""
    return "".join((*lines[:head], note, *rest[left_out:]))


def _shown(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    half = _LONGEST_LINE // 2
    return f"{line[:half]}[… {len(line) - 2 * half:,} characters …]{line[-half:]}"


def _fitting(lines: list[str], room: int, counter: TokenCounter) -> int:
    """Return how many of the first lines fit."""
    most = min(len(lines), max(0, room))  # a line has at least one token
    return bisect_right(range(1, most + 1), room, key=lambda n: counter.count("".join(lines[:n])))
