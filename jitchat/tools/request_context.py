"""`request_context`: the model asks the store for turns that its window does not show.

The same retrieval as for a message, for this one request: nothing that is in the window is planned
anew. Turns come word for word, whole or as excerpts, within a budget that the counter holds with
all of the markup; what the window has already is named, not repeated.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jitchat.index.retrieve import SearchRequest
from jitchat.memory import Memory
from jitchat.text.sanitize import shorten
from jitchat.tools.asking import TOOL, Asked, NotUnderstood, Scope, read_asked
from jitchat.tools.file_parts import parts_not_shown
from jitchat.tools.finding import Found, find, kept_out
from jitchat.tools.knowledge import knowledge_on, quoted
from jitchat.tools.other_conversations import (
    REACHING_TOOL,
    found_elsewhere,
    names_of,
    turn_elsewhere,
)
from jitchat.tools.reading_on import read_on
from jitchat.tools.source import BUILT_IN, Step, ToolOutput
from jitchat.values import NO_TOOL_USE, Hit, Role, Tool, ToolCall, ToolResult, Turn
from jitchat.window import reasons
from jitchat.window.files import fitting_parts
from jitchat.window.history import History
from jitchat.window.recall import Allowance, Recalling
from jitchat.window.render import Noted, Piece, Quoting, free_tag, shares
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import ContextWindow, Kind, Requested, Segment

MOST_TOKENS = 2_000
"""For one result, of the counter's own."""
_AROUND = 160
"""Tokens kept for what stands around the turns: what was understood, and how to go on."""
_LEAST = 60
"""With fewer for the turns themselves, nothing is looked for."""
_NAMED = 12
"""So many turns that the window holds are named."""
_MOST_TURNS = 200
"""No result has room for more."""
_ECHOED = 80
"""Characters of a query that a result says again."""
_NARROWER = "there may be more: narrow it with time_range, or with other words."


@dataclass(frozen=True, slots=True)
class Told:
    """What a request is answered with."""

    foot: str
    """How much was shown of what there is, and what to do next."""
    pieces: tuple[Piece, ...] = ()
    given: tuple[tuple[int, float], ...] = ()
    """Positions and scores of the turns that are quoted."""
    named: tuple[int, ...] = ()
    """Positions of those that the window holds."""
    noted: tuple[Noted, ...] = ()
    """Parts of files, and turns of other conversations."""
    statements: tuple[Noted, ...] = ()
    """Kept facts, and lines of the memory document."""
    is_empty: bool = False
    """Whether no turn here fits."""

    def parts(self) -> Iterator[tuple[str, Piece | Noted | None]]:
        """Go through the texts that the result is joined of, and the turns that they quote."""
        quoted: tuple[Piece | Noted, ...] = (*self.pieces, *self.noted, *self.statements)
        tag = free_tag("requested", [piece.text for piece in quoted])
        for place, piece in enumerate(quoted):
            yield f"<{tag}>\n{piece.text}" if not place else piece.text, piece
        close = f"</{tag}>\n" if quoted else ""
        yield f"{close}{_in_the_window(self.named)}{self.foot}", None


