"""The lines of the view of sends: what differs between two windows, the ledger, the messages.

Pure; every figure is of a window that was sent, or of `difference`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from jitchat.replay import Replay, Replayed, sends_for
from jitchat.store.windows import Send
from jitchat.text.figures import counted
from jitchat.text.sanitize import one_line, shortened, visible
from jitchat.tui.figures import PART_BARS, identity_sentence, part_bars, part_figure, used_figure
from jitchat.tui.palette import MUTED
from jitchat.tui.send_figures import ending_sentences, hash_sentence, send_sentence
from jitchat.tui.views.view import STREAMING, Subject
from jitchat.window.difference import SAME, Change, Difference, difference
from jitchat.window.window import ContextWindow, Kind, LedgerRow

SHOWN = 200
"""Rows of one kind of difference; of a window with thousands of turns, the rest is one sum."""
_PARTS = 7
Reasons = dict[tuple[int | None, Kind | None], str]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sends and what differs between them."""

    before: Replayed
    after: Replayed
    difference: Difference
    numbers: tuple[int, int]
    """Of the two among all sends, from 1."""


def window_lines(window: ContextWindow) -> Iterator[str]:
    """Write the identity, then one line a segment."""
    yield identity_sentence(window)
    for each in window.segments:
        turn = "" if each.turn is None else f"#{each.turn}"
        ahead = f"{each.kind.value:<10}{turn:>7}{part_figure(window, each.tokens):>8}"
        yield f"{ahead}  {one_line(each.reason)}"


def ledger_header() -> str:
    """Name the columns of `ledger_lines`."""
    return _ledger_columns("rank", "turn", "verdict", "tokens") + f"{'score':>7}  {'parts':<8}why"


def ledger_lines(window: ContextWindow) -> list[Content]:
    """Write one line a candidate, as the ledger has them, then the sum of all others."""
    largest = max((value for row in window.ledger for _, value in row.parts), default=0.0)
    lines = [Content(_ledger_line(window, row, largest)) for row in window.ledger]
    if (never := window.never_candidates) is not None:
        ahead = _ledger_columns("", "", "left out", part_figure(window, never.tokens))
        lines.append(Content(f"{ahead}  {one_line(never.sentence)}").stylize(MUTED))
    return lines


def _ledger_line(window: ContextWindow, row: LedgerRow, largest: float) -> str:
    rank = "" if row.rank is None else str(row.rank)
    price, bars = part_figure(window, row.tokens), part_bars(row.parts, largest)
    ahead = _ledger_columns(rank, f"#{row.turn}", row.verdict.value, price)
    return f"{ahead}{row.score:>7.2f}  {bars:<{_PARTS}} {one_line(row.reason)}"


def _ledger_columns(rank: str, turn: str, verdict: str, price: str) -> str:
    return f"{rank:>4}{turn:>7}  {verdict:<10}{price:>7}"


def diff_header() -> str:
    """Name the columns of `diff_lines`."""
    return _diff_columns("", "turn", ("was", "is"), ("before", "after", "change")) + "why"


def diff_title(compared: Compared) -> str:
    """`send 3 recency ~281 → send 4 jit ~761`."""
    sends = zip(compared.numbers, (compared.before.window, compared.after.window), strict=True)
    return " → ".join(
        f"send {number:,} {window.mode} {used_figure(window)}" for number, window in sends
    )


def diff_lines(compared: Compared) -> list[Content]:
    """Write one line a difference, the sums, and the identity of both windows."""
    found, reasons = compared.difference, _reasons(compared.after.window)
    lines: list[Content] = []
    for name, changes in found.by_name.items():
        shown = changes[:SHOWN]
        lines += [Content(_diff_line(compared, name, each, reasons)) for each in shown]
        if rest := changes[SHOWN:]:
            told = f"{counted(len(rest), 'more turn')} {name}, {_signed(rest)} tokens"
            lines.append(Content(f"  … {told}").stylize(MUTED))
    lines += [Content(line) for line in _instructions(compared)]
    if not lines:
        lines = [Content(SAME)]
    return [*lines, Content(""), *(Content(line) for line in sum_lines(compared))]


