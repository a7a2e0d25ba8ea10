"""`observe`: dated observations of the earlier turns, then what `jit` sends."""

from jitchat.window.distilling import choose_with_head, observations_head
from jitchat.window.parts import Choice, Parts


def choose(parts: Parts) -> Choice:
    observations = parts.sources.distilled.observations
    return choose_with_head(parts, observations_head(parts, observations), observations.through)
