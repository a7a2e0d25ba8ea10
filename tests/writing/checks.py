"""What must hold of a window and the body that it is sent as."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from jitchat.events import WindowBuilt
from jitchat.recorder import Outgoing, SendRecorder
from jitchat.replay import window_of
from jitchat.why import Explained, Standing, why
from jitchat.window.budget import PER_MESSAGE, PER_REQUEST
from jitchat.window.exchange import is_requested, is_shown, why_unshown
from jitchat.window.history import History, whole_cost_of
from jitchat.window.steering import NO_MORE
from jitchat.window.tool_prices import FRAMES
from jitchat.window.window import Kind, Verdict, segment_of_turns
from jitchat.window.written import TurnPricing, offers_others
from jitchat.writing.pieces import BETWEEN, Part
from tests.writing.readers import differences, texts_in
from tests.writing.worlds import origin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from jitchat.values import Turn
    from jitchat.window.tokens import TokenCounter
    from jitchat.window.window import ContextWindow, LedgerRow, OtherRow, Segment
    from jitchat.writing.pieces import Piece
    from tests.writing.worlds import Mark, World


@dataclass(frozen=True, slots=True)
class Violation:
    check: str
    """The check's letter and what it is about: `b arguments`."""
    details: str


@dataclass(frozen=True, slots=True)
class Case:
    """A window, and what it was made from and for."""

    world: World
    protocol: str
    window: ContextWindow
    encode: Callable[[ContextWindow], bytes]
    counter: TokenCounter
    draft: str
    planned: ContextWindow
    """The window before it was extended or written again."""
    refused: frozenset[str] = frozenset()
    """Parts that the server refused."""
    excluded: Collection[int] = ()

    @property
    def body(self) -> bytes:
        return self.encode(self.window)


def violations(case: Case) -> Iterator[Violation]:
    """Check everything but what is stored."""
    body = case.body
    for difference in differences(case.protocol, case.window.pieces, body):
        yield Violation("a body", difference)
        if difference.startswith("unknown field"):
            return
    given = texts_in(case.protocol, body)
    yield from _quotes(case.window)
    yield from _owners(case.window)
    yield from listed(case.window)
    yield from _parts(case, given)
    yield from _prices(case)
    yield from _sums(case.window)
    yield from _explained(case, given)
    yield from _accounts(case)


def _quotes(window: ContextWindow) -> Iterator[Violation]:
    """A quoted call is followed by its result, not by another call."""
    for piece, after in pairwise(window.pieces):
        is_quote = piece.part is Part.TEXT and piece.text.endswith(_OUTCOMES)
        if is_quote and (after.text == BETWEEN or after.text.startswith("<call")):
            yield Violation("a order", f"{piece.text!r} is followed by {after.text!r}")


_OUTCOMES = ("</call>\nIt returned:\n", "</call>\nIt failed:\n")


def _owners(window: ContextWindow) -> Iterator[Violation]:
    """What a turn called is listed with the turn."""
    for piece in window.pieces:
        if piece.part is Part.NAME and piece.role == "assistant":
            owner = window.segments[piece.segment].use.calls
            if len(owner) != len(piece.use.calls):
                yield Violation("a owner", f"{piece.text} in segment {piece.segment}")


def listed(window: ContextWindow) -> Iterator[Violation]:
    """A row has the figures of the segment that sends its turn."""
    by_turn = segment_of_turns(window.segments)
    for row in window.ledger:
        segment = by_turn.get(row.turn)
        if segment is None or segment.kind.value != row.verdict.value or segment.kind is Kind.INDEX:
            continue
        if row.tokens != segment.at_full_text:
            yield Violation("e row", f"#{row.turn}: {row.tokens} listed, {segment.tokens} sent")
        if not row.reason.startswith(window.extent(segment)):
            yield Violation("e row", f"#{row.turn}: {row.reason!r} is not {segment.reason!r}")


# (b) every stored part


