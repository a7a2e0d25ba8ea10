"""Minutes of random actions while replies stream in: nothing fails, is lost or grows."""

from __future__ import annotations

import asyncio
import gc
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat.events import ReplyDelta
from jitchat.providers.provider import Finished
from jitchat.tui.actions import ACTIONS
from jitchat.values import Usage
from tests.support import ScriptedProvider
from tests.tui.conftest import SIZES
from tests.tui.support import chat, demo_app, idle, ready, until
from tests.tui.test_one_batch import at_chat, write

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from textual.pilot import Pilot

    from jitchat.providers.provider import Options, Piece
    from jitchat.values import Message
    from tests.tui.support import TestBackend

DELETING = {"delete", "temporary"}
OUTSIDE = {"quit", "rot", "editor", "suspend", "paste"}
LEFT_OUT = DELETING | OUTSIDE
MORE_FILES, MORE_OBJECTS = 12, 200_000
"""By how much the open files and Python's objects may grow."""


class Streaming(ScriptedProvider):
    """Streams paragraphs with short pauses."""

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        self.requests.append(tuple(messages))
        for number in range(random.randint(1, 40)):
            yield ReplyDelta(f"Berth {number} is free. " + "\n\n" * (number % 3 == 0))
            await asyncio.sleep(random.random() / 100)
        yield Usage(100, 10)
        yield Finished("stop")


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long("whole"))])
async def test_random_actions(
    backend: TestBackend, seed: int, rounds: Callable[[int, int], int]
) -> None:
    chosen = random.Random(seed)
    backend.provider = Streaming()
    actions = [each for each in ACTIONS if each.id not in LEFT_OUT]
    seconds, sent = rounds(10, 900), 0
    async with demo_app(backend).run_test() as pilot:
        screen = await ready(pilot)
        begun_at = time.monotonic()
        before = None
        while time.monotonic() < begun_at + seconds:
            match chosen.randrange(8):
                case 0 | 1:
                    await at_chat(pilot)
                    screen.surfaces.prompt.insert(f" message-{sent} ")
                    sent += 1
                    write(pilot, *["enter", "escape"][: chosen.choice((1, 1, 2))])
                case 2:
                    write(pilot, "escape")
                case 3:
                    await pilot.resize_terminal(*chosen.choice(list(SIZES.values())))
                case _:
                    action = chosen.choice(actions)
                    pilot.app.call_later(pilot.app.screen.run_action, action.run)
            await asyncio.sleep(chosen.choice((0, 0.005, 0.05, 0.2)))
            if before is None and time.monotonic() > begun_at + seconds / 2:
                before = sizes()
        await at_chat(pilot)
        await idle(pilot)
        assert chat(pilot) is screen
        files, objects = sizes()
        assert before is not None
        assert files <= before[0] + MORE_FILES
        assert objects <= before[1] + MORE_OBJECTS
        left = screen.surfaces.prompt.message.text
    assert not pilot.app.return_code
    rows = backend.store.database.fetch_all("SELECT content FROM turns")
    drafts = backend.store.database.fetch_all("SELECT text FROM drafts")
    kept = " ".join([*(str(row[0]) for row in [*rows, *drafts]), left])
    lost = [number for number in range(sent) if f"message-{number} " not in f"{kept} "]
    assert not lost


def sizes() -> tuple[int, int]:
    """Return the numbers of open files and of objects."""
    gc.collect()
    files = Path("/proc/self/fd")
    return len([*files.iterdir()]) if files.is_dir() else 0, len(gc.get_objects())
