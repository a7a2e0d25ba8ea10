"""The context window as a value: segments, ledger, and the numbers that follow from them.

A `ContextWindow` is the only source of the numbers on screen: the very object whose
`messages()` go to the provider.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import lru_cache, partial
from itertools import groupby
from operator import itemgetter

from jitchat.attachments import Picture
from jitchat.statements import Source
from jitchat.text.figures import plural
from jitchat.tool_fields import use_fields
from jitchat.values import (
    NO_TOOL_USE,
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
        """Whether it stands ahead of the volatile tail: the same from one request to the next."""
        return self in _STABLE

    @property
    def is_appended(self) -> bool:
        """Whether it was appended in mid-turn, behind the draft."""
        return self in (Kind.TOOL_CALLS, Kind.TOOL_RESULTS, Kind.REQUESTED)


_STABLE = (
    *(Kind.SYSTEM, Kind.TOOLS, Kind.STANDING, Kind.DOCUMENT, Kind.OBSERVATIONS),
    *(Kind.PINNED, Kind.RECENT, Kind.FILES),
)


class Verdict(StrEnum):
    """What became of a turn; where a segment carries it, the segment's kind."""

    PINNED = "pinned"
    RECENT = "recent"
    RETRIEVED = "retrieved"
    INDEX = "index"
    FILES = "files"
    DOCUMENTS = "documents"
    REQUESTED = "requested"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class Passage:
    start: int
    """In characters of the turn's text."""
    end: int
    """Behind its last character."""
    tokens: int
    reason: str
    """Why it was chosen."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What the window has of a turn that is not there whole.

    Tokens are the counter's own, each counted once: those of the passages and those left out add
    up to what the whole text counts.
    """

    passages: tuple[Passage, ...]
    """In order, none beside another."""
    left_out: tuple[int, ...]
    """Tokens ahead of each passage, and behind the last: one more than there are passages."""

    @property
    def tokens(self) -> int:
        """What the passages count."""
        return sum(passage.tokens for passage in self.passages)

    @property
    def whole(self) -> int:
        """What the whole text counts."""
        return self.tokens + sum(self.left_out)


@dataclass(frozen=True, slots=True)
class FileRef:
    """Of which file a segment is, or of which part of one."""

    name: str
    turn: int
    """The position of the turn that the file came with."""
    digest: str
    """The file's SHA-256, in hexadecimal."""
    locator: str = ""
    """Where in the file the part is; empty for all of it."""
    picture: Picture | None = None
    is_whole: bool = True
    """Whether it is all of the file; not a part, nor the line that stands for a file."""

    @property
    def place(self) -> str:
        """`README.md § Install`."""
        return f"{self.name} {self.locator}".rstrip()


@dataclass(frozen=True, slots=True)
class Segment:
    kind: Kind
    role: Role
    """Of the message that carries it."""
    text: str
    """Exactly as sent."""
    tokens: int
    """With its share of what the protocol adds."""
    turn: int | None
    """The turn it stems from; None for the system prompt and for tools."""
    reason: str
    excerpt: Excerpt | None = None
    """What it holds of its turn, where that is passages; None where it is all, or another text."""
    use: ToolUse = NO_TOOL_USE
    """What the message that carries it has of tools."""
    source: Source | None = None
    """The turns that a fact was taken from, or the turn of another conversation that it is: none of
    these makes it a turn of this window's conversation. None for all else."""
    file: FileRef | None = None
    """The file that it is of; no turn then."""