def _parts(case: Case, given: str) -> Iterator[Violation]:
    path = {turn.position: turn for turn in case.world.memory.turns}
    last = case.window.draft.turn or 0
    for word, mark in case.world.marks.known.items():
        is_sent = word in given
        if mark.turn is not None and (mark.turn not in path or mark.turn >= last):
            if is_sent:
                yield Violation("b elsewhere", f"{word} of {mark}, which is not before the message")
            continue
        turn = path.get(mark.turn or 0)
        lacking = _LACKING[mark.kind](case, mark, turn, is_sent)
        if lacking:
            yield Violation(f"b {lacking}", f"{word} of {mark}; {'sent' if is_sent else 'absent'}")


def _content(case: Case, mark: Mark, turn: Turn | None, is_sent: bool) -> str:
    """Return what is wrong with a marker in a turn; empty if nothing is."""
    assert turn is not None
    window = case.window
    segment = segment_of_turns(window.segments).get(turn.position)
    row = next((row for row in window.ledger if row.turn == turn.position), None)
    if is_sent:
        return "" if segment is not None else f"{mark.kind} sent and not listed"
    if segment is not None:
        return _of_segment(segment, mark, row)
    if row is not None:
        is_told = row.verdict is Verdict.LEFT_OUT and row.tokens > 0
        return "" if is_told else f"{mark.kind} in a row as {row.verdict}"
    if not is_shown(turn):
        reason = "own tool" if is_requested(turn) else "unanswered"
        return "" if _rows(case, Kind.RECENT) else reason
    return "" if window.never_candidates is not None else f"{mark.kind} without a row"


def _arguments(case: Case, mark: Mark, turn: Turn | None, is_sent: bool) -> str:
    assert turn is not None
    return "" if is_sent and _is_named(case, turn) else _content(case, mark, turn, is_sent)


def _is_named(case: Case, turn: Turn) -> bool:
    """Whether a result that is quoted or listed names the call of a turn, with its arguments."""
    kinds = case.window.kind_of_turns()
    results = (each for each in case.world.memory.turns if each.use.answers in turn.use.calls)
    return any(kinds.get(result.position) in (*_QUOTED, Kind.INDEX) for result in results)


_QUOTED = (Kind.PINNED, Kind.RETRIEVED, Kind.REQUESTED)


def _of_segment(segment: Segment, mark: Mark, row: LedgerRow | None) -> str:
    """Return what is wrong if a segment of a turn lacks a marker of the turn."""
    if not segment.is_whole:
        return "" if segment.whole else f"{mark.kind} of a part"
    if segment.kind is Kind.INDEX:
        return "" if row is None or row.tokens else f"{mark.kind} of a line without tokens"
    return f"{mark.kind} {'quoted' if segment.kind in _QUOTED else 'sent whole'}"


def _result(case: Case, mark: Mark, turn: Turn | None, is_sent: bool) -> str:
    assert turn is not None
    if turn.use.form is not None and not is_sent:
        segment = segment_of_turns(case.window.segments).get(turn.position)
        is_carried = segment is not None and segment.kind is not Kind.INDEX
        if is_carried and segment is not None and segment.is_whole:
            return "form"
    return _content(case, mark, turn, is_sent)


def _form(case: Case, mark: Mark, turn: Turn | None, is_sent: bool) -> str:
    """A shortened form stands for its result; where that is quoted whole, it is not needed."""
    return "" if not is_sent else _content(case, mark, turn, is_sent)


def _own_result(case: Case, mark: Mark, turn: Turn | None, is_sent: bool) -> str:
    if is_sent:
        return "own tool sent"
    return "" if _rows(case, Kind.RECENT) else "own tool"


def _reasoning(case: Case, mark: Mark, turn: Turn | None, is_sent: bool) -> str:
    """Reasoning goes back, to its own model, with the calls of its answer, and not otherwise."""
    assert turn is not None
    names = (
        piece
        for piece in case.window.pieces
        if piece.turn == turn.position and piece.part is Part.NAME and piece.role == "assistant"
    )
    native = next(names, None)
    if mark.key != origin_of(case.protocol) or "echo" in case.refused or native is None:
        return "reasoning sent" if is_sent else ""
    if is_sent or case.refused & _REASONING:
        return ""
    is_list = turn.use.echo is not None and turn.use.echo.value.startswith("[")
    is_renamed = native.use.calls != turn.use.calls  # what repeats the calls cannot go back
    return "" if is_list and is_renamed else "reasoning"


