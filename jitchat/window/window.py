"""The context window as a value: segments, ledger, and the numbers that follow from them.

A `ContextWindow` is the only source of the numbers on screen: the very object whose
`messages()` go to the provider.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import chain, groupby, takewhile
from operator import attrgetter, itemgetter

from jitchat.attachments import Picture
from jitchat.statements import Source
from jitchat.text.figures import Figure, Mark, mark_of, percent, plural
from jitchat.tool_fields import use_fields
from jitchat.values import (
    NO_TOOL_USE,
    Form,
    Message,
    Mode,
    Picking,
    Reranking,
    Role,
    Tool,
    ToolUse,
)
from jitchat.window.budget import Budget
from jitchat.window.reasons import INSTRUCTIONS
from jitchat.writing.calls import tool_text
from jitchat.writing.pieces import PLAIN, Piece, WritingRules, messages_of


class Kind(StrEnum):
    """What a segment is, in the order of the window."""

    SYSTEM = "system"
    TOOLS = "tools"
    STANDING = "standing"
    DOCUMENT = "document"
    OBSERVATIONS = "observations"
    PINNED = "pinned"
    RECENT = "recent"
    FILES = "files"
    FACTS = "facts"
    DOCUMENTS = "documents"
    INDEX = "index"
    RETRIEVED = "retrieved"
    DRAFT = "draft"
    TOOL_CALLS = "tool calls"
    TOOL_RESULTS = "tool results"
    REQUESTED = "requested"

    @property
    def is_stable(self) -> bool:
        """Whether it comes before the volatile tail: the same from one request to the next."""
        return self in _STABLE

    @property
    def is_appended(self) -> bool:
        """Whether it was appended in mid-turn, after the draft."""
        return self in (Kind.TOOL_CALLS, Kind.TOOL_RESULTS, Kind.REQUESTED)


_STABLE = (
    *(Kind.SYSTEM, Kind.TOOLS, Kind.STANDING, Kind.DOCUMENT, Kind.OBSERVATIONS),
    *(Kind.PINNED, Kind.RECENT, Kind.FILES),
)


TAIL_KINDS = (Kind.FACTS, Kind.DOCUMENTS, Kind.INDEX, Kind.RETRIEVED)
"""Kinds in the volatile tail, before the draft."""


class Verdict(StrEnum):
    """What was decided about a turn; the segment's kind if a segment carries it."""

    PINNED = "pinned"
    RECENT = "recent"
    RETRIEVED = "retrieved"
    INDEX = "index"
    FILES = "files"
    DOCUMENTS = "documents"
    REQUESTED = "requested"
    SENT = "sent"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class Passage:
    start: int
    """In characters of the text that it points into."""
    end: int
    """After its last character."""
    tokens: int
    reason: str
    """Why it was chosen."""
    call: int = 0
    """The number of the call whose text it points into, from 1; 0 for the turn's content."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The passages of a turn that a window has instead of the whole turn.

    Tokens are the counter's, each counted once: those of the passages and those left out add up to
    the tokens of the whole text.
    """

    passages: tuple[Passage, ...]
    """In order; two are adjacent only if they are of different texts."""
    left_out: tuple[int, ...]
    """Tokens before each passage, and after the last: one more entry than there are passages."""

    @property
    def tokens(self) -> int:
        """Tokens of the passages."""
        return sum(passage.tokens for passage in self.passages)

    @property
    def whole(self) -> int:
        """Tokens of the whole text."""
        return self.tokens + sum(self.left_out)


@dataclass(frozen=True, slots=True)
class FileRef:
    """The file, or the part of one, that a segment holds."""

    name: str
    turn: int
    """The position of the turn that the file came with."""
    digest: str
    """The file's SHA-256, in hexadecimal."""
    locator: str = ""
    """Where in the file the part is; empty for the whole file."""
    picture: Picture | None = None
    is_whole: bool = True
    """Whether the segment holds the whole file, not a part or the line that represents it."""
    picture_tokens: int = field(default=0, compare=False)
    """Tokens of the picture, by its provider's formula."""

    @property
    def place(self) -> str:
        """`README.md § Install`."""
        return f"{self.name} {self.locator}".rstrip()


