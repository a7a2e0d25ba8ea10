"""What a run of the rot lab is going to send, told before it is sent, and confirmed."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from jitchat.cli.answerers import exposed
from jitchat.cli.confirm import require_yes
from jitchat.cli.lab_models import address, is_here, judge_of
from jitchat.cli.output import say
from jitchat.rot.cells import Verdict
from jitchat.rot.estimate import estimated, sentence
from jitchat.text.counts import counted
from jitchat.text.safe import one_line

if TYPE_CHECKING:
    from jitchat.cli.who import Who
    from jitchat.rot.desk import Answerer
    from jitchat.rot.experiment import Experiment
    from jitchat.rot.run_file import RunFile

_WIDTH = 79
"""Columns."""


def confirm_new(
    experiment: Experiment, answerer: Answerer, who: Who, *, judge: str, yes: bool
) -> None:
    """Tell what a run sends, and ask whether it may, unless it is sure to be free and to stay here.

    Raises:
        BenchFailed: It may not.

    """
    estimate = estimated(experiment, answerer)
    cells = counted(experiment.size, "cell")
    say(f"{cells} for {_named(who)}, which takes {answerer.limit:,} tokens:", err=True)
    _say_beneath(sentence(estimate))
    _confirm(who, judge, estimate.requests, yes=yes)


def confirm_resumed(file: RunFile, who: Who, *, yes: bool) -> None:
    """Tell what is left of a run, and ask likewise.

    Raises:
        BenchFailed: It may not be sent.

    """
    run, size = file.run, file.run.experiment.size
    left = size - sum(each.verdict is not Verdict.FAILED for each in file.results())
    told = f"{left:,} of {counted(size, 'cell')} are left"
    say(f"{run.id}, {one_line(run.title)}: {told}, for {_named(who)}.", err=True)
    if left:
        _confirm(who, run.judge, left, yes=yes)


def _confirm(who: Who, judge: str, requests: int, *, yes: bool) -> None:
    stays = is_here(who)
    if judge:
        judging = judge_of(who, judge)
        stays = stays and is_here(judging)
        told = f"and up to {counted(requests, 'request')} to {_named(judging)}"
        _say_beneath(f"{told}, whose cost is not counted here.")
        if judging.profile.name != who.profile.name and (warning := exposed(judging.profile)):
            say(f"jitchat: {warning}", err=True)
    if not stays:
        require_yes(given=yes)


def _named(who: Who) -> str:
    """Say who it is, and where."""
    model = one_line(who.model)
    return model if who.profile.is_reader else f"{model} at {address(who.profile)}"


def _say_beneath(text: str) -> None:
    """Say what belongs to the line above, in lines that a small terminal holds."""
    blank = "  "
    say(fill(text, _WIDTH, initial_indent=blank, subsequent_indent=blank), err=True)