_REASONING = frozenset({"reasoning_content", "reasoning", "reasoning_details"})


def _file(case: Case, mark: Mark, turn: Turn | None, is_sent: bool) -> str:
    del turn
    rows = [row for row in case.window.others if row.file and row.file.digest == mark.key]
    whole = [row for row in rows if row.verdict is Verdict.FILES]
    if mark.turn in case.excluded and not is_sent:
        return "file of an excluded turn" if not rows else ""
    if is_sent:
        is_listed = any(row.verdict is not Verdict.LEFT_OUT for row in rows)
        is_listed |= any(part.file.digest == mark.key for part in _requested(case) if part.file)
        return "" if is_listed else "file sent and not listed"
    if whole:
        return "file in full"
    return "" if any(row.tokens for row in rows) else "file without a row"


def _picture(case: Case, mark: Mark, turn: Turn | None, is_sent: bool) -> str:
    del turn, is_sent
    digests = {piece.picture.digest for piece in case.window.pieces if piece.picture is not None}
    rows = [row for row in case.window.others if row.file and row.file.digest == mark.key]
    if mark.turn in case.excluded:
        return "file of an excluded turn" if not rows else ""
    is_listed = any(row.verdict is Verdict.FILES for row in rows)
    if (mark.key in digests) is not is_listed:
        return "picture listed otherwise than sent"
    return "" if rows else "picture without a row"


def _fact(case: Case, mark: Mark, turn: Turn | None, is_sent: bool) -> str:
    """A fact that is not sent needs a row."""
    del turn
    kind = Kind.FACTS if mark.kind == "fact" else Kind.STANDING
    return "" if is_sent or _rows(case, kind) else mark.kind


def _superseded(case: Case, mark: Mark, turn: Turn | None, is_sent: bool) -> str:
    del case, turn
    return f"{mark.kind} sent" if is_sent else ""


def _requested(case: Case) -> list[Segment]:
    return [segment for segment in case.window.segments if segment.kind is Kind.REQUESTED]


def _rows(case: Case, kind: Kind) -> list[OtherRow]:
    return [row for row in case.window.others if row.kind is kind and not row.is_sent]


def _statement(case: Case, mark: Mark, turn: Turn | None, is_sent: bool) -> str:
    del turn
    kind = Kind.OBSERVATIONS if mark.kind == "observation" else Kind.DOCUMENT
    has_them = any(segment.kind is kind for segment in case.window.segments)
    is_out = bool(case.excluded) and not is_sent  # those of excluded turns are left out
    return "" if is_sent is has_them or is_out else f"{mark.kind} listed otherwise than sent"


def _elsewhere(case: Case, mark: Mark, turn: Turn | None, is_sent: bool) -> str:
    del mark, turn
    recalled = [each for each in case.window.segments if each.kind is Kind.RETRIEVED]
    is_listed = any(segment.source for segment in (*recalled, *_requested(case)))
    return "other conversation sent and not listed" if is_sent and not is_listed else ""


_LACKING: dict[str, Callable[[Case, Mark, Turn | None, bool], str]] = {
    "content": _content,
    "arguments": _arguments,
    "result": _result,
    "form": _form,
    "own result": _own_result,
    "reasoning": _reasoning,
    "file": _file,
    "picture": _picture,
    "fact": _fact,
    "standing": _fact,
    "superseded": _superseded,
    "observation": _statement,
    "document": _statement,
    "elsewhere": _elsewhere,
}


# (c) and (d) tokens


