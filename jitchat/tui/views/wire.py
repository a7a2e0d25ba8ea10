"""The request of a window, byte for byte, with the segment of each part."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, takewhile
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import on
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from jitchat.providers.provider import Provider, SentRequest, Wire
from jitchat.recorder import sent_request_for
from jitchat.session import Session
from jitchat.store.windows import WindowArchive
from jitchat.text.sanitize import for_terminal, one_line
from jitchat.tui.drawing import Content, slug
from jitchat.tui.figures import SIGNS, assumed_mark, stable_sentence
from jitchat.tui.views.view import Body, Note, Subject, View
from jitchat.tui.widgets.input_lines import SaveLine
from jitchat.values import Turn
from jitchat.window.places import SegmentPlace, find_segments
from jitchat.window.record import messages_body
from jitchat.window.window import ContextWindow, Kind, is_of_message

_SHOWN = 8
"""Characters shown of a hash, enough to compare by eye."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A request, or just the messages if none is made."""

    window: ContextWindow
    wire: Wire | None
    body: str
    """Exactly as posted."""
    summary: str
    """Whether it was sent exactly like this, as a sentence."""

    @property
    def head(self) -> str:
        """The request line and headers, followed by a blank line; empty without a request."""
        if self.wire is None:
            return ""
        lines = [f"{self.wire.method} {self.wire.url}"]
        lines += [f"{name}: {value}" for name, value in self.wire.headers]
        return "\n".join(map(one_line, lines)) + "\n\n"

    def laid_out(self, *, pretty: bool) -> tuple[str, tuple[SegmentPlace, ...]]:
        """Return head and body as text, with the spans of the segments.

        `pretty` is the same JSON with line breaks and indentation.
        """
        body = json.dumps(json.loads(self.body), indent=2) if pretty else self.body
        head = self.head
        return head + body, tuple(
            replace(place, start=place.start + len(head), end=place.end + len(head))
            for place in find_segments(self.window, body).places
        )


def read_letter(session: Session, window: ContextWindow, sent: Turn | None) -> Letter:
    """Make the request of a window: the next one, or one that was sent for a turn.

    Raises JitchatError if no request can be made or the store is unreadable.
    """
    memory, identity = session.memory, None
    if sent is not None:
        sends = WindowArchive(memory.store.database)
        identity = sends.window_id_of(sent, window.mode, window.model, window.digest)
    posted = sent_request_for(memory, identity) if identity is not None else None
    wire = session.wire(window, posted) if window.pieces else None
    body = (wire.body if wire is not None else messages_body(window)).decode()
    if sent is None:
        summary = not_sent(wire)
    elif not window.pieces:
        summary = "Sent by an earlier version of jitchat: these are its messages."
    elif posted is not None:
        summary = as_left(posted, wire, session.provider, window)
    else:
        ending = memory.archive.ending(identity) if identity is not None else None
        summary = not_kept(ending.provider if ending is not None else None, wire)
    return Letter(window, wire, body, summary)


def not_sent(wire: Wire | None) -> str:
    if wire is None:
        return "Nothing leaves this machine: the built-in reader gets these messages unchanged."
    return f"Not sent yet: {_size(wire)}"


def as_left(
    posted: SentRequest, wire: Wire | None, provider: Provider, window: ContextWindow
) -> str:
    """State whether these are the exact bytes that were sent."""
    left = f"body {posted.sha256[:_SHOWN]}…"
    where = one_line(f"for {window.model} at {posted.url}")
    if wire is None:
        return f"It was sent {where}, {left}. The reader is in use now, so these are its messages."
    if wire.sha256 == posted.sha256:
        moved = "" if wire.url == posted.url else f" It was sent to {one_line(posted.url)}."
        return f"As sent: {_size(wire)} ✓{moved}"
    if (provider.name, provider.model) != (posted.provider, window.model):
        now = one_line(f"{provider.model} of {provider.name}")
        return f"It was sent {where}, {left}. This is the request for {now}, which is in use now."
    return f"It was sent in another form, {left}; {one_line(provider.name)} requests have changed."


def not_kept(provider: str | None, wire: Wire | None) -> str:
    """State why there is nothing to compare a sent window with; None while it is being answered."""
    if provider is None:
        return "The request is stored when the reply is complete; this is how it would be sent now."
    now = "these are its messages" if wire is None else "this is how it would be sent now"
    if provider == "reader":
        return f"Nothing was sent for it: the built-in reader answered; {now}."
    return f"Its request was not stored; {now}."


