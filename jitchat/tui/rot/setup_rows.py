"""What would be run, as it is told before it is: a line a preset, and what one of them asks."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from textual.content import Content

from jitchat.rot.desk import Answerer
from jitchat.rot.estimate import estimated, sentence
from jitchat.rot.experiment import Experiment
from jitchat.rot.figures import percent
from jitchat.rot.run import short
from jitchat.text.counts import counted
from jitchat.text.safe import one_line

_NAME = 10
"""Cells of what stands ahead of each part."""
_TOLD_ABOVE = frozenset({"lengths", "depths", "cells"})
_PICK = "Ctrl+L in the chat picks another"


def preset_line(number: int, experiment: Experiment) -> Content:
    """Write `1  quick     420 cells  4 lengths, 1k to 48k · 5 depths · 7 kinds`."""
    lengths = experiment.lengths
    asked = (
        f"{counted(len(lengths), 'length')}, {short(lengths[0])} to {short(lengths[-1])}",
        counted(len(experiment.depths), "depth"),
        counted(len(experiment.kinds), "kind"),
        *([f"{experiment.repeats} times"] if experiment.repeats > 1 else []),
    )
    cells = f"{experiment.size:,} cells"
    return Content.assemble(
        (f"{number}  {experiment.preset:<10}", "bold"), f"{cells:>12}   {' · '.join(asked)}"
    )


def asked_told(
    experiment: Experiment,
    answerer: Answerer | None,
    parallel: int,
    width: int,
    *,
    is_brief: bool = False,
) -> Content:
    """Write who is asked what, and what that sends; None while it is not known who answers.

    The brief form leaves out what the line of the preset tells, too.
    """
    parts: list[tuple[str, str]] = []
    room = max(20, width - _NAME)
    for name, told in _parts(experiment, answerer, parallel):
        if is_brief and name in _TOLD_ABOVE:
            continue
        lines = f"\n{'':<{_NAME}}".join(textwrap.wrap(told, room))
        parts += [(f"{name:<{_NAME}}", "$text-muted"), (f"{lines}\n", "")]
    return Content.assemble(*parts).rstrip()


def who_told(answerer: Answerer) -> str:
    """Write `qwen3-8b of ollama · limit 32,768 · reserve 2,048`."""
    is_named = answerer.model != answerer.provider
    who = f"{answerer.model} of {answerer.provider}" if is_named else answerer.provider
    return f"{one_line(who)} · limit {answerer.limit:,} · reserve {answerer.reserve:,}"


def _parts(
    experiment: Experiment, answerer: Answerer | None, parallel: int
) -> Iterator[tuple[str, str]]:
    who = f"{who_told(answerer)} · {_PICK}" if answerer is not None else "looking who answers…"
    yield "answers", who
    yield "lengths", f"{', '.join(map(short, experiment.lengths))} tokens"
    yield "depths", ", ".join(map(percent, experiment.depths))
    yield "kinds", ", ".join(experiment.kinds)
    times = "once" if experiment.repeats == 1 else f"{experiment.repeats} times"
    yield "cells", f"{experiment.size:,}: each {times} in {', '.join(experiment.modes)}"
    if answerer is not None:
        yield "sends", sentence(estimated(experiment, answerer))
    if answerer is not None and not answerer.is_reader:
        yield "at once", f"{counted(parallel, 'request')} · P changes that"
