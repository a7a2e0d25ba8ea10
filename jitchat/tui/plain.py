"""Describe a window in one sentence: `sends 3 old turns: #7 #8 #9; 75 % less than everything`."""

from collections.abc import Iterator, Sequence

from jitchat.text.figures import enumerated, percent, plural
from jitchat.values import Mode
from jitchat.window.carriers import statements_in
from jitchat.window.window import ContextWindow, Kind, Verdict, segment_of_turns

_OLD = (Kind.PINNED, Kind.RETRIEVED, Kind.REQUESTED)
_FILES = (Kind.FILES, Kind.DOCUMENTS)
_NAMED, _NAMED_IN_SHORT = 8, 3
"""Maximum turns that are named, in the longer and the shorter variants."""
_PRICED = 3
"""Number of variants that include the price; in shorter ones the turns matter more."""


def plain_sentences(window: ContextWindow, cost: str = "", *, sent: bool) -> tuple[str, ...]:
    """Describe which turns are sent with the message, in several variants, the longest first.

    `cost` comes from `Comparison.cost`; empty if nothing is charged.
    """
    old, parts = [] if _is_all(window) else _old_turns(window), list(_parts(window))
    less, short = _less(window, " than everything"), _less(window)
    if not parts:
        first = " (no earlier turns)" if window.draft.turn == 1 else ""
        parts = [f"only your message{first}"]
    main, *others = parts
    verb = "sent" if sent else "sends"
    also = f", and {enumerated(others)}" if others else ""
    variants = (
        f"{verb} {main}{_names(old, _NAMED)}{also}{less}",
        f"{verb} {main}{_names(old, _NAMED)}{less}",
        f"{verb} {main}{_names(old, _NAMED)}{short}",
        f"{verb} {main}{_names(old, _NAMED_IN_SHORT)}{short}",
        f"{verb} {main}{short}",
        f"{verb} {main}",
        main,
    )
    priced = (f"{variant} · {cost}" for variant in variants[:_PRICED] if cost)
    return tuple(dict.fromkeys((*priced, *variants)))


def _parts(window: ContextWindow) -> Iterator[str]:
    """Yield what is sent with the message, the most important first; nothing for the message."""
    yield from _all_turns(window) if _is_all(window) else _some_turns(window)
    if facts := sum(segment.kind is Kind.FACTS for segment in window.segments):
        yield plural(facts, "fact")
    if files := _earlier_files(window):
        yield plural(len(files), "file")


def _all_turns(window: ContextWindow) -> Iterator[str]:
    if count := _recent(window) + len(_old_turns(window)):
        yield f"all {count:,} turns" if count > 1 else "the only turn"


def _some_turns(window: ContextWindow) -> Iterator[str]:
    old, recent, statements = _old_turns(window), _recent(window), statements_in(window)
    if old:
        yield plural(len(old), "old turn")
    if statements is not None:
        through = f" up to #{window.distilled_through}" if window.distilled_through else ""
        is_document = statements.kind is Kind.DOCUMENT
        yield f"the {'memory document' if is_document else 'observations'}{through}"
    if recent:
        none = " and no old ones" if not old and window.mode.recalls and window.ledger else ""
        yield plural(recent, "turn" if window.mode is Mode.FULL else "recent turn") + none


def _recent(window: ContextWindow) -> int:
    turns = segment_of_turns(window.segments).values()
    return sum(segment.kind is Kind.RECENT for segment in turns)


def _is_all(window: ContextWindow) -> bool:
    """Whether every turn of the conversation is sent in full."""
    is_whole = window.never_candidates is None and statements_in(window) is None
    out = (Verdict.LEFT_OUT, Verdict.INDEX)
    return is_whole and not any(row.verdict in out for row in window.ledger)


def _old_turns(window: ContextWindow) -> list[str]:
    """Return the names of turns that are sent but are not recent: `#7`, `chat-3#12`."""
    turns = segment_of_turns(window.segments)
    others = window.others_of(Kind.RETRIEVED)
    elsewhere = (row.name for row in others if row.verdict is Verdict.RETRIEVED)
    return [*(f"#{turn}" for turn in sorted(turns) if turns[turn].kind in _OLD), *elsewhere]


def _earlier_files(window: ContextWindow) -> set[str]:
    """Return the digests of files attached to earlier turns."""
    files = (segment.file for segment in window.segments if segment.kind in _FILES)
    return {file.digest for file in files if file is not None and file.turn != window.draft.turn}


def _names(turns: Sequence[str], most: int) -> str:
    more = f" and {len(turns) - most:,} more" if len(turns) > most else ""
    return f": {' '.join(turns[:most])}{more}" if turns else ""


def _less(window: ContextWindow, than: str = "") -> str:
    is_worth_saying = round(window.saving * 100) > 0
    return f"; {percent(window.saving)} less{than}" if is_worth_saying else ""
