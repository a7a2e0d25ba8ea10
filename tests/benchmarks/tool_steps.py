"""What a turn of 12 steps with 3 parallel calls each takes of our own time, a step.

`python -m tests.benchmarks.tool_steps [TURNS]`. The provider and the tools answer at once, so what
is measured is the app's: storing calls and results, the window, and the request's messages.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from jitchat.events import ReplyDelta, StepStored
from jitchat.session_options import SessionOptions
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.tools.offering import Asking, OfferRules
from jitchat.tools.toolbox import Toolbox
from jitchat.values import Mode
from jitchat.window.budget import Budget
from tests.support import ScriptedProvider, conversation_of, session_on, talk
from tests.tools.support import ScriptedTools, call

STEPS, CALLS = 12, 3


def made_session(folder: Path, turns: int):
    store = ColdStore(Database(folder / "jitchat.db"))
    texts = [f"Note {n}: the harbour, its ropes and its paint, on day {n}." for n in range(turns)]
    answers = [
        (f"Step {step}.", *(call(f"c{step}{n}") for n in range(CALLS))) for step in range(STEPS)
    ]
    provider = ScriptedProvider(answers[0], later=[*answers[1:], ("Done.",)])
    options = SessionOptions(
        budget=Budget(128_000), toolbox=Toolbox((ScriptedTools(),)), offers=OfferRules(Asking.ON)
    )
    return session_on(store, conversation_of(store, talk(*texts)), provider, options=options)


async def measured(session) -> list[tuple[float, float]]:
    """Seconds of the clock and the processor, from the end of an answer to the next one."""
    found, started = [], None
    async for event in session.send("What is there in the harbour?", Mode.JIT):
        if isinstance(event, StepStored) and started is None:
            started = time.perf_counter(), time.process_time()
        elif isinstance(event, ReplyDelta) and started is not None:
            now = time.perf_counter(), time.process_time()
            found.append((now[0] - started[0], now[1] - started[1]))
            started = None
    return found


def main(turns: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = made_session(Path(folder), turns)
        asyncio.run(measured(session))  # the first turn loads what is loaded lazily
        found = [each for _ in range(5) for each in asyncio.run(measured(session))]
    for name, values in zip(("clock", "processor"), zip(*found, strict=True), strict=True):
        ms = sorted(1_000 * value for value in values)
        print(
            f"{name:<10} {statistics.median(ms):5.1f} ms a step, p95 {ms[int(0.95 * len(ms))]:5.1f}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 200)
