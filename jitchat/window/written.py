"""From planned segments to the pieces that are sent, with the price of each. Pure.

The price of a message is the count of its joined text, shared among its pieces, plus constants
that the protocol's frame costs. What a model reads outside of messages is priced alike: a tool's
definition by its text as JSON. A picture has its provider's tokens, a signature an estimate by its
length.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from operator import attrgetter

from jitchat.values import EPHEMERAL, NO_TOOL_USE, Message, Role, Tool, ToolUse
from jitchat.window.budget import PER_MESSAGE, PER_REQUEST
from jitchat.window.render import Price, apportion, shares
from jitchat.window.tokens import TokenCounter
from jitchat.window.tool_prices import FRAMES, Frame, tool_prices
from jitchat.window.window import Kind, Segment, planned_messages, tool_of
from jitchat.writing.calls import call_quote
from jitchat.writing.pieces import PLAIN, Part, Piece, Unwritten, WritingRules
from jitchat.writing.write import pieces_of, write

_PER_OPAQUE = 5
"""Characters of a signature per token: base64 has 4 characters for 3 bytes, and a token of
reasoning is about 4 bytes."""


def written(
    segments: Sequence[Segment], counter: TokenCounter, rules: WritingRules = PLAIN
) -> tuple[Segment, ...]:
    """Write planned segments: each gets its pieces, its text exactly as sent, and its tokens."""
    offered = [segment for segment in segments if segment.kind is Kind.TOOLS]
    has_calls = any(segment.use for segment in segments)
    has_others = has_calls and offers_others(tool_of(segment) for segment in offered)
    definitions = [
        Piece(segment.text, Part.DEFINITION, Role.SYSTEM, segment=index)
        for index, segment in enumerate(segments)
        if segment.kind is Kind.TOOLS
    ]
    planned = [
        _unwritten(segments, indices, is_native=has_others or _is_appended(segments, indices))
        for indices in planned_messages(segments)
    ]
    pieces = (*definitions, *write(planned, rules))
    by_segment: list[list[Piece]] = [[] for _ in segments]
    for piece in _priced(pieces, segments, counter):
        by_segment[piece.segment].append(piece)
    return tuple(_with_pieces(*pair) for pair in zip(segments, by_segment, strict=True))


def offers_others(tools: Iterable[Tool]) -> bool:
    """Whether other tools than jitchat's own are offered: earlier calls are then sent as such."""
    return any(tool.name not in EPHEMERAL for tool in tools)


def _is_appended(segments: Sequence[Segment], indices: Sequence[int]) -> bool:
    return segments[indices[0]].kind.is_appended


def _unwritten(
    segments: Sequence[Segment], indices: Sequence[int], *, is_native: bool
) -> Unwritten:
    """Make a message of the segments with these indices."""
    own = [segments[index] for index in indices]
    first = next((segment for segment in own if segment.kind is not Kind.FILES), own[0])
    turn = first.turn if first.kind in _OF_TURNS else None
    pieces: list[Piece] = []
    for index in indices:
        file = segments[index].file
        if file is not None and file.picture is not None:
            picture = Piece("", Part.PICTURE, segment=index, turn=turn, picture=file.picture)
            pieces.append(replace(picture, tokens=file.picture_tokens))
        pieces.append(Piece(segments[index].text, segment=index, turn=turn))
    return Unwritten(first.role, tuple(pieces), first.use, is_native)


_OF_TURNS = (Kind.RECENT, Kind.DRAFT, Kind.TOOL_CALLS, Kind.TOOL_RESULTS)
"""Kinds whose messages carry one turn each."""


def _priced(
    pieces: Sequence[Piece], segments: Sequence[Segment], counter: TokenCounter
) -> Iterator[Piece]:
    frame = FRAMES[counter.style]
    planned = (each.message for each in pieces if not segments[each.segment].kind.is_appended)
    last = max(planned, default=0)
    """The message that the reply's opening is counted with, whatever is appended later."""
    for number, group in groupby(pieces, attrgetter("message")):
        own = list(group)
        first = segments[own[0].segment]
        if number == 0:  # definitions of tools, as they were priced
            yield from (replace(piece, tokens=segments[piece.segment].tokens) for piece in own)
        elif _is_turn(own, first) and number != last:
            yield replace(own[0], tokens=first.tokens)  # the price of its turn
        else:
            around = PER_MESSAGE + PER_REQUEST if number == last else PER_MESSAGE
            yield from priced_message(own, counter.count, frame, around)


