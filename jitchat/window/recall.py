"""What `jit` recalls: which turns at full text, which as index lines.

Turns are taken by value until their allowance is spent; the first may exceed it, because it is
what the question is about. A turn that alone would take much of the allowance is excerpted, which
leaves the rest to other turns. A turn that is requested is sent whole, unless the window has no
room for it. The best hits are followed by their neighbours, because an answer needs its question.
If anything was found, the rest of the shortlist follows by rank. Index lines come last: a line
states that a turn exists and what it is about, so that the model can request the turn.

Of turns with the same text, the newest is sent. Turns whose texts differ at all are never treated
as the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from jitchat.text.sentences import is_question
from jitchat.values import Hit, IndexEntry, RecallOrder, Retrieval, Turn
from jitchat.window import reasons
from jitchat.window.excerpt import Room, best_block_share, excerpt_of
from jitchat.window.history import History
from jitchat.window.render import Piece, Price, Quoting, index_line, marker
from jitchat.window.window import Excerpt
from jitchat.writing.calls import full_text, texts_of

NEIGHBOURS_OF = 2
"""How many of the best hits bring along the question that they answer, or their answer."""
LEAST_EXCERPTED = 300
"""Tokens. A turn that costs no more is sent whole: passages of it would save little."""
LEAST_OF_EXCERPT = 100
"""Tokens. In less room than this, a passage and its markers hardly fit."""
WHOLE, _WHOLE_BEST = 1 / 16, 1 / 8
"""A turn that costs no more than this share of the allowance is sent whole. The best one may cost
more, because it is most likely to hold the answer. On BEAM, windows of 8,000 tokens hold any and
all of the evidence of .950 and .706 of the questions; with 1/4 and 1/2, of .912 and .669."""
_PASSAGES = 2 / 3
"""Maximum cost of an excerpt, as a share of what a whole turn may cost: a larger excerpt would
hardly be worth breaking up the turn."""
_SCATTERED = 0.5
"""A long turn counts at least as if one passage had this share of the query: the turn may have been
found by its meaning."""
_LINES_FULL = reasons.LINES_FULL.format(left=reasons.room_of(0))
_FENCE, _INDEX_FENCE = "<recalled>\n</recalled>\n\n", "<index>\n</index>\n"


@dataclass(frozen=True, slots=True)
class Allowance:
    room: int
    """Tokens that the rest of the window leaves."""
    retrieved: int
    """For turns at full text; the best hit is limited by `room` only."""
    requested: Mapping[int, str] = field(default_factory=dict)
    """By position of a turn that is loaded before any hit, limited by `room` only: the reason."""
    replaced: Mapping[int, int] = field(default_factory=dict)
    """By position of a turn that says what no longer holds: the turn that replaces it."""
    fills: bool = False
    """Whether all of the shortlist follows the hits, not only what is little below the floor."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The contents of the tail, each kind by value, and why the other turns are left out."""

    turns: tuple[Piece, ...] = ()
    lines: tuple[Piece, ...] = ()
    refused: Mapping[int, str] = field(default_factory=dict)
    """By position of a hit that is not among `turns`: the reason."""
    needless: frozenset[int] = frozenset()
    """Positions of turns whose index line would save little."""
    lines_full: str = _LINES_FULL
    """Why there are no more lines."""
    requested: frozenset[int] = frozenset()
    """Positions of turns that the user asked for: they come first among `turns`."""
    brought_by: Mapping[int, int] = field(default_factory=dict)
    """By position of a question or an answer among `turns` that came with a hit: the hit's
    position."""

    def in_order(self, order: RecallOrder) -> tuple[Piece, ...]:
        """Put the turns in the order in which they are sent; see `RecallOrder`.

        With the best last, a question still comes directly before its answer.
        """
        if order == RecallOrder.DATE:
            return tuple(sorted(self.turns, key=attrgetter("turn")))
        rank = {piece.turn: place for place, piece in enumerate(self.turns)}
        rank |= dict.fromkeys(self.requested & rank.keys(), 0)

        def place(piece: Piece) -> tuple[int, int]:
            hit = self.brought_by.get(piece.turn, piece.turn)
            return -rank.get(hit, rank[piece.turn]), piece.turn

        return tuple(sorted(self.turns, key=place))

    def without(self, turn: int, why: str) -> "Recall":
        """Drop one turn, with the question or the answer that came with it."""
        gone = {turn, *(each for each, hit in self.brought_by.items() if hit == turn)}
        kept = tuple(piece for piece in self.turns if piece.turn not in gone)
        return replace(self, turns=kept, refused={**self.refused, turn: why})

    def within(self, start: int) -> "Recall":
        """Drop the turns from a position on, which are sent as they were said."""
        return replace(self, turns=tuple(each for each in self.turns if each.turn < start))

    def with_lines(
        self, history: History, retrieval: Retrieval, taken: frozenset[int], room: int, price: Price
    ) -> "Recall":
        """Add index lines for turns that are not `taken`, as many as fit into `room` tokens."""
        known = taken | {piece.turn for piece in self.turns}
        lines, needless, left = list_turns(history, retrieval, known, room, price)
        full = reasons.LINES_FULL.format(left=reasons.room_of(left))
        return replace(self, lines=lines, needless=needless, lines_full=full)


