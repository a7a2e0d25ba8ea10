"""`observe`: dated observations of the earlier turns, then what `jit` sends."""

from functools import partial

from jitchat.window.distilling import choose_with_head, observations_head
from jitchat.window.parts import Choice, Parts


def choose(parts: Parts) -> Choice:
    observations = parts.sources.distilled.observations
    head = partial(observations_head, parts, observations)
    return choose_with_head(parts, head, observations.through)
