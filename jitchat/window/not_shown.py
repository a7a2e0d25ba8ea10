"""The line of a window that names the turns not shown, for a model that can request them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from jitchat.values import REQUEST_CONTEXT, Role
from jitchat.window import reasons
from jitchat.window.history import History
from jitchat.window.parts import Choice, Parts
from jitchat.window.window import (
    TAIL_KINDS,
    Kind,
    Segment,
)

_RANGES = 4
"""With more ranges than this, only the number of turns is given."""


def with_kept_line(choice: Choice, parts: Parts) -> Choice:
    """Add the line before the draft, if turns are left out and the model can request them."""
    if not parts.sources.can_ask:
        return choice
    *others, draft = choice.segments
    if any(segment.reason == reasons.KEPT for segment in others):  # the window before has it
        return choice
    line = kept_line(parts.sources.history, choice.segments)
    if not line:
        return choice
    if others and others[-1].kind in TAIL_KINDS:  # the blank line before the draft moves on
        others[-1] = replace(others[-1], text=others[-1].text.removesuffix("\n"))
    added = Segment(Kind.INDEX, Role.USER, f"{line}\n", 0, None, reasons.KEPT, carrier=draft.turn)
    return replace(choice, segments=(*others, added, draft))


def without_request(segment: Segment) -> Segment:
    """Take out of the line that the turns can be requested; other segments stay as they are."""
    line, clause, _ = segment.text.partition(f"; {REQUEST_CONTEXT} finds ")
    if segment.reason != reasons.KEPT or not clause:
        return segment
    end = segment.text.removeprefix(segment.text.rstrip())
    return replace(segment, text=f"{line}.{end}")


def kept_line(history: History, segments: Iterable[Segment]) -> str:
    """Write which turns of a history no segment has at full text; empty for none."""
    ranges = list(_left_out(history, segments))
    if not ranges:
        return ""
    count = sum(len(each) for each in ranges)
    turns = " ".join(_named(each[0], each[-1]) for each in ranges)
    if len(ranges) > _RANGES:
        turns = f"# {count:,} turns of {_named(ranges[0][0], ranges[-1][-1])}"
    verb, what = ("is", "it") if count == 1 else ("are", "them")
    return f"{turns} {verb} kept and not shown; {REQUEST_CONTEXT} finds {what}.\n"


def _left_out(history: History, segments: Iterable[Segment]) -> Iterator[Sequence[int]]:
    """Yield the positions between the turns that are shown, one range at a time."""
    shown = {each.turn for each in segments if each.turn and each.kind is not Kind.INDEX}
    found = (history.find(turn) for turn in shown)
    start = 0
    for place in [*sorted(each for each in found if each is not None), len(history.turns)]:
        if place > start:
            yield history.positions[start:place]
        start = place + 1


def _named(first: int, last: int) -> str:
    return f"#{first}" if first == last else f"#{first}–#{last}"