@dataclass(frozen=True, slots=True)
class Segment:
    kind: Kind
    role: Role
    """Role of the message that carries it."""
    text: str
    """Exactly as sent."""
    tokens: int
    """With its share of what the protocol adds."""
    turn: int | None
    """Position of the turn that it is from; None for the system prompt, tools and the like."""
    reason: str
    excerpt: Excerpt | None = None
    """The passages of its turn that it holds; None if it holds the whole turn or another text."""
    use: ToolUse = NO_TOOL_USE
    """The tool use of the message that carries it."""
    source: Source | None = None
    """The turns that a fact was taken from, or the turn of another conversation that is quoted;
    `turn` is None then. None for all other segments."""
    file: FileRef | None = None
    """The file that it holds; `turn` is None then."""
    pieces: tuple[Piece, ...] = ()
    """What is sent of it; empty while it is only planned, and in windows of earlier versions."""
    form: Form = Form.WHOLE
    """How much of its turn it has; windows of earlier versions name no form."""
    whole: int = 0
    """Tokens of its turn at full text, if it has not all of it."""
    carrier: int | None = None
    """For what is not a message of its own: the position of the user's turn that it is sent with.
    None in windows of earlier versions."""
    unwritten: str | None = None
    """The text before it was written, if that differs: of calls, and of joined messages."""

    @property
    def is_whole(self) -> bool:
        """Whether it has all of what it stands for."""
        return self.form is Form.WHOLE and self.excerpt is None

    @property
    def at_full_text(self) -> int:
        """The tokens of all of it."""
        return self.tokens if self.is_whole else self.whole


RERANKER = "reranker"
"""The name of the reranker's part of a score."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    turn: int
    rank: int | None
    """On the shortlist; None for a turn that is not on it: the neighbour of a hit, a latest
    decision, or a turn that had no room in the recent block."""
    score: float
    parts: tuple[tuple[str, float], ...]
    tokens: int
    """What the turn costs at full text: its segment's tokens if it was sent whole; otherwise, also
    for an excerpt, what it would cost as a separate message."""
    verdict: Verdict
    reason: str
    rank_before: int | None = None
    """Before a reranker scored the shortlist; None without a reranker."""

    @property
    def ranking(self) -> str:
        """`rank 3`, `rank 3 (12 before the reranker)`; empty if it has no rank."""
        if self.rank is None:
            return ""
        before = self.rank_before
        return f"rank {self.rank}" + (f" ({before} before the reranker)" if before else "")


@dataclass(frozen=True, slots=True)
class OtherRow:
    """Anything but a candidate of the conversation: a file, a fact, a tool, a turn of another one.

    Facts and tools have a row only if they are left out: the segments list those that are sent.
    """

    kind: Kind
    """Of the segment that holds it, or would."""
    name: str
    """`README.md § Install`, `chat-3#12`, a tool's name; for several in one row, how many."""
    tokens: int
    """As sent; for what is left out, the tokens of all of it."""
    reason: str
    verdict: Verdict = Verdict.LEFT_OUT
    score: float = 0.0
    file: FileRef | None = None
    source: Source | None = None
    """The turn of another conversation, or those that a fact was taken from."""
    title: str = ""
    """The title of the other conversation."""

    @property
    def is_sent(self) -> bool:
        return self.verdict is not Verdict.LEFT_OUT


@dataclass(frozen=True, slots=True)
class NeverCandidates:
    """The sum of the turns that are neither in the ledger nor in the window."""

    turns: int
    """At least one."""
    tokens: int
    """What they would cost together, each whole and as a separate message."""
    reason: str
    """Why they were never candidates; in `recency`, which has no candidates, why they are not
    sent."""

    @property
    def sentence(self) -> str:
        """`10 turns were never candidates: nothing in them matched`."""
        is_single = self.turns == 1
        never = "turn was never a candidate" if is_single else "turns were never candidates"
        return f"{self.turns:,} {never}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Shortlist:
    rows: tuple[LedgerRow, ...] = ()
    """By rank, the best first."""
    floor: float | None = None
    """The score below which nothing was picked; None if no score decided, or if it is unknown."""

    @property
    def cut(self) -> LedgerRow | None:
        """The last row that was picked and sent at full text; None if none was."""
        picked = (row for row in reversed(self.rows) if row.verdict is Verdict.RETRIEVED)
        return next((row for row in picked if row.score >= (self.floor or 0.0)), None)

    @property
    def end(self) -> LedgerRow | None:
        """The last row; None if nothing was found."""
        return self.rows[-1] if self.rows else None

    @property
    def above_floor(self) -> int:
        """The number of rows whose score is not below the floor."""
        return sum(row.score >= (self.floor or 0.0) for row in self.rows)


