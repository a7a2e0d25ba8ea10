"""Finds the matches of a search in the turns that are drawn, and locates the current one."""

import re
from collections.abc import Iterator, Sequence

from jitchat.text.search_tokens import fold
from jitchat.tui.render.reading import Place, found
from jitchat.tui.widgets.line_view import Part

FOUND, CURRENT = "$text-warning on $warning-muted underline", "bold reverse"


def pattern_of(wanted: str) -> re.Pattern[str] | None:
    """Match a text in folded texts, with any whitespace between its words; None for a blank one."""
    words = [re.escape(word) for word in fold(wanted).split()]
    return re.compile(r"\s+".join(words)) if words else None


class FoundMarks:
    """The matches in the bodies of turns. Markdown is matched as rendered."""

    def __init__(self) -> None:
        self._pattern: re.Pattern[str] | None = None
        self._current: tuple[int, int] | None = None
        """The position of a turn, and the index of the match in its text, from 0."""
        self._found: dict[int, tuple[Part, list[list[Place]]]] = {}
        """By the position of a turn, its body and the matches in it."""

    def look_for(self, pattern: re.Pattern[str] | None, current: tuple[int, int] | None) -> None:
        """Look for another pattern; None for none."""
        if pattern != self._pattern:
            self._found.clear()
        self._pattern, self._current = pattern, current

    def in_line(self, position: int, body: Part, line: int) -> Iterator[tuple[Place, str]]:
        """Yield what matches in a line of a turn's body, with its style."""
        matches = self._matches(position, body)
        current = self._current_of(position, matches)
        for places in matches:
            style = CURRENT if places is current else FOUND
            yield from ((place, style) for place in places if place.line == line)

    def line_of_current(self, position: int, body: Part) -> int | None:
        """Return the line of the current match in a turn's body; None if it is not drawn."""
        current = self._current_of(position, self._matches(position, body))
        return current[0].line if current else None

    def _matches(self, position: int, body: Part) -> list[list[Place]]:
        if self._pattern is None:
            return []
        if self._found.get(position, (None,))[0] is not body:
            text = body.text if isinstance(body.text, str) else body.text.cells
            self._found[position] = body, found(text, body.lines, self._pattern)
        return self._found[position][1]

    def _current_of(self, position: int, matches: Sequence[list[Place]]) -> list[Place] | None:
        """Return the current match if it is in this turn; the last one if fewer are drawn."""
        if self._current is None or self._current[0] != position or not matches:
            return None
        return matches[min(self._current[1], len(matches) - 1)]