def legend(window: ContextWindow) -> list[tuple[str, str]]:
    """List every part of the limit: its style name, letter and figure."""
    sizes = [(kind, window.tokens_of(kind)) for kind in LETTERS]
    reserve, limit = window.budget.reserve, window.budget.limit
    return [
        *(
            (kind.value, f"{LETTERS[kind]} {window.name_of(kind)} {window.figure(size)}")
            for kind, size in sizes
            if size
        ),
        ("free", f"free {window.figure(window.free)}"),
        ("reserve", f"reserve {reserve:,} of {limit:,}{assumed_mark(window.budget)}"),
    ]


def _size(wire: Wire) -> str:
    return f"{len(wire.body):,} bytes, body {wire.sha256[:_SHOWN]}…"


LETTERS = {kind: SIGNS[kind].letter for kind in Kind}
"""The letters in the gutter, which distinguish segment kinds without colour."""
GUTTER = 9
"""Columns of the gutter: a letter, the turn, a line."""
_BROKEN = re.compile(r"(?<!\\)(?:\\\\)*\\n")
"""A line break written as an escape, but not an escaped backslash before an n."""
_LEAST = 20


class Row(NamedTuple):
    """A row; the one without an end marks the boundary of the stable prefix."""

    start: int
    end: int | None
    place: SegmentPlace | None = None
    """The segment that it belongs to; None for what the protocol adds."""

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
        """Its part of the text, safe to display."""
        cells = for_terminal(whole[self.start : self.end]).cells
        return cells.replace("\n", " ").replace("\t", " ")


@dataclass(frozen=True, slots=True)
class Sheet:
    whole: str
    rows: Sequence[Row]
    begins: Sequence[int]
    """The numbers of the rows where a new kind of segment begins."""


def sheet_of(whole: str, places: Sequence[SegmentPlace], width: int, *, parted: bool) -> Sheet:
    """Cut a request into rows like `rows_of`; slow for a long one."""
    rows = rows_of(whole, places, width, parted=parted)
    kinds = [(number, row.kind) for number, row in enumerate(rows) if row.kind is not None]
    groups = groupby(kinds, key=lambda numbered: numbered[1])
    return Sheet(whole, rows, [next(group)[0] for _, group in groups])


def rows_of(whole: str, places: Sequence[SegmentPlace], width: int, *, parted: bool) -> list[Row]:
    """Cut a request into rows of `width` columns, including the gutter.

    A row ends at a line break, at a segment boundary, or when it is full; with `parted` also after
    a line break written as an escape, and a full row after a blank.
    """
    room = max(_LEAST, width - GUTTER)
    cuts = {0, len(whole), *(line.end() for line in re.finditer("\n", whole))}
    cuts.update(edge for place in places for edge in (place.start, place.end))
    if parted:
        cuts.update(escape.end() for escape in _BROKEN.finditer(whole))
    starts = [place.start for place in places]
    drafts = (place.segment.turn for place in places if place.segment.kind is Kind.DRAFT)
    said = next(drafts, None)
    stable = takewhile(lambda place: not is_of_message(place.segment, said), places)
    boundary = max((place.end for place in stable), default=None)
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
    """Iterate over the offsets at which a full row ends."""
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
        """The rows must be cut again for another width."""

    def __init__(self) -> None:
        super().__init__(id="wire-text")
        self._sheet = Sheet("", (), ())
        self._boundary = ""

    @property
    def rows(self) -> Sequence[Row]:
        return self._sheet.rows

    @property
    def room(self) -> int:
        """Columns of a row."""
        return self.scrollable_content_region.width

    def show(self, sheet: Sheet, boundary: str) -> None:
        """Show a text; `boundary` labels the end of the stable prefix."""
        self._sheet, self._boundary = sheet, boundary
        self.virtual_size = Size(self.room, len(sheet.rows))
        self.refresh()

    def on_resize(self) -> None:
        self.post_message(self.Widened())

    def next_kind(self) -> None:
        """Scroll to the next kind of segment; after the last, to the first."""
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
    EXPLAINED = "The exact request, without the key. Lines without a letter: protocol."
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
        """Make the request, planning a window if there is none."""
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
        """Cut the request into rows of the current width."""
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
        """Toggle between indented JSON and the exact body."""
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
        """Write the command; if there is none, notify the user and return an empty text."""
        from jitchat.providers.http.redaction import curl  # noqa: PLC0415  loads httpx

        if self._letter is None:
            self.say("There is no request to copy or save.")
        elif self._letter.wire is None:
            self.say("There is no request: the built-in reader is in use.")
        else:
            return curl(self._letter.wire)
        return ""

    @on(SaveLine.Ended)
    def _saved(self, message: SaveLine.Ended) -> None:
        self._text.focus()
        if message.saved is not None:
            self.say(one_line(f"Saved as {message.saved}."))
