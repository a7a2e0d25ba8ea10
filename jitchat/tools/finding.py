"""Which turns answer a request to the store, in the order in which they are given."""

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
    """Positions, in the order in which they are given."""
    scores: tuple[float, ...] = ()
    """Of each; 0 where nothing ranked it."""
    retrieval: Retrieval = field(default_factory=Retrieval)
    """By what passages of long turns are chosen."""
    is_cut: bool = False
    """Whether these are only the best of those that fit."""


def find(
    memory: Memory,
    asked: Asked,
    history: History,
    window: ContextWindow,
    led: Sequence[range] = (),
) -> Found:
    """Find turns of `history`, ahead of the draft of a window; those kept out of it never.

    Of each of the ranges `led`, the turns that what is known stems from, one is found in any case.
    """
    before, out = window.draft.turn or 0, kept_out(window)
    within = _within(memory, asked, before, led)
    if not asked.query:
        given = sorted(turn for turn in within or () if _may_be_given(history, turn, out))
        return Found(tuple(given), (0.0,) * len(given))
    retrieval = memory.retrieve(asked.query, before, out, within, is_message=False)
    rows = [(row.turn, row.score) for row in _worth_giving(retrieval)]
    is_cut = len(rows) >= SHORTLIST
    rows += [(turn, 0.0) for turn in _not_found(led, {turn for turn, _ in rows}, history)]
    rows = [row for row in rows if _may_be_given(history, row[0], out)]
    if asked.scope is Scope.TEMPORAL:
        rows.sort()
    turns, scores = zip(*rows, strict=True) if rows else ((), ())
    return Found(turns, scores, retrieval, is_cut)


def kept_out(window: ContextWindow) -> frozenset[int]:
    """Tell which turns the user keeps out of a window, by position."""
    return frozenset(row.turn for row in window.ledger if row.reason in _KEPT_OUT)


def _within(
    memory: Memory, asked: Asked, before: int, led: Sequence[range]
) -> frozenset[int] | None:
    """Tell where turns are looked for: days, what is known, both; None for everywhere."""
    within: frozenset[int] | None = None
    if asked.days is not None:
        within = frozenset(memory.index.said_on(asked.days.span, before))
    if asked.scope is Scope.KNOWLEDGE:
        known = _known(memory, before).union(*led)
        within = known if within is None else within & known
    return within


def _known(memory: Memory, before: int) -> frozenset[int]:
    """List the turns that are pinned, or decide something."""
    pinned = {turn for turn, hold in memory.pins.items() if hold == Hold.PINNED}
    return frozenset(pinned.union(memory.index.decided(before)))


def _not_found(led: Sequence[range], found: Collection[int], history: History) -> dict[int, None]:
    """Choose the first turn of each range of which none was found."""
    missing = (turns for turns in led if not any(turn in found for turn in turns))
    firsts = (
        next((turn for turn in turns if history.find(turn) is not None), 0) for turns in missing
    )
    return dict.fromkeys(filter(None, firsts))


def _worth_giving(retrieval: Retrieval) -> Sequence[Candidate]:
    """Choose what was picked; where nothing was, what a picker would be shown."""
    picked = {hit.turn for hit in retrieval.hits}
    rows = sorted(retrieval.candidates, key=lambda row: row.rank)
    if picked:
        return [row for row in rows if row.turn in picked]
    return [row for row in rows if retrieval.is_in_doubt(row.score)]


def _may_be_given(history: History, position: int, out: Collection[int]) -> bool:
    return position not in out and history.find(position) is not None
