"""The values that every layer speaks in. Frozen, equal by content, without behaviour of their own.

A turn is named by its position in its conversation, from 1: the `#id` on screen.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from jitchat.attachments import PartHit, Picture

BY_USER = "set by you"
LOADED = "loaded in the server"
"""The source of a limit that holds right now: the memory for it is taken."""
MAXIMUM = "the server's maximum"
LEARNT = "learnt from a refusal"
"""The source of a limit that a server named when it refused a window."""
OWN = "the reader's own"
CHOSEN = "chosen for this machine"
"""The source of the context size of a model that runs in a process of ours."""
ASSUMED = "assumed"
"""How the source of a limit begins that nobody told."""
UNTOLD = f"{ASSUMED}: the server did not say"
"""The source where the server was asked."""


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Mode(StrEnum):
    """How the window is chosen: by the planner in the module of that name in `window/modes/`."""

    FULL = (
        "full",
        "Send every turn",
        "every turn is sent, or the send is refused with the overshoot",
    )
    RECENCY = (
        "recency",
        "Send the last turns",
        "the recent block: the last turns, at least two exchanges",
    )
    JIT = (
        "jit",
        "Send the last turns and what is needed",
        "the recent block, index lines, and the earlier turns that the draft needs",
        True,
    )
    OBSERVE = (
        "observe",
        "Send observations and the turns behind them",
        "dated observations of the earlier turns, and the turns that are not observed yet",
        False,
        True,
    )
    DOCUMENT = (
        "document",
        "Send the memory document and this session's turns",
        "the project's memory document, and the turns that are not in it yet",
        False,
        True,
    )

    description: str
    """As an order, for the palette."""
    meaning: str
    """What a window of this mode holds, for the help."""
    recalls: bool
    """Whether old turns are looked for."""
    distils: bool
    """Whether what was distilled from old turns stands for them."""

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
        """Its name where there is little room: of more than four letters, three."""
        return self.value if len(self.value) <= 4 else self.value[:3]

    @property
    def is_baseline(self) -> bool:
        """Whether it sends turns as they are, and looks for none: what others are compared with."""
        return not (self.recalls or self.distils)


USUAL_MODES = tuple(mode for mode in Mode if not mode.distils)
"""What is measured where no modes are named: figures of before the others came are of these."""


class RecallOrder(StrEnum):
    """How recalled turns stand in the window."""

    BEST_LAST = "best-last"
    """By value, the best one nearest to the question."""
    DATE = "date"


class Reach(StrEnum):
    """From which conversations turns are recalled."""

    CONVERSATION = "conversation"
    """From the one that is open."""
    PROJECT = "project"
    """From those of its project."""
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
    """A user turn whose request failed; it is kept, and left out of later windows."""
    STREAMING = "streaming"


@dataclass(frozen=True, slots=True)
class Tool:
    """What the model may call."""

    name: str
    """Letters, digits, `_` and `-`, at most 64: what every protocol takes."""
    description: str
    schema: str
    """JSON Schema of the arguments, as text; an object's."""


REQUEST_CONTEXT = "request_context"
"""The name of the tool by which a model asks the store for more."""
HANDLE_LARGE_RESULTS = "handle_large_results"
"""The name of the tool by which a model chooses what is done with results that were held."""
EPHEMERAL = (REQUEST_CONTEXT, HANDLE_LARGE_RESULTS)
"""Tools of jitchat's own: later windows carry neither their calls nor their results."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One use of a tool, as the model asked for it."""

    id: str
    """By which its result names it; unique within its answer."""
    name: str
    arguments: str
    """JSON as the model wrote it, which may be broken; empty for none."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came back of a call."""

    call: ToolCall
    content: str
    is_error: bool = False
    seconds: float | None = None
    """How long the call ran; None where it did not."""