RERANKER = "reranker"
"""The part of a score that is a reranker's."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    turn: int
    rank: int | None
    """On the shortlist; None for a turn that is not on it: the neighbour of a hit, a late
    decision, or one that found no room in the recent block."""
    score: float
    parts: tuple[tuple[str, float], ...]
    tokens: int
    """What the turn costs at full text: its segment's tokens where it was sent so, else what it
    would cost as a message of its own: so it is of a turn that was sent as an excerpt."""
    verdict: Verdict
    reason: str
    rank_before: int | None = None
    """Before a reranker scored the shortlist; None where none did."""

    @property
    def ranking(self) -> str:
        """`rank 3`, `rank 3 (12 before the reranker)`; empty where it has none."""
        if self.rank is None:
            return ""
        before = self.rank_before
        return f"rank {self.rank}" + (f" ({before} before the reranker)" if before else "")


@dataclass(frozen=True, slots=True)
class ElsewhereRow:
    """A turn of another conversation that was considered."""

    conversation: str
    """Its id."""
    title: str
    turn: int
    """Its position there."""
    score: float
    tokens: int
    """As of a `LedgerRow`."""
    verdict: Verdict
    reason: str

    @property
    def name(self) -> str:
        """`chat-3#12`."""
        return f"{self.conversation}#{self.turn}"

    @property
    def source(self) -> Source:
        return Source(self.turn, self.turn, self.conversation)


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of the conversation, or a part of one that was found for the draft."""

    file: FileRef
    score: float
    """0 for a file."""
    tokens: int
    """As it was sent; of what is left out, whole."""
    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class NeverCandidates:
    """The turns that are neither in the ledger nor in the window, in one sum."""

    turns: int
    """At least one."""
    tokens: int
    """What they would cost together, each as a message of its own."""
    reason: str
    """Why they were never candidates; in `recency`, where there are none, why they are not sent."""

    @property
    def sentence(self) -> str:
        """`10 turns, never candidates: nothing in them matched`."""
        single = self.turns == 1
        who = "1 turn, never a candidate" if single else f"{self.turns:,} turns, never candidates"
        return f"{who}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Shortlist:
    rows: tuple[LedgerRow, ...] = ()
    """By rank, the best first."""
    floor: float | None = None
    """The score below which nothing was picked; None where no score decided, or it is unknown."""

    @property
    def cut(self) -> LedgerRow | None:
        """The last row that was picked and is there at full text; None where none is."""
        picked = (row for row in reversed(self.rows) if row.verdict is Verdict.RETRIEVED)
        return next((row for row in picked if row.score >= (self.floor or 0.0)), None)

    @property
    def end(self) -> LedgerRow | None:
        """The last row; None where nothing was found."""
        return self.rows[-1] if self.rows else None

    @property
    def above_floor(self) -> int:
        """How many rows have a score that is not below the floor."""
        return sum(row.score >= (self.floor or 0.0) for row in self.rows)


@dataclass(frozen=True, slots=True)
class ToolLeftOut:
    """A tool that there is, and that was not offered."""

    name: str
    tokens: int
    """What it would have taken."""
    reason: str
    """Why it was not, as a clause."""


@dataclass(frozen=True, slots=True)
class Requested:
    """What a model asked the store for in mid-turn, and what it was given."""

    asked: str
    """As it was understood: `“billing”, 2026-02-16 to 2026-02-22`."""
    given: tuple[tuple[int, float], ...] = ()
    """Positions of the turns that were given, and their scores; 0 where none was ranked."""
    named: tuple[int, ...] = ()
    """Positions of turns that were found, and that the window held already."""
    tokens: int = 0
    """What the result added to the window."""
    step: int = 1
    """The first step of a turn is 1."""
    elsewhere: tuple[str, ...] = ()
    """Names of parts of files and of turns of other conversations that were given: `chat-3#12`."""
    statements: int = 0
    """So many kept facts and lines of the memory document were given."""

    @property
    def sentence(self) -> str:
        """`asked for “billing” → #12 chat-3#14, 2 kept statements, +812 tokens`."""
        turns = " ".join((*(f"#{turn}" for turn, _ in self.given), *self.elsewhere))
        kept = plural(self.statements, "kept statement") if self.statements else ""
        given = ", ".join(filter(None, (turns, kept))) or "nothing new"
        return f"asked for {self.asked} → {given}, +{self.tokens:,} tokens"


