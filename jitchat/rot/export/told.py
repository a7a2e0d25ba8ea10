"""What pictures tell in words, as SVG and as text alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from jitchat.rot import figures
from jitchat.rot.experiment import Experiment
from jitchat.rot.run import Run, short
from jitchat.rot.spent import Spent
from jitchat.rot.tally import Tallies, Tally
from jitchat.text.safe import shortened
from jitchat.turn import Mode

_LONGEST = 40
"""Characters of a model's name."""
_BOUND = "\N{NO-BREAK SPACE}"


def brief_title(run: Run) -> str:
    """Name a run as `Run.title` does, the model cut so that the rest has room."""
    return replace(run, model=shortened(run.model, _LONGEST)).title


def settings_line(run: Run) -> str:
    """Tell what the figures depend on; lines are broken between its parts only."""
    return f"{_BOUND}· ".join(part.replace(" ", _BOUND) for part in figures.setting_parts(run))


def mode_lines(mode: Mode, asked: Experiment, tallies: Tallies) -> Iterator[str]:
    """Tell of a mode what share is right, what a question took, and where it does not fit."""
    tally, spent = tallies.by_mode.get(mode, Tally()), tallies.spent.get(mode, Spent())
    yield figures.total(tally) + (" right" if tally.answered else "")
    if spent.sent:
        yield _windows(mode, asked, tallies)
        first, whole = figures.duration(spent.to_first), figures.duration(spent.seconds)
        yield f"medians: first token {first}, answer {whole}"
        in_all = " in all" if spent.cost else ""
        yield f"{figures.percent(spent.cached)} of the input cached, {figures.cost(spent)}{in_all}"
    unfit = [at for at in asked.lengths if tallies.by_length.get((mode, at), Tally()).unfit]
    if unfit:
        yield f"does not fit from {short(unfit[0])} on"


def _windows(mode: Mode, asked: Experiment, tallies: Tallies) -> str:
    """Tell how large its windows are at the shortest and at the longest length that has any."""
    at = [(length, tallies.spent_at.get((mode, length), Spent())) for length in asked.lengths]
    sent = [(short(length), figures.tokens(each.tokens)) for length, each in at if each.sent]
    (first, few), (last, many) = sent[0], sent[-1]
    return f"window {few} tokens at {first}" + (f", {many} at {last}" if sent[1:] else "")