class RequestContext:
    """The source of `request_context` for one conversation."""

    name = BUILT_IN

    def __init__(
        self, memory: Memory, history_before: Callable[[int], History], counter: TokenCounter
    ) -> None:
        """`history_before` gives the priced turns ahead of a position."""
        self._memory, self._history_before, self._counter = memory, history_before, counter
        self._batch = threading.Lock()
        """Held by one call at a time: those of one answer do not give the same turns."""
        self._step: Step | None = None
        self._given: frozenset[int] = frozenset()
        """Positions of the turns that calls of `_step` gave whole."""
        self._quoted: tuple[Segment, ...] = ()
        """The kept statements that these gave, not priced."""

    def tools(self) -> tuple[Tool, ...]:
        return (TOOL if self._memory.others is None else REACHING_TOOL,)

    async def run(self, call: ToolCall, arguments: Mapping[str, Any], step: Step) -> ToolOutput:
        return await asyncio.to_thread(self._answered, call, arguments, step)

    def _answered(self, call: ToolCall, arguments: Mapping[str, Any], step: Step) -> ToolOutput:
        try:
            asked = read_asked(arguments, self._memory.store.now().date())
        except NotUnderstood as error:
            return ToolOutput(ToolResult(call, str(error), is_error=True))
        told = self._with_files(self._told_in_turn(asked, step), asked, step)
        told = self._with_elsewhere(told, asked, step)
        texts, pieces = zip(*told.parts(), strict=True)
        said = str(asked) or "what is known"
        number = step.window.step + 1
        places = (each.file.place for each in told.noted if each.file is not None)
        names = (*places, *names_of(told.noted))
        requested = Requested(
            said,
            told.given,
            told.named,
            step=number,
            elsewhere=names,
            statements=len(told.statements),
        )
        result = ToolResult(call, "".join(texts))
        if not (told.pieces or told.noted or told.statements):
            return ToolOutput(result, requested=requested)
        scores = dict(told.given)
        segments = [
            _segment(text, cost, piece, f"asked for {said}, step {number}", scores)
            for text, cost, piece in zip(
                texts, shares(texts, self._counter.count), pieces, strict=True
            )
        ]
        return ToolOutput(result, tuple(segments), requested)

    def _told_in_turn(self, asked: Asked, step: Step) -> Told:
        with self._batch:
            if step is not self._step:
                self._step, self._given, self._quoted = step, frozenset(), ()
            told = self._told(asked, step.window, min(MOST_TOKENS, step.room))
            self._given |= {piece.turn for piece in told.pieces if piece.excerpt is None}
            self._quoted += tuple(_segment(each.text, 0, each, "", {}) for each in told.statements)
            return told

    def _here(self, window: ContextWindow) -> frozenset[int]:
        """Tell which turns the next window has whole in any case, by position."""
        return held_whole(window, self._memory) | self._given

    def _room_behind(self, told: Told, step: Step) -> int:
        spent = self._counter.count("".join(text for text, _ in told.parts()))
        return min(MOST_TOKENS, step.room) - spent - _AROUND // 2

    def _with_files(self, told: Told, asked: Asked, step: Step) -> Told:
        """Add parts of files, in the room that is left; they have no days, and are read at once."""
        is_of_turns = asked.turn is not None or asked.days is not None or asked.offset
        if not self._memory.files or is_of_turns or not asked.query:
            return told
        window, price = step.window, self._counter.count
        found = parts_not_shown(self._memory, asked.query, window, kept_out(window))
        history, room = self._history_before(window.draft.turn or 0), self._room_behind(told, step)
        parts = fitting_parts(found, history, (), room, price)
        noted = tuple(replace(part, kind=Kind.REQUESTED) for part in parts)
        if not noted:
            return told
        foot = told.foot if told.pieces or told.named else "Not said here, but in a file."
        return replace(told, noted=noted, foot=foot)

    def _with_elsewhere(self, told: Told, asked: Asked, step: Step) -> Told:
        """Add what other conversations have, in the room that is left, where they are in reach."""
        others = self._memory.others
        if others is None or asked.turn is not None or not asked.query or asked.offset:
            return told
        if asked.scope is Scope.KNOWLEDGE:
            return told
        room = self._room_behind(told, step)
        position, today = step.window.draft.turn or 0, self._memory.store.now().date()
        hits = others.search(SearchRequest(asked.query, "", position, today, is_message=False)).hits
        found = found_elsewhere(hits, asked, step.window, room, self._counter)
        if not found.noted and not found.foot:
            return told
        foot = f"{_foot_ahead(told)}{found.foot}"
        return replace(told, noted=(*told.noted, *found.noted), foot=foot)

    def _turn_elsewhere(self, asked: Asked, room: int) -> Told:
        others = self._memory.others
        if others is None:
            return Told(
                f"{asked.conversation}#{asked.turn} is of another conversation, and only turns of"
                " this one are in reach."
            )
        found = turn_elsewhere(others, asked, room, self._counter)
        return Told(found.foot, noted=found.noted)

    def _told(self, asked: Asked, window: ContextWindow, allowed: int) -> Told:
        room = allowed - _AROUND
        if room < _LEAST:
            return Told(
                f"The window has room for {max(0, allowed):,} more tokens, too few for a turn."
                " Answer from what it holds."
            )
        if asked.conversation and asked.conversation != self._memory.conversation.id:
            return self._turn_elsewhere(asked, room)
        if asked.turn is not None:
            return self._one_turn(asked, asked.turn, window, (room, allowed))
        if asked.scope is Scope.KNOWLEDGE:
            return self._knowledge(asked, window, (room, allowed))
        return self._some_turns(asked, window, (room, allowed))

    def _knowledge(self, asked: Asked, window: ContextWindow, room: tuple[int, int]) -> Told:
        """Give what is kept beside the turns, in half of the room, and then turns."""
        draft = window.draft.turn or 0
        distilled = self._memory.distilled(draft).without(kept_out(window))
        known = knowledge_on(distilled, asked, self._history_before(draft))
        standing, half = (*window.segments, *self._quoted), room[0] // 2
        lines = known.lines if not asked.offset else ()
        kept = quoted(lines, standing, half, self._counter)
        told = self._some_turns(asked, window, (room[0] - kept.tokens, room[1]), known.led)
        more = f"{kept.left:,} more kept statements have no room: ask with other words."
        foot = _foot_ahead(told) if kept.noted else told.foot
        feet = (foot, more if kept.left else "", known.missing)
        return replace(told, statements=kept.noted, foot=" ".join(filter(None, feet)))

    # Turns that were found.

    def _some_turns(
        self,
        asked: Asked,
        window: ContextWindow,
        room: tuple[int, int],
        led: Sequence[range] = (),
    ) -> Told:
        draft = window.draft.turn or 0
        history = self._history_before(draft)
        found = find(self._memory, asked, history, window, led)
        here = self._here(window)
        rest = found.turns[asked.offset :]
        missing = [turn for turn in rest if turn not in here]
        if not missing:
            return Told(_nothing_new(asked, found, rest), named=rest, is_empty=not rest)
        pieces = self._pieces(found, missing[:_MOST_TURNS], history, here, room[0])
        scores = dict(zip(found.turns, found.scores, strict=True))
        shown = {piece.turn for piece in pieces}
        left = next((turn for turn in missing if turn not in shown), None)
        total = len(found.turns)
        on = found.turns.index(left) if left is not None else total
        named = tuple(turn for turn in found.turns[asked.offset : on] if turn in here)
        count = on + len(shown.intersection(found.turns[on:]))
        if not pieces:
            return Told(
                f"#{missing[0]} fits, and needs more tokens than the {room[0]:,} that there are"
                f' room for. Read a part of it: {{"turn": "#{missing[0]}"}}.',
                named=named,
            )
        spent = self._counter.count("".join(piece.text for piece in pieces))
        best = " that fit best" if found.is_cut else ""
        foot = f"{count:,} of {total:,}{best} shown, {spent:,} of {room[1]:,} tokens"
        if on < total:
            foot += f"; go on with offset {on}."
        else:
            foot += f"; {_NARROWER if found.is_cut else 'that is all.'}"
        given = tuple((piece.turn, scores.get(piece.turn, 0.0)) for piece in pieces)
        return Told(f"{foot}{_looked_at(asked)}", pieces, given, named)

    def _pieces(
        self, found: Found, missing: list[int], history: History, here: frozenset[int], room: int
    ) -> tuple[Piece, ...]:
        """Quote what fits, whole or as excerpts, in the order in which it was found."""
        scores = dict(zip(found.turns, found.scores, strict=True))
        hits = tuple(Hit(turn, scores[turn], "asked for") for turn in missing)
        retrieval = replace(found.retrieval, hits=hits)
        allowance = Allowance(room, room, 0)
        recalled = Recalling(history, retrieval, here, allowance, self._counter.count).recall()
        place = {turn: number for number, turn in enumerate(missing)}
        beside = recalled.beside

        def order(piece: Piece) -> tuple[int, int]:
            hit = piece.turn if piece.turn in place else beside.get(piece.turn, piece.turn)
            return place.get(hit, len(place)), piece.turn

        return tuple(sorted(recalled.turns, key=order))

    # One turn, with its neighbours.

    def _one_turn(
        self, asked: Asked, position: int, window: ContextWindow, room: tuple[int, int]
    ) -> Told:
        turn = self._memory.turn_at(position)
        if turn is None or position in kept_out(window):
            last = window.draft.turn or 1
            return Told(
                f"There is no turn #{position} here; the turns of this conversation are #1 to"
                f" #{last}. Look for its words with query."
            )
        here = self._here(window)
        if position in here:
            return self._around(position, window, room)
        whole = Piece(position, Quoting([turn]).whole(turn), f"asked for #{position}")
        cost = self._counter.count(whole.text)
        if asked.offset or cost > room[0]:
            return self._part(turn, asked.offset, room)
        beside = self._neighbours(position, window, room[0] - cost)
        pieces = tuple(sorted((whole, *beside), key=lambda piece: piece.turn))
        cost = sum(self._counter.count(piece.text) for piece in pieces)
        given = tuple((piece.turn, 0.0) for piece in pieces)
        return Told(f"#{position} is whole, {cost:,} of {room[1]:,} tokens.", pieces, given)

    def _around(self, position: int, window: ContextWindow, room: tuple[int, int]) -> Told:
        """Give what stands around a turn that the window holds."""
        pieces = tuple(self._neighbours(position, window, room[0]))
        given = tuple((piece.turn, 0.0) for piece in pieces)
        return Told("Answer from there, or ask for another turn.", pieces, given, (position,))

    def _neighbours(self, position: int, window: ContextWindow, room: int) -> Iterator[Piece]:
        """Quote the turns beside one that the window does not hold, as far as there is room."""
        here = self._here(window)
        for beside in self._beside(position, window):
            text = Quoting([beside]).whole(beside)
            price = self._counter.count(text)
            if beside.position not in here and price <= room:
                room -= price
                yield Piece(beside.position, text, reasons.NEIGHBOUR.format(turn=position))

    def _part(self, turn: Turn, start: int, room: tuple[int, int]) -> Told:
        length = len(turn.content)
        if start >= length:
            return Told(
                f"#{turn.position} has {length:,} characters; offset {start:,} is behind it."
            )
        read = read_on(turn, start, room[0], self._counter)
        if read is None:
            return Told(f"There is no room for a part of #{turn.position}. Answer without it.")
        excerpt, end = read
        piece = Piece(
            turn.position, Quoting([turn]).excerpt(turn, excerpt), "a part of it", excerpt
        )
        on = f"go on with offset {end}" if end < length else "that is its end"
        told = f"Characters {start:,} to {end:,} of {length:,} of #{turn.position}; {on}."
        return Told(told, (piece,), ((turn.position, 0.0),))

    def _beside(self, position: int, window: ContextWindow) -> Iterator[Turn]:
        """Give the turn before, and the one after, as far as they may be shown."""
        history = self._history_before(window.draft.turn or 0)
        index = history.find(position)
        for step in (-1, 1) if index is not None else ():
            place = (index or 0) + step
            if 0 <= place < len(history.turns):
                turn = history.turns[place]
                if turn.position not in kept_out(window) and turn.content.strip():
                    yield turn


