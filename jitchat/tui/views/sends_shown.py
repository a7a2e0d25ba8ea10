"""One send, made ready to be shown: read, compared and written out away from the event loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from jitchat.memory.cold.sends import Send
from jitchat.replay import Replay, Replayed, sends_for
from jitchat.text.safe import one_line, shortened
from jitchat.tui.palette import MUTED
from jitchat.tui.sent_figures import ending_sentences, hash_sentence, send_sentence
from jitchat.tui.views.replied import STREAMING
from jitchat.tui.views.sends_rows import (
    Compared,
    diff_header,
    diff_lines,
    diff_title,
    ledger_header,
    ledger_lines,
    message_text,
)
from jitchat.tui.views.subject import Subject
from jitchat.window.difference import difference

_NO_BASE = "There is no send before this one. B makes it the base for others."
_SAME = "This is the base. Go to another send to see what differs."
_REPLY = 400
"""Characters of a reply that are shown; the rest is in the transcript."""
_KEPT = 2
"""Windows beside the one that is read now; each can hold a whole conversation."""
MOST = 100_000
"""Characters of the messages that are shown; all of them are copied."""


@dataclass(frozen=True, slots=True)
class Table:
    """A header and its lines."""

    header: str
    lines: Sequence[Content]

    @property
    def plain(self) -> str:
        """All of it as text."""
        return "\n".join(filter(None, (self.header, *(line.plain for line in self.lines))))


_NO_TABLE = Table("", ())


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be shown."""

    place: int
    """The send's, among all, from 0."""
    base: int | None
    """The place of the send that it is compared with; None for the one before it."""
    tab: str
    """`inspector`, `send-ledger`, `send-diff` or `send-messages`."""
    answering: int | None = None
    """The position of the message whose reply is on its way; None while none is."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A send as it is on screen."""

    wanted: Wanted
    replayed: Replayed
    told: Content
    """Which it is, its hash, how it ended, the reply."""
    table: Table
    """Of the tab; empty where that shows the window or the messages."""
    messages: str = ""
    """The first `MOST` characters, where they are wanted."""


class SendReader:
    """Reads sends of one conversation; those that were read last are kept."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._kept: dict[int, Replayed] = {}

    def sends(self) -> list[Send]:
        """List all of them.

        Raises:
            StoreUnreadable: A row is damaged.

        """
        return self._replay.sends()

    def show(self, sends: Sequence[Send], wanted: Wanted) -> Shown:
        """Make one of them ready.

        Raises:
            StoreUnreadable: What is kept of it, or of the one beside it, is damaged.

        """
        replayed = self._open(sends[wanted.place])
        window, table, messages = replayed.window, _NO_TABLE, ""
        if wanted.tab == "send-ledger":
            lines = ledger_lines(window) or [Content(f"{window.mode} considers no candidates.")]
            table = Table(ledger_header(), lines)
        elif wanted.tab == "send-diff":
            table = self._diff(replayed, sends, wanted)
        elif wanted.tab == "send-messages":
            messages = message_text(window, MOST)
        told = _told(replayed, wanted, len(sends))
        return Shown(wanted, replayed, told, table, messages)

    def _diff(self, replayed: Replayed, sends: Sequence[Send], wanted: Wanted) -> Table:
        place, base = wanted.place, wanted.base
        if base == place or (base is None and not place):
            return Table("", [Content(_NO_BASE if base is None else _SAME)])
        base = place - 1 if base is None else base
        before = self._open(sends[base])
        found = difference(before.window, replayed.window)
        compared = Compared(before, replayed, found, (base + 1, place + 1))
        return Table(f"{diff_title(compared)}\n{diff_header()}", diff_lines(compared))

    def _open(self, send: Send) -> Replayed:
        known = self._kept.get(send.window_id)
        if known is None:
            known = self._replay.open(self._by_now(send))
            if known.reply is not None:
                self._kept = {**dict(list(self._kept.items())[-_KEPT:]), send.window_id: known}
        return known

    def _by_now(self, send: Send) -> Send:
        """Read a send again that had no reply when all of them were listed."""
        if send.reply is not None:
            return send
        return next((each for each in self.sends() if each.window_id == send.window_id), send)


def first_place(sends: Sequence[Send], subject: Subject, window_id: int | None) -> int:
    """Tell the place to open on: of a window by the archive's key, where one is wanted.

    Else of the last send of the chosen turn, else of the last one of all.
    """
    ids = [send.window_id for send in sends]
    if window_id in ids:
        return ids.index(window_id)
    for turn in (subject.chosen, subject.sent):
        chosen = sends_for(list(sends), turn.position) if turn is not None else []
        if chosen:
            return ids.index(chosen[-1].window_id)
    return len(sends) - 1


def _told(replayed: Replayed, wanted: Wanted, of: int) -> Content:
    is_streaming = wanted.answering == replayed.said.position and replayed.reply is None
    ending = [STREAMING] if is_streaming else ending_sentences(replayed)
    intact = "" if replayed.is_as_sent else "bold reverse"
    lines = [
        Content(send_sentence(replayed.send, wanted.place + 1, of)).stylize("bold"),
        Content(hash_sentence(replayed)).stylize(intact),
        Content(one_line(" · ".join(ending))),
    ]
    if replayed.reply is not None:
        lines.append(Content(shortened(replayed.reply.content, _REPLY)).stylize(MUTED))
    return Content("\n").join(lines)