def sum_lines(compared: Compared) -> Iterator[str]:
    """Write what the differences come to, then both windows with the identity."""
    told = [
        f"{name} {len(changes):,} ({_signed(changes)})"
        for name, changes in compared.difference.by_name.items()
    ]
    system = _instructions_change(compared)
    told += [f"instructions ({_plus(system)})"] if system else []
    before, after = compared.before.window, compared.after.window
    yield " · ".join(told)
    change = _plus(after.used - before.used)
    yield f"together {change}: {used_figure(before)} → {used_figure(after)}"
    for number, sent in zip(compared.numbers, (compared.before, compared.after), strict=True):
        yield f"send {number:,}: {identity_sentence(sent.window)}"


def message_text(window: ContextWindow, most: int | None = None) -> str:
    """Write out the messages as they left, each under its number and role.

    `most` characters of it and a note, where there are more; None for all.
    """
    messages = window.messages()
    parts: list[str] = []
    length = 0
    for number, message in enumerate(messages, start=1):
        head = f"── message {number} of {len(messages)}: {message.role} ──"
        parts.append(f"{head}\n{visible(message.content)}")
        length += len(parts[-1]) + 1
        if most is not None and length > most:
            return "\n".join(parts)[:most] + "\n── more is not shown; Y copies all of it ──"
    return "\n".join(parts)


def _diff_line(compared: Compared, name: str, change: Change, reasons: Reasons) -> str:
    before, after = compared.before.window, compared.after.window
    kinds = (_kind(change.kind_before), _kind(change.kind_after))
    figures = (
        part_figure(before, change.tokens_before) if change.kind_before else "",
        part_figure(after, change.tokens_after) if change.kind_after else "",
        _plus(change.tokens_after - change.tokens_before),
    )
    ahead = _diff_columns(name, f"#{change.turn}", kinds, figures)
    return ahead + one_line(reasons.get((change.turn, change.kind_after), ""))


def _reasons(after: ContextWindow) -> Reasons:
    """Tell by turn and kind why it is there in the later window, and by None why it is not."""
    reasons: Reasons = {(row.turn, None): row.reason for row in after.ledger}
    reasons.update({(each.turn, each.kind): each.reason for each in after.segments})
    return reasons


def _diff_columns(
    name: str, turn: str, kinds: tuple[str, str], figures: tuple[str, str, str]
) -> str:
    before, after, change = figures
    return f"{name:<8}{turn:>6}  {kinds[0]:<10}{kinds[1]:<10}{before:>7}{after:>7}{change:>8}  "


def _instructions(compared: Compared) -> Iterator[str]:
    """The line for another system prompt, or for one that is priced in another way."""
    change = _instructions_change(compared)
    if change or compared.difference.new_instructions:
        before, after = compared.before.window, compared.after.window
        name = Kind.SYSTEM.value
        figures = (
            part_figure(before, before.tokens_of(Kind.SYSTEM)),
            part_figure(after, after.tokens_of(Kind.SYSTEM)),
            _plus(change),
        )
        yield _diff_columns("changed", "", (name, name), figures) + "instructions"


def _instructions_change(compared: Compared) -> int:
    before, after = compared.before.window, compared.after.window
    return after.tokens_of(Kind.SYSTEM) - before.tokens_of(Kind.SYSTEM)


def _signed(changes: Sequence[Change]) -> str:
    return _plus(sum(each.tokens_after - each.tokens_before for each in changes))


def _plus(change: int) -> str:
    return f"{change:+,}".replace("-", "−")


def _kind(kind: Kind | None) -> str:
    return kind.value if kind is not None else "—"


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


_WIDEST = 4
"""Cells of a mark, with the gap behind it, where there are few."""
_PAGE = 10
"""Sends that Page Up and Page Down go over."""


@dataclass(frozen=True, slots=True)
class Strip:
    """Which sends are in view, and where."""

    start: int
    """The first that is, from 0."""
    stop: int
    step: int
    """Cells from one mark to the next."""

    @property
    def bar(self) -> int:
        """Cells of one mark, without the gap behind it."""
        return max(1, self.step - 1)

    def column(self, place: int) -> int:
        """Find the first cell of a send's mark; the arrow for more is ahead of the first."""
        return 1 + (place - self.start) * self.step

    def place_at(self, column: int) -> int | None:
        """Find the send whose mark is drawn in a cell; None beside all of them."""
        place = self.start + (column - 1) // self.step
        return place if column > 0 and place < self.stop else None