_FAR_BETTER = 2.0
"""How many times the score of its replacement a turn has that says what this one does not."""


class Recalling:
    """Chooses what the tail holds; `taken` are the turns that the window already has."""

    def __init__(
        self,
        history: History,
        retrieval: Retrieval,
        taken: frozenset[int],
        allowance: Allowance,
        price: Price,
    ) -> None:
        self._history, self._retrieval = history, retrieval
        self._taken, self._allowance, self._price = taken, allowance, price
        self._room = allowance.room - price(_FENCE)
        self._requested = [turn for turn in allowance.requested if turn not in taken]
        least = max(LEAST_EXCERPTED, int(WHOLE * allowance.retrieved))
        self._hits = _long_turns_ordered(history, retrieval, least)
        if self._hits:
            self._hits += tuple(
                hit
                for hit in retrieval.beyond
                if allowance.fills or retrieval.is_in_doubt(hit.score)
            )
        self._scores = {row.turn: row.score for row in retrieval.candidates}
        best = (hit.turn for hit in self._hits[:NEIGHBOURS_OF])
        self._neighbours = {turn: _neighbours(history, turn) for turn in best}
        hits = {self._current(hit.turn) for hit in self._hits}
        wanted = hits.union(self._requested, *self._neighbours.values())
        indices = [history.find(position) for position in sorted(wanted)]
        turns = [history.turns[index] for index in indices if index is not None]
        self._turns = {turn.position: turn for turn in turns}
        self._quoting = Quoting(turns)
        self._costs: dict[int, int] = {}
        """By position: the price of a turn at full text, once it is computed."""
        self._summaries = {row.turn: row.entry.summary for row in retrieval.candidates}
        self._repeated = _repeated(history, retrieval)
        self._paid = self._paid_for_hits = 0
        self._loaded: dict[int, Piece] = {}
        self._said: dict[str, int] = {}
        """The positions of the turns that are loaded, by text."""
        self._refused: dict[int, str] = {}

    def recall(self) -> Recall:
        self._load_turns()
        brought_by = {
            turn: hit for hit, found in reversed(self._neighbours.items()) for turn in found
        }
        return Recall(
            tuple(self._loaded.values()),
            refused=self._refused,
            requested=frozenset(self._allowance.requested),
            brought_by=brought_by,
        )

    def _load_turns(self) -> None:
        """Load the requested turns, then the hits, best first, as far as they fit.

        The neighbours of the best hits come before the hits of less value: an answer needs its
        question.
        """
        for position in self._requested:
            if position in self._turns:
                left = max(0, self._room - self._paid)
                missing = self._cost_whole(position) - left
                reason = self._allowance.requested[position]
                if missing > 0:
                    reason += reasons.NEEDS_MORE.format(tokens=reasons.number_of(missing))
                if self._pay(position, reason, left, left):
                    why = reasons.NO_ROOM_REQUIRED.format(
                        reason=self._allowance.requested[position],
                        tokens=reasons.number_of(missing),
                    )
                    self._refused.setdefault(position, why)
        self._load_hits(self._hits[:NEIGHBOURS_OF])
        for position, neighbours in self._neighbours.items():
            for turn in neighbours if position in self._loaded else ():
                if turn not in self._taken and turn not in self._loaded:
                    self._load(turn, reasons.NEIGHBOUR.format(turn=position))
        self._load_hits(self._hits[NEIGHBOURS_OF:])

    def _load_hits(self, hits: Sequence[Hit]) -> None:
        for hit in hits:
            turn = self._current(hit.turn)
            if turn != hit.turn and hit.turn not in self._taken:
                self._refused.setdefault(hit.turn, reasons.REPLACED.format(turn=turn))
            if turn in self._loaded:
                continue
            if turn in self._taken:
                self._count_taken(turn)
            elif why := self._load_hit(turn, hit.reason):
                self._refused.setdefault(turn, why)

    def _count_taken(self, turn: int) -> None:
        """Count a hit that the window already has: it needs no more of the allowance."""
        if turn in self._turns:
            self._paid_for_hits += min(self._cost_whole(turn), LEAST_EXCERPTED)

    def _load_hit(self, turn: int, reason: str) -> str:
        """Load a hit, and return why it is not loaded; empty if it was."""
        if turn not in self._turns:
            return reasons.NOT_SHOWABLE
        if turn in self._repeated:
            return reasons.REPEATED.format(turn=self._repeated[turn])
        same = self._said.get(_plain(self._turns[turn]))
        if same is not None and turn not in self._repeated.values():
            return reasons.REPEATED.format(turn=same)
        return self._load(turn, reason)

    def _current(self, turn: int) -> int:
        """Return the turn that holds in place of a turn: itself, or the last that replaces it.

        A turn that matches far better than its replacement says what that one does not.
        """
        newer = self._allowance.replaced.get(turn)
        if newer is None:
            return turn
        score, of_newer = self._scores.get(turn, 0.0), self._scores.get(newer, 0.0)
        return turn if score > _FAR_BETTER * of_newer else self._current(newer)

    def _load(self, position: int, reason: str) -> str:
        """Load a turn that was found, and return why it has no room; empty if it was loaded.

        The best turn is limited by the room only.
        """
        left, before = self._room - self._paid, self._paid
        allowed, share = self._allowance.retrieved, _WHOLE_BEST
        if self._paid_for_hits:
            left, share = min(left, allowed - self._paid_for_hits), WHOLE
        needed = self._pay(position, reason, left, int(share * allowed))
        self._paid_for_hits += self._paid - before
        if not needed:
            return ""
        return reasons.no_room(needed, left, reasons.FOR_RECALLED)

    def _pay(self, position: int, reason: str, left: int, most: int) -> int:
        """Load a turn if it fits, and return the tokens that it would need, 0 if it was loaded.

        A turn that costs more than `most` tokens is excerpted.
        """
        left, most = max(0, left), max(LEAST_EXCERPTED, most)
        if not self._costs_more(position, most):
            piece, cost = self._whole(position, reason), self._cost_whole(position)
        elif left < LEAST_OF_EXCERPT:
            return LEAST_OF_EXCERPT
        else:
            piece = self._excerpt(position, reason, min(left, int(_PASSAGES * most)))
            cost = self._price(piece.text)
        if cost > left:
            return cost
        self._paid += cost
        self._loaded[position] = piece
        self._said[_plain(self._turns[position])] = position
        return 0

    def _costs_more(self, position: int, tokens: int) -> bool:
        """Whether a turn costs more; a far longer one is not priced to find out."""
        index = self._history.find(position)
        if index is not None and self._history.costs[index] > 2 * tokens:
            return True
        return self._cost_whole(position) > tokens

    def _cost_whole(self, position: int) -> int:
        """Price a turn at full text, once."""
        if position not in self._costs:
            self._costs[position] = self._price(self._quoting.whole(self._turns[position]))
        return self._costs[position]

    def _whole(self, position: int, reason: str) -> Piece:
        return Piece(position, self._quoting.whole(self._turns[position]), reason)

    def _excerpt(self, position: int, reason: str, limit: int) -> Piece:
        """Choose passages for about `limit` tokens; the whole turn if nothing would be left out."""
        turn, price = self._turns[position], self._price
        texts, summary = texts_of(turn), self._summaries.get(position, "")
        limit -= price(self._quoting.excerpt(turn, Excerpt((), (0,))))
        room = Room(limit, price(marker(sum(map(len, texts)), turn)))
        found = excerpt_of(texts, self._retrieval.terms, summary, room, price)
        if not any(found.left_out):
            return self._whole(position, reason)
        return Piece(position, self._quoting.excerpt(turn, found), reason, found)


