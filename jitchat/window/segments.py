"""Making segments: turns in, priced segments out. Used by every planner."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from operator import attrgetter

from jitchat.values import Role, Turn
from jitchat.window import reasons
from jitchat.window.budget import PER_MESSAGE, PER_REQUEST
from jitchat.window.history import History
from jitchat.window.render import fence, free_tag, quote_all, spoken_as, verbatim
from jitchat.window.window import Kind, Segment

Price = Callable[[str], int]
"""Tokens of a text."""


@dataclass(frozen=True, slots=True)
class Piece:
    turn: int
    """The position of the turn that it stems from."""
    text: str
    reason: str
    """Why it is there."""


def system_segment(text: str, price: Price) -> Segment:
    tokens = price(text) + PER_MESSAGE
    return Segment(Kind.SYSTEM, Role.SYSTEM, text, tokens, None, reasons.INSTRUCTIONS)


def pinned_segments(turns: Sequence[Turn], price: Price) -> list[Segment]:
    texts = _fenced("pinned", quote_all(turns))
    costs = shares(texts, price)
    if costs:
        costs[0] += PER_MESSAGE
    return [
        Segment(Kind.PINNED, Role.USER, text, cost, turn.position, reasons.PINNED)
        for turn, text, cost in zip(turns, texts, costs, strict=True)
    ]


def recent_segments(history: History, start: int, reason: str, price: Price) -> list[Segment]:
    """Make the turns from index `start` on, each a message of its own."""
    made: list[Segment] = []
    previous = None
    for turn, cost in zip(history.turns[start:], history.costs[start:], strict=True):
        text, role = verbatim(turn, previous), spoken_as(turn.role)
        tokens = cost if previous else price(text) + PER_MESSAGE
        made.append(Segment(Kind.RECENT, role, text, tokens, turn.position, reason))
        previous = turn
    return made


def tail_segments(
    lines: Sequence[Piece], recalled: Sequence[Piece], draft: Piece, price: Price
) -> list[Segment]:
    """Make the volatile tail, one user message: index lines, recalled turns, the draft.

    Lines and recalled turns are put in order of position.
    """
    listed, loaded = (sorted(pieces, key=attrgetter("turn")) for pieces in (lines, recalled))
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
