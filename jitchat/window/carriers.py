"""How a window carries a turn: in its own segment, or in statements that stand for it."""

from collections.abc import Callable
from dataclasses import dataclass

from jitchat.statements import Source
from jitchat.text.figures import Figure
from jitchat.values import Turn
from jitchat.window import reasons
from jitchat.window.exchange import is_shown
from jitchat.window.statements import DISTILLED_KINDS, sources_of
from jitchat.window.window import ContextWindow, Kind, Segment, segment_of_turns


def statements_in(window: ContextWindow) -> Segment | None:
    """Find the observations or the document of a window; None if it has neither."""
    heads = (segment for segment in window.segments if segment.kind in DISTILLED_KINDS)
    return next(heads, None)


@dataclass(frozen=True, slots=True)
class Carrier:
    """The segment that carries a turn."""

    kind: Kind
    size: Figure


def carriers(window: ContextWindow) -> Callable[[Turn], Carrier | None]:
    """Return a function that finds what carries a turn of the window's path, or None.

    Statements do not carry turns that the user keeps out.
    """
    own, statements = segment_of_turns(window.segments), statements_in(window)
    kept_out = {row.turn for row in window.ledger if row.reason in reasons.KEPT_OUT}

    def segment(turn: Turn) -> Segment | None:
        found = own.get(turn.position)
        if found is not None or turn.position > window.distilled_through:
            return found
        return statements if turn.position not in kept_out and is_shown(turn) else None

    def carrier(turn: Turn) -> Carrier | None:
        found = segment(turn)
        return None if found is None else Carrier(found.kind, window.figure(found.tokens))

    return carrier


def lines_on(window: ContextWindow, turn: int, conversation: str) -> tuple[str, ...]:
    """List the lines of the statements that name a turn among their sources.

    `conversation` is the id of the window's conversation.
    """
    statements = statements_in(window)
    if statements is None:
        return ()
    lines = statements.text.splitlines()[1:-1]  # without the fence
    return tuple(line for line in lines if _names(sources_of(line), turn, conversation))


def _names(source: Source | None, turn: int, conversation: str) -> bool:
    return source is not None and turn in source.turns and source.conversation in ("", conversation)
