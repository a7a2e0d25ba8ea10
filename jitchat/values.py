"""The values that all layers exchange. Frozen, equal by content, without behaviour.

A turn is identified by its position in its conversation, from 1: the `#id` on screen.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal

from jitchat.attachments import PartHit, Picture

BY_USER = "set by you"
LOADED = "loaded in the server"
"""The limit's source when a server has loaded the model with that context size."""
MAXIMUM = "the server's maximum"
LEARNT = "learnt from a refusal"
"""The limit's source when a server stated it in refusing a window."""
OWN = "the reader's own"
CHOSEN = "chosen for this machine"
"""The limit's source for a model that jitchat runs itself."""
ASSUMED = "assumed"
"""Prefix of the source of a limit that no server, table or setting states."""
UNTOLD = f"{ASSUMED}: the server did not say"
"""The limit's source when the server was asked and gave none."""
AUTO: Final = "auto"
WindowSize = int | Literal["auto"]
"""Tokens that a window may have once not everything fits, or `auto`: what suits the model."""


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Mode(StrEnum):
    """How the window is chosen. The planner is the module of the same name in `window/modes/`."""

    FULL = (
        "full",
        "Send every turn",
        "every turn is sent, or the send is refused with the overshoot",
    )
    RECENCY = (
        "recency",
        "Send the last turns",
        "the last turns, as many as the size of the window holds",
    )
    JIT = (
        "jit",
        "Send everything while it fits, then what is needed",
        "every turn while all of them fit its size; then the last turns and what the draft needs",
        True,
    )
    OBSERVE = (
        "observe",
        "Send observations and what is needed",
        "dated observations of the earlier turns, then what jit sends",
        True,
        True,
    )
    DOCUMENT = (
        "document",
        "Send the memory document and what is needed",
        "the project's memory document, then what jit sends",
        True,
        True,
    )

    description: str
    """An imperative sentence, for the palette."""
    meaning: str
    """What a window in this mode contains, for the help."""
    recalls: bool
    """Whether earlier turns are retrieved."""
    distils: bool
    """Whether distilled memory stands before what is retrieved."""

    def __new__(
        cls,
        name: str,
        description: str = "",
        meaning: str = "",
        recalls: bool = False,
        distils: bool = False,
    ) -> "Mode":
        mode = str.__new__(cls, name)
        mode._value_, mode.description, mode.meaning = name, description, meaning
        mode.recalls, mode.distils = recalls, distils
        return mode

    @property
    def short(self) -> str:
        """The name for narrow columns: three letters if it has more than four."""
        return self.value if len(self.value) <= 4 else self.value[:3]

    @property
    def is_baseline(self) -> bool:
        """Whether it sends turns unchanged and retrieves none: the baseline for comparisons."""
        return not (self.recalls or self.distils)


USUAL_MODES = tuple(mode for mode in Mode if not mode.distils)
"""The modes measured by default; published figures are for these."""


class RecallOrder(StrEnum):
    """The order of recalled turns in the window."""

    AUTO = "auto"
    """By date, so that a correction stands after what it corrects; in the window of a small model,
    the best last."""
    BEST_LAST = "best-last"
    """Ascending by score: the best turn is nearest to the question."""
    DATE = "date"


class Reach(StrEnum):
    """The conversations from which turns are recalled."""

    CONVERSATION = "conversation"
    """The open conversation only."""
    PROJECT = "project"
    """All conversations of its project."""
    ALL = "all"


class Status(StrEnum):
    """How a turn ended."""

    COMPLETE = "complete"
    CUT = "cut"
    """The stream broke off or the provider stopped before the end."""
    CANCELLED = "cancelled"
    """The user stopped it."""
    INTERRUPTED = "interrupted"
    """The app ended while the reply was streaming."""
    UNANSWERED = "unanswered"
    """A user turn whose request failed; it is kept but not sent in later windows."""
    STREAMING = "streaming"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the model may call."""

    name: str
    """At most 64 letters, digits, `_` or `-`: every protocol accepts these."""
    description: str
    schema: str
    """JSON Schema of the arguments, an object, as text."""


REQUEST_CONTEXT = "request_context"
"""The tool with which the model requests more from the store."""
HANDLE_LARGE_RESULTS = "handle_large_results"
"""The tool with which the model decides what to do with results held at the gate."""
EPHEMERAL = (REQUEST_CONTEXT, HANDLE_LARGE_RESULTS)
"""jitchat's own tools, whose calls and results are left out of later windows."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One use of a tool, as the model requested it."""

    id: str
    """Referenced by the result; unique within the reply."""
    name: str
    arguments: str
    """JSON as the model wrote it, possibly invalid; empty if there are no arguments."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The output of a tool call."""

    call: ToolCall
    content: str
    is_error: bool = False
    seconds: float | None = None
    """Duration of the call; None if it did not run."""


