"""Search the conversation on screen and go from match to match.

All turns are searched, in a thread; only the turns around the current match are drawn and marked.
Dates narrow the search: `after:yesterday harbour`. Dates alone find the turns of those days.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from textual.widget import Widget

from jitchat.errors import StoreError, UsageError
from jitchat.store.search import DATES, EVERY, Filter, parse_query
from jitchat.text.search_tokens import find_folded
from jitchat.tui.chat.host import Controller
from jitchat.tui.widgets.found_marks import pattern_of
from jitchat.tui.widgets.input_lines import FindLine

if TYPE_CHECKING:
    from jitchat.tui.chat.opening import Opening
    from jitchat.values import Turn

Match = tuple[int, int]
"""The position of a turn, and the index of the match within its text, from 0."""


@dataclass(eq=False)
class Find(Controller):
    opening: Opening
    _pattern: re.Pattern[str] | None = None
    _matches: Sequence[Match] = field(default=())
    _at: int = 0
    _focused: Widget | None = None
    """The widget that had the focus before the line was opened."""

    @property
    def _line(self) -> FindLine:
        return self.surfaces.find

    def open(self, wanted: str, focused: Widget | None) -> None:
        """Open the find line; if it is already open, go to the next match."""
        if self._line.is_open and not wanted:
            self.move(1)
            return
        if not self._line.is_open:
            self._focused = focused
        self._line.open(wanted)
        self.look_for(self._line.wanted)

    def close(self) -> Widget | None:
        """Close the line and remove the marks. Return the widget to focus; None if not open."""
        if not self._line.is_open:
            return None
        self.host.cancel("find")
        self._pattern, self._matches = None, ()
        self._line.close()
        self.surfaces.transcript.mark_found(None)
        focused, self._focused = self._focused, None
        return focused if focused is not None and focused.is_attached else self.surfaces.prompt

    def look_for(self, wanted: str) -> None:
        session, problem = self.opening.session, ""
        text, dates = "", EVERY
        try:
            if session is not None:
                text, dates = parse_query(wanted, session.memory.store.now(), DATES)
        except UsageError as error:
            problem = error.what
        self._pattern = pattern_of(text)
        self.host.run(partial(self._look, self._pattern, dates, problem), "find", exclusive=True)

    async def _look(self, pattern: re.Pattern[str] | None, dates: Filter, problem: str) -> None:
        session, transcript = self.opening.session, self.surfaces.transcript
        turns = session.memory.turns if session is not None else ()
        found: list[Match] = []
        try:
            if pattern is not None or dates != EVERY:
                found = await asyncio.to_thread(matches_in, turns, pattern, dates)
        except StoreError as error:
            self.host.show_error(error)
        self._line.problem = problem
        self._matches = found
        self._at = bisect_left(found, (transcript.first_in_view, 0)) % len(found) if found else 0
        await self._show()

    def move(self, step: int) -> None:
        """Go `step` matches on, wrapping around at the ends."""
        if self._matches:
            self._at = (self._at + step) % len(self._matches)
            self.host.run(self._show, "find", exclusive=True)

    async def _show(self) -> None:
        current = self._matches[self._at] if self._matches else None
        self._line.show_count(self._at + 1, len(self._matches))
        self.surfaces.transcript.mark_found(self._pattern, current)
        if current is not None:
            await self.surfaces.transcript.go_to(current[0])


def matches_in(
    turns: Sequence[Turn], pattern: re.Pattern[str] | None, dates: Filter = EVERY
) -> list[Match]:
    """Return every match in the texts of turns, in order; without a pattern, one per turn."""
    return [
        (turn.position, number)
        for turn in turns
        if dates is EVERY or dates.has(turn.created_at)
        for number, _ in enumerate(find_folded(pattern, turn.content) if pattern else [turn])
    ]