@dataclass(frozen=True, slots=True)
class Requested:
    """A model's request to the store in mid-turn, and its result."""

    asked: str
    """The request as understood: `“billing”, 2026-02-16 to 2026-02-22`."""
    given: tuple[tuple[int, float], ...] = ()
    """Positions of the turns in the result, and their scores; 0 for a turn that was not ranked."""
    named: tuple[int, ...] = ()
    """Positions of turns that were found but that the window already held."""
    tokens: int = 0
    """What the result added to the window."""
    step: int = 1
    """The first step of a turn is 1."""
    elsewhere: tuple[str, ...] = ()
    """Names of parts of files and of turns of other conversations in the result: `chat-3#12`."""
    statements: int = 0
    """The number of kept facts and of lines of the memory document in the result."""

    def sentence(self, figure: Callable[[int], Figure]) -> str:
        """`asked for “billing” → #12 chat-3#14, 2 kept statements, ~812 tokens`."""
        turns = " ".join((*(f"#{turn}" for turn, _ in self.given), *self.elsewhere))
        kept = plural(self.statements, "kept statement") if self.statements else ""
        given = ", ".join(filter(None, (turns, kept))) or "nothing new"
        return f"asked for {self.asked} → {given}, {figure(self.tokens)} tokens"


@dataclass(frozen=True, slots=True)
class HeldResult:
    """A large result that a window has only as a preview."""

    turn: int
    whole: int
    """Tokens of the whole result."""
    tokens: int
    """Tokens of the preview."""

    def sentence(self, figure: Callable[[int], Figure]) -> str:
        """`held #12: 5,321 tokens as 412 (92 % saved)`."""
        saved = percent(1 - self.tokens / self.whole)
        whole, tokens = figure(self.whole), figure(self.tokens)
        return f"held #{self.turn}: {whole} tokens as {tokens} ({saved} saved)"


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """The segments of one request, in order; what was appended in mid-turn follows the draft."""

    mode: Mode
    model: str
    counter: str
    """The token counter's name."""
    exact: bool
    """Whether the counter is the model's own tokenizer."""
    budget: Budget
    segments: tuple[Segment, ...]
    ledger: tuple[LedgerRow, ...]
    never_candidates: NeverCandidates | None
    """None if every turn of the history was considered or is sent."""
    full_tokens: int
    """Tokens that `full` would send for the same draft, if it sent every turn whole."""
    counted: int
    """The counter's tokens of all segments, before the calibration corrected them."""
    band: int = 0
    """Half the width, in tokens, of the band that holds about 95 % of reports for `used`; 0 if the
    count is exact or the band unknown."""
    picking: Picking | None = None
    """How a small model picked the turns; None if no model is set."""
    reranking: Reranking | None = None
    """How a reranker changed the shortlist; None without a reranker."""
    floor: float | None = None
    """The score below which nothing was picked; None if there was no shortlist."""
    needless: str = ""
    """If nothing is recalled for the draft: what kind of message it is, as a clause. Empty if turns
    were searched."""
    distilled_through: int = 0
    """The position of the last turn that observations or the document replace; 0 for none."""
    requests: tuple[Requested, ...] = ()
    """The model's requests to the store, in order."""
    held: tuple[HeldResult, ...] = ()
    """The results that the gate held back in this turn, in order."""
    others: tuple[OtherRow, ...] = ()
    """What was considered besides the turns in the ledger, by kind, the best first."""
    not_searched: int = 0
    """How many conversations in scope were not searched because there are too many turns."""
    planned: tuple[Segment, ...] = field(default=(), compare=False, repr=False)
    """The segments before they were written, to write them again by other rules."""
    rules: WritingRules = field(default=PLAIN, compare=False, repr=False)
    """The rules by which the segments were written."""

    @property
    def used(self) -> int:
        return tokens_of(self.segments)

    @property
    def free(self) -> int:
        return self.budget.budget - self.used

    @property
    def is_sure(self) -> bool:
        """Whether all counts are exact."""
        return self.exact and not self.band

    @property
    def mark(self) -> Mark:
        """How the tokens of a part are known."""
        return mark_of(exact=self.is_sure)

    def figure(self, tokens: int) -> Figure:
        """Mark the tokens of a part; the error band is that of the whole."""
        return Figure(tokens, self.mark)

    def extent(self, segment: Segment) -> str:
        """Return `preview, ~610 of ~22,865: `, to be put before a reason; empty if it is whole."""
        sent, whole = self.figure(segment.tokens), self.figure(segment.whole)
        return "" if segment.form is Form.WHOLE else f"{segment.form}, {sent} of {whole}: "

    @property
    def used_figure(self) -> Figure:
        """The tokens of the window with their error band."""
        return Figure(self.used, mark_of(exact=self.exact), self.band)

    @property
    def stable_tokens(self) -> int:
        """Tokens before the volatile tail: what a provider's prompt cache can keep."""
        return tokens_of(self.stable)

    @property
    def stable(self) -> tuple[Segment, ...]:
        """The segments before the user's message and what is sent with it."""
        said = self.draft.turn
        return tuple(takewhile(lambda segment: not is_of_message(segment, said), self.segments))

    @property
    def since(self) -> int | None:
        """The position of the message for which what is carried was composed.

        None if nothing is carried: the window does not go on from the one before.
        """
        carriers = (segment.carrier for segment in self.stable if segment.carrier is not None)
        return min(carriers, default=None)

    @property
    def saving(self) -> float:
        """The share of `full`'s tokens that is not sent, 0 to 1."""
        return 1 - self.used / self.full_tokens if self.full_tokens else 0.0

    @property
    def shortlist(self) -> Shortlist:
        """The rows of the ledger that have a rank, and the floor if scores decided."""
        ranked = [(row.rank, row) for row in self.ledger if row.rank is not None]
        rows = tuple(row for _, row in sorted(ranked, key=itemgetter(0)))
        is_heuristic = self.picking is None or bool(self.picking.fallback)
        return Shortlist(rows, self.floor if is_heuristic else None)

    def others_of(self, *kinds: Kind) -> tuple[OtherRow, ...]:
        return tuple(row for row in self.others if row.kind in kinds)

    @property
    def files(self) -> tuple[OtherRow, ...]:
        """The files of the conversation, then the parts that were found, best first."""
        return self.others_of(Kind.FILES, Kind.DOCUMENTS)

    def name_of(self, kind: Kind) -> str:
        """Name a kind of segment, the system text with its origin: `system · persona reviewer`."""
        reasons = (each.reason for each in self.segments if each.kind is kind is Kind.SYSTEM)
        origin = next(reasons, INSTRUCTIONS)
        return kind.value if origin == INSTRUCTIONS else f"{kind} · {origin}"

    def tokens_of(self, kind: Kind) -> int:
        return tokens_of(segment for segment in self.segments if segment.kind is kind)

    @property
    def draft(self) -> Segment:
        """The segment of the user's message."""
        return next(each for each in reversed(self.segments) if each.kind is Kind.DRAFT)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools offered to the model, by name."""
        return tuple(tool_of(each) for each in self.segments if each.kind is Kind.TOOLS)

    @property
    def step(self) -> int:
        """The number of replies with calls that were appended: 0 for a turn's first request."""
        appended = takewhile(
            lambda segment: segment.kind is not Kind.DRAFT, reversed(self.segments)
        )
        return sum(segment.kind is Kind.TOOL_CALLS for segment in appended)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """What is sent, in order; empty for a window stored by an earlier version."""
        pieces = chain.from_iterable(segment.pieces for segment in self.segments)
        return tuple(sorted(pieces, key=attrgetter("message", "place")))

    def messages(self) -> tuple[Message, ...]:
        """Return the messages of the request, as a protocol encodes them."""
        if self.pieces or self.planned:
            return messages_of(self.pieces)
        groups = planned_messages(self.segments)
        return tuple(_message([self.segments[index] for index in group]) for group in groups)

    def kind_of_turns(self) -> dict[int, Kind]:
        return {turn: segment.kind for turn, segment in segment_of_turns(self.segments).items()}

    @property
    def digest(self) -> str:
        """SHA-256 of messages and tools, in hexadecimal: the window's address in the store."""
        return digest_of(self.messages(), self.tools)


