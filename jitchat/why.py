"""Why a turn is in a window or not, in a few sentences. Changes nothing.

For a turn in the ledger, the ledger decides: `why_by_ledger` does not search. A turn that was never
a candidate is explained by its rank among all turns, which `why` looks up.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum

from jitchat.memory import Memory
from jitchat.store.path import Path
from jitchat.text.sanitize import one_line, shorten
from jitchat.values import Placed, Status, Turn
from jitchat.window import reasons
from jitchat.window.carriers import lines_on
from jitchat.window.cost import picking_pays
from jitchat.window.exchange import why_unshown
from jitchat.window.render import passage_texts
from jitchat.window.window import (
    ContextWindow,
    Kind,
    LedgerRow,
    OtherRow,
    Segment,
    segment_of_turns,
)

LEAST_TOLD = 0.005
"""Smaller values would be shown as 0.00."""
_WORDS = 4
_LINES, _STATEMENT = 3, 160
"""How many statements are quoted, and how many characters of each at most."""
_PASSAGE = 60
"""Characters of a passage that are quoted."""


class Standing(StrEnum):
    """The status of a turn with regard to a window."""

    SENT = "in the window"
    EXCERPT = "in the window as an excerpt"
    IN_PART = "in the window in part"
    LISTED = "as an index line"
    LEFT_OUT = "left out"
    NEVER = "never a candidate"
    MESSAGE = "the message itself"
    LATER = "later"
    ELSEWHERE = "on another branch"
    NOT_INDEXED = "not indexed yet"
    UNFINISHED = "unfinished"
    UNSHOWN = "in no window"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Why:
    turn: int
    standing: Standing
    sentences: tuple[str, ...]
    row: LedgerRow | None = None
    """Its row in the ledger; None if it has none."""
    placed: Placed | None = None
    """Its rank among all turns; None if it was not ranked for this answer."""

    def __str__(self) -> str:
        return " ".join(self.sentences)


def why_by_ledger(window: ContextWindow, turn: int) -> Why | None:
    """Explain a turn from the window and its ledger alone; None if neither has it."""
    segment = segment_of_turns(window.segments).get(turn)
    row = next((row for row in window.ledger if row.turn == turn), None)
    if segment is None:
        return _left_out(window, row) if row is not None else None
    if segment.kind is Kind.DRAFT:
        sentence = f"#{turn} is the message that this window is for."
        return Why(turn, Standing.MESSAGE, (sentence,))
    if segment.kind is Kind.INDEX:
        return _listed(window, segment, row)
    reason = one_line(segment.reason)
    sentence = f"#{turn} is in the window as {segment.kind}, {_cost(window, segment.tokens)}"
    sentences = (f"{sentence}: {reason}.", *_passages(window, segment), *_ranked(window, row))
    standing = Standing.SENT if segment.is_whole else Standing.IN_PART
    return Why(turn, Standing.EXCERPT if segment.excerpt else standing, sentences, row)


def why_other(window: ContextWindow, name: str) -> tuple[str, ...]:
    """Explain a file and its parts, a turn of another conversation, a fact or a tool, by name."""
    rows = [row for row in window.others if name in (row.name, row.file and row.file.name)]
    if not rows and any(name in request.elsewhere for request in window.requests):
        return (f"{name} is in the window: the model requested it.",)
    if not rows and "#" in name:
        return (f"{name} was never a candidate: it did not match or was not searched.",)
    if not rows:
        return (f"{one_line(name)} is not a file in this conversation, nor was it left out.",)
    return tuple(_other_sentence(window, row) for row in rows)


def _other_sentence(window: ContextWindow, row: OtherRow) -> str:
    place = f"{row.name} of “{row.title}”" if row.title else row.name
    where = "is in the window" if row.is_sent else "is left out"
    score = f", scored {row.score:.2f}" if row.score else ""
    return one_line(f"{place} {where}, {_cost(window, row.tokens)}{score}: {row.reason}.")


def _passages(window: ContextWindow, segment: Segment) -> tuple[str, ...]:
    """Name the passages of an excerpt, and why each was chosen."""
    if segment.excerpt is None:
        return ()
    passages = (
        f"“{shorten(text, _PASSAGE)}” ({_cost(window, passage.tokens)}, {one_line(passage.reason)})"
        for text, passage in zip(passage_texts(segment), segment.excerpt.passages, strict=True)
    )
    return (f"Its passages: {'; '.join(passages)}.",)


def _why_never(window: ContextWindow, turn: int, placed: Placed | None, *, sent: bool) -> Why:
    """Explain a turn that was not a candidate; for a `sent` window, ranked with today's index.

    The draft may be empty, or the turn without a word to be found by: then it has no rank.
    """
    never = window.never_candidates
    reason = never.reason if never is not None else f"{window.mode} sends the last turns alone"
    where = "was never a candidate" if window.needless else "is not in the window"
    by_sum = f"#{turn} {where}: {reason}."
    if placed is None and reason.endswith(reasons.NOT_INDEXED):
        return _outside(Standing.NOT_INDEXED, turn)
    if placed is None:
        return Why(turn, Standing.NEVER, (by_sum,))
    found = placed.candidate
    words = ", ".join(one_line(word) for word in found.matched[:_WORDS])
    shared = f"shares “{words}”" if words else "no shared term"
    parts = parts_told(found.parts)
    rank = f"rank {found.rank:,} of {placed.of:,}, {shared}" + (f", {parts}" if parts else "")
    if window.needless or not window.mode.recalls:
        sentences = [by_sum, f"By its text: {rank}."]
    else:
        sentences = [f"#{turn} was never a candidate: {rank}.", _end(window, found.score)]
    if sent:
        sentences[-1] += " Ranked with today's index."
    return Why(turn, Standing.NEVER, tuple(sentences), placed=placed)


def parts_told(parts: tuple[tuple[str, float], ...]) -> str:
    """Write a score as a sum, without parts of 0.00: `lexical 1.20 + dense 0.08 − cue 0.02`."""
    told = [(name, value) for name, value in parts if abs(value) >= LEAST_TOLD]
    terms = (f"{'−' if value < 0 else '+'} {name} {abs(value):.2f}" for name, value in told)
    return one_line(" ".join(terms)).removeprefix("+ ")


def _listed(window: ContextWindow, segment: Segment, row: LedgerRow | None) -> Why:
    turn, price = segment.turn or 0, _cost(window, segment.tokens)
    line = f"#{turn} is in the window as an index line only, {price}"
    if row is None:
        return Why(turn, Standing.LISTED, (f"{line}: {one_line(segment.reason)}.",))
    whole = f"At full text it would cost {_cost(window, row.tokens)} and is left out: "
    sentences = (f"{line}.", f"{whole}{one_line(row.reason)}.", *_ranked(window, row))
    return Why(turn, Standing.LISTED, sentences, row)


def _left_out(window: ContextWindow, row: LedgerRow) -> Why:
    sentence = f"#{row.turn} is not in the window: {one_line(row.reason)}."
    price = f"At full text it would cost {_cost(window, row.tokens)}."
    return Why(row.turn, Standing.LEFT_OUT, (sentence, price, *_ranked(window, row)), row)


def _ranked(window: ContextWindow, row: LedgerRow | None) -> tuple[str, ...]:
    """State a row's rank on the shortlist, if it has one, and the cut if that is above it."""
    if row is None or row.rank is None:
        return ()
    shortlist = window.shortlist
    ranked = f"It is rank {row.rank} of the {len(shortlist.rows)} on the shortlist"
    if row.rank_before is not None:
        ranked += f" ({row.rank_before} before the reranker)"
    ranked += f" with {row.score:.2f}"
    if (cut := shortlist.cut) is not None and (cut.rank or 0) < row.rank:
        ranked += f"; the last one picked is #{cut.turn} with {cut.score:.2f}"
    return (f"{ranked}.", *(f"{sentence.capitalize()}." for sentence in picking_pays(window)))


