"""The line of a window that says what it does not show, for a model that can ask for it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from jitchat.values import REQUEST_CONTEXT, Role
from jitchat.window import reasons
from jitchat.window.budget import PER_MESSAGE, PER_REQUEST
from jitchat.window.history import History
from jitchat.window.parts import Choice, Parts
from jitchat.window.render import priced
from jitchat.window.window import Kind, Segment

_RANGES = 4
"""More than this are told as a number."""


def with_kept_line(choice: Choice, parts: Parts) -> Choice:
    """Add the line ahead of the draft, where turns are left out and the model can ask for them."""
    if not parts.sources.can_ask:
        return choice
    line = kept_line(parts.sources.history, choice.segments)
    if not line:
        return choice
    *ahead, draft = choice.segments
    if draft.text == parts.draft.text:
        draft = replace(draft, text=f"\n{draft.text}")
    told = Segment(Kind.INDEX, Role.USER, line, 0, None, reasons.KEPT)
    own = {segment for segment in ahead if segment.file and segment.file.turn == draft.turn}
    before = sum(segment.kind.is_stable and segment not in own for segment in ahead)
    tail = priced([*ahead[before:], told, draft], parts.counter.count, PER_MESSAGE + PER_REQUEST)
    return replace(choice, segments=(*ahead[:before], *tail))


def kept_line(history: History, segments: Iterable[Segment]) -> str:
    """Write which turns of a history are at full text in no segment; empty for none."""
    ranges = list(_left_out(history, segments))
    if not ranges:
        return ""
    count = sum(len(each) for each in ranges)
    told = " ".join(_named(each[0], each[-1]) for each in ranges)
    if len(ranges) > _RANGES:
        told = f"# {count:,} turns of {_named(ranges[0][0], ranges[-1][-1])}"
    verb, what = ("is", "it") if count == 1 else ("are", "them")
    return f"{told} {verb} kept and not shown; {REQUEST_CONTEXT} finds {what}.\n"


def _left_out(history: History, segments: Iterable[Segment]) -> Iterator[Sequence[int]]:
    """Give the positions between the turns that are shown, a stretch of the history at a time."""
    shown = {each.turn for each in segments if each.turn and each.kind is not Kind.INDEX}
    found = (history.find(turn) for turn in shown)
    start = 0
    for place in [*sorted(each for each in found if each is not None), len(history.turns)]:
        if place > start:
            yield history.positions[start:place]
        start = place + 1


def _named(first: int, last: int) -> str:
    return f"#{first}" if first == last else f"#{first}–#{last}"
