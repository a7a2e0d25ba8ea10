"""One plan for all modes: from the sources to the window that is sent. Pure.

Order for attention and for prompt caches, stable first: system, pinned, recent, then the one
volatile tail: index lines, recalled turns, draft. Priority when the budget is short: reserve,
draft and system, pinned, recent, retrieved by value, index.

A planner chooses in the counter's tokens. Here its choice gets a ledger, and then every price is
corrected by the calibration to what the server is expected to report. Invariant: segments still add
up exactly to the tokens used; turns that are not sent are priced at the same rate as those sent.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import chain
from math import ceil

from jitchat.errors import WindowOverflow
from jitchat.statements import Source
from jitchat.values import NO_OTHERS, Form, Mode, Other, Role
from jitchat.window import reasons
from jitchat.window.budget import SHARES, Budget
from jitchat.window.calibration import NO_CALIBRATION, Calibration, others_of
from jitchat.window.epoch import extended, is_continued
from jitchat.window.files import Placing, files_tokens, placed
from jitchat.window.ledger import ledger_rows, never_candidates
from jitchat.window.not_shown import with_kept_line, without_request
from jitchat.window.others import Others
from jitchat.window.parts import Choice, Parts, Sources
from jitchat.window.render import apportion, system_segments, verbatim
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import (
    ContextWindow,
    Kind,
    LedgerRow,
    OtherRow,
    Segment,
    pieces_in,
    tokens_of,
    tool_of,
)
from jitchat.window.written import has_guesses, offers_others, written
from jitchat.writing.pieces import WritingRules


def plan(
    mode: Mode,
    sources: Sources,
    budget: Budget,
    counter: TokenCounter,
    calibration: Calibration = NO_CALIBRATION,
) -> ContextWindow:
    """Plan the window for `sources.draft`. `budget` is in the tokens that the server counts.

    Raises:
        WindowOverflow: What the mode must send does not fit; nothing is cut silently.

    """
    parts = Parts.of(sources, budget, counter, calibration)
    sized = parts if mode is Mode.FULL else parts.of_size()
    tried, planned, segments = _chosen_and_written(mode, sized)
    choice = replace(planned, segments=segments)
    retrieval = sources.retrieval
    rows = ledger_rows(sources, choice)
    window = ContextWindow(
        mode=mode,
        model=sources.model,
        counter=counter.name,
        exact=counter.exact and not (_has_estimates(choice, sources) or has_guesses(segments)),
        budget=budget,
        segments=segments,
        ledger=rows,
        never_candidates=never_candidates(sources, choice, rows),
        full_tokens=_full_tokens(parts, mode, choice),
        counted=tokens_of(segments),
        picking=retrieval.picking,
        reranking=retrieval.reranking,
        floor=retrieval.floor if retrieval.candidates else None,
        needless=retrieval.needless if mode.recalls else "",
        others=tuple(Others(tried, mode, choice).rows()),
        not_searched=retrieval.elsewhere.not_searched if mode.recalls else 0,
        distilled_through=choice.distilled_through,
        planned=planned.segments,
        rules=sources.rules,
    )
    return correct_window(window, calibration, parts.held_back, parts.definitions_of_full)


_TRIES = 6
"""How often a window is chosen anew because its texts, once joined, need more than they were priced
at (a few tokens, where messages of one role follow each other or calls are quoted), or because
other files are sent whole than was expected. Each time, twice as much is given up."""


def _chosen_and_written(mode: Mode, parts: Parts) -> tuple[Parts, Choice, tuple[Segment, ...]]:
    """Choose what to send, and write it. Return also the parts that it was chosen from.

    Less is chosen if the written window is too large.
    """
    segments: tuple[Segment, ...] = ()
    least = min(parts.room, parts.fixed)
    for number in range(_TRIES):
        try:
            choice = with_kept_line(_chosen(mode, parts), parts)
        except WindowOverflow:
            if not segments:
                raise
            break  # less than was written cannot be chosen
        segments = written(choice.segments, parts.counter, parts.sources.rules)
        before = parts.sources.before
        if choice.extends and before is not None and not is_continued(segments, before):
            parts = replace(parts, sources=replace(parts.sources, before=None))
            continue
        total, band = expected(segments, parts.calibration)
        over = ceil((total + band - parts.budget.budget) / parts.calibration.slope)
        missing = max(over, tokens_of(segments) - parts.most)
        if missing <= 0:
            return parts, choice, segments
        parts = replace(parts, room=max(least, parts.room - (missing << number)))
    if over <= 0:  # a few tokens more than its size, which is no reason to refuse it
        return parts, choice, segments
    raise parts.overflow("The window", tokens_of(segments), "lower the budget of its parts")


def rewritten(
    window: ContextWindow, counter: TokenCounter, rules: WritingRules, calibration: Calibration
) -> ContextWindow | None:
    """Write a window again by other rules, with the same turns; None if it does not fit.

    If the model takes no tools, none are offered.
    """
    planned, others = window.planned, list(window.others)
    if not rules.takes_tools:
        tools = [segment for segment in planned if segment.kind is Kind.TOOLS]
        rest = (segment for segment in planned if segment.kind is not Kind.TOOLS)
        planned = tuple(without_request(segment) for segment in rest)
        others += (
            OtherRow(Kind.TOOLS, tool_of(each).name, each.tokens, reasons.NO_TOOLS)
            for each in tools
        )
    planned = _with_reading(planned, counter, rules)
    segments = written(planned, counter, rules)
    total, band = expected(segments, calibration)
    if total + band > window.budget.budget:
        return None
    again = replace(
        window,
        segments=corrected(segments, calibration),
        full_tokens=_full_again(window, total, takes_tools=rules.takes_tools),
        exact=window.exact and not has_guesses(segments),
        counted=counted(segments),
        band=band,
        others=tuple(others),
        planned=planned,
        rules=rules,
    )
    return told(again, window, lambda tokens: tokens)


def _with_reading(
    planned: Sequence[Segment], counter: TokenCounter, rules: WritingRules
) -> tuple[Segment, ...]:
    """Say how to read the window if its calls are now quoted."""
    is_read = any(segment.reason == reasons.READING for segment in planned)
    if is_read or rules.takes_tools or not any(segment.use.calls for segment in planned):
        return tuple(planned)
    system, *rest = planned
    return (*system_segments(system.text, system.reason, counter.count), *rest)


def _full_again(window: ContextWindow, total: int, *, takes_tools: bool) -> int:
    """Return what `full` would be, if it has to be written again, too, as a window of `total`."""
    if window.mode is Mode.FULL or window.used == window.full_tokens:
        return window.full_tokens + total - window.used
    has_tools = offers_others(window.tools) and not takes_tools
    return window.full_tokens - window.tokens_of(Kind.TOOLS) * has_tools


def _has_estimates(choice: Choice, sources: Sources) -> bool:
    """Whether a picture is sent whose tokens are not published."""
    pictures = (each.file.picture for each in choice.segments if each.file is not None)
    return any(
        not sources.files.picture_tokens(picture.width, picture.height)[1]
        for picture in pictures
        if picture is not None
    )


def _chosen(mode: Mode, parts: Parts) -> Choice:
    """Go on from the window before, or have the planner choose, and put files with their turns."""
    if mode.recalls:
        return extended(parts) or _composed(mode, parts)
    choice, files = planner_of(mode)(parts), parts.sources.files
    placing = Placing(files, parts.counter, parts.sources.draft.position)
    return _with_files(choice, placing, parts) if files else choice


def _composed(mode: Mode, parts: Parts) -> Choice:
    """Have a planner that recalls compose a window anew, and leave room to files.

    Parts are quoted of files that are not sent whole, which is known once the files are placed.
    """
    sources, choose = parts.sources, planner_of(mode)
    if not sources.files:
        return choose(parts)
    placing = Placing(sources.files, parts.counter, sources.draft.position)
    shown = {sources.draft.position, *sources.history.positions}
    if parts.whole + placing.reserved(shown, parts.most) > parts.most:
        placing = replace(placing, most=parts.budget.share(SHARES.whole_file))
    if not parts.is_small:
        shown = {*parts.with_files, *sources.history.positions[parts.last_exchange :]}
    reserved = placing.reserved(shown, max(0, parts.room - parts.fixed))
    whole = placing.whole(shown)
    for _ in range(_TRIES):
        parts = replace(parts, whole_files=whole)
        try:
            choice = choose(replace(parts, room=parts.room - reserved))
        except WindowOverflow:  # files give way to what must be sent
            choice = choose(parts)
        choice = _with_files(choice, placing, parts)
        files = [segment for segment in choice.segments if segment.kind is Kind.FILES]
        refs = (segment.file for segment in files)
        whole = frozenset(ref.digest for ref in refs if ref is not None and ref.is_whole)
        if not any(hit.digest in whole ^ parts.whole_files for hit in sources.files.hits):
            break
        reserved = min(reserved, tokens_of(files))
    return choice


def _with_files(choice: Choice, placing: Placing, parts: Parts) -> Choice:
    """Put the files of the turns that are sent into the room that is left."""
    sent, draft = choice.segments, parts.sources.draft.position
    recent = (each.turn for each in sent if each.kind is Kind.RECENT and each.turn)
    shown = {*parts.with_files, *recent}
    room = parts.room - tokens_of(sent)
    while True:
        files = placing.segments(shown, room)
        segments = placed(sent, files, draft)
        over = tokens_of(segments) - parts.room
        if over <= 0 or not files:
            return replace(choice, segments=segments)
        room = min(room, files_tokens(files)) - over


def _full_tokens(parts: Parts, mode: Mode, choice: Choice) -> int:
    """Return the tokens that `full` would spend; if everything is sent, those are counted."""
    segments, files = choice.segments, parts.sources.files
    used = tokens_of(segments)
    if mode is Mode.FULL:
        return used
    history, draft = parts.sources.history, parts.sources.draft.position
    turns = {file.turn for file in files.files}
    every = {turn for turn in turns if turn == draft or history.find(turn) is not None}
    room = parts.calibration.within(parts.budget.budget, parts.definitions_of_full)
    attached = Placing(files, parts.counter).segments(every, room - parts.full)
    if _is_as_full(parts, segments, tuple(chain.from_iterable(attached.values()))):
        return used + parts.full - parts.whole
    return parts.full + sum(_added_by(parts, turn, own) for turn, own in attached.items())


def _is_as_full(parts: Parts, segments: Sequence[Segment], files: Sequence[Segment]) -> bool:
    """Whether a window is what `full` sends, but for tools: every turn, with the same `files`."""
    kinds = [segment.kind for segment in segments if segment.kind not in _OF_TURNS]
    recent = sum(segment.kind is Kind.RECENT for segment in segments)
    sent = {segment.file for segment in segments if segment.file is not None}
    return (
        kinds == [segment.kind for segment in parts.opening_of_everything]
        and recent == len(parts.sources.history.turns)
        and sent == {segment.file for segment in files}
    )


_OF_TURNS = (Kind.FILES, Kind.RECENT, Kind.DRAFT)


def _added_by(parts: Parts, turn: int, files: Sequence[Segment]) -> int:
    """Return the tokens that files add to the message of their turn."""
    history, draft = parts.sources.history, parts.sources.draft
    index = history.find(turn)
    alone: Sequence[Segment] = parts.bare_tail
    if turn != draft.position and index is not None:
        text = verbatim(history.turns[index], history.turns[index - 1] if index else None)
        alone = [Segment(Kind.RECENT, Role.USER, text, history.costs[index], turn, "")]
    both = written([*files, *alone], parts.counter)
    return tokens_of(both) - tokens_of(written(alone, parts.counter))


def planner_of(mode: Mode) -> Callable[[Parts], Choice]:
    """Return a mode's planner, from the module of the mode's name."""
    choose: Callable[[Parts], Choice] = import_module(f"jitchat.window.modes.{mode}").choose
    return choose


_FULL_TEXT = (Kind.PINNED, Kind.RECENT, Kind.RETRIEVED)
"""Kinds that carry a turn at full text; a verdict on it has the same name."""


def correct_window(
    window: ContextWindow,
    calibration: Calibration,
    held_back: int = 0,
    definitions: Mapping[Other, int] = NO_OTHERS,
) -> ContextWindow:
    """Correct every price in a window that was planned in the counter's tokens.

    `held_back` are tokens by which the turns as stored exceed what `full` sends of them, and
    `definitions` those of the tools that `full` offers. What is not sent is priced at the window's
    rate.
    """
    own = window.used
    total, band = expected(window.segments, calibration)
    is_whole = all(segment.is_whole for segment in window.segments)
    if calibration is NO_CALIBRATION and is_whole and not held_back:
        return told(window, window, lambda tokens: tokens)

    at_rate = partial(_at_rate, total=total, own=own)
    full = calibration.correct(window.full_tokens + held_back, definitions)
    if window.full_tokens == own:  # of which every kind is known
        full += total - calibration.correct(own, definitions)
    never = window.never_candidates
    corrected_window = replace(
        window,
        segments=corrected(window.segments, calibration),
        never_candidates=replace(never, tokens=at_rate(never.tokens)) if never else None,
        full_tokens=full,
        band=band,
    )
    return told(corrected_window, window, at_rate)


def _at_rate(tokens: int, total: int, own: int) -> int:
    """Convert at the rate of `total` to `own`, rounded up."""
    return -(-tokens * total // own) if own else tokens


def told(window: ContextWindow, before: ContextWindow, rate: Callable[[int], int]) -> ContextWindow:
    """Let each row say what its turn costs and how much of it is sent, in the server's tokens.

    The rows are those of the window `before`. Turns that are sent cost what their segments do, all
    others `rate` of what they did.
    """
    sent, was_sent = _extents(window), _extents(before)
    full_texts = [each for each in window.segments if each.kind in _FULL_TEXT and not each.source]
    costs = {each.turn: each.at_full_text for each in full_texts}
    of_others = {(each.kind, each.file, each.source): each.tokens for each in window.segments}
    total, own = window.used, window.counted

    def figure(tokens: int) -> str:
        return str(window.figure(abs(_at_rate(tokens, total, own))))

    def why(reason: str, item: Source | int | None) -> str:
        alone = reason.removeprefix(was_sent.get(item, ""))
        return sent.get(item, "") + reasons.with_numbers(alone, figure)

    def listed(row: LedgerRow) -> LedgerRow:
        tokens = costs.get(row.turn) if row.verdict.value in _FULL_TEXT else None
        tokens = rate(row.tokens) if tokens is None else tokens
        return replace(row, tokens=tokens, reason=why(row.reason, row.turn))

    def listed_other(row: OtherRow) -> OtherRow:
        tokens = of_others.get((row.kind, row.file, row.source)) if row.is_sent else None
        tokens = rate(row.tokens) if tokens is None else tokens
        return replace(row, tokens=tokens, reason=why(row.reason, row.source))

    def listed_segment(segment: Segment) -> Segment:
        reason = window.extent(segment) + reasons.with_numbers(segment.reason, figure)
        return segment if reason == segment.reason else replace(segment, reason=reason)

    return replace(
        window,
        segments=tuple(listed_segment(segment) for segment in window.segments),
        ledger=tuple(listed(row) for row in window.ledger),
        others=tuple(listed_other(row) for row in window.others),
    )


def _extents(window: ContextWindow) -> dict[Source | int | None, str]:
    """Map what is sent in part to how much of it is."""
    in_part = (each for each in window.segments if each.form is not Form.WHOLE)
    extents = {each.source or each.turn: window.extent(each) for each in in_part}
    extents.pop(None, None)
    return extents


def expected(segments: Iterable[Segment], calibration: Calibration) -> tuple[int, int]:
    """Return what the server is expected to report for written segments, and the band."""
    pieces = pieces_in(segments)
    own = sum(piece.tokens for piece in pieces), others_of(pieces)
    return max(calibration.correct(*own), calibration.least_for(pieces)), calibration.band(*own)


def corrected(segments: Sequence[Segment], calibration: Calibration) -> tuple[Segment, ...]:
    """Share among written segments what the server is expected to report for them.

    What they leave out costs as much.
    """
    total, _ = expected(segments, calibration)
    weights = [calibration.weight(segment.pieces) for segment in segments]
    priced: list[Segment] = []
    for segment, cost in zip(segments, apportion(total, weights), strict=True):
        whole = round(segment.whole * cost / segment.tokens) if segment.tokens else 0
        priced.append(replace(segment, tokens=cost, whole=whole))
    return tuple(priced)


def counted(segments: Iterable[Segment]) -> int:
    """Sum up the counter's tokens of written segments."""
    return sum(piece.tokens for piece in pieces_in(segments))
