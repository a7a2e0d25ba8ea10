"""`observe`: dated observations of the earlier turns, and every turn that is not observed yet."""

from jitchat.window import reasons
from jitchat.window.distilling import StandIn, choose_behind
from jitchat.window.parts import Choice, Parts
from jitchat.window.statements import observation_segments


def choose(parts: Parts) -> Choice:
    observations = parts.sources.distilled.observations
    segments = observation_segments(observations, parts.counter.count)
    through = observations.through
    stand_in = StandIn(segments, through, reasons.NOT_OBSERVED, reasons.OBSERVED)
    what = "What is not observed yet, with the observations,"
    return choose_behind(parts, stand_in, what, "have the turns observed, switch the mode to jit")