def is_of_message(segment: Segment, said: int | None) -> bool:
    """Whether a segment is sent with the user's message at position `said`."""
    if segment.kind is Kind.FILES and segment.file is not None:
        return segment.file.turn == said
    is_in_tail = segment.kind in TAIL_KINDS and segment.carrier in (None, said)
    return is_in_tail or segment.kind is Kind.DRAFT


def segment_of_turns(segments: Iterable[Segment]) -> dict[int, Segment]:
    """Map positions to the turns' segments: those that are whole, then parts, then index lines."""
    found: dict[int, Segment] = {}
    for segment in segments:
        known = found.get(segment.turn or 0)
        is_better = known is None or known.kind is Kind.INDEX or segment.is_whole > known.is_whole
        if segment.turn is not None and is_better:
            found[segment.turn] = segment
    return found


def tokens_of(segments: Iterable[Segment]) -> int:
    return sum(segment.tokens for segment in segments)


def pieces_in(segments: Iterable[Segment]) -> list[Piece]:
    return [piece for segment in segments for piece in segment.pieces]


def digest_of(messages: Sequence[Message], tools: Sequence[Tool] = ()) -> str:
    contents = [
        (
            *(each.role.value, each.content, *([use_fields(each.use)] if each.use else [])),
            *([[picture.digest for picture in each.pictures]] if each.pictures else []),
        )
        for each in messages
    ]
    offered = [[_tool_fields(tool) for tool in tools]] if tools else []
    return hashlib.sha256(json.dumps([*contents, *offered], ensure_ascii=True).encode()).hexdigest()


