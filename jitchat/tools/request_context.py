"""`request_context`: the model asks the store for turns that its window does not show.

It uses the same retrieval as a message does, for this one request: the window is not re-planned.
Turns are quoted verbatim, whole or as excerpts, within a budget that includes the markup; turns
that the window already holds are named, not repeated.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jitchat.index.retrieve import SearchRequest
from jitchat.memory import Memory
from jitchat.text.fences import free_tag
from jitchat.text.sanitize import shorten
from jitchat.tools.asking import TOOL, Asked, NotUnderstood, Scope, read_asked
from jitchat.tools.file_parts import parts_not_shown
from jitchat.tools.finding import Found, find, kept_out, knowledge_on, quoted
from jitchat.tools.other_conversations import (
    REACHING_TOOL,
    found_elsewhere,
    names_of,
    turn_elsewhere,
)
from jitchat.tools.reading_on import read_part
from jitchat.tools.source import BUILT_IN, Step, ToolOutput
from jitchat.values import Hit, Role, Tool, ToolCall, ToolResult, Turn
from jitchat.window import reasons
from jitchat.window.files import fitting_parts
from jitchat.window.history import History
from jitchat.window.parts import whole_turns
from jitchat.window.recall import Allowance, Recalling
from jitchat.window.render import Piece, Quoting, excerpted, shares
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import ContextWindow, Kind, Requested, Segment
from jitchat.writing.calls import full_text

MOST_TOKENS = 2_000
"""Maximum tokens of one result, by the counter."""
_AROUND = 160
"""Tokens reserved for the text around the turns: what was understood, and how to continue."""
_LEAST = 60
"""Minimum tokens for the turns themselves; with fewer, nothing is searched."""
_NAMED = 12
"""Maximum number of turns in the window that are named."""
_MOST_TURNS = 200
"""Maximum turns considered for one result; no result has room for more."""
_ECHOED = 80
"""Maximum characters of a query when a result repeats it."""
_NARROWER = "there may be more: narrow it with time_range, or with other words."


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    foot: str
    """States how much of the total was shown, and what to do next."""
    pieces: tuple[Piece, ...] = ()
    given: tuple[tuple[int, float], ...] = ()
    """(position, score) of the quoted turns."""
    named: tuple[int, ...] = ()
    """Positions of the matching turns that the window already holds."""
    noted: tuple[Segment, ...] = ()
    """Parts of files, and turns of other conversations."""
    statements: tuple[Segment, ...] = ()
    """Stored facts, and lines of the memory document."""
    is_empty: bool = False
    """Whether no turn of this conversation matches."""

    def parts(self) -> Iterator[tuple[str, Piece | Segment | None]]:
        """Yield the texts that make up the result, each with the turn that it quotes."""
        quoted: tuple[Piece | Segment, ...] = (*self.pieces, *self.noted, *self.statements)
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
        """`history_before` returns the priced turns before a position."""
        self._memory, self._history_before, self._counter = memory, history_before, counter
        self._batch = threading.Lock()
        """Held by one call at a time, so that calls of one answer do not return the same turns."""
        self._step: Step | None = None
        self._given: frozenset[int] = frozenset()
        """Positions of the turns that calls of `_step` returned whole."""
        self._quoted: tuple[Segment, ...] = ()
        """The stored statements that calls of `_step` quoted; their token counts are 0."""

    def tools(self) -> tuple[Tool, ...]:
        return (TOOL if self._memory.others is None else REACHING_TOOL,)

    async def run(self, call: ToolCall, arguments: Mapping[str, Any], step: Step) -> ToolOutput:
        return await asyncio.to_thread(self._output, call, arguments, step)

    def _output(self, call: ToolCall, arguments: Mapping[str, Any], step: Step) -> ToolOutput:
        try:
            asked = read_asked(arguments, self._memory.store.now().date())
        except NotUnderstood as error:
            return ToolOutput(ToolResult(call, str(error), is_error=True))
        answer = self._with_files(self._answer_in_turn(asked, step), asked, step)
        answer = self._with_elsewhere(answer, asked, step)
        texts, pieces = zip(*answer.parts(), strict=True)
        said = str(asked) or "what is known"
        number = step.window.step + 1
        places = (each.file.place for each in answer.noted if each.file is not None)
        names = (*places, *names_of(answer.noted))
        requested = Requested(
            said,
            answer.given,
            answer.named,
            step=number,
            elsewhere=names,
            statements=len(answer.statements),
        )
        result = ToolResult(call, "".join(texts))
        if not (answer.pieces or answer.noted or answer.statements):
            return ToolOutput(result, requested=requested)
        scores = dict(answer.given)
        segments = [
            _segment(text, cost, piece, f"asked for {said}, step {number}", scores)
            for text, cost, piece in zip(
                texts, shares(texts, self._counter.count), pieces, strict=True
            )
        ]
        return ToolOutput(result, tuple(segments), requested)

    def _answer_in_turn(self, asked: Asked, step: Step) -> Answer:
        with self._batch:
            if step is not self._step:
                self._step, self._given, self._quoted = step, frozenset(), ()
            answer = self._answer(asked, step.window, min(MOST_TOKENS, step.room))
            self._given |= {piece.turn for piece in answer.pieces if piece.excerpt is None}
            self._quoted += answer.statements
            return answer

    def _here(self, window: ContextWindow) -> frozenset[int]:
        """Return the positions of the turns that the next window has whole in any case."""
        return whole_turns(window.segments) | self._given

    def _room_left(self, answer: Answer, step: Step) -> int:
        spent = self._counter.count("".join(text for text, _ in answer.parts()))
        return min(MOST_TOKENS, step.room) - spent - _AROUND // 2

    def _with_files(self, answer: Answer, asked: Asked, step: Step) -> Answer:
        """Add parts of files in the remaining room, if the request is a plain query."""
        is_of_turns = asked.turn is not None or asked.days is not None or asked.offset
        if not self._memory.files or is_of_turns or not asked.query:
            return answer
        window, price = step.window, self._counter.count
        found = parts_not_shown(self._memory, asked.query, window, kept_out(window))
        history, room = self._history_before(window.draft.turn or 0), self._room_left(answer, step)
        parts = fitting_parts(found, history, (), room, price)
        noted = tuple(replace(part, kind=Kind.REQUESTED) for part in parts)
        if not noted:
            return answer
        foot = answer.foot if answer.pieces or answer.named else "Not said here, but in a file."
        return replace(answer, noted=noted, foot=foot)

    def _with_elsewhere(self, answer: Answer, asked: Asked, step: Step) -> Answer:
        """Add turns of other conversations in the remaining room, if recall includes them."""
        others = self._memory.others
        if others is None or asked.turn is not None or not asked.query or asked.offset:
            return answer
        if asked.scope is Scope.KNOWLEDGE:
            return answer
        room = self._room_left(answer, step)
        position, today = step.window.draft.turn or 0, self._memory.store.now().date()
        hits = others.search(SearchRequest(asked.query, "", position, today, is_message=False)).hits
        found = found_elsewhere(hits, asked, step.window, room, self._counter)
        if not found.noted and not found.foot:
            return answer
        foot = f"{_foot_before(answer)}{found.foot}"
        return replace(answer, noted=(*answer.noted, *found.noted), foot=foot)

    def _turn_elsewhere(self, asked: Asked, room: int) -> Answer:
        others = self._memory.others
        if others is None:
            return Answer(
                f"{asked.conversation}#{asked.turn} is of another conversation, and only turns of"
                " this one are in reach."
            )
        found = turn_elsewhere(others, asked, room, self._counter)
        return Answer(found.foot, noted=found.noted)

    def _answer(self, asked: Asked, window: ContextWindow, allowed: int) -> Answer:
        room = allowed - _AROUND
        if room < _LEAST:
            return Answer(
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

    def _knowledge(self, asked: Asked, window: ContextWindow, room: tuple[int, int]) -> Answer:
        """Quote stored knowledge in up to half of the room, then turns."""
        draft = window.draft.turn or 0
        distilled = self._memory.distilled(draft).without(kept_out(window))
        known = knowledge_on(distilled, asked, self._history_before(draft))
        standing, half = (*window.segments, *self._quoted), room[0] // 2
        lines = known.lines if not asked.offset else ()
        kept = quoted(lines, standing, half, self._counter)
        answer = self._some_turns(asked, window, (room[0] - kept.tokens, room[1]), known.sources)
        more = f"{kept.left:,} more kept statements have no room: ask with other words."
        foot = _foot_before(answer) if kept.noted else answer.foot
        feet = (foot, more if kept.left else "", known.missing)
        return replace(answer, statements=kept.noted, foot=" ".join(filter(None, feet)))

    # Turns that were found.

    def _some_turns(
        self,
        asked: Asked,
        window: ContextWindow,
        room: tuple[int, int],
        sources: Sequence[range] = (),
    ) -> Answer:
        draft = window.draft.turn or 0
        history = self._history_before(draft)
        found = find(self._memory, asked, history, window, sources)
        here = self._here(window)
        rest = found.turns[asked.offset :]
        missing = [turn for turn in rest if turn not in here]
        if not missing:
            return Answer(_nothing_new(asked, found, rest), named=rest, is_empty=not rest)
        taken = here | kept_out(window)
        pieces = self._pieces(found, missing[:_MOST_TURNS], history, taken, room[0])
        scores = dict(zip(found.turns, found.scores, strict=True))
        shown = {piece.turn for piece in pieces}
        left = next((turn for turn in missing if turn not in shown), None)
        total = len(found.turns)
        on = found.turns.index(left) if left is not None else total
        named = tuple(turn for turn in found.turns[asked.offset : on] if turn in here)
        count = on + len(shown.intersection(found.turns[on:]))
        if not pieces:
            return Answer(
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
        return Answer(f"{foot}{_looked_at(asked)}", pieces, given, named)

    def _pieces(
        self, found: Found, missing: list[int], history: History, taken: frozenset[int], room: int
    ) -> tuple[Piece, ...]:
        """Quote the turns that have room, whole or as excerpts, in the order of `missing`."""
        scores = dict(zip(found.turns, found.scores, strict=True))
        hits = tuple(Hit(turn, scores[turn], "asked for") for turn in missing)
        retrieval = replace(found.retrieval, hits=hits, beyond=())
        allowance = Allowance(room, room)
        recalled = Recalling(history, retrieval, taken, allowance, self._counter.count).recall()
        place = {turn: number for number, turn in enumerate(missing)}
        beside = recalled.brought_by

        def order(piece: Piece) -> tuple[int, int]:
            hit = piece.turn if piece.turn in place else beside.get(piece.turn, piece.turn)
            return place.get(hit, len(place)), piece.turn

        return tuple(sorted(recalled.turns, key=order))

    # One turn, with its neighbours.

    def _one_turn(
        self, asked: Asked, position: int, window: ContextWindow, room: tuple[int, int]
    ) -> Answer:
        last = window.draft.turn or 1
        history = self._history_before(last)
        index = history.find(position)
        if index is None or position in kept_out(window):
            return Answer(
                f"There is no turn #{position} here; the turns of this conversation are #1 to"
                f" #{last}. Look for its words with query."
            )
        here = self._here(window)
        if position in here:
            return self._around(position, window, room)
        turn = history.turns[index]
        whole = Piece(position, Quoting([turn]).whole(turn), f"asked for #{position}")
        cost = self._counter.count(whole.text)
        if asked.offset or cost > room[0]:
            return self._part(turn, asked.offset, room)
        neighbours = self._neighbours(position, window, room[0] - cost)
        pieces = tuple(sorted((whole, *neighbours), key=lambda piece: piece.turn))
        cost = sum(self._counter.count(piece.text) for piece in pieces)
        given = tuple((piece.turn, 0.0) for piece in pieces)
        return Answer(f"#{position} is whole, {cost:,} of {room[1]:,} tokens.", pieces, given)

    def _around(self, position: int, window: ContextWindow, room: tuple[int, int]) -> Answer:
        """Quote the neighbours of a turn that the window holds."""
        pieces = tuple(self._neighbours(position, window, room[0]))
        given = tuple((piece.turn, 0.0) for piece in pieces)
        return Answer("Answer from there, or ask for another turn.", pieces, given, (position,))

    def _neighbours(self, position: int, window: ContextWindow, room: int) -> Iterator[Piece]:
        """Quote a turn's neighbours that the window does not hold, while there is room."""
        here = self._here(window)
        for turn in self._adjacent(position, window):
            text = Quoting([turn]).whole(turn)
            price = self._counter.count(text)
            if turn.position not in here and price <= room:
                room -= price
                yield Piece(turn.position, text, reasons.NEIGHBOUR.format(turn=position))

    def _part(self, turn: Turn, start: int, room: tuple[int, int]) -> Answer:
        read = read_part(turn, start, room[0], self._counter)
        if read.excerpt is None:
            return Answer(read.foot)
        piece = Piece(turn.position, read.text, "a part of it", read.excerpt)
        return Answer(read.foot, (piece,), ((turn.position, 0.0),))

    def _adjacent(self, position: int, window: ContextWindow) -> Iterator[Turn]:
        """Yield the turn before and the turn after, if they can be shown."""
        history = self._history_before(window.draft.turn or 0)
        index = history.find(position)
        for step in (-1, 1) if index is not None else ():
            place = (index or 0) + step
            if 0 <= place < len(history.turns):
                turn = history.turns[place]
                if turn.position not in kept_out(window) and full_text(turn).strip():
                    yield turn


def _foot_before(answer: Answer) -> str:
    """Return the foot for an answer that quotes more than turns of this conversation."""
    return "Not said in this conversation." if answer.is_empty else answer.foot


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
    text: str, cost: int, piece: Piece | Segment | None, reason: str, scores: Mapping[int, float]
) -> Segment:
    if piece is None:
        return Segment(Kind.REQUESTED, Role.TOOL, text, cost, None, reason)
    if isinstance(piece, Segment):
        return replace(piece, role=Role.TOOL, text=text, tokens=cost, reason=reason)
    score = scores.get(piece.turn, 0.0)
    why = f"{reason}, score {score:.2f}" if score else reason
    of_turn = piece.turn, why, piece.excerpt
    return excerpted(Segment(Kind.REQUESTED, Role.TOOL, text, cost, *of_turn))


def _in_the_window(named: Sequence[int]) -> str:
    """Name the turns that the window holds: the first ones, and the number of the others."""
    if not named:
        return ""
    ids = " ".join(f"#{position}" for position in named[:_NAMED])
    more = f" and {len(named) - _NAMED:,} more" if named[_NAMED:] else ""
    return f"{ids}{more} {'are' if named[1:] else 'is'} in the window. "