def _end(window: ContextWindow, score: float) -> str:
    end = window.shortlist.end
    if end is None:
        return "The shortlist is empty: no turn scored above 0."
    return f"The shortlist ends at rank {end.rank} with {end.score:.2f}; this turn has {score:.2f}."


def _cost(window: ContextWindow, tokens: int) -> str:
    return f"{window.figure(tokens)} tokens"


@dataclass(frozen=True, slots=True)
class Explained:
    window: ContextWindow
    draft: str
    """The user's message."""
    said: Turn | None = None
    """The turn that it was sent for; None for a window that has not been sent."""
    without: Collection[int] = frozenset()
    """Positions of turns that the user excluded."""

    @property
    def position(self) -> int:
        """The position of the message."""
        return self.window.draft.turn or 0


def why(memory: Memory, explained: Explained, turn: int) -> Why:
    """Explain why a turn is in a window or not; takes as long as a search."""
    memory.refresh()
    last, path = _last_and_path(memory, explained)
    if 1 <= turn <= last and turn not in path:
        return _outside(Standing.ELSEWHERE, turn)
    found = why_by_ledger(explained.window, turn)
    if found is not None:
        found = _with_statements(found, memory, explained)
        taken = _taken_by(memory, explained, turn) if found.standing is Standing.MESSAGE else None
        return taken or found
    if not 1 <= turn <= last:
        ends = f"the last turn is #{last:,}" if last else "nothing has been said yet"
        return Why(turn, Standing.UNKNOWN, (f"There is no #{turn}: {ends}.",))
    barred = _barred(memory, explained, turn)
    if barred is not None:
        return barred
    placed = None
    if explained.draft.strip():
        placed = memory.placed(explained.draft, explained.position, turn, explained.without)
    never = _why_never(explained.window, turn, placed, sent=explained.said is not None)
    return _with_statements(never, memory, explained)