def _tool_fields(tool: Tool) -> dict[str, str]:
    return {"name": tool.name, "description": tool.description, "schema": tool.schema}


def tool_segment(tool: Tool, tokens: int, reason: str) -> Segment:
    return Segment(Kind.TOOLS, Role.SYSTEM, tool_text(tool), tokens, None, reason)


def tool_of(segment: Segment) -> Tool:
    """Return the tool that a segment offers."""
    return _tool(segment.text)


@lru_cache(maxsize=512)
def _tool(text: str) -> Tool:
    """Read a tool from the text of its segment; earlier versions stored the schema as text."""
    fields = json.loads(text)
    schema = fields.get("schema")
    if schema is None:
        schema = json.dumps(fields["parameters"], ensure_ascii=False)
    return Tool(fields["name"], fields["description"], schema)


def planned_messages(segments: Sequence[Segment]) -> list[list[int]]:
    """Group the indices of the segments that share a message; tools are in none.

    System, pinned and the like are a message each, then there is one per recent turn, and one for
    the whole tail. After it, each reply with calls and each result is a separate message.
    """
    draft = next((each.turn for each in reversed(segments) if each.kind is Kind.DRAFT), None)
    indices = [index for index, each in enumerate(segments) if each.kind is not Kind.TOOLS]
    groups = groupby(indices, key=lambda index: _message_key(segments[index], draft))
    return [list(group) for _, group in groups]


def _message_key(segment: Segment, draft: int | None) -> object:
    """Return a key that is equal for segments of one message: one per turn.

    A file shares the message of its turn, and what is recalled that of the message it is for.
    """
    kind = segment.kind
    if kind is Kind.FILES and segment.file is not None:
        return segment.file.turn
    if kind is Kind.RECENT or kind is Kind.DRAFT:
        return segment.turn
    if kind.is_appended:
        return segment.use
    if kind.is_stable:
        return kind
    return draft if segment.carrier is None else segment.carrier


_OF_TURNS = (Kind.RECENT, Kind.DRAFT, Kind.TOOL_CALLS, Kind.TOOL_RESULTS)
"""Kinds whose messages carry one turn each."""


def _message(parts: Sequence[Segment]) -> Message:
    """Make a message of a window that was stored by an earlier version."""
    first = next((each for each in parts if each.kind is not Kind.FILES), parts[0])
    text = "".join([segment.text for segment in parts])
    pictures = tuple(each.file.picture for each in parts if each.file and each.file.picture)
    turn = first.turn if first.kind in _OF_TURNS else None
    return Message(first.role, text, turn, first.use, pictures)
