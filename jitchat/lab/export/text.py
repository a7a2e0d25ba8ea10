"""A run as plain text of 80 columns.

Maps are placed side by side as the width allows; further maps, or lengths that do not fit, continue
below.
"""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.cells import cell_len

from jitchat.lab import evidence, report, stats
from jitchat.lab.experiment import Experiment, Result, Verdict
from jitchat.lab.export import heatmap
from jitchat.lab.run_file import Run, short
from jitchat.values import Mode

WIDTH = 80
_STEPS = 40
_QUARTERS = range(0, _STEPS + 1, _STEPS // 4)
_LENGTH, _SHARE = 6, 14
_SHADES = "░▒▓█"
_UNFIT, _FAILED = "╱", "×"
_LEGEND = (
    "░ under 25 %  ▒ under 50 %  ▓ under 75 %  █ 75 % and more",
    f"{_UNFIT * 4} {Verdict.UNFIT.value}  {_FAILED} {Verdict.FAILED.value}  blank: no result yet",
)


def text_picture(run: Run, results: Sequence[Result]) -> str:
    return "\n".join(line.rstrip() for line in _lines(run, stats.count_results(results))) + "\n"


def _lines(run: Run, tallies: stats.Tallies) -> Iterator[str]:
    asked = run.experiment
    yield from _wrapped(f"Context rot: {report.brief_title(run)}")
    yield from _wrapped(stats.cells_text(run, tallies.whole))
    yield from _wrapped(report.settings_line(run))
    yield ""
    yield "Right answers in per cent. Rows: depth of the fact, 0 % is the beginning."
    yield "Columns: thousands of tokens of the conversation."
    yield ""
    yield from _maps(asked, tallies)
    yield from _LEGEND
    yield ""
    yield from _wrapped(f"Right answers by length. {report.INTERVAL}")
    yield from _curves(asked, tallies)
    yield ""
    named = _widest(asked) + 1
    for mode in asked.modes:
        for number, line in enumerate(report.mode_lines(mode, asked, tallies)):
            yield from _wrapped(f"{'' if number else mode.value:<{named}}{line}")
    yield from _evidence(tallies)
    for caveat in report.caveats(run):
        yield ""
        yield from _wrapped(caveat)


def _widest(asked: Experiment) -> int:
    return max(map(len, asked.modes))


def _wrapped(text: str) -> list[str]:
    """Wrap any text into lines; a character can be two columns wide."""
    width = WIDTH if cell_len(text) <= len(text) else WIDTH // 2
    lines = wrap(text, width, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def _curves(asked: Experiment, tallies: stats.Tallies) -> Iterator[str]:
    """Draw the share at each length as a dot within its interval."""
    scale = "".join(f"{100 * at // _STEPS:<{_STEPS // 4}}" for at in _QUARTERS[:-1])
    named = _widest(asked)
    yield " " * (named + _LENGTH + _SHARE + 3) + f"{scale}100 %"
    for mode in asked.modes:
        for number, length in enumerate(asked.lengths):
            tally = tallies.by_length.get((mode, length), stats.Tally())
            track = ["┊" if at in _QUARTERS else " " for at in range(_STEPS + 1)]
            if tally.share is not None and tally.interval is not None:
                low, high = (round(end * _STEPS) for end in tally.interval)
                track[low : high + 1] = "─" * (high + 1 - low)
                track[round(tally.share * _STEPS)] = "●"
            name = "" if number else mode.value
            figures = f"{name:<{named}} {short(length):>{_LENGTH}} {stats.share(tally):>{_SHARE}}"
            yield f"{figures} {''.join(track)}"


def _evidence(tallies: stats.Tallies) -> Iterator[str]:
    """Draw a bar per mode: its answers by outcome. Nothing if there are no answers."""
    found, signs = evidence.evidence_by_mode(tallies), evidence.SIGNS
    if not found:
        return
    yield ""
    yield from _wrapped(f"{evidence.TITLE}. {evidence.NOTE}")
    named = max(map(len, found), default=0)
    for mode, each in found.items():
        bar = (signs[outcome] * cells for outcome, cells in each.bar(WIDTH - named - 1))
        yield f"{mode.value:<{named}} {''.join(bar)}"
        counts = (f"{signs[outcome]} {each.text(outcome)}" for outcome in evidence.Outcome)
        yield f"{'':<{named}} {'   '.join(counts)}"
    yield from ("  ".join(f"{signs[each]} {each}" for each in pair) for pair in _OUTCOMES)


_OUTCOMES = ([*evidence.Outcome][:2], [*evidence.Outcome][2:])


def _maps(asked: Experiment, tallies: stats.Tallies) -> Iterator[str]:
    square = max(4, 1 + max(len(_thousands(length)) for length in asked.lengths))
    room, count = WIDTH - heatmap.MARGIN, len(asked.lengths)
    gap = 1 if (count * (square + 1) + 1) * len(asked.modes) <= room + 1 else 0
    writing = _MapText(tallies, square, " " * gap)
    for shown in _rows_of_maps(asked, (square + gap), room):
        maps = heatmap.side_by_side(shown, heatmap.MARGIN, square + gap, 1)
        layout = heatmap.HeatLayout(maps, asked.depths, square + gap, 1, heatmap.HEAD, 1)
        for y in range(heatmap.HEAD + len(asked.depths)):
            yield "".join(each.text for each in heatmap.text_row(layout, writing, y))
        yield ""


_Maps = list[tuple[Mode, Sequence[int]]]


def _rows_of_maps(asked: Experiment, wide: int, room: int) -> Iterator[_Maps]:
    most = max(1, room // wide)
    row: _Maps = []
    for mode in asked.modes:
        for start in range(0, len(asked.lengths), most):
            lengths = asked.lengths[start : start + most]
            taken = sum(len(each) * wide + 1 for _, each in row)
            if row and taken + len(lengths) * wide > room:
                yield row
                row = []
            row.append((mode, lengths))
    yield row


class _MapText:
    axis = "k"

    def __init__(self, tallies: stats.Tallies, square: int, gap: str) -> None:
        """`square` is a square's width, `gap` the spaces between it and the next."""
        self._tallies, self._square, self._gap = tallies, square, gap

    def title(self, shown: heatmap.Map[int]) -> list[heatmap.Run]:
        tally = self._tallies.by_mode.get(shown.mode, stats.Tally())
        shares = [stats.share_of(tally), *([stats.percent(tally.share)] if tally.answered else [])]
        forms = (f"{shown.mode.value} {share}" for share in shares)
        fitting = (form for form in forms if len(form) <= shown.width)
        return [heatmap.Run(f"{next(fitting, shown.mode.value):<{shown.width}}")]

    def length(self, length: int) -> str:
        return f"{_thousands(length):>{self._square}}{self._gap}"

    def square(self, place: stats.Place, row: int) -> list[heatmap.Run]:  # noqa: ARG002  one row
        tally, wide = self._tallies.squares.get(place), self._square
        text, square = "", heatmap.square_of(tally)
        match square.kind:
            case "share" if tally is not None and tally.share is not None:
                shade = _SHADES[min(len(_SHADES) - 1, int(tally.share * len(_SHADES)))]
                text = f"{shade}{square.number:>{wide - 1}}"
            case "unfit":
                text = _UNFIT * wide
            case "failed":
                text = _FAILED
        return [heatmap.Run(f"{text:>{wide}}{self._gap}")]


def _thousands(length: int) -> str:
    return f"{length / 1000:g}"
