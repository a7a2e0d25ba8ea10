"""The request of a window, byte for byte: which segment each part is, and whether it left so."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import on
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from jitchat.providers.provider import Provider, SentRequest, Wire
from jitchat.recorder import sent_request_for
from jitchat.session import Session
from jitchat.store.windows import WindowArchive
from jitchat.text.sanitize import for_terminal, one_line
from jitchat.tui.figures import assumed_mark, part_figure, stable_sentence
from jitchat.tui.palette import slug
from jitchat.tui.views.view import Body, Note, Subject, View
from jitchat.tui.widgets.save_line import SaveLine
from jitchat.values import Turn
from jitchat.window.places import SegmentPlace, find_segments
from jitchat.window.record import messages_body
from jitchat.window.window import ContextWindow, Kind

_SHOWN = 8
"""Characters of a hash: enough to compare by eye."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A request, or the messages where none is made."""

    window: ContextWindow
    wire: Wire | None
    body: str
    """Exactly as posted."""
    summary: str
    """Whether it left like that, as a sentence."""

    @property
    def head(self) -> str:
        """Where it goes, and the headers, a line each, and a blank one; empty without a request."""
        if self.wire is None:
            return ""
        lines = [f"{self.wire.method} {self.wire.url}"]
        lines += [f"{name}: {value}" for name, value in self.wire.headers]
        return "\n".join(map(one_line, lines)) + "\n\n"

    def laid_out(self, *, pretty: bool) -> tuple[str, tuple[SegmentPlace, ...]]:
        """Write head and body, and say where the segments are in that.

        Pretty is the same JSON with line breaks and indentation between its parts.
        """
        body = json.dumps(json.loads(self.body), indent=2) if pretty else self.body
        head = self.head
        return head + body, tuple(
            replace(place, start=place.start + len(head), end=place.end + len(head))
            for place in find_segments(self.window, body).places
        )


def read_letter(session: Session, window: ContextWindow, sent: Turn | None) -> Letter:
    """Make the request of a window: of the next one, or of one that was sent for a turn.

    Raises JitchatError: no request can be made, or the store cannot be read.
    """
    memory, identity = session.memory, None
    if sent is not None:
        sends = WindowArchive(memory.store.database)
        identity = sends.window_id_of(sent, window.mode, window.model, window.digest)
    posted = sent_request_for(memory, identity) if identity is not None else None
    wire = session.wire(window, posted)
    body = (wire.body if wire is not None else messages_body(window)).decode()
    if sent is None:
        summary = not_sent(wire)
    elif posted is not None:
        summary = as_left(posted, wire, session.provider, window)
    else:
        ending = memory.archive.ending(identity) if identity is not None else None
        summary = not_kept(ending.provider if ending is not None else None, wire)
    return Letter(window, wire, body, summary)


def not_sent(wire: Wire | None) -> str:
    if wire is None:
        return (
            "Nothing leaves this machine: the built-in reader is given these messages as they are."
        )
    return f"Not sent yet: {_size(wire)}"


def as_left(
    posted: SentRequest, wire: Wire | None, provider: Provider, window: ContextWindow
) -> str:
    """Say of a window that was sent whether these are the bytes that left."""
    left = f"sha256 {posted.sha256[:_SHOWN]}…"
    where = one_line(f"for {window.model} at {posted.url}")
    if wire is None:
        return f"It left {where}, {left}. The reader answers now, so these are its messages."
    if wire.sha256 == posted.sha256:
        moved = "" if wire.url == posted.url else f" It went to {one_line(posted.url)}."
        return f"As it left: {_size(wire)} ✓{moved}"
    if (provider.name, provider.model) != (posted.provider, window.model):
        now = one_line(f"{provider.model} of {provider.name}")
        return f"It left {where}, {left}. This is how it would leave for {now}, which answers now."
    return f"It left in another form, {left}: {one_line(provider.name)} is asked otherwise now."


def not_kept(provider: str | None, wire: Wire | None) -> str:
    """Say of a window that was sent why there is nothing to compare with; None: it is not over."""
    if provider is None:
        return "What left is kept when the reply is over; this is how it would leave now."
    now = "these are its messages" if wire is None else "this is how it would leave now"
    if provider == "reader":
        return f"Nothing left for it, for the built-in reader answered; {now}."
    return f"What left for it was not kept; {now}."


def legend(window: ContextWindow) -> list[tuple[str, str]]:
    """List every part of the limit: the name that its style has, and its letter and figure."""
    sizes = [(kind, window.tokens_of(kind)) for kind in LETTERS]
    reserve, limit = window.budget.reserve, window.budget.limit
    return [
        *(
            (kind.value, f"{LETTERS[kind]} {window.name_of(kind)} {part_figure(window, size)}")
            for kind, size in sizes
            if size
        ),
        ("free", f"free {part_figure(window, window.free)}"),
        ("reserve", f"reserve {reserve:,} of {limit:,}{assumed_mark(window.budget)}"),
    ]


