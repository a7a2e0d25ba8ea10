"""Highlights the matches of a search in mounted turns, and locates the current one."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from textual.content import Content
from textual.widgets import Static

from jitchat.tui.widgets.turn_view import TurnView

_STYLE = "$text-warning on $warning-muted underline"
_CURRENT = "bold reverse"


def pattern_of(wanted: str) -> re.Pattern[str] | None:
    """Match a text, ignoring case and the whitespace between its words; None for a blank text."""
    words = map(re.escape, wanted.split())
    return re.compile(r"\s+".join(words), re.IGNORECASE) if wanted.strip() else None


class FoundMarks:
    """The highlighted matches. Markdown is matched as rendered."""

    def __init__(self) -> None:
        self._pattern: re.Pattern[str] | None = None
        self._current: tuple[int, int] | None = None
        """The position of a turn, and the index of the match in its text, from 0."""
        self._drawn: dict[Static, tuple[Content, Content]] = {}
        """The content before and after highlighting."""

    def look_for(
        self, pattern: re.Pattern[str] | None, current: tuple[int, int] | None = None
    ) -> None:
        """Remove all highlights and search for another pattern; None for none."""
        for static, (before, now) in self._drawn.items():
            if static.is_attached and static.content is now:
                Static.update(static, before, layout=False)
        self._drawn.clear()
        self._pattern, self._current = pattern, current

    def mark(self, views: Iterable[TurnView]) -> None:
        """Highlight matches that are not highlighted yet."""
        if self._pattern is None:
            return
        for view in views:
            at = self._current_in(view)
            numbered = enumerate(self._matches(view))
            for static, found in groupby(numbered, key=lambda match: match[1][0]):
                if static in self._drawn and static.content is self._drawn[static][1]:
                    continue
                before = now = static.content
                for number, (_, (start, end)) in found:
                    now = now.stylize(_CURRENT if number == at else _STYLE, start, end)
                self._drawn[static] = before, now
                Static.update(static, now, layout=False)

    def place(self, view: TurnView) -> tuple[Static, int] | None:
        """Return the widget and line of the current match; None if the match is not drawn."""
        found = list(self._matches(view))
        at = self._current_in(view)
        if at is None or not found:
            return None
        static, (start, _) = found[at]
        content = static.content
        width = static.content_size.width
        if not isinstance(content, Content) or not width:
            return static, 0
        return static, content[: start + 1].get_height(static.styles.get_rules(), width) - 1

    def _current_in(self, view: TurnView) -> int | None:
        """Return the index of the turn's current match; the last one if fewer are drawn."""
        if self._current is None or self._current[0] != view.turn.position:
            return None
        return min(self._current[1], max(0, sum(1 for _ in self._matches(view)) - 1))

    def _matches(self, view: TurnView) -> Iterator[tuple[Static, tuple[int, int]]]:
        if self._pattern is None:
            return
        for static in view.query(".turn-body, .turn-body Static").results(Static):
            if isinstance(static.content, Content):
                for match in self._pattern.finditer(static.content.plain):
                    yield static, match.span()