def _long_turns_ordered(history: History, retrieval: Retrieval, least: int) -> tuple[Hit, ...]:
    """Order long turns among themselves by how much of the query one block of each has.

    Turns of more than `least` tokens are long; they exchange places only among themselves. A place
    is worth the score of that rank, so that the order stays the same among equals.
    """
    hits = retrieval.hits
    found = [(place, history.find(hit.turn)) for place, hit in enumerate(hits)]
    long = {at: index for at, index in found if index is not None and history.costs[index] > least}
    scores = sorted((hit.score for hit in hits), reverse=True)

    def worth(place: int) -> float:
        texts = texts_of(history.turns[long[place]])
        return scores[place] * max(_SCATTERED, best_block_share(texts, retrieval.terms)) ** 2

    order = iter(sorted(long, key=worth, reverse=True))
    return tuple(hits[next(order)] if place in long else hit for place, hit in enumerate(hits))


def _repeated(history: History, retrieval: Retrieval) -> dict[int, int]:
    """Map each hit whose text a later hit repeats to the last such hit.

    The best hit is never one of them: what ranks first is not left out for what ranks after it.
    """
    latest: dict[str, int] = {}
    texts: dict[int, str] = {}
    for turn in sorted(hit.turn for hit in retrieval.hits):
        index = history.find(turn)
        if index is not None:
            texts[turn] = _plain(history.turns[index])
            latest[texts[turn]] = turn
    best = min(retrieval.candidates, key=lambda row: row.rank, default=None)
    return {
        turn: latest[text]
        for turn, text in texts.items()
        if turn != latest[text] and (best is None or turn != best.turn)
    }