def _size(wire: Wire) -> str:
    return f"{len(wire.body):,} bytes, sha256 {wire.sha256[:_SHOWN]}…"


LETTERS = {
    Kind.SYSTEM: "S",
    Kind.TOOLS: "L",
    Kind.STANDING: "N",
    Kind.DOCUMENT: "M",
    Kind.OBSERVATIONS: "O",
    Kind.PINNED: "P",
    Kind.RECENT: "R",
    Kind.FILES: "E",
    Kind.FACTS: "F",
    Kind.DOCUMENTS: "B",
    Kind.INDEX: "I",
    Kind.RETRIEVED: "T",
    Kind.DRAFT: "D",
    Kind.TOOL_CALLS: "C",
    Kind.TOOL_RESULTS: "A",
    Kind.REQUESTED: "Q",
}
"""What stands in the gutter, so that kinds are told apart without colour."""
GUTTER = 9
"""Cells: a letter, the turn, a line."""
_BROKEN = re.compile(r"(?<!\\)(?:\\\\)*\\n")
"""A line break that is written as an escape, and no backslash ahead of an n."""
_LEAST = 20


class Row(NamedTuple):
    """A row; the one without an end is the boundary of the stable prefix."""

    start: int
    end: int | None
    place: SegmentPlace | None = None
    """The segment that it shows a part of; None for what the protocol adds."""

    @property
    def kind(self) -> Kind | None:
        return self.place.segment.kind if self.place else None

    @property
    def gutter(self) -> str:
        """The segment's letter; on its first row, with its turn."""
        if self.place is None:
            return f"{'':<{GUTTER - 2}}│ "
        segment, opens = self.place.segment, self.start == self.place.start
        turn = f"#{segment.turn}" if opens and segment.turn is not None else ""
        return f"{LETTERS[segment.kind]} {turn:<{GUTTER - 4}}│ "

    def text(self, whole: str) -> str:
        """Its slice, safe to show."""
        return for_terminal(whole[self.start : self.end]).replace("\n", " ").replace("\t", " ")


@dataclass(frozen=True, slots=True)
class Sheet:
    whole: str
    rows: Sequence[Row]
    begins: Sequence[int]
    """The numbers of the rows where another kind of segment begins than the one before."""


def sheet_of(whole: str, places: Sequence[SegmentPlace], width: int, *, parted: bool) -> Sheet:
    """Cut a request as `rows_of` does; slow where it is a long one."""
    rows = rows_of(whole, places, width, parted=parted)
    kinds = [(number, row.kind) for number, row in enumerate(rows) if row.kind is not None]
    groups = groupby(kinds, key=lambda numbered: numbered[1])
    return Sheet(whole, rows, [next(group)[0] for _, group in groups])


def rows_of(whole: str, places: Sequence[SegmentPlace], width: int, *, parted: bool) -> list[Row]:
    """Cut a request into rows of `width` cells, the gutter included.

    A row ends at a line break, where a segment begins or ends, or where it is full; with `parted`
    also behind a line break that is written as an escape, and a full one behind a blank.
    """
    room = max(_LEAST, width - GUTTER)
    cuts = {0, len(whole), *(line.end() for line in re.finditer("\n", whole))}
    cuts.update(edge for place in places for edge in (place.start, place.end))
    if parted:
        cuts.update(escape.end() for escape in _BROKEN.finditer(whole))
    starts = [place.start for place in places]
    boundary = max((place.end for place in places if place.segment.kind.is_stable), default=None)
    rows: list[Row] = []
    for start, end in pairwise(sorted(cuts)):
        before = bisect_right(starts, start) - 1
        place = places[before] if before >= 0 and start < places[before].end else None
        last = end - 1 if whole[end - 1] == "\n" else end
        edges = [start, *_full(whole, start, last, room, by_word=parted), last]
        rows += [Row(first, behind, place) for first, behind in pairwise(edges)]
        if end == boundary:
            rows.append(Row(end, None))
    return rows