@dataclass(frozen=True, slots=True)
class Echo:
    """Opaque data that a server expects back with a reply that calls tools: signatures, reasoning.

    It repeats the reply's text and calls, so it must be dropped if either is changed.
    """

    origin: str
    """Protocol, provider and model; it is sent to no other."""
    value: str
    """JSON in the protocol's own format, exactly as received."""
    tokens: int | None = None
    """All reasoning tokens of the reply, as reported; None if they were not."""


class Form(StrEnum):
    """How much of a turn a window has."""

    WHOLE = "whole"
    EXCERPT = "excerpt"
    """Its passages."""
    PREVIEW = "preview"
    """The head and tail of a large result."""
    COMPACTED = "compacted"
    """What an instruction asked for."""
    HELD = "held"
    """A notice, because there was no room for a preview."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """The text that windows carry instead of a whole turn."""

    text: str
    form: Form = Form.PREVIEW


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The tool data of a turn or message, in addition to its text."""

    calls: tuple[ToolCall, ...] = ()
    """The assistant's calls, in order."""
    echo: Echo | None = None
    """None if only text and calls need to be sent back."""
    answers: ToolCall | None = None
    """The call that this turn is the result of; None if it is not a result."""
    is_error: bool = False
    """Whether the call failed or was declined."""
    form: Shortened | None = None
    """None if windows carry the whole turn."""
    seconds: float | None = None
    """Duration of the call; None if it did not run or was not measured."""

    def __bool__(self) -> bool:
        return self != NO_TOOL_USE


NO_TOOL_USE = ToolUse()


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation, at full fidelity."""

    position: int
    role: Role
    content: str
    created_at: datetime | None = None
    """Timezone-aware; None if the source gave no time."""
    name: str | None = None
    """The speaker's name, if the conversation has one."""
    status: Status = Status.COMPLETE
    id: int = field(default=0, compare=False)
    """The cold store's key; 0 if the turn is not stored."""
    parent: int | None = None
    """The position of the turn that this one follows, 0 for none; None means the position before
    this one. Turns with the same parent are alternatives of each other."""
    use: ToolUse = NO_TOOL_USE
    question: int | None = None
    """The position of the message that a reply answers; None means the last message before it."""

    @property
    def speaker(self) -> str:
        return self.name or self.role.value


DEFAULT_PROJECT = "default"
"""The project of conversations that were not assigned to one."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as the cold store lists it."""

    id: str
    title: str
    turns: int
    created_at: datetime
    updated_at: datetime
    project: str = DEFAULT_PROJECT
    is_temporary: bool = False
    """Whether it uses no distilled memory and is deleted when it is closed."""
    is_archived: bool = False
    """Whether lists and searches omit it by default."""
    tags: tuple[str, ...] = ()
    persona: str = ""
    """The name of the conversation's own persona; empty if it has none."""


@dataclass(frozen=True, slots=True)
class Instructions:
    """What is set for one conversation; None means that the settings apply."""

    system: str | None = None
    """The system prompt, also in place of the persona's."""
    persona: str | None = None
    """A persona's name; empty for no persona, whatever the settings say."""
    size: WindowSize | None = None


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """The hot index's entry for one turn."""

    turn: int
    """The turn's position."""
    summary: str
    """One line, at most 160 characters."""
    entities: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    decision: bool = False
    """Whether the turn commits to something."""
    asks: bool = False
    """Whether the turn ends in a question."""
    tells_when: bool = False
    """Whether the turn mentions a time."""
    disclaims: bool = False
    """Whether the turn only states that its speaker does not know."""
    standing: bool = False
    """Whether the user states a standing instruction or preference in it."""


DATE, PLACE = "date", "place"
"""Score parts for a turn's day and for its place in the order of turns: the only parts when a query
asks by time alone."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row of the shortlist: a turn that may be recalled."""

    turn: int
    rank: int
    """1 for the best."""
    score: float
    """The fused score; higher is better. Comparable only within one shortlist."""
    parts: tuple[tuple[str, float], ...]
    """Named parts of the score, which add up to `score`."""
    matched: tuple[str, ...]
    """Query words that occur in the turn."""
    entry: IndexEntry
    rank_before: int | None = None
    """Its rank before reranking; None if the shortlist was not reranked."""

    @property
    def by_rank(self) -> "Hit":
        """The hit that it is if nothing but its rank speaks for it."""
        return Hit(self.turn, self.score, f"rank {self.rank}")


@dataclass(frozen=True, slots=True)
class Placed:
    """A turn's rank among all turns searched, on the shortlist or not."""

    candidate: Candidate
    """Ranked among all turns searched."""
    of: int
    """How many turns were searched."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A candidate that is to be loaded at full text."""

    turn: int
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Picking:
    """What it took to have a small model pick the hits, and whether its picks were used."""

    model: str
    fallback: str = ""
    """Why the heuristic's hits were used instead, as a clause; empty if the model's were."""
    input_tokens: int = 0
    """As the provider reported them, otherwise counted; 0 if no request was sent or accepted."""
    output_tokens: int = 0
    exact: bool = True
    """Whether the tokens were reported, or counted by the small model's own tokenizer."""
    ms: float = 0.0
    """From sending the request to the end of the answer, or to the timeout."""
    cost: float | None = None
    """In US dollars; None if no price is known."""
    by_scores: int | None = None
    """Tokens of the window that the scores alone would give, by the same counter; None if the
    model's picks were not used, or if the number was not kept."""