def strip_of(count: int, place: int, width: int) -> Strip:
    """Fit `count` marks around the one at `place` into `width` cells, of which two are arrows'."""
    room = max(1, width - 2)
    step = max(1, min(_WIDEST, room // max(1, count)))
    fitting = room // step
    start = min(max(0, place - fitting // 2), max(0, count - fitting))
    return Strip(start, min(count, start + fitting), step)


def bar_lines(sizes: Sequence[int], largest: int, strip: Strip, height: int) -> list[str]:
    """Draw marks to the scale of the `largest`, as `height` lines; the smallest is one eighth."""
    steps = len(PART_BARS)
    levels = [
        max(1, size * height * steps // max(1, largest)) for size in sizes[strip.start : strip.stop]
    ]
    gap = " " * (strip.step - strip.bar)
    lines: list[str] = []
    for row in range(height - 1, -1, -1):
        cells = (max(0, min(steps, level - row * steps)) for level in levels)
        lines.append(
            "".join((PART_BARS[cell - 1] if cell else " ") * strip.bar + gap for cell in cells)
        )
    return lines


class Scrubber(Widget, can_focus=True):
    """Draws the sends and moves between them."""

    COMPONENT_CLASSES = {"scrubber--bar", "scrubber--here", "scrubber--base"}  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("home", "go(0)", show=False),
        Binding("end", "go(-1)", show=False),
        Binding("pageup", f"step(-{_PAGE})", show=False),
        Binding("pagedown", f"step({_PAGE})", show=False),
    ]

    sends: reactive[tuple[Send, ...]] = reactive(())
    place: reactive[int] = reactive(0)
    """The send that is looked at, from 0."""
    base: reactive[int | None] = reactive(None)
    """The send that it is compared with; None for none."""

    @dataclass
    class Moved(Message):
        """The user wants to look at another send."""

        place: int

    def __init__(self) -> None:
        super().__init__(id="scrubber")
        self._sizes: list[int] = []
        self._largest = 0

    def watch_sends(self) -> None:
        """Sum the windows up once: there can be thousands."""
        self._sizes = [send.used for send in self.sends]
        self._largest = max(self._sizes, default=0)

    def render(self) -> Content:
        """Bars, letters, and a line that points at two of them."""
        if not self.sends:
            return Content()
        strip = strip_of(len(self.sends), self.place, self.size.width)
        height = max(1, self.size.height - 2)
        bars = bar_lines(self._sizes, self._largest, strip, height)
        shown = self.sends[strip.start : strip.stop]
        letters = "".join(send.mode.value[0].ljust(strip.step) for send in shown)
        lines = [self._line(line, strip, "scrubber--bar") for line in bars]
        lines.append(self._line(letters, strip, ""))
        lines.append(self._pointers(strip))
        return Content("\n").join(lines)

    def _line(self, text: str, strip: Strip, name: str) -> Content:
        """Put arrows at the ends where there are more; colour what is looked at and compared."""
        before = "‹" if strip.start > 0 else " "
        after = "›" if strip.stop < len(self.sends) else ""
        line = Content(f"{before}{text[: strip.column(strip.stop) - 1]}{after}")
        line = line.stylize(self._style(name)) if name else line
        for place, marked in ((self.base, "scrubber--base"), (self.place, "scrubber--here")):
            if place is not None and strip.start <= place < strip.stop:
                column = strip.column(place)
                line = line.stylize(self._style(marked), column, column + strip.bar)
        return line

    def _pointers(self, strip: Strip) -> Content:
        cells = [" "] * strip.column(strip.stop)
        for place, sign in ((self.base, "△"), (self.place, "▲")):
            if place is not None and strip.start <= place < strip.stop:
                column = strip.column(place)
                cells[column : column + strip.bar] = sign * strip.bar
        return Content("".join(cells).rstrip())

    def on_click(self, event: events.Click) -> None:
        """Go to the send under the mouse."""
        place = strip_of(len(self.sends), self.place, self.size.width).place_at(event.x)
        if place is not None:
            self.post_message(self.Moved(place))

    def action_step(self, by: int) -> None:
        """Go some sends on, or back."""
        self.action_go(max(0, min(len(self.sends) - 1, self.place + by)))

    def action_go(self, place: int) -> None:
        """Go to a send; -1 is the last."""
        if self.sends:
            self.post_message(self.Moved(place % len(self.sends)))

    def _style(self, name: str) -> Style:
        return self.get_visual_style(name)