def _prices(case: Case) -> Iterator[Violation]:
    count, frame = case.counter.count, FRAMES[case.counter.style]
    pieces = case.window.pieces
    definitions = [piece for piece in pieces if piece.part is Part.DEFINITION]
    due = sum(count(piece.text) + frame.definition for piece in definitions)
    due += frame.tools if definitions else 0
    if due != sum(piece.tokens for piece in definitions):
        yield Violation("c definitions", f"{due} due")
    whole = due + PER_REQUEST
    sent = [piece for piece in pieces if piece.part is not Part.DEFINITION]
    for number, group in groupby(sent, key=lambda piece: piece.message):
        own = list(group)
        aside = (Part.OPAQUE, Part.PICTURE)
        text = "".join(piece.text for piece in own if piece.part not in aside)
        calls = sum(piece.part is Part.ARGUMENTS for piece in own)
        due = count(text) + PER_MESSAGE + frame.call * calls
        due += frame.result if own[0].use.answers is not None else 0
        due += sum(piece.tokens for piece in own if piece.part is Part.PICTURE)
        due += _of_opaque(own, count)
        whole += due
        charged = sum(piece.tokens for piece in own)
        if charged not in (due, due + PER_REQUEST):
            yield Violation("c message", f"message {number} of {own[0].role}: {charged}, not {due}")
    if whole != sum(piece.tokens for piece in pieces):
        yield Violation("c sum", f"{sum(piece.tokens for piece in pieces)} of pieces, {whole} due")
    is_guessed = any(
        piece.part is Part.OPAQUE and piece.use.echo and piece.use.echo.tokens is None
        for piece in pieces
    )
    if case.window.exact and is_guessed:
        yield Violation("c exact", "exact, with opaque pieces whose tokens are unknown")
    if case.window.counted != whole:
        yield Violation("c counted", f"{case.window.counted} counted, {whole} due")