@dataclass(frozen=True, slots=True)
class Echo:
    """What a server wants handed back with an answer that calls tools: signatures, reasoning.

    It says again what the answer's text and calls say: who changes these, drops it.
    """

    origin: str
    """Protocol, provider and model; nobody else is sent it."""
    value: str
    """JSON, opaque: in that protocol's own shape, as it was received."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """What a turn, and the message that carries it, has of tools beside its text."""

    calls: tuple[ToolCall, ...] = ()
    """The assistant's, in their order."""
    echo: Echo | None = None
    """None where nothing but text and calls is to be handed back."""
    answers: ToolCall | None = None
    """The call of which this is the result; None for what is no result."""
    is_error: bool = False
    """Whether the call failed, or was refused."""
    form: str | None = None
    """What windows carry in place of a result's whole text; None for the whole."""
    seconds: float | None = None
    """How long the call of a result ran; None where it did not, or nobody measured it."""

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
    """Aware, or None where the source did not say."""
    name: str | None = None
    """The speaker's own name, where the conversation gives one."""
    status: Status = Status.COMPLETE
    id: int = field(default=0, compare=False)
    """The cold store's key; 0 for a turn that was never stored."""
    parent: int | None = None
    """The position of the turn that this one follows, 0 for none; None where that is simply the
    position before its own. Turns with one parent are each other's alternatives."""
    use: ToolUse = NO_TOOL_USE

    @property
    def speaker(self) -> str:
        return self.name or self.role.value


DEFAULT_PROJECT = "default"
"""Of conversations that nobody put into another one."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A chat as the cold store lists it."""

    id: str
    title: str
    turns: int
    created_at: datetime
    updated_at: datetime
    project: str = DEFAULT_PROJECT
    is_temporary: bool = False
    """Whether it reads and writes no distilled memory, and is deleted when it is left."""
    is_archived: bool = False
    """Whether lists leave it out until it is asked for."""
    tags: tuple[str, ...] = ()
    persona: str = ""
    """The name of one of its own; empty where it has none."""


@dataclass(frozen=True, slots=True)
class Instructions:
    """What a conversation has of instructions by itself; None where it is as the settings say."""

    system: str | None = None
    """A text of its own, in place of that of its persona, too."""
    persona: str | None = None
    """A name; empty: no persona, whatever the settings say."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What the hot index knows of one turn."""

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
    """Whether the turn says anything about when."""
    disclaims: bool = False
    """Whether the turn only says that its speaker does not know."""
    standing: bool = False
    """Whether the user says there what they always want or prefer."""


DATE, PLACE = "date", "place"
"""Parts of a score, and the only ones of a turn that was asked for by time alone: for its day, and
for its place in the order of turns."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row of the shortlist: a turn that may be worth recalling."""

    turn: int
    rank: int
    """1 for the best."""
    score: float
    """Fused; higher is closer. Comparable within one shortlist only."""
    parts: tuple[tuple[str, float], ...]
    """What the score is made of, by name; the values add up to `score`."""
    matched: tuple[str, ...]
    """The words of the query that the turn shares."""
    entry: IndexEntry
    rank_before: int | None = None
    """Its rank before a reranker scored the shortlist; None where none did."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where one turn stands among all that were searched, on the shortlist or not."""

    candidate: Candidate
    """Its rank is among all of them."""
    of: int
    """So many turns were searched."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A candidate that the picker chose to be loaded at full text."""

    turn: int
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Picking:
    """What asking a small model for the hits took, and whether they are its own."""

    model: str
    fallback: str = ""
    """Why the heuristic's hits stand instead, as a clause; empty where the model's do."""
    input_tokens: int = 0
    """Of the very request that was sent; 0 where none was, or none was accepted."""
    output_tokens: int = 0
    """As the provider reported them, else counted."""
    exact: bool = True
    """Whether what counted is the small model's own tokenizer."""
    ms: float = 0.0
    """From asking to the end of the answer, or to giving up."""
    cost: float | None = None
    """In US dollars; None where no price is known."""
    by_scores: int | None = None
    """What the window would take without the picks, in the counter's own tokens; None where they
    are not the model's, or where that was not kept."""


