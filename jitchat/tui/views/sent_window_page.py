"""The rows of all sends, and one send's page: its figures, ledger, difference and messages.

Every figure comes from a window that was sent, or from `difference`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jitchat.replay import Replay, Replayed, sends_for
from jitchat.store.windows import Send
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui import figures
from jitchat.tui.drawing import MUTED, Content
from jitchat.tui.views import ledger_rows
from jitchat.tui.views.difference_rows import DiffRow, diff_columns, diff_rows, growth, signed
from jitchat.tui.views.view import STREAMING, Subject
from jitchat.tui.widgets.budget_bar import stacked
from jitchat.tui.widgets.turn_table import Column, Columns, Line
from jitchat.window.compare import SAME, difference
from jitchat.window.message_text import message_texts
from jitchat.window.window import ContextWindow, Kind

MOST = 100_000
"""Characters shown of the messages; copying takes all."""
_NO_BASE = "There is no earlier send. Press B to make this one the base for comparison."
_IS_BASE = "This is the base. Select another send to see the differences."
_REPLY = 400
"""Characters shown of a reply; the transcript has it all."""
_KEPT = 2
"""Windows cached in addition to the current one; each can hold a whole conversation."""
MOST_ROWS = 1_000
"""Sends that are listed; drawing as many takes 0.1 s."""
_NARROW = 60
"""Columns below which a row has the send, its tokens and its bar only."""
FULL, END = "─", "│"
"""The line from the end of a bar to what `full` would have sent, and its end."""


@dataclass(frozen=True, slots=True)
class Row:
    """One send; `number` counts from 1."""

    number: int
    send: Send


def draw_bar(send: Send, widest: int, room: int) -> Content:
    """Draw a send's segments in `room` cells, which `widest` tokens would fill."""
    bar = stacked({kind: send.sizes.get(kind, 0) for kind in Kind}, widest, room)
    rest = round(send.full_tokens * room / max(1, widest)) - bar.cell_length
    return bar + Content.styled(FULL * (rest - 1) + END, MUTED) if rest > 0 else bar


def columns_of(sends: Sequence[Send], width: int) -> Sequence[Column[Row]]:
    """Return the columns for a width in cells; the bar takes the rest of the line."""
    widest = max((max(send.used, send.full_tokens) for send in sends), default=0)
    columns: list[Column[Row]] = [
        Column("send", lambda row: f"{row.number:,}", 6, is_right=True),
        Column("turn", lambda row: f"#{row.send.said}", 7, is_right=True),
        Column("mode", lambda row: row.send.mode.value, 8),
        Column("full", lambda row: _figure(row, row.send.full_tokens), 9, is_right=True),
        Column("tokens", lambda row: _figure(row, row.send.used), 9, is_right=True),
    ]
    if width < _NARROW:
        columns = [columns[0], columns[-1]]
    taken = sum((column.width or 0) + column.gap for column in columns)
    room = max(1, width - taken - 1)
    return [*columns, Column("", lambda row: draw_bar(row.send, widest, room))]


def _figure(row: Row, count: int) -> str:
    return figures.tokens(count, exact=is_sure(row.send))


def is_sure(send: Send) -> bool:
    """Whether its counts are exact, not estimates."""
    return send.exact and not send.band


Item = ledger_rows.Row | DiffRow | Line


@dataclass(frozen=True, slots=True)
class Table:
    columns: Columns[Any] = ()
    """Rows of the ledger or of the difference."""
    items: Sequence[Item] = ()
    title: str = ""


def ledger_table(window: ContextWindow) -> Table:
    """List the candidates in the ledger's order, the sum of all other turns, and the rest."""
    rows = [ledger_rows.row_of(row, window.mark) for row in window.ledger]
    never = ledger_rows.never_line(window)
    others = ledger_rows.lines_of(window, ledger_rows.Listing())
    items: list[Item] = [*rows, *([_line(never)] if never else []), *others]
    columns = ledger_rows.columns_of(rows, window, ledger_rows.Marks())
    return Table(columns, items or [_line(f"{window.mode} considers no candidates.")])


def diff_table(before: ContextWindow, after: ContextWindow, numbers: tuple[int, int]) -> Table:
    """List the differences, their sums, and the identity of both windows.

    `numbers` are the two sends' numbers, from 1.
    """
    items = diff_rows(before, after)
    lines = [*([] if items else [SAME]), "", *_sum_lines(before, after, numbers)]
    first, second = numbers
    title = (
        f"send {first:,} {before.mode} {before.used_figure}"
        f" → send {second:,} {after.mode} {after.used_figure}"
    )
    return Table(diff_columns(items), [*items, *map(_line, lines)], title)


