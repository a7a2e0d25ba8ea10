"""Which turns match a request to the store, in the order in which they are returned."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from jitchat.index.retrieve import SHORTLIST
from jitchat.memory import Memory
from jitchat.tools.asking import Asked, Scope
from jitchat.values import Candidate, Retrieval
from jitchat.window import reasons
from jitchat.window.history import History
from jitchat.window.steering import Hold
from jitchat.window.window import ContextWindow

_KEPT_OUT = (reasons.EXCLUDED, reasons.DROPPED, reasons.SAME_UNIT)


@dataclass(frozen=True, slots=True)
class Found:
    turns: tuple[int, ...] = ()
    """Positions, in the order in which they are returned."""
    scores: tuple[float, ...] = ()
    """The score of each turn; 0 if nothing ranked it."""
    retrieval: Retrieval = field(default_factory=Retrieval)
    """The retrieval by which passages of long turns are chosen."""
    is_cut: bool = False
    """Whether only the best matches are included."""


def find(
    memory: Memory,
    asked: Asked,
    history: History,
    window: ContextWindow,
    sources: Sequence[range] = (),
) -> Found:
    """Find turns of `history` before the window's draft, never those that the user keeps out.

    `sources` are the ranges of turns that stored statements come from: at least one turn of each is
    found.
    """
    before, out = window.draft.turn or 0, kept_out(window)
    within = _within(memory, asked, before, sources)
    if not asked.query:
        given = sorted(turn for turn in within or () if _may_be_given(history, turn, out))
        return Found(tuple(given), (0.0,) * len(given))
    retrieval = memory.retrieve(asked.query, before, out, within, is_message=False)
    rows = [(row.turn, row.score) for row in _worth_giving(retrieval)]
    is_cut = len(rows) >= SHORTLIST
    rows += [(turn, 0.0) for turn in _not_found(sources, {turn for turn, _ in rows}, history)]
    rows = [row for row in rows if _may_be_given(history, row[0], out)]
    if asked.scope is Scope.TEMPORAL:
        rows.sort()
    turns, scores = zip(*rows, strict=True) if rows else ((), ())
    return Found(turns, scores, retrieval, is_cut)


def kept_out(window: ContextWindow) -> frozenset[int]:
    """Return the positions of the turns that the user keeps out of a window."""
    return frozenset(row.turn for row in window.ledger if row.reason in _KEPT_OUT)


def _within(
    memory: Memory, asked: Asked, before: int, sources: Sequence[range]
) -> frozenset[int] | None:
    """Return the positions to search, by days, by stored knowledge or by both; None for all."""
    within: frozenset[int] | None = None
    if asked.days is not None:
        within = frozenset(memory.index.said_on(asked.days.span, before))
    if asked.scope is Scope.KNOWLEDGE:
        known = _known(memory, before).union(*sources)
        within = known if within is None else within & known
    return within


def _known(memory: Memory, before: int) -> frozenset[int]:
    """Return the turns that are pinned or record a decision."""
    pinned = {turn for turn, hold in memory.pins.items() if hold == Hold.PINNED}
    return frozenset(pinned.union(memory.index.decided(before)))


def _not_found(
    sources: Sequence[range], found: Collection[int], history: History
) -> dict[int, None]:
    """Return the first turn of each range without a found turn."""
    missing = (turns for turns in sources if not any(turn in found for turn in turns))
    firsts = (
        next((turn for turn in turns if history.find(turn) is not None), 0) for turns in missing
    )
    return dict.fromkeys(filter(None, firsts))


def _worth_giving(retrieval: Retrieval) -> Sequence[Candidate]:
    """Return the picked candidates or, if there are none, those that a picker would be shown."""
    picked = {hit.turn for hit in retrieval.hits}
    rows = sorted(retrieval.candidates, key=lambda row: row.rank)
    if picked:
        return [row for row in rows if row.turn in picked]
    return [row for row in rows if retrieval.is_in_doubt(row.score)]


def _may_be_given(history: History, position: int, out: Collection[int]) -> bool:
    return position not in out and history.find(position) is not None
