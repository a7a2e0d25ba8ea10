"""What would be run, as it is told before it is: a line a preset, and what one of them asks."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from textual.content import Content

from jitchat.rot.desk import Answerer
from jitchat.rot.estimate import estimated, sentence
from jitchat.rot.experiment import Experiment
from jitchat.rot.figures import percent
from jitchat.rot.run import short
from jitchat.text.counts import counted
from jitchat.text.safe import one_line
from jitchat.tui.palette import MUTED
from jitchat.turn import ASSUMED

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
        *([f"seed {experiment.seed}"] if experiment.seed != 1 else []),
    )
    cells = f"{experiment.size:,} cells"
    return Content.assemble(
        (f"{number}  {experiment.preset:<10}", "bold"), f"{cells:>12}   {' · '.join(asked)}"
    )


@dataclass(frozen=True, slots=True)
class Sending:
    """What would be asked of whom."""

    experiment: Experiment
    answerer: Answerer | None
    """None while it is not known who answers."""
    parallel: int = 1
    """Requests at once."""
    judge: str = ""
    """The model that judges; empty where rules alone do."""
    title: str = ""
    """Of the user's own conversation, where that is the filler and its title is known."""

    @property
    def own(self) -> str:
        """The title of the user's own conversation, else its id; empty where talk is made up."""
        return self.title or self.experiment.conversation or ""

    @property
    def is_free(self) -> bool:
        """Whether it is known to cost nothing and to leave this machine nowhere.

        A judge may be anywhere; the picker is part of what is known of who answers.
        """
        return self.answerer is not None and self.answerer.is_here and not self.judge


def asked_told(sending: Sending, width: int, *, is_brief: bool = False) -> Content:
    """Write who is asked what, and what that sends.

    The brief form leaves out what the line of the preset tells, too.
    """
    parts: list[tuple[str, str]] = []
    room = max(20, width - _NAME)
    for name, told in _parts(sending):
        if is_brief and name in _TOLD_ABOVE:
            continue
        lines = f"\n{'':<{_NAME}}".join(textwrap.wrap(told, room))
        parts += [(f"{name:<{_NAME}}", MUTED), (f"{lines}\n", "")]
    return Content.assemble(*parts).rstrip()


def own_told(sending: Sending) -> str:
    """Say that the user's own words are sent; empty where talk is made up."""
    if not sending.own:
        return ""
    return f"Your own conversation is sent, as far as each window holds it: {one_line(sending.own)}"


def judge_told(sending: Sending) -> str:
    """Say what a judge is sent; empty without one."""
    if not sending.judge:
        return ""
    requests = counted(sending.experiment.size, "request")
    return f"{one_line(sending.judge)}: up to {requests} more, whose cost is not counted here"


def who_told(answerer: Answerer) -> str:
    """Write `qwen3-8b of ollama · limit 32,768 · reserve 2,048`."""
    is_named = answerer.model != answerer.provider
    who = f"{answerer.model} of {answerer.provider}" if is_named else answerer.provider
    assumed = f" ({ASSUMED})" if answerer.is_assumed else ""
    return f"{one_line(who)} · limit {answerer.limit:,}{assumed} · reserve {answerer.reserve:,}"


def _parts(sending: Sending) -> Iterator[tuple[str, str]]:
    experiment, answerer = sending.experiment, sending.answerer
    who = f"{who_told(answerer)} · {_PICK}" if answerer is not None else "looking who answers…"
    yield "answers", who
    yield "lengths", f"{', '.join(map(short, experiment.lengths))} tokens"
    yield "depths", ", ".join(map(percent, experiment.depths))
    yield "kinds", ", ".join(experiment.kinds)
    times = "once" if experiment.repeats == 1 else f"{experiment.repeats} times"
    yield "cells", f"{experiment.size:,}: each {times} in {', '.join(experiment.modes)}"
    if sending.own:
        yield "within", f"a copy of your conversation {one_line(sending.own)}"
    if answerer is not None:
        yield "sends", sentence(estimated(experiment, answerer))
    if told := judge_told(sending):
        yield "judge", told
    if answerer is not None and not answerer.is_reader:
        yield "at once", f"{counted(sending.parallel, 'request')} · P changes that"
