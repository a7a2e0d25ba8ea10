"""Highlights the matches of a search in mounted turns, and locates the current one."""

import re
from collections.abc import Iterable, Sequence

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from jitchat.text.search_tokens import find_folded, fold
from jitchat.tui.widgets.reply import CURRENT, FOUND
from jitchat.tui.widgets.turn_view import TurnView


def pattern_of(wanted: str) -> re.Pattern[str] | None:
    """Match a text in folded texts, with any whitespace between its words; None for a blank one."""
    words = [re.escape(word) for word in fold(wanted).split()]
    return re.compile(r"\s+".join(words)) if words else None


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
        for view in views:
            if view.reply is not None:
                view.reply.look_for(self._pattern, self._current_in(view))
            elif self._pattern is not None:
                self._mark_verbatim(self._pattern, view)

    def _mark_verbatim(self, pattern: re.Pattern[str], view: TurnView) -> None:
        body = _body(view)
        before = body.content if body is not None else None
        is_marked = body in self._drawn and before is self._drawn[body][1]
        if body is None or is_marked or not isinstance(before, Content):
            return
        spans = _spans(pattern, before)
        now = before
        for number, span in enumerate(spans):
            is_current = number == _nearest(self._current_in(view), spans)
            now = now.stylize(CURRENT if is_current else FOUND, *span)
        if spans:
            self._drawn[body] = before, now
            Static.update(body, now, layout=False)

    def place(self, view: TurnView) -> tuple[Widget, int] | None:
        """Return the widget and line of the current match; None if the match is not drawn."""
        if view.reply is not None:
            line = view.reply.line_of_match()
            return None if line is None else (view.reply, line)
        body = _body(view)
        if body is None or self._pattern is None:
            return None
        content, width = body.content, body.content_size.width
        if not isinstance(content, Content) or not width:
            return body, 0
        spans = _spans(self._pattern, content)
        at = _nearest(self._current_in(view), spans)
        if at is None:
            return None
        return body, content[: spans[at][0] + 1].get_height(body.styles.get_rules(), width) - 1

    def _current_in(self, view: TurnView) -> int | None:
        """Return the index of the current match, if it is in this turn."""
        is_here = self._current is not None and self._current[0] == view.turn.position
        return self._current[1] if self._current is not None and is_here else None


def _body(view: TurnView) -> Static | None:
    """Return the verbatim text of a turn; None while it is not mounted."""
    return next(iter(view.query(".turn-body").results(Static)), None)


def _spans(pattern: re.Pattern[str], content: Content) -> list[tuple[int, int]]:
    return find_folded(pattern, content.plain)


def _nearest(current: int | None, spans: Sequence[object]) -> int | None:
    """Return the index of the current match; the last one if fewer are drawn."""
    return min(current, len(spans) - 1) if current is not None and spans else None
