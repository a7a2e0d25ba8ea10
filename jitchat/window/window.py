"""Making segments: text in, priced segments out. Used by every planner.

A `ContextWindow` is the only source of the numbers on screen: the very object whose
`messages()` go to the provider.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle, groupby
from typing import TYPE_CHECKING

from jitchat.values import Message, Mode, Picking, Role, Turn
from jitchat.window.budget import PER_MESSAGE, PER_REQUEST, Budget
from jitchat.window.render import fence, free_tag, quote, spoken_as, verbatim

if TYPE_CHECKING:
    from jitchat.window.history import History


Price = Callable[[str], int]
"""Tokens of a text."""


RECENT_BLOCK = "recent block"


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that shares a message with others."""

    turn: int
    """The position of the turn that it stems from."""
    text: str
    reason: str
    """Why it is there."""


def system_segment(text: str, price: Price) -> Segment:
    """Make the instructions, the same in every mode."""
    tokens = price(text) + PER_MESSAGE
    return Segment(Kind.SYSTEM, Role.SYSTEM, text, tokens, None, "instructions")


def pinned_segments(turns: Sequence[Turn], price: Price) -> list[Segment]:
    """Make the one message that quotes the pinned turns."""
    texts = _fenced("pinned", quote_all(turns))
    costs = shares(texts, price)
    if costs:
        costs[0] += PER_MESSAGE
    return [
        Segment(Kind.PINNED, Role.USER, text, cost, turn.position, "pinned by you")
        for turn, text, cost in zip(turns, texts, costs, strict=True)
    ]


def recent_segments(history: History, start: int, reason: str, price: Price) -> list[Segment]:
    """Make the turns from index `start` on, each a message of its own."""
    made: list[Segment] = []
    for index in range(start, len(history.turns)):
        turn = history.turns[index]
        opens = index == start
        text = verbatim(turn, None if opens else history.turns[index - 1])
        tokens = price(text) + PER_MESSAGE if opens else history.costs[index]
        role = spoken_as(turn.role)
        made.append(Segment(Kind.RECENT, role, text, tokens, turn.position, reason))
    return made


def tail_segments(
    lines: Sequence[Piece], recalled: Sequence[Piece], draft: Piece, price: Price
) -> list[Segment]:
    """Make the volatile tail, one user message: index lines, recalled turns, the draft.

    Lines and recalled turns are put in order of position.
    """
    listed, loaded = _in_order(lines), _in_order(recalled)
    texts = [
        *_fenced("index", [piece.text for piece in listed]),
        *_fenced("recalled", [piece.text for piece in loaded]),
    ]
    texts.append(f"\n{draft.text}" if texts else draft.text)
    costs = shares(texts, price)
    costs[-1] += PER_MESSAGE + PER_REQUEST
    kinds = [Kind.INDEX] * len(listed) + [Kind.RETRIEVED] * len(loaded) + [Kind.DRAFT]
    return [
        Segment(kind, Role.USER, text, cost, piece.turn, piece.reason)
        for kind, text, cost, piece in zip(
            kinds, texts, costs, (*listed, *loaded, draft), strict=True
        )
    ]


def quote_all(turns: Sequence[Turn]) -> list[str]:
    """Quote turns at full text, all under one tag that is in none of them."""
    tag = free_tag("turn", (turn.content for turn in turns))
    return [quote(turn, tag) for turn in turns]


def shares(texts: Sequence[str], price: Price) -> list[int]:
    """Price each text as a part of one message; the sum is the price of all of them joined.

    A border seldom changes a count, so each is priced alone. What the whole differs by, which
    for a counter that rounds is at most a token a text, is settled a token at a time, the dearest
    first.
    """
    costs = [price(text) for text in texts]
    owed = (price("".join(texts)) if texts else 0) - sum(costs)
    step = 1 if owed > 0 else -1
    for place in cycle(sorted(range(len(costs)), key=lambda place: -costs[place])):
        if not owed:
            break
        if costs[place] + step >= 0:
            costs[place] += step
            owed -= step
    return costs


def _fenced(tag: str, texts: Sequence[str]) -> list[str]:
    return fence(free_tag(tag, texts), texts)


def _in_order(pieces: Sequence[Piece]) -> list[Piece]:
    return sorted(pieces, key=lambda piece: piece.turn)