def _sum_lines(
    before: ContextWindow, after: ContextWindow, numbers: tuple[int, int]
) -> Iterator[str]:
    """Write the sums of the differences, then both windows' identities."""
    differences = difference(before, after)
    parts = [
        f"{name} {len(turns):,} ({growth(turns)})" for name, turns in differences.by_name.items()
    ]
    resized = [part for part in differences.parts if part.tokens_before != part.tokens_after]
    parts += [f"{part.kind_after or part.kind_before} ({growth([part])})" for part in resized]
    yield " · ".join(parts)
    change = signed(after.used - before.used)
    yield f"together {change}: {before.used_figure} → {after.used_figure}"
    for number, window in zip(numbers, (before, after), strict=True):
        yield f"send {number:,}: {figures.identity_sentence(window)}"


def _line(text: str) -> Line:
    return Line(text, can_be_chosen=True)


def window_lines(window: ContextWindow) -> Iterator[str]:
    """Write the identity, then one line per segment."""
    yield figures.identity_sentence(window)
    for segment in window.segments:
        turn = "" if segment.turn is None else f"#{segment.turn}"
        head = f"{segment.kind.value:<10}{turn:>7}{window.figure(segment.tokens):>8}"
        yield f"{head}  {one_line(segment.reason)}"


def message_text(window: ContextWindow, most: int | None = None) -> str:
    """Write the messages as sent, each under its number and role.

    `most` limits the characters, with a note if there are more; None for all.
    """
    parts: list[str] = []
    length = 0
    for text in message_texts(window):
        parts.append(text)
        length += len(parts[-1]) + 1
        if most is not None and length > most:
            return "\n".join(parts)[:most] + "\n── truncated; Y copies everything ──"
    return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class PageRequest:
    place: int
    """The send's index, from 0."""
    base: int | None
    """The index of the send that it is compared with; None for the previous one."""
    tab: str
    answering: int | None = None
    """The position of the message whose reply is being written; None if there is none."""


@dataclass(frozen=True, slots=True)
class Page:
    """A send as displayed."""

    request: PageRequest
    replayed: Replayed
    summary: Content
    """Its number, hash, ending and reply."""
    table: Table
    """The rows of the tab; empty if it shows the window or the messages."""
    messages: str = ""
    """The first `MOST` characters, if the tab shows them."""


class SentWindowReader:
    """Reads sends of one conversation, caching the most recent ones."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self._kept: dict[int, Replayed] = {}

    def page(self, sends: Sequence[Send], request: PageRequest) -> Page:
        """Read one send as a page.

        Raises StoreUnreadable if it, or the one compared with it, is damaged.
        """
        replayed = self._open(sends[request.place])
        table = Table()
        if request.tab == "ledger":
            table = ledger_table(replayed.window)
        elif request.tab == "diff":
            table = self._diff(replayed, sends, request)
        messages = message_text(replayed.window, MOST) if request.tab == "messages" else ""
        return Page(request, replayed, _summary(replayed, request, len(sends)), table, messages)

    def _diff(self, replayed: Replayed, sends: Sequence[Send], request: PageRequest) -> Table:
        place, base = request.place, request.base
        if base == place or (base is None and not place):
            return Table(items=[_line(_NO_BASE if base is None else _IS_BASE)])
        base = place - 1 if base is None else base
        return diff_table(self._open(sends[base]).window, replayed.window, (base + 1, place + 1))

    def _open(self, send: Send) -> Replayed:
        known = self._kept.get(send.window_id)
        if known is None:
            if send.reply is None:  # the reply may have been stored meanwhile
                now = {other.window_id: other for other in self.replay.sends()}
                send = now.get(send.window_id, send)
            known = self.replay.open(send)
            if known.reply is not None:
                self._kept = {**dict(list(self._kept.items())[-_KEPT:]), send.window_id: known}
        return known


def first_place(sends: Sequence[Send], subject: Subject, window_id: int | None) -> int:
    """Return the index of the send to open: the given window, the chosen turn's, or the last."""
    ids = [send.window_id for send in sends]
    if window_id in ids:
        return ids.index(window_id)
    for turn in (subject.chosen, subject.sent):
        chosen = sends_for(list(sends), turn.position) if turn is not None else []
        if chosen:
            return ids.index(chosen[-1].window_id)
    return len(sends) - 1


def _summary(replayed: Replayed, request: PageRequest, of: int) -> Content:
    is_streaming = request.answering == replayed.said.position and replayed.reply is None
    ending = [STREAMING] if is_streaming else figures.ending_sentences(replayed)
    intact = "" if replayed.is_as_sent else "bold reverse"
    lines = [
        Content(figures.send_sentence(replayed.send, request.place + 1, of)).stylize("bold"),
        Content(figures.hash_sentence(replayed)).stylize(intact),
        Content(one_line(" · ".join(ending))),
    ]
    if replayed.reply is not None:
        lines.append(Content(shorten(replayed.reply.content, _REPLY)).stylize(MUTED))
    return Content("\n").join(lines)