@dataclass(frozen=True, slots=True)
class Reranking:
    """How a reranker, which runs on this machine, changed the shortlist."""

    model: str
    fallback: str = ""
    """Why the ranking is unchanged, as a clause; empty if the reranker's ranking is used."""
    turns: int = 0
    """How many turns were scored."""
    ms: float = 0.0


_IN_DOUBT = 0.6
"""A share of the floor. For 95.8 % of LoCoMo's questions, evidence scores above it, in shortlists
of 33 turns; all 50 turns hold evidence for 96.2 %."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a query that occurs in the conversation."""

    stem: str
    word: str
    """As spelled in the draft."""
    weight: float
    """Its weight in the query times its inverse document frequency."""


@dataclass(frozen=True, slots=True)
class ElsewhereHit:
    """A turn of another conversation that may be recalled."""

    conversation: str
    """Its id."""
    title: str
    turn: Turn
    score: float
    """On the scale of `Elsewhere.own_scores`."""
    reason: str

    @property
    def name(self) -> str:
        """`chat-3#12`."""
        return f"{self.conversation}#{self.turn.position}"


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Hits from other conversations, and how this conversation's turns compare with them."""

    hits: tuple[ElsewhereHit, ...] = ()
    """Best first."""
    own_scores: tuple[tuple[int, float], ...] | None = ()
    """Positions of this conversation's turns with their scores among all turns searched; a turn
    that is not listed scores below all listed ones. None if unknown."""
    terms: tuple[Term, ...] = ()
    """The terms by which passages of a long turn are chosen."""
    not_searched: int = 0
    """How many conversations were not searched because there are too many turns."""


NOTHING_ELSEWHERE = Elsewhere()


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The result of retrieval for a draft: the shortlist and the picker's choice."""

    candidates: tuple[Candidate, ...] = ()
    hits: tuple[Hit, ...] = ()
    """Best first."""
    decisions: tuple[IndexEntry, ...] = ()
    """The latest standing decisions not on the shortlist, each once, oldest first."""
    floor: float = 0.0
    """The score below which nothing is picked."""
    beyond: tuple[Hit, ...] = ()
    """What follows the hits if there is room: the rest of the shortlist, without turns kept out,
    best first. Empty if a small model picked."""
    picking: Picking | None = None
    """None if no small model picks."""
    reranking: Reranking | None = None
    """None if there is no reranker."""
    searched: int | None = None
    """The last position that was searched; None if there was nothing to search for."""
    terms: tuple[Term, ...] = ()
    """The terms by which passages of a long turn are chosen."""
    needless: str = ""
    """Why the draft needs no retrieval, as a clause; empty if turns were searched."""
    elsewhere: Elsewhere = NOTHING_ELSEWHERE
    """Empty unless recall includes other conversations."""
    parts: tuple[PartHit, ...] = ()
    """Parts of files, best first."""

    def is_in_doubt(self, score: float) -> bool:
        """Whether a turn with this score is shown to a picker: not far below the floor."""
        return score >= _IN_DOUBT * self.floor


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    content: str
    turn: int | None = None
    """The position of the turn that the message carries, if any; never sent."""
    use: ToolUse = NO_TOOL_USE
    """A tool message without the call that it answers is sent as a user message."""
    pictures: tuple[Picture, ...] = ()
    """Placed before the text."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the provider reports them."""

    input_tokens: int | None
    """The whole input, cached or not; None if not reported."""
    output_tokens: int | None
    """The whole output, including reasoning; None if not reported."""
    cached_tokens: int = 0
    """The part of the input that was read from the provider's prompt cache."""
    written_tokens: int = 0
    """The part of the input that was written to that cache, if writing is charged."""
    reasoning_tokens: int = 0
    """The part of the output that was reasoning."""
    cost: float | None = None
    """What the provider reports as charged, in US dollars; None if not reported."""


@dataclass(frozen=True, slots=True)
class Limit:
    tokens: int
    source: str
    """A few words for the screen: `BY_USER`, `LOADED`, `table of 2026-11` …"""


class Other(StrEnum):
    """What a request has besides text; each is written by the server in a way of its own."""

    DEFINITIONS = "definitions"
    CALLS = "calls"
    REASONING = "reasoning"
    PICTURES = "pictures"


Others = Mapping[Other, int]
"""The tokens of each kind in a request that has it."""
NO_OTHERS: Others = MappingProxyType[Other, int]({})


@dataclass(frozen=True, slots=True)
class Sample:
    """One request's own token count and the server's."""

    counted: int
    """Tokens of all of it, uncorrected."""
    reported: int
    others: Others = field(default_factory=lambda: NO_OTHERS)
    """How many of the counted tokens are not of text."""