def _is_turn(pieces: Sequence[Piece], segment: Segment) -> bool:
    """Whether a message is one turn as it was priced, so that it need not be counted again."""
    is_single = len(pieces) == 1 and segment.text == pieces[0].text
    return is_single and segment.kind is Kind.RECENT and not segment.use


def priced_message(
    pieces: Sequence[Piece], price: Price, frame: Frame, around: int = PER_MESSAGE
) -> list[Piece]:
    """Price the pieces of one message; the last one includes what is added to the message."""
    counted = [piece for piece in pieces if piece.part not in _NOT_COUNTED]
    costs = iter(shares([piece.text for piece in counted], price))
    opaque = iter(_opaque_costs(pieces, price))
    result: list[Piece] = []
    for piece in pieces:
        if piece.part is Part.OPAQUE:
            cost = next(opaque)
        elif piece.part is Part.PICTURE:
            cost = piece.tokens
        else:
            cost = next(costs)
        if piece.part is Part.ARGUMENTS:
            cost += frame.call
        result.append(replace(piece, tokens=cost))
    last = result[-1]
    around += frame.result if last.use.answers else 0
    result[-1] = replace(last, tokens=last.tokens + around)
    return result


_NOT_COUNTED = (Part.OPAQUE, Part.PICTURE)


def _opaque_costs(pieces: Sequence[Piece], price: Price) -> list[int]:
    """Price what only the server can read: the reported reasoning tokens without the words.

    If none were reported, by the length of each value.
    """
    opaque = [piece for piece in pieces if piece.part is Part.OPAQUE]
    lengths = [-(-len(piece.text) // _PER_OPAQUE) for piece in opaque]
    reported = _reported(opaque[0]) if opaque else None
    if reported is None:
        return lengths
    words = "".join(piece.text for piece in pieces if piece.part is Part.REASONING)
    return apportion(max(0, reported - price(words)), lengths)


def _reported(piece: Piece) -> int | None:
    echo = piece.use.echo
    return echo.tokens if echo is not None else None


def has_guesses(segments: Iterable[Segment]) -> bool:
    """Whether something opaque is sent whose tokens were not reported."""
    pieces = chain.from_iterable(segment.pieces for segment in segments)
    return any(piece.part is Part.OPAQUE and _reported(piece) is None for piece in pieces)


def _with_pieces(segment: Segment, pieces: Sequence[Piece]) -> Segment:
    text = "".join(piece.text for piece in pieces if piece.part is not Part.OPAQUE)
    tokens = sum(piece.tokens for piece in pieces)
    whole = segment.whole
    if whole and segment.use:  # which may be written otherwise than it was priced
        whole += tokens - segment.tokens
    unwritten = segment.text if segment.text != text else None
    sent = replace(segment, text=text, tokens=tokens, pieces=tuple(pieces), whole=whole)
    return replace(sent, unwritten=unwritten)


@dataclass(frozen=True, slots=True)
class TurnPricing:
    """Prices a turn as a message of its own, in the way in which a window sends it."""

    counter: TokenCounter
    rules: WritingRules = PLAIN
    is_native: bool = True
    """Whether calls are sent as such."""

    @property
    def name(self) -> str:
        """A name for the stored prices; those of quoted calls are the same for every protocol."""
        if self._is_quoted:
            return f"{self.counter.name} quoted"
        return f"{self.counter.name} {self.counter.style} {self.rules}"

    @property
    def _is_quoted(self) -> bool:
        return not (self.is_native and self.rules.takes_tools)

    def __call__(self, text: str, use: ToolUse = NO_TOOL_USE, /) -> int:
        count, frame = self.counter.count, FRAMES[self.counter.style]
        if not use:
            return count(text) + PER_MESSAGE
        role = Role.ASSISTANT if use.calls else Role.TOOL
        if self._is_quoted:
            own = count(text) + PER_MESSAGE if text.strip() or use.answers else 0
            return own + sum(count(call_quote(call)) for call in use.calls)
        message = Unwritten(role, (Piece(text),), use)
        priced = priced_message(pieces_of(message, 1, self.rules), count, frame)
        return sum(piece.tokens for piece in priced)


def sent_tokens(counter: TokenCounter, messages: Iterable[Message], tools: Iterable[Tool]) -> int:
    """Count a request as it was written, with its tools, calls and results."""
    price = TurnPricing(counter)
    texts = sum(price(message.content, message.use) for message in messages)
    return texts + tool_prices(tools, counter.count, counter.style).total + PER_REQUEST