def _of_opaque(pieces: Sequence[Piece], count: Callable[[str], int]) -> int:
    """Return what signatures cost: what was reported beyond the words, else by their length."""
    opaque = [piece for piece in pieces if piece.part is Part.OPAQUE]
    echo = pieces[0].use.echo
    if not opaque or echo is None or echo.tokens is None:
        return sum(-(-len(piece.text) // 5) for piece in opaque)
    words = "".join(piece.text for piece in pieces if piece.part is Part.REASONING)
    return max(0, echo.tokens - count(words))


def _sums(window: ContextWindow) -> Iterator[Violation]:
    budget = window.budget
    spent = sum(segment.tokens for segment in window.segments)
    if spent + window.free + budget.reserve != budget.limit or window.free < 0:
        yield Violation("d sum", f"{spent} + {window.free} + {budget.reserve} != {budget.limit}")
    of_pieces = sum(piece.tokens for piece in window.pieces)
    if spent != of_pieces:
        yield Violation("d pieces", f"{spent} in segments, {of_pieces} in pieces")


# (e) the stored window


def stored_violations(case: Case) -> Iterator[Violation]:
    """Store a window, read it again, and encode what was read."""
    memory, window = case.world.memory, case.window
    said = next(iter(memory.turns), None)
    if said is None:
        return
    recorder = SendRecorder(
        memory,
        Outgoing(case.draft, NO_MORE, "srv", lambda _: None, len, lambda: None),
    )
    recorder.store_window(said, WindowBuilt(window, window.digest), None, str)
    number = memory.archive.window_id(said)
    assert number is not None
    read = window_of(memory.store.database, number)
    if read.pieces != window.pieces:
        yield Violation("e pieces", "the pieces that were read are others")
    if read != window:
        yield Violation("e window", "the window that was read is another")
    if case.encode(read) != case.body:
        yield Violation("e body", "the stored window gives another body")
    if read.digest != window.digest:
        yield Violation("e digest", "the stored window has another digest")


# (f) why


def _explained(case: Case, given: str) -> Iterator[Violation]:
    window, world = case.window, case.world
    explained = Explained(window, case.draft, None, case.excluded)
    known = {turn.position: turn for turn in world.memory.turns}
    formed = {position for position, turn in known.items() if turn.use.form is not None}
    requested = {segment.turn for segment in _requested(case)}
    planted: dict[int, list[tuple[str, str]]] = {}
    for word, mark in world.marks.known.items():
        if mark.turn is not None and mark.kind in ("content", "result", "arguments"):
            planted.setdefault(mark.turn, []).append((word, mark.kind))
    for turn, words in planted.items():
        found = why(world.memory, explained, turn)
        if found.standing is Standing.NOT_INDEXED:
            yield Violation("f not indexed", f"#{turn} of {window.mode}: {found}")
        for word, kind in words:
            is_sent = word in given
            is_wrong = found.standing in _ABSENT if is_sent else found.standing is Standing.SENT
            about = "form" if kind == "result" and turn in formed else kind
            is_named = kind == "arguments" and turn in known and _is_named(case, known[turn])
            has_more = found.standing is Standing.IN_PART and turn in requested  # of the same turn
            if is_wrong and not (is_sent and (is_named or has_more)):
                yield Violation(f"f {about}", f"#{turn} of {window.mode}: {found} {word}")


_ABSENT = frozenset(Standing) - {Standing.SENT, Standing.EXCERPT, Standing.LISTED, Standing.MESSAGE}


# (g) each turn before the message is accounted for once


def _accounts(case: Case) -> Iterator[Violation]:
    """A turn is sent, or has a row, or is in the sum of the turns that were never candidates."""
    window, costs = case.window, _costs_of(case)
    explained = Explained(window, case.draft, None, case.excluded)
    never: list[Turn] = []
    for turn, cost in costs.items():
        told = why(case.world.memory, explained, turn.position)
        about = f"#{turn.position} of {window.mode}: {told}"
        places = list(_places(window, turn))
        if len(places) > 1:
            yield Violation("g twice", f"{places} {about}")
        if not places:
            never.append(turn)
        for standings, reason, tokens in places or [_in_sum(window)]:
            if told.standing not in standings or reason not in str(told):
                yield Violation("g why", f"{standings} for {reason!r}: {about}")
            if tokens not in (cost, None):
                yield Violation("g tokens", f"{tokens}, not {cost}: {about}")
    known = window.never_candidates
    summed = (known.turns, known.tokens) if known is not None else (0, 0)
    tokens = sum(costs[turn] for turn in never)
    before = {row.turn for row in case.planned.ledger}
    before |= segment_of_turns(case.planned.segments).keys()
    added = [row for row in window.ledger if row.turn not in before]
    of_turn = {turn.position: cost for turn, cost in costs.items()}
    tokens += sum(of_turn[row.turn] - row.tokens for row in added)
    due = len(never), max(0, tokens) if never else 0
    if summed != due:
        yield Violation("g sum", f"{summed}, not {due}, of {never} in {window.mode}")


Place = tuple[tuple[Standing, ...], str, "int | None"]
"""What `why` may say of a turn, with which reason, and the tokens of its row."""
_SENT = (Standing.SENT, Standing.EXCERPT, Standing.IN_PART)


def _places(window: ContextWindow, turn: Turn) -> Iterator[Place]:
    """Yield each place in a window that tells of a turn, but for the sum."""
    segment = segment_of_turns(window.segments).get(turn.position)
    if segment is not None and segment.kind is not Kind.INDEX:
        yield _SENT, segment.reason, None
    for row in window.ledger:
        if row.turn == turn.position and row.verdict in (Verdict.LEFT_OUT, Verdict.INDEX):
            standing = Standing.LEFT_OUT if segment is None else Standing.LISTED
            yield (standing,), row.reason, row.tokens
    for other in window.others_of(Kind.RECENT):
        is_in_range = "–" in other.name and other.reason == why_unshown(turn)
        if is_in_range or f"#{turn.position}" in other.name.split():
            yield (Standing.UNSHOWN,), other.reason, None


def _in_sum(window: ContextWindow) -> Place:
    never = window.never_candidates
    reason = never.reason if never is not None and not window.mode.recalls else ""
    return (Standing.NEVER,), reason, None


def _costs_of(case: Case) -> dict[Turn, int]:
    """Price each turn before the message whole, as a message of its own; 0 if none can show it."""
    last = case.window.draft.turn or 0
    ahead = [turn for turn in case.world.memory.turns if turn.position < last]
    costs = dict.fromkeys(ahead, 0)
    is_native = offers_others(case.planned.tools)
    price = TurnPricing(case.counter, case.planned.rules, is_native)
    shown = [turn for turn in ahead if is_shown(turn)]
    out = History.of(shown, [1] * len(shown)).with_units(dict.fromkeys(case.excluded, ""), "")
    kept = [turn for turn in shown if turn.position not in out]
    for turns in (shown, kept):
        for previous, turn in zip((None, *turns), turns, strict=False):
            costs[turn] = whole_cost_of(turn, previous, price)
    return costs