@dataclass(frozen=True, slots=True)
class Reranking:
    """What a reranker made of the shortlist, on this machine and for nothing but time."""

    model: str
    fallback: str = ""
    """Why the ranking stands as it was, as a clause; empty where it is the reranker's, too."""
    turns: int = 0
    """So many were scored."""
    ms: float = 0.0


_IN_DOUBT = 0.6
"""Of LoCoMo's questions 95.8 % have evidence above this share of the floor, in 33 turns of a
shortlist; 96.2 % in all 50."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a query that occurs in the conversation."""

    stem: str
    word: str
    """As the draft spells it."""
    weight: float
    """What it counts in the query, times its inverse document frequency."""


@dataclass(frozen=True, slots=True)
class ElsewhereHit:
    """A turn of another conversation that is worth recalling."""

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
    """What was found in other conversations, and how the open one's turns compare with that."""

    hits: tuple[ElsewhereHit, ...] = ()
    """Best first."""
    own_scores: tuple[tuple[int, float], ...] | None = ()
    """Positions of turns of the open conversation, and their scores among all that is in reach; a
    turn that is not listed scores less than all that are. None where they are not known."""
    terms: tuple[Term, ...] = ()
    """By what the passages of a long turn are chosen."""
    not_searched: int = 0
    """How many conversations in reach are not searched: there are too many turns."""


NOTHING_ELSEWHERE = Elsewhere()


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What was found for a draft: the shortlist and what the picker made of it."""

    candidates: tuple[Candidate, ...] = ()
    hits: tuple[Hit, ...] = ()
    """Best first."""
    decisions: tuple[IndexEntry, ...] = ()
    """The latest decisions that are not on the shortlist, oldest first."""
    floor: float = 0.0
    """The score below which nothing is picked."""
    picking: Picking | None = None
    """None where no small model is to pick."""
    reranking: Reranking | None = None
    """None where there is no reranker."""
    searched: int | None = None
    """The position up to which turns were looked through; None where nothing was asked."""
    terms: tuple[Term, ...] = ()
    """By what the passages of a long turn are chosen."""
    needless: str = ""
    """What kind of message the draft is that nothing is recalled for, as a clause; empty where
    turns were looked for."""
    elsewhere: Elsewhere = NOTHING_ELSEWHERE
    """Nothing where recall does not reach beyond the conversation."""
    parts: tuple[PartHit, ...] = ()
    """Parts of files, the best first."""

    def is_in_doubt(self, score: float) -> bool:
        """Whether a picker is shown a turn of that score: not where it is far below the floor."""
        return score >= _IN_DOUBT * self.floor


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    content: str
    turn: int | None = None
    """The position of the turn that this is, if it is one; never sent."""
    use: ToolUse = NO_TOOL_USE
    """A tool's message without the call that it answers goes out as the user's."""
    pictures: tuple[Picture, ...] = ()
    """Shown ahead of its text."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider reports them."""

    input_tokens: int | None
    """All of the input, from a cache or not; None where the provider does not say."""
    output_tokens: int | None
    """All of the output, with the reasoning; None where the provider does not say."""
    cached_tokens: int = 0
    """The part of the input that came from the provider's prompt cache."""
    written_tokens: int = 0
    """The part of the input that was put into that cache, where that is charged."""
    reasoning_tokens: int = 0
    """The part of the output that was reasoning."""
    cost: float | None = None
    """What the provider says that it charges, in US dollars; None where it does not say."""


@dataclass(frozen=True, slots=True)
class Limit:
    tokens: int
    source: str
    """As a few words for the screen: `BY_USER`, `LOADED`, `table of 2026-11` …"""


@dataclass(frozen=True, slots=True)
class Sample:
    """What a request was counted as, and what the server reported for it."""

    counted: int
    """By one counter, in tokens, uncorrected."""
    reported: int
