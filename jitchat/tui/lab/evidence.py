"""Why answers are right or wrong in each mode, and how the modes of a run differ, as lines."""

import textwrap
from collections.abc import Iterator, Mapping

from textual.reactive import reactive
from textual.widget import Widget

from jitchat.lab import note
from jitchat.lab.change import ModeDifference, change_text, mode_differences
from jitchat.lab.colours import ink_on
from jitchat.lab.evidence import COLOURS, SIGNS, Evidence, Outcome, evidence_by_mode
from jitchat.lab.stats import Tallies, count_results
from jitchat.tui.drawing import Content
from jitchat.tui.figures import cut
from jitchat.tui.lab.curve import LETTERS
from jitchat.tui.palette import MUTED
from jitchat.values import USUAL_MODES, Mode

Part = tuple[str, str]
"""A text and its style."""
_FIGURES = 14
"""Columns of a count with its share, if there is room."""


def evidence_rows(
    outcomes: Mapping[Mode, Evidence], width: int, height: int
) -> Iterator[list[Part]]:
    """Draw two header lines, then each mode's counts, with a bar below them if there is room."""
    named = 3 + max(map(len, (*USUAL_MODES, *outcomes)))  # with the letter of the mode
    bar = width - named if height >= 2 + 2 * len(outcomes) else 0
    column = min(_FIGURES, (width - named) // len(Outcome))
    heads = "".join(f"{name:<{2 * column}}" for name in ("in the window", "not in the window"))
    yield [(f"{'evidence':<{named}}{heads}", MUTED)]
    names: list[Part] = [(" " * named, "")]
    for outcome in Outcome:
        right = outcome.rpartition(", ")[2]
        names += [_ground(outcome, 1), (f" {right:<{column - 2}}", MUTED)]
    yield names
    for mode, found in outcomes.items():
        figures = "".join(f"{_figure(found, outcome, column):<{column}}" for outcome in Outcome)
        yield [(f"{LETTERS[mode]} {mode}".ljust(named) + figures, "")]
        if bar:
            yield [(" " * named, ""), *(_ground(each, cells) for each, cells in found.bar(bar))]


def _figure(found: Evidence, outcome: Outcome, column: int) -> str:
    return found.text(outcome) if column == _FIGURES else f"{found.counts[outcome]:,}"


def _ground(outcome: Outcome, cells: int) -> Part:
    """Draw a bar in the colour of an outcome, beginning with its sign."""
    colour = COLOURS[outcome]
    return SIGNS[outcome].ljust(cells)[:cells], f"{ink_on(colour)} on {colour}"


class EvidenceTable(Widget):
    tallies: reactive[Tallies] = reactive(count_results(()))

    def render(self) -> Content:
        width, height = self.size
        rows = list(evidence_rows(evidence_by_mode(self.tallies), width, height))
        lines = [Content.assemble(*row) for row in rows]
        about = textwrap.wrap(note("evidence"), max(20, width))
        if len(rows) + 1 + len(about) <= height:
            lines += [Content(), *(Content.styled(line, MUTED) for line in about)]
        return Content("\n").join(lines)


def difference_line(each: ModeDifference, width: int) -> str:
    """Write `jit − full: +34 (+21 to +46) points, of 105 cells, 35 left out`."""
    text = f"{each.name + ':':<16}{change_text(each.whole)}"
    of = f" points, of {each.whole.after.answered:,} cells"
    left_out = f", {each.left_out:,} left out" if each.left_out else ""
    forms = (f"{text}{of}{left_out}", f"{text}{of}")
    return next((form for form in forms if len(form) <= width), cut(text, width))


class DifferenceLines(Widget):
    tallies: reactive[Tallies] = reactive(count_results(()))

    def render(self) -> Content:
        width = self.size.width
        return Content(
            "\n".join(difference_line(each, width) for each in mode_differences(self.tallies))
        )
