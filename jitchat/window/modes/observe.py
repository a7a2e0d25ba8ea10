"""`observe`: dated observations of the earlier turns, and every turn that is not observed yet."""

from jitchat.window import reasons
from jitchat.window.distilling import Replacement, choose_distilled
from jitchat.window.parts import Choice, Parts
from jitchat.window.statements import observation_segments


def choose(parts: Parts) -> Choice:
    observations = parts.sources.distilled.observations
    segments = observation_segments(observations, parts.counter.count)
    through = observations.through
    replacement = Replacement(segments, through, reasons.NOT_OBSERVED, reasons.OBSERVED)
    what = "The window of observations and turns not observed yet"
    choices = "have the turns observed, switch to jit mode"
    return choose_distilled(parts, replacement, what, choices)
