"""Why, and why not: looks up what a window's ledger does not say of a turn. Changes nothing."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from jitchat.memory import Memory
from jitchat.store.path import Path
from jitchat.values import Status, Turn
from jitchat.window.why import (
    Standing,
    Why,
    why_by_ledger,
    why_never,
    why_outside,
    why_unasked,
    why_unknown,
)
from jitchat.window.window import ContextWindow


@dataclass(frozen=True, slots=True)
class Explained:
    """A window, and what it is for."""

    window: ContextWindow
    draft: str
    """What the user says with it."""
    said: Turn | None = None
    """The turn that it was sent for; None for a window that would be sent."""
    without: Collection[int] = frozenset()
    """Positions of turns that the user keeps out of it."""

    @property
    def position(self) -> int:
        """Of the message, as the window has it."""
        return self.window.segments[-1].turn or 0


def why(memory: Memory, explained: Explained, turn: int) -> Why:
    """Tell why a turn is in a window or not; takes as long as a search."""
    memory.refresh()
    last, path = _last_and_path(memory, explained)
    if 1 <= turn <= last and turn not in path:
        return why_outside(Standing.ELSEWHERE, turn)
    found = why_by_ledger(explained.window, turn)
    if found is not None:
        taken = _taken_by(memory, explained, turn) if found.standing is Standing.MESSAGE else None
        return why_outside(taken, turn) if taken is not None else found
    if not 1 <= turn <= last:
        return why_unknown(turn, last)
    standing = _outside(memory, explained, turn)
    if standing is not None:
        return why_outside(standing, turn)
    return _ranked(memory, explained, turn)


def _ranked(memory: Memory, explained: Explained, turn: int) -> Why:
    if not explained.draft.strip():
        return why_unasked(turn)
    position, without = explained.position, explained.without
    placed = memory.placed(explained.draft, position, turn, without)
    if placed is None:
        return why_outside(Standing.NOT_INDEXED, turn)
    return why_never(explained.window, turn, placed, sent=explained.said is not None)


def _last_and_path(memory: Memory, explained: Explained) -> tuple[int, Path]:
    """Find the last position there is, and the path that leads to the message."""
    tree = memory.store.tree(memory.conversation.id)
    path, said = tree.path(), explained.said
    if said is not None and said.position not in path:
        path = replace(tree, head=said.position).path()
    return tree.last, path


def _outside(memory: Memory, explained: Explained, turn: int) -> Standing | None:
    """Say why no window for the message can have a turn of the path; None where one can."""
    if turn > explained.position:
        return Standing.LATER
    stored = memory.store.turn(memory.conversation.id, turn)
    if stored is None:
        return Standing.UNKNOWN
    standing = _STATUSES.get(stored.status)
    return standing or (None if stored.content.strip() else Standing.BLANK)


def _taken_by(memory: Memory, explained: Explained, turn: int) -> Standing | None:
    """Say what is where the message would be: the turn that it edits, or a reply under way."""
    stored = memory.store.turn(memory.conversation.id, turn)
    if explained.said is not None or stored is None or stored.content == explained.draft:
        return None
    return _STATUSES.get(stored.status, Standing.ELSEWHERE)


_STATUSES = {Status.UNANSWERED: Standing.UNANSWERED, Status.STREAMING: Standing.UNFINISHED}
