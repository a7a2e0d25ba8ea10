"""Bring a conversation's distilled memory up to date before measuring a mode that uses it.

A chat distils when that is due; a benchmark needs everything distilled at once. The built-in
observer and writer are used: they cost nothing and are deterministic.
"""

from jitchat.memory import Memory
from jitchat.observing import ObserveRules, Observing
from jitchat.planning import ModelFacts, Planning
from jitchat.synthesis.session_end import SessionEnd
from jitchat.values import Mode
from jitchat.window.calibration import NO_CALIBRATION
from jitchat.window.parts import SYSTEM_PROMPT
from jitchat.window.tokens import TokenCounter


async def distil(memory: Memory, mode: Mode, counter: TokenCounter, limit: int) -> None:
    """Distil every turn that can be; does nothing for a mode that does not distil.

    For `observe`, all turns but the previous exchange, with the usual thresholds for a `limit` in
    tokens; for `document`, all turns, as at the end of a session.
    """
    if mode is Mode.OBSERVE:
        facts = ModelFacts("", SYSTEM_PROMPT, NO_CALIBRATION)
        planning = Planning(memory, counter, lambda: facts)
        observing = Observing(memory, planning.history_before, counter, None, ObserveRules())
        async for _ in observing.run(limit, everything=True):
            pass
    elif mode is Mode.DOCUMENT:
        await SessionEnd(memory).end()
