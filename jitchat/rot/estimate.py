"""What a run is going to send, before it is sent."""

from __future__ import annotations

from jitchat.rot.desk import Answerer, Estimate
from jitchat.rot.experiment import Experiment


def estimated(experiment: Experiment, answerer: Answerer) -> Estimate:
    """Estimate requests, tokens and money; pure."""
    raise NotImplementedError