def _full(whole: str, start: int, end: int, room: int, *, by_word: bool) -> Iterator[int]:
    """Go through the places where a row is full and the next one begins."""
    while end - start > room:
        blank = whole.rfind(" ", start + room // 2, start + room) if by_word else -1
        start = start + room if blank < 0 else blank + 1
        yield start


class WireText(ScrollView):
    """Rows of a text, coloured by kind."""

    COMPONENT_CLASSES = {  # noqa: RUF012  Textual's own shape
        f"wire--{slug(name)}" for name in (*LETTERS, "added", "boundary")
    }

    @dataclass
    class Widened(Message):
        """The rows are to be cut anew, for another width."""

    def __init__(self) -> None:
        super().__init__(id="wire-text")
        self._sheet = Sheet("", (), ())
        self._boundary = ""

    @property
    def rows(self) -> Sequence[Row]:
        return self._sheet.rows

    @property
    def room(self) -> int:
        """Cells of a row."""
        return self.scrollable_content_region.width

    def show(self, sheet: Sheet, boundary: str) -> None:
        """Show a text; `boundary` is what the end of the stable prefix says."""
        self._sheet, self._boundary = sheet, boundary
        self.virtual_size = Size(self.room, len(sheet.rows))
        self.refresh()

    def on_resize(self) -> None:
        self.post_message(self.Widened())

    def next_kind(self) -> None:
        """Scroll to where the next kind of segment begins; from the last one, to the first."""
        begins, top = self._sheet.begins, round(self.scroll_y)
        below = bisect_right(begins, top) if top < round(self.max_scroll_y) else len(begins)
        if begins:
            self.scroll_to(y=begins[below % len(begins)])

    def render_line(self, y: int) -> Strip:
        number = self.scroll_offset.y + y
        if number >= len(self.rows):
            return Strip.blank(self.room, self.rich_style)
        row, width = self.rows[number], self.room
        if row.end is None:
            line = f"── end of the {self._boundary} "
            return Strip([Segment(f"{line:─<{width}}"[:width], self._style("boundary"))])
        kind = row.kind.value if row.kind is not None else "added"
        style = self._style(kind)
        strip = Strip([Segment(row.gutter, style), Segment(row.text(self._sheet.whole), style)])
        return strip.adjust_cell_length(width, self.rich_style)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"wire--{slug(name)}")


class WireView(View):
    NAME = "Wire"
    EXPLAINED = "The request, byte for byte, less the key. No letter: the protocol's own."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("p", "form", "Raw", id="wire_form"),
        Binding("n", "next_kind", "Next", id="wire_next"),
        Binding("c", "copy_command", "Copy curl", id="wire_curl"),
        Binding("s", "save_body", "Save", id="wire_save"),
        Binding("k", "save_command", "Save curl", id="wire_save_curl"),
    ]

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._letter: Letter | None = None
        self._pretty = True
        self._summary, self._legend = Note("wire-summary", text="…"), Note("wire-legend")
        self._text, self._save_line = WireText(), SaveLine()

    def body(self) -> Body:
        return (self._summary, self._text, self._legend, self._save_line)

    def on_mount(self) -> None:
        """Make the request; without a window, one is planned."""
        self._text.focus()
        self.load(self._read, self._show)

    def _read(self) -> Letter:
        subject, session = self.subject, self.subject.session
        window = subject.window or session.preview(subject.draft, subject.mode, subject.once)
        return read_letter(session, window, subject.sent)

    def _show(self, letter: Letter) -> None:
        self._letter = letter
        self._summary.update(one_line(letter.summary))
        kinds = {kind.value: self._text.get_visual_style(f"wire--{slug(kind)}") for kind in LETTERS}
        parts = (Content.styled(text, kinds.get(name, "")) for name, text in legend(letter.window))
        self._legend.update(Content("  ").join(parts))
        self._cut()

    @on(WireText.Widened)
    def _cut(self) -> None:
        """Cut the request into rows of the present width."""
        letter, pretty, width = self._letter, self._pretty, self._text.room
        if letter is not None:

            def read() -> Sheet:
                whole, places = letter.laid_out(pretty=pretty)
                return sheet_of(whole, places, width, parted=pretty)

            boundary = stable_sentence(letter.window)
            self.load(read, lambda sheet: self._text.show(sheet, boundary), group="rows")

    def copyable(self) -> str:
        return self._letter.body if self._letter is not None else ""

    def action_form(self) -> None:
        """Show it with line breaks and indentation, or as it is posted."""
        self._pretty = not self._pretty
        self._cut()

    def action_next_kind(self) -> None:
        self._text.next_kind()

    def action_copy_command(self) -> None:
        if command := self._command():
            self.app.copy_to_clipboard(command)
            self.say("Copied, with a variable in place of the key.")

    def action_save_body(self) -> None:
        if self._letter is not None:
            self._save_line.ask("the body", self.copyable().encode(), "request.json")

    def action_save_command(self) -> None:
        if command := self._command():
            self._save_line.ask("the command", command.encode(), "request.sh")

    def _command(self) -> str:
        """Write the command; empty, and told, where there is none."""
        from jitchat.providers.http.redaction import curl  # noqa: PLC0415  loads httpx

        if self._letter is None:
            self.say("There is no request here to copy or to save.")
        elif self._letter.wire is None:
            self.say("There is no request to make a command of: the built-in reader answers.")
        else:
            return curl(self._letter.wire)
        return ""

    @on(SaveLine.Ended)
    def _saved(self, message: SaveLine.Ended) -> None:
        self._text.focus()
        if message.saved is not None:
            self.say(one_line(f"Saved as {message.saved}."))