def _with_statements(found: Why, memory: Memory, explained: Explained) -> Why:
    """Add the statements that cover a turn, if statements stand for it in the window."""
    window, turn = explained.window, found.turn
    is_carried = found.row is None or found.row.reason not in reasons.KEPT_OUT
    is_out = found.standing in (Standing.LEFT_OUT, Standing.NEVER)
    if not (is_out and is_carried and turn <= window.distilled_through):
        return found
    lines = lines_on(window, turn, memory.conversation.id)
    shown = "; ".join(
        f"“{shorten(line.removeprefix('- '), _STATEMENT)}”" for line in lines[:_LINES]
    )
    more = f"; and {len(lines) - _LINES:,} more" if lines[_LINES:] else ""
    carried = f"Covered by: {shown}{more}." if lines else "No statement covers it."
    return replace(found, sentences=(found.sentences[0], carried, *found.sentences[1:]))


def _outside(standing: Standing, turn: int) -> Why:
    return Why(turn, standing, (f"#{turn} {_OUTSIDE[standing]}",))


def _last_and_path(memory: Memory, explained: Explained) -> tuple[int, Path]:
    """Return the conversation's last position, and the path that leads to the message."""
    tree = memory.store.tree(memory.conversation.id)
    path, said = tree.path(), explained.said
    if said is not None and said.position not in path:
        path = replace(tree, head=said.position).path()
    return tree.last, path


def _barred(memory: Memory, explained: Explained, turn: int) -> Why | None:
    """Say what keeps a turn on the path out of every window for the message; None if nothing."""
    if turn > explained.position:
        return _outside(Standing.LATER, turn)
    stored = memory.store.turn(memory.conversation.id, turn)
    if stored is None or stored.status is Status.STREAMING:
        return _outside(Standing.UNFINISHED, turn)
    reason = why_unshown(stored)
    sentence = f"#{turn} is not in the window: {reason}."
    return Why(turn, Standing.UNSHOWN, (sentence,)) if reason else None


def _taken_by(memory: Memory, explained: Explained, turn: int) -> Why | None:
    """Explain a turn at the message's position: one that it edits, or a reply being written."""
    stored = memory.store.turn(memory.conversation.id, turn)
    if explained.said is not None or stored is None or stored.content == explained.draft:
        return None
    return _barred(memory, explained, turn) or _outside(Standing.ELSEWHERE, turn)


_OUTSIDE = {
    Standing.LATER: "comes after this message: a window contains only what was said before it.",
    Standing.ELSEWHERE: (
        "is on another branch: a window contains the turns that lead to its message. "
        "/version goes there."
    ),
    Standing.NOT_INDEXED: (
        "is not indexed yet and cannot be found by its text. Ask again in a moment."
    ),
    Standing.UNFINISHED: "is still being written: it can be in a window once it is complete.",
}
