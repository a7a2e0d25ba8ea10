"""`observe`: dated observations of the earlier turns, then what `jit` sends."""

from functools import partial

from jitchat.window.distilling import choose_with_head, fitting_head
from jitchat.window.parts import Choice, Parts
from jitchat.window.statements import observation_segments


def choose(parts: Parts) -> Choice:
    observations = parts.sources.distilled.observations
    head = partial(fitting_head, parts, observations, observation_segments)
    return choose_with_head(parts, head, observations.through)
