"""What the view of a wrong reply has done in threads: looking up, searching, noting."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from textual import on, work
from textual.message import Message

from jitchat.errors import JitchatError
from jitchat.memory.cold.cases import Case, Cases
from jitchat.text.references import referenced
from jitchat.tui.views.miss_rows import MOST, Row, noted_line, row_of, suggested
from jitchat.tui.views.replied import Replied, replied
from jitchat.tui.views.subject import Subject
from jitchat.tui.views.view import View
from jitchat.turn import Turn
from jitchat.why import Explained, why

_NO_WINDOW = "No window was sent from here for this reply, so no ledger tells why."


@dataclass(frozen=True, slots=True)
class Asked:
    """A reply, and what is listed for it."""

    replied: Replied | None
    """None where there is none."""
    rows: Sequence[Row] = ()
    noted: Mapping[int, Case] = field(default_factory=dict)
    """By the position of the wanted turn."""


class MissWork(View):
    """A view whose work is done off the event loop; what is outdated is for it to drop."""

    @dataclass
    class Looked(Message):
        """What is listed for a text, or why nothing is."""

        serial: int
        outcome: Asked | JitchatError

    @dataclass
    class Noted(Message):
        """A case was noted or taken back, with what the ledger had said of its turn."""

        case: Case
        told: str
        is_there: bool
        """Whether it is noted now."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._writing = threading.Lock()
        self._replied: Replied | None = None
        """What the view is about, once it was read; None until then."""
        self._next: tuple[int, str] | None = None
        """What is to be looked up after what is under way; None for nothing."""
        self._looks = False

    def look(self, serial: int, text: str) -> None:
        """List the turns that hold a text, or bear its #id; for an empty one, the likely ones.

        One after the other: of what is asked for meanwhile, only the last.
        """
        self._next = serial, text
        if not self._looks:
            self._look_next()

    @on(Looked)
    def _look_next(self) -> None:
        wanted, self._next = self._next, None
        self._looks = wanted is not None
        if wanted is not None:
            self._look(*wanted)

    @work(thread=True, group="miss")
    def _look(self, serial: int, text: str) -> None:
        outcome: Asked | JitchatError
        try:
            found = self._replied = self._replied or replied(self.subject)
            outcome = self._listed(found, text) if found is not None else Asked(None)
        except JitchatError as error:
            outcome = error
        self.post_message(self.Looked(serial, outcome))

    @work(thread=True, group="miss-noting")
    def note(self, case: Case, replied: Replied, *, is_wanted: bool) -> None:
        """Note a case, or take it back; one after the other."""
        memory = self.subject.session.memory
        cases = Cases(memory.store.database)
        try:
            with self._writing:
                (cases.put if is_wanted else cases.remove)(case)
            told = self._told(case, replied) if is_wanted else ""
        except JitchatError as error:
            self.app.call_from_thread(self.tell, error)
            return
        self.post_message(self.Noted(case, told, is_wanted))

    def _told(self, case: Case, replied: Replied) -> str:
        """Say what the ledger of then says of a turn."""
        if replied.window is None:
            return f"{noted_line(case)} {_NO_WINDOW}"
        said, memory = replied.said, self.subject.session.memory
        explained = Explained(replied.window, said.content, said)
        return f"{noted_line(case)} {why(memory, explained, case.wanted.position)}"

    def _listed(self, found: Replied, text: str) -> Asked:
        memory = self.subject.session.memory
        turns = memory.turns
        known = {turn.position: turn for turn in turns if turn.position < found.said.position}
        cases = Cases(memory.store.database).of(memory.conversation.id)
        noted = {case.wanted.position: case for case in cases if case.said == found.said}
        excerpts = self._excerpts(turns, found, noted, text)
        rows = (
            row_of(known[at], found, noted.get(at), excerpt)
            for at, excerpt in excerpts.items()
            if at in known
        )
        return Asked(found, tuple(rows)[:MOST], noted)

    def _excerpts(
        self, turns: Sequence[Turn], found: Replied, noted: Mapping[int, Case], text: str
    ) -> dict[int, str]:
        """Find positions with what is to be shown of the turn; empty: its beginning."""
        text = text.strip()
        if not text:
            return dict.fromkeys(suggested(turns, found, noted), "")
        named = dict.fromkeys(sorted(referenced(f"#{text}" if text.isdecimal() else text)), "")
        if text.startswith("#"):
            return named
        memory = self.subject.session.memory
        hits = memory.store.search(text, 4 * MOST, memory.conversation.id)
        return named | {position: excerpt for _, position, excerpt in hits}
