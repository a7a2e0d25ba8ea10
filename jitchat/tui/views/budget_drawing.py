"""What the view of the budget draws: its track, its sentences, what enters and leaves. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log

from textual.content import Content

from jitchat.errors import WindowOverflow
from jitchat.text.counts import counted
from jitchat.tui.figures import assumed_mark, part_figure, used_figure
from jitchat.tui.palette import MUTED
from jitchat.tui.views.sends_rows import SHOWN
from jitchat.window.budget import Budget
from jitchat.window.difference import SAME, Change, Difference
from jitchat.window.sweep import retrieved_turns, sends_all
from jitchat.window.window import ContextWindow, Kind

SET, SETTLED, THUMB = "│", "▲", "█"
"""On the track: what is set, from where on nothing else is retrieved, what is looked at."""
_LINE, _DONE, _TICK = "─", "━", "┴"


def place_of(size: int, sizes: Sequence[int], width: int) -> int:
    """Find the cell of a size on a track of `width` cells: even ratios are even steps."""
    low, high = max(1, sizes[0]), max(2, sizes[-1])
    if high <= low:
        return 0
    share = log(max(low, size) / low) / log(high / low)
    return min(width - 1, round(share * (width - 1)))


def nearest(cell: int, sizes: Sequence[int], width: int) -> int:
    """Find the index of the size whose cell is nearest to this one."""
    places = [place_of(size, sizes, width) for size in sizes]
    return min(range(len(places)), key=lambda index: abs(places[index] - cell))


def draw_track(
    sizes: Sequence[int], at: int, present: int, mark: int | None, width: int
) -> Content:
    """Draw three lines: the marks, the track with its thumb, the scale below it.

    `at`, `present` and `mark` are indices: what is looked at, what is set, and where the
    retrieved set settles, None while that is not known.
    """
    above, track = [" "] * width, [_LINE] * width
    here = place_of(sizes[at], sizes, width)
    track[:here] = [_DONE] * here
    ticks = list(_ticks(sizes, width))
    for cell, _ in ticks:
        track[cell] = _TICK
    _put(above, place_of(sizes[present], sizes, width), f"{SET} set {sizes[present]:,}")
    track[here] = THUMB
    line = Content.assemble(
        ("".join(track[:here]), "$primary"), (track[here], "bold"), "".join(track[here + 1 :])
    )
    scale = [" "] * width
    for cell, told in ticks:
        _put(scale, cell, told)
    marked = [" "] * width
    if mark is not None:
        _put(marked, place_of(sizes[mark], sizes, width), f"{SETTLED} {sizes[mark]:,}")
    return Content("\n").join(
        [
            Content.styled("".join(above), MUTED),
            line,
            Content.styled("".join(scale), MUTED),
            Content.styled("".join(marked), "bold"),
        ]
    )


def _ticks(sizes: Sequence[int], width: int) -> Iterator[tuple[int, str]]:
    """Name the powers of two, and both ends; those that have no room are left out."""
    last = place_of(sizes[-1], sizes, width)
    yield 0, f"{sizes[0]:,}"
    taken = len(f"{sizes[0]:,}")
    end = last + 1 - len(f"{sizes[-1]:,}")
    size = 1 << sizes[0].bit_length()
    while size < sizes[-1]:
        cell, told = place_of(size, sizes, width), f"{size:,}"
        if cell > taken and cell + len(told) < end:
            yield cell, told
            taken = cell + len(told)
        size *= 2
    yield last, f"{sizes[-1]:,}"


def _put(line: list[str], cell: int, text: str) -> None:
    """Write a text that begins in a cell, or ends in it where it would run out of the line."""
    start = min(cell, len(line) - len(text))
    if start < cell and text[0] in (SET, SETTLED):
        text, start = f"{text[2:]} {text[0]}", cell + 1 - len(text)
    if start >= 0:
        line[start : start + len(text)] = text


def budget_sentence(budget: Budget, model_limit: int) -> str:
    """`budget 4,096 + reserve 2,048 = limit 6,144, of the model's 32,768`."""
    of_model = f", of the model's {model_limit:,}" if budget.limit != model_limit else ""
    return (
        f"budget {budget.budget:,} + reserve {budget.reserve:,}"
        f" = limit {budget.limit:,}{assumed_mark(budget)}{of_model}"
    )


def window_sentence(planned: ContextWindow | WindowOverflow) -> str:
    """`jit: in ~1,187 · free ~2,909 · 6 turns retrieved`; or by how much it does not fit."""
    if isinstance(planned, WindowOverflow):
        return f"does not fit: {planned.overshoot:,} tokens over"
    size = len(retrieved_turns(planned))
    told = f"{size:,} turn{'s' * (size != 1)} retrieved"
    free = part_figure(planned, planned.free)
    return f"{planned.mode}: in {used_figure(planned)} · free {free} · {told}"


def settled_sentence(
    sizes: Sequence[int],
    mark: int | None,
    largest: ContextWindow | WindowOverflow,
    *,
    reserve: bool,
) -> str:
    """Say where the retrieved set settles, and what that means; `mark` is an index or None.

    `largest` is planned with the most room, and has the set that it settles at.
    """
    if mark is None or isinstance(largest, WindowOverflow):
        return f"nothing is retrieved: no {'reserve' if reserve else 'budget'} changes that"
    edge = f"{SETTLED} {sizes[mark]:,}: "
    if not retrieved_turns(largest):
        told = "all of it is sent" if sends_all(largest) else "nothing is retrieved"
        ahead = "the largest reserve with which" if reserve else "from here on,"
        return f"{edge}{ahead} {told}"
    if reserve:
        return edge + "the largest reserve that keeps all that is retrieved without one"
    if mark == len(sizes) - 1:
        return edge + "what is retrieved changes up to the model's limit"
    return edge + "from here on, more budget retrieves nothing else"


def change_rows(found: Difference | None, is_same: bool) -> list[Content]:
    """List what enters and leaves, a row each up to `SHOWN` of a kind, full texts first.

    `is_same` says that this budget is the one that is set.
    """
    if found is None:
        return []
    rows = [
        *_rows("+ entered", sorted(found.entered, key=_is_line), "bold"),
        *_rows("− left", sorted(found.left, key=_is_line), MUTED),
        *_rows("~ moved", found.moved, ""),
    ]
    if not rows:
        why = "This is what is set." if is_same else SAME
        return [Content.styled(why, MUTED)]
    return rows


def _rows(what: str, changes: Sequence[Change], style: str) -> Iterator[Content]:
    """A row each; of very many, the rest is one sum."""
    yield from (_row(what, each, style) for each in changes[:SHOWN])
    if rest := changes[SHOWN:]:
        tokens = sum(map(_tokens, rest))
        told = f"{what:<10}… {counted(len(rest), 'more turn')}, {tokens:,} tokens"
        yield Content.styled(told, MUTED)


def _is_line(change: Change) -> bool:
    return Kind.INDEX in (change.kind_before, change.kind_after)


def _row(what: str, change: Change, style: str) -> Content:
    before, after = change.kind_before, change.kind_after
    kinds = f"{before} → {after}" if before and after else f"{before or after}"
    turn = f"#{change.turn}"
    return Content.styled(f"{what:<10}{turn:>7}  {kinds:<20}{_tokens(change):>7,} tokens", style)


def _tokens(change: Change) -> int:
    return change.tokens_after if change.kind_after else change.tokens_before
