"""What a run of the rot lab is going to send, told before it is sent, and confirmed."""

from __future__ import annotations

from dataclasses import replace
from textwrap import fill
from typing import TYPE_CHECKING

from jitchat.cli.answerers import exposed
from jitchat.cli.confirm import require_yes
from jitchat.cli.lab_models import address, is_here, judge_of
from jitchat.cli.output import say
from jitchat.rot.estimate import estimated, estimated_cells, sentence
from jitchat.text.counts import counted
from jitchat.text.safe import one_line
from jitchat.turn import ASSUMED

if TYPE_CHECKING:
    from jitchat.cli.who import Who
    from jitchat.rot.desk import Answerer
    from jitchat.rot.experiment import Experiment
    from jitchat.rot.run_file import RunFile

_WIDTH = 79
"""Columns."""


def confirm_new(  # noqa: PLR0913  all that is told
    experiment: Experiment, answerer: Answerer, who: Who, *, title: str, judge: str, yes: bool
) -> None:
    """Tell what a run sends, and ask whether it may, unless it is sure to be free and to stay here.

    `title` is that of the user's conversation; empty where talk is made up.

    Raises:
        BenchFailed: It may not.

    """
    estimate = estimated(experiment, answerer)
    cells = counted(experiment.size, "cell")
    assumed = f" ({ASSUMED})" if answerer.is_assumed else ""
    takes = f"{answerer.limit:,} tokens{assumed}"
    say(f"{cells} for {_named(who)}, which takes {takes}:", err=True)
    _say_beneath(sentence(estimate))
    _tell_source(title)
    _confirm(who, judge, estimate.requests, yes=yes)


def confirm_resumed(file: RunFile, answerer: Answerer, who: Who, *, title: str, yes: bool) -> None:
    """Tell what is left of a run and what that sends, and ask likewise.

    Raises:
        BenchFailed: It may not be sent.

    """
    run, left = file.run, file.left()
    told = f"{len(left):,} of {counted(run.experiment.size, 'cell')} are left"
    say(f"{run.id}, {one_line(run.title)}: {told}, for {_named(who)}.", err=True)
    if left:
        as_begun = replace(answerer, limit=run.limit, reserve=run.reserve)
        estimate = estimated_cells(left, as_begun)
        _say_beneath(sentence(estimate))
        _tell_source(title)
        _confirm(who, run.judge, estimate.requests, yes=yes)


def _tell_source(title: str) -> None:
    if title:
        _say_beneath(f"What is sent is the text of your conversation {title}, with facts in it.")


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