@dataclass(frozen=True, slots=True)
class HeldResult:
    """A large result of which a window has its preview."""

    turn: int
    whole: int
    """Tokens of all of it."""
    tokens: int
    """Tokens that the window has in its place."""

    @property
    def sentence(self) -> str:
        """`held #12: 5,321 tokens as 412 (92 % saved)`."""
        saved = 1 - self.tokens / self.whole
        return f"held #{self.turn}: {self.whole:,} tokens as {self.tokens:,} ({saved:.0%} saved)"


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """One request's worth of segments, in order: the draft, then what was appended in mid-turn."""

    mode: Mode
    model: str
    counter: str
    """Name of what counted."""
    exact: bool
    """Whether that is the model's own tokenizer."""
    budget: Budget
    segments: tuple[Segment, ...]
    ledger: tuple[LedgerRow, ...]
    never_candidates: NeverCandidates | None
    """None where each turn of the history was considered or is sent."""
    full_tokens: int
    """What `full` would send for the same draft."""
    counted: int
    """What the counter made of all segments, before it was corrected by what was reported."""
    band: int = 0
    """Half the width, in tokens, of what holds about 95 % of reports for `used`; 0 where it is
    exact or where nothing is known."""
    picking: Picking | None = None
    """What a small model had to do with the choice; None where none is to."""
    reranking: Reranking | None = None
    """What a reranker made of the shortlist; None where there is none."""
    floor: float | None = None
    """The score below which nothing was picked; None where there was no shortlist."""
    needless: str = ""
    """What kind of message the draft is that nothing is recalled for, as a clause; empty where
    turns were looked for."""
    distilled_through: int = 0
    """The position of the last turn that observations or the document stand for; 0 for none."""
    requests: tuple[Requested, ...] = ()
    """What the model asked the store for, in order."""
    held: tuple[HeldResult, ...] = ()
    """What the gate held back in this turn, in order."""
    tools_left_out: tuple[ToolLeftOut, ...] = ()
    elsewhere: tuple[ElsewhereRow, ...] = ()
    """Turns of other conversations that were considered, the best first."""
    not_searched: int = 0
    """How many conversations in reach were not searched: there are too many turns."""
    files: tuple[FileRow, ...] = ()
    """The files of the conversation, then the parts that were found, the best first."""

    @property
    def used(self) -> int:
        return tokens_of(self.segments)

    @property
    def free(self) -> int:
        return self.budget.budget - self.used

    @property
    def is_sure(self) -> bool:
        """Whether the counts are to be taken as they stand, each of them."""
        return self.exact and not self.band

    @property
    def stable_tokens(self) -> int:
        """Tokens before the volatile tail: what a provider's prompt cache can keep."""
        return tokens_of(segment for segment in self.segments if segment.kind.is_stable)

    @property
    def stable_share(self) -> float:
        """The share of what is sent that stands before the volatile tail, 0 to 1."""
        return self.stable_tokens / self.used if self.used else 0.0

    @property
    def saving(self) -> float:
        """The share of `full`'s tokens that is not sent, 0 to 1."""
        return 1 - self.used / self.full_tokens if self.full_tokens else 0.0

    @property
    def shortlist(self) -> Shortlist:
        """The rows of the ledger that have a rank, and what they were picked by."""
        ranked = [(row.rank, row) for row in self.ledger if row.rank is not None]
        rows = tuple(row for _, row in sorted(ranked, key=itemgetter(0)))
        is_heuristic = self.picking is None or bool(self.picking.fallback)
        return Shortlist(rows, self.floor if is_heuristic else None)

    def name_of(self, kind: Kind) -> str:
        """Name a kind of segment; the system text with whose it is: `system · persona reviewer`."""
        reasons = (each.reason for each in self.segments if each.kind is kind is Kind.SYSTEM)
        whose = next(reasons, INSTRUCTIONS)
        return kind.value if whose == INSTRUCTIONS else f"{kind} · {whose}"

    def tokens_of(self, kind: Kind) -> int:
        return tokens_of(segment for segment in self.segments if segment.kind is kind)

    @property
    def draft(self) -> Segment:
        """The segment of what the user says."""
        return next(each for each in reversed(self.segments) if each.kind is Kind.DRAFT)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What the model may call, by name."""
        return tuple(_tool(each.text) for each in self.segments if each.kind is Kind.TOOLS)

    @property
    def step(self) -> int:
        """How many answers with calls were appended: 0 for the first request of a turn."""
        return sum(segment.kind is Kind.TOOL_CALLS for segment in self.segments)

    def messages(self) -> tuple[Message, ...]:
        """Make the request: system, pinned, one message a recent turn, one with the whole tail.

        Behind that, an answer with calls and each result are a message of their own.
        """
        return tuple(map(_message, self.by_message()))

    def by_message(self) -> tuple[tuple[Segment, ...], ...]:
        """Put together the segments that share a message; tools are in none."""
        spoken = (segment for segment in self.segments if segment.kind is not Kind.TOOLS)
        ends = (each.turn for each in reversed(self.segments) if each.kind is Kind.DRAFT)
        key = partial(_message_key, draft=next(ends, None))
        return tuple(tuple(group) for _, group in groupby(spoken, key=key))

    def kind_of_turns(self) -> dict[int, Kind]:
        return {turn: segment.kind for turn, segment in segment_of_turns(self.segments).items()}

    @property
    def digest(self) -> str:
        """SHA-256 of messages and tools, in hexadecimal: the window's address in the store."""
        return digest_of(self.messages(), self.tools)