def _foot_ahead(told: Told) -> str:
    """Say of the turns here what holds where there is something beside them."""
    return "Not said in this conversation." if told.is_empty else told.foot


def held_whole(window: ContextWindow, memory: Memory) -> frozenset[int]:
    """Tell which turns a window holds whole, by position."""

    def is_whole(segment: Segment) -> bool:
        if segment.turn is None or segment.excerpt is not None or segment.kind is Kind.INDEX:
            return False
        if segment.kind is not Kind.TOOL_RESULTS:
            return True
        turn = memory.turn_at(segment.turn)
        return turn is not None and turn.content == segment.text

    return frozenset(each.turn for each in window.segments if each.turn and is_whole(each))


def _nothing_new(asked: Asked, found: Found, named: tuple[int, ...]) -> str:
    if asked.offset and found.turns:
        found_in_all = f"There are {len(found.turns):,} in all, and none behind offset"
        return f"{found_in_all} {asked.offset}.{_looked_at(asked)}"
    if named:
        say = "Nothing else fits: answer from there, or ask with other words."
        return f"{say}{_looked_at(asked)}"
    if asked.days is not None and asked.query:
        query = shorten(asked.query, _ECHOED)
        return (
            f"Nothing on “{query}” was said {asked.days}. Ask without time_range, or without"
            " query for all that was said then."
        )
    if asked.days is not None:
        return f"Nothing was said {asked.days}. Ask for other days, or with query."
    return "Nothing was found. Ask once more with other words; else say that it was not said here."


def _looked_at(asked: Asked) -> str:
    return f" Looked at {asked.days}." if asked.days is not None else ""


def _segment(
    text: str, cost: int, piece: Piece | Noted | None, reason: str, scores: Mapping[int, float]
) -> Segment:
    if piece is None:
        return Segment(Kind.REQUESTED, Role.TOOL, text, cost, None, reason)
    if isinstance(piece, Noted):
        known = piece.excerpt, NO_TOOL_USE, piece.source, piece.file
        return Segment(Kind.REQUESTED, Role.TOOL, text, cost, None, reason, *known)
    score = scores.get(piece.turn, 0.0)
    told = f"{reason}, score {score:.2f}" if score else reason
    return Segment(Kind.REQUESTED, Role.TOOL, text, cost, piece.turn, told, piece.excerpt)


def _in_the_window(named: Sequence[int]) -> str:
    """Name the turns that the window holds: the first ones, and how many more."""
    if not named:
        return ""
    ids = " ".join(f"#{position}" for position in named[:_NAMED])
    more = f" and {len(named) - _NAMED:,} more" if named[_NAMED:] else ""
    return f"{ids}{more} {'are' if named[1:] else 'is'} in the window. "
