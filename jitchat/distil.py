"""Bringing what is distilled of a conversation up to date, ahead of measuring a mode that sends it.

A chat distils when that is due; a benchmark asks at once, and must find everything distilled that
can be. What is built in does it: it costs nothing, and gives the same each time.
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
    """Take in every turn that can be; nothing is done for a mode that does not distil.

    For `observe`, all but the previous exchange, by the usual thresholds of a `limit` in tokens;
    for `document`, all: the session ends.
    """
    if mode is Mode.OBSERVE:
        facts = ModelFacts("", SYSTEM_PROMPT, NO_CALIBRATION)
        planning = Planning(memory, counter, lambda: facts)
        observing = Observing(memory, planning.history_before, counter, None, ObserveRules())
        async for _ in observing.run(limit, everything=True):
            pass
    elif mode is Mode.DOCUMENT:
        await SessionEnd(memory).end()