def segment_of_turns(segments: Iterable[Segment]) -> dict[int, Segment]:
    """Find each turn's segment, by position; full text wins over an index line."""
    found: dict[int, Segment] = {}
    for segment in segments:
        turn = segment.turn
        if turn is not None and (turn not in found or found[turn].kind is Kind.INDEX):
            found[turn] = segment
    return found


def tokens_of(segments: Iterable[Segment]) -> int:
    return sum(segment.tokens for segment in segments)


def digest_of(messages: Sequence[Message], tools: Sequence[Tool] = ()) -> str:
    said = [
        (
            *(each.role.value, each.content, *([use_fields(each.use)] if each.use else [])),
            *([[picture.digest for picture in each.pictures]] if each.pictures else []),
        )
        for each in messages
    ]
    offered = [[asdict(tool) for tool in tools]] if tools else []
    return hashlib.sha256(json.dumps([*said, *offered], ensure_ascii=True).encode()).hexdigest()


def tool_segment(tool: Tool, tokens: int, reason: str) -> Segment:
    """Make the segment of a tool that is offered; its text is JSON."""
    text = json.dumps(asdict(tool), ensure_ascii=False)
    return Segment(Kind.TOOLS, Role.SYSTEM, text, tokens, None, reason)


@lru_cache(maxsize=512)
def _tool(text: str) -> Tool:
    return Tool(**json.loads(text))


def _message_key(segment: Segment, draft: int | None) -> object:
    """Segments with the same key share a message: turns have one each, the tail has one.

    A file is in that of its turn.
    """
    kind = segment.kind
    if kind is Kind.FILES and segment.file is not None:
        return Kind.DRAFT if segment.file.turn == draft else segment.file.turn
    if kind is Kind.RECENT:
        return segment.turn
    if kind.is_appended:
        return segment.use
    return kind if kind.is_stable else Kind.DRAFT


_OF_TURNS = (Kind.RECENT, Kind.DRAFT, Kind.TOOL_CALLS, Kind.TOOL_RESULTS)
"""Kinds of which a message carries one turn."""


def _message(parts: tuple[Segment, ...]) -> Message:
    first = next((each for each in parts if each.kind is not Kind.FILES), parts[0])
    text = "".join([segment.text for segment in parts])
    pictures = tuple(each.file.picture for each in parts if each.file and each.file.picture)
    turn = first.turn if first.kind in _OF_TURNS else None
    return Message(first.role, text, turn, first.use, pictures)