class Kind(StrEnum):
    """What a segment is, in the order of the window."""

    SYSTEM = "system"
    PINNED = "pinned"
    RECENT = "recent"
    INDEX = "index"
    RETRIEVED = "retrieved"
    DRAFT = "draft"

    @property
    def is_stable(self) -> bool:
        """Whether it stands ahead of the volatile tail: the same from one request to the next."""
        return self in (Kind.SYSTEM, Kind.PINNED, Kind.RECENT)


class Verdict(StrEnum):
    """What became of a candidate."""

    PINNED = "pinned"
    RECENT = "recent"
    RETRIEVED = "retrieved"
    INDEX = "index"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of the window."""

    kind: Kind
    role: Role
    """Of the message that carries it."""
    text: str
    """Exactly as sent."""
    tokens: int
    """With its share of what the protocol adds."""
    turn: int | None
    """The turn it stems from; None for the system prompt."""
    reason: str


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """The decision on one turn."""

    turn: int
    rank: int | None
    """On the shortlist; None for a turn that is not on it: the neighbour of a hit, a late
    decision, or one that found no room in the recent block."""
    score: float
    parts: tuple[tuple[str, float], ...]
    tokens: int
    """What the turn costs at full text: its segment's tokens where it was sent so, else what it
    would cost as a message of its own."""
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
class ContextWindow:
    """One request's worth of segments, in order, the draft last."""

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
    floor: float | None = None
    """The score below which nothing was picked; None where there was no shortlist."""

    @property
    def used(self) -> int:
        """Tokens of all segments."""
        return sum(segment.tokens for segment in self.segments)

    @property
    def free(self) -> int:
        """What is left of the budget."""
        return self.budget.budget - self.used

    @property
    def is_sure(self) -> bool:
        """Whether the counts are to be taken as they stand, each of them."""
        return self.exact and not self.band

    @property
    def limit_source(self) -> str:
        """How the limit is known, as a few words; empty where nobody said."""
        return self.budget.limit_source

    @property
    def stable_tokens(self) -> int:
        """Tokens before the volatile tail: what a provider's prompt cache can keep."""
        return sum(segment.tokens for segment in self.segments if segment.kind.is_stable)

    @property
    def stable_share(self) -> float:
        """The share of what is sent that stands before the volatile tail, 0 to 1."""
        return self.stable_tokens / self.used if self.used else 0.0

    @property
    def saving(self) -> float:
        """The share of `full`'s tokens that is not sent, 0 to 1."""
        return 1 - self.used / self.full_tokens if self.full_tokens else 0.0

    def tokens_of(self, kind: Kind) -> int:
        """Count the tokens of all segments of one kind."""
        return sum(segment.tokens for segment in self.segments if segment.kind is kind)

    def messages(self) -> tuple[Message, ...]:
        """Make the request: system, pinned, one message a recent turn, one with the whole tail."""
        return tuple(map(_message, self.by_message()))

    def by_message(self) -> tuple[tuple[Segment, ...], ...]:
        """Gather the segments that share a message, message by message."""
        return tuple(tuple(group) for _, group in groupby(self.segments, key=_message_key))

    def kind_of_turns(self) -> dict[int, Kind]:
        """Tell for each turn in the window as what it is there; full text wins over a line."""
        found: dict[int, Kind] = {}
        for segment in self.segments:
            if segment.turn is not None and found.get(segment.turn, Kind.INDEX) is Kind.INDEX:
                found[segment.turn] = segment.kind
        return found

    @property
    def digest(self) -> str:
        """SHA-256 of the messages, in hexadecimal: the window's address in the cold store."""
        return digest_of(self.messages())


def digest_of(messages: Sequence[Message]) -> str:
    """SHA-256 of messages, in hexadecimal; what `ContextWindow.digest` is."""
    pairs = [(message.role.value, message.content) for message in messages]
    return hashlib.sha256(json.dumps(pairs, ensure_ascii=True).encode()).hexdigest()


def _message_key(segment: Segment) -> Kind | int | None:
    """Segments with the same key share a message: turns have one each, the tail has one."""
    kind = segment.kind
    if kind is Kind.RECENT:
        return segment.turn
    return kind if kind.is_stable else Kind.DRAFT


def _message(parts: tuple[Segment, ...]) -> Message:
    first = parts[0]
    is_turn = first.kind is Kind.RECENT or first.kind is Kind.DRAFT
    text = "".join([segment.text for segment in parts])
    return Message(first.role, text, first.turn if is_turn else None)
