"""`full`: everything, or a refusal."""

from jitchat.window import reasons
from jitchat.window.parts import Choice, Parts


def choose(parts: Parts) -> Choice:
    if not parts.is_small:
        choices = "switch to jit or recency mode"
        raise parts.overflow("The whole conversation", parts.whole, choices)
    out = len(parts.sources.history.taken_out)
    return parts.everything(reasons.EVERY_TURN + (f" except {out:,} kept out" if out else ""))