def _plain(turn: Turn) -> str:
    return " ".join(full_text(turn).split())


def _neighbours(history: History, position: int) -> list[int]:
    """Find the question that the turn at `position` answers, and the answer to the turn."""
    index, turns = history.find(position), history.turns
    if index is None:
        return []
    questions = [turns[index - 1]] if index and is_question(turns[index - 1].content) else []
    answers = turns[index + 1 : index + 2] if is_question(turns[index].content) else ()
    return [turn.position for turn in (*questions, *answers) if full_text(turn).strip()]


def list_turns(
    history: History, retrieval: Retrieval, known: frozenset[int], room: int, price: Price
) -> tuple[tuple[Piece, ...], frozenset[int], int]:
    """Write index lines for turns that are not `known`, as many as fit into `room` tokens.

    Return the lines, most valuable first, the positions of turns whose line would cost more than
    half of what the turn costs, and the tokens left.
    """
    left = room - price(_INDEX_FENCE)
    lines, needless = [], set()
    for entry, reason in _entries(retrieval):
        index = history.find(entry.turn)
        if left <= 0:
            break
        if index is None or entry.turn in known:
            continue
        line = index_line(entry, history.turns[index])
        cost = price(line)
        if reason != reasons.LATEST_DECISION and 2 * cost > history.costs[index]:
            needless.add(entry.turn)
        elif cost <= left:
            left -= cost
            lines.append(Piece(entry.turn, line, reason))
    return tuple(lines), frozenset(needless), left


def _entries(retrieval: Retrieval) -> list[tuple[IndexEntry, str]]:
    """List the turns that can have a line, each once, with a reason."""
    latest = {entry.turn: (entry, reasons.LATEST_DECISION) for entry in retrieval.decisions}
    listed = [
        (row.entry, reasons.LINE_ONLY.format(rank=row.rank))
        for row in retrieval.candidates
        if row.turn not in latest
    ]
    return [*latest.values(), *listed]
