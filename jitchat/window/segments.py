"""Making segments: text in, priced segments out. Used by every planner."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jitchat.turn import Role, Turn
from jitchat.window.budget import PER_MESSAGE, PER_REQUEST
from jitchat.window.history import History
from jitchat.window.render import fenced, free_tag, quoted, verbatim
from jitchat.window.window import Kind, Segment

Price = Callable[[str], int]
"""Tokens of a text."""
Piece = tuple[int, str, str]
"""A turn's position, its text in the tail, and the reason why it is there."""


def system_segment(text: str, price: Price) -> Segment:
    """The instructions, the same in every mode."""
    tokens = price(text) + PER_MESSAGE
    return Segment(Kind.SYSTEM, Role.SYSTEM, text, tokens, None, "instructions")


def pinned_segments(turns: Sequence[Turn], price: Price) -> list[Segment]:
    """One message that quotes the pinned turns."""
    tag = free_tag("turn", (turn.content for turn in turns))
    outer = free_tag("pinned", (turn.content for turn in turns))
    texts = fenced(outer, [quoted(turn, tag) for turn in turns])
    extra = [PER_MESSAGE] + [0] * len(texts)
    return [
        Segment(Kind.PINNED, Role.USER, text, price(text) + more, turn.position, "pinned by you")
        for turn, text, more in zip(turns, texts, extra, strict=False)
    ]


def recent_segments(history: History, start: int, reason: str, price: Price) -> list[Segment]:
    """The turns from index `start` on, each a message of its own."""
    made: list[Segment] = []
    for index in range(start, len(history.turns)):
        turn = history.turns[index]
        opens = index == start
        previous = None if opens else history.turns[index - 1]
        text = verbatim(turn, previous)
        tokens = price(text) + PER_MESSAGE if opens else history.costs[index]
        made.append(Segment(Kind.RECENT, turn.role, text, tokens, turn.position, reason))
    return made


def tail_segments(
    lines: Sequence[Piece], recalled: Sequence[Piece], draft: tuple[Turn, str], price: Price
) -> list[Segment]:
    """The volatile tail, one user message: index lines, recalled turns, the draft.

    The draft carries what the message costs beyond its other pieces, so that the segments add
    up to the message as it is counted whole.
    """
    made = [
        *_fenced_segments(Kind.INDEX, "index", lines, price),
        *_fenced_segments(Kind.RETRIEVED, "recalled", recalled, price),
    ]
    turn, text = draft
    text = f"\n{text}" if made else text
    whole = price("".join(segment.text for segment in made) + text)
    tokens = whole - sum(segment.tokens for segment in made) + PER_MESSAGE + PER_REQUEST
    made.append(Segment(Kind.DRAFT, Role.USER, text, tokens, turn.position, "your message"))
    return made


def _fenced_segments(kind: Kind, tag: str, pieces: Sequence[Piece], price: Price) -> list[Segment]:
    texts = [text for _, text, _ in pieces]
    marked = fenced(free_tag(tag, texts), texts)
    return [
        Segment(kind, Role.USER, text, price(text), turn, reason)
        for text, (turn, _, reason) in zip(marked, pieces, strict=True)
    ]
