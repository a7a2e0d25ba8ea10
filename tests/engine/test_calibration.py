"""How a real engine counts is learnt from what it reports: its tokens are not like ours at all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jitchat.events import UsageReported, WindowBuilt
from jitchat.session_options import SessionOptions
from jitchat.values import Mode, Sample
from jitchat.window.budget import Budget
from jitchat.window.calibration import Calibration
from tests.engine.asking import SAMPLING, provider
from tests.session.sending import send
from tests.support import conversation_of, session_on, talk

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore
    from tests.engine.server import Engine

MESSAGES = (
    "Answer briefly.",
    "Where does the red boat lie that we talked about on Monday? Answer briefly.",
    "def area(width, height): return width * height  # briefly",
    "The pier is closed from October to March, and nobody knows why. Say so briefly.",
    "12:30, 14:45, 16:05 and 19:20 are the ferries. Which is the last one? Answer briefly.",
    "Wo liegt das rote Boot, und wem gehört es eigentlich? Please answer briefly.",
    "And the blue one? Answer briefly.",
)


async def test_after_a_few_replies_the_next_count_is_within_its_band(
    store: ColdStore, roomy: Engine
):
    options = SessionOptions(
        budget=Budget(roomy.context, 64), request=replace(SAMPLING, max_tokens=8)
    )
    session = session_on(
        store, conversation_of(store, talk("The boat is red.")), provider(roomy), options=options
    )
    samples = []
    for message in MESSAGES:
        events = await send(session, message, Mode.FULL)
        (window,) = (event.window for event in events if isinstance(event, WindowBuilt))
        used = [event.usage for event in events if isinstance(event, UsageReported)][-1]
        samples.append(Sample(window.counted, used.input_tokens))
    await session.aclose()

    *learnt, last = samples
    assert last.reported > 2 * last.counted, "without a correction it is far off"
    calibration = Calibration.of(learnt)
    assert abs(calibration.correct(last.counted) - last.reported) <= calibration.band(last.counted)
    assert calibration.band(last.counted) < last.reported / 10, "the band says something"
