"""Draw the README's animation from the real app: `python -m screenshots.animate`.

The tour is driven by its keys in a temporary home; each picture is held for as long as its text
takes to read.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.transfer.demo import store_demo
from jitchat.tui.tour.app import HELD_SECONDS, TourApp
from jitchat.tui.tour.script import heading, reading_seconds, steps
from screenshots.animation import Frame, animated
from screenshots.stage import HERE, backend_in, settled, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.pilot import Pilot

SIZE = (112, 32)
NAME = "tour.svg"
RUN_INTERVAL, RUN_SECONDS = 2.5, 0.6
"""Seconds between pictures of a lab run, and how long each of them is held."""
RUN_FRAMES = 12
"""Maximum number of pictures of a lab run."""


async def tour_frames(home: Path) -> AsyncIterator[Frame]:
    """Run the tour, yielding a frame of the screen before it and of each step."""
    backend = backend_in(home)
    app = TourApp(backend, store_demo(backend.store))
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.screen is app.chat)
        app.chat.surfaces.prompt.cursor_blink = False
        for place in range(len(steps()) + 1):
            if place:
                await asyncio.sleep(HELD_SECONDS)
                await pilot.press("space")
            async for frame in _arrived(pilot, app, place):
                yield frame
    backend.store.database.close()


async def _arrived(pilot: Pilot[None], tour: TourApp, place: int) -> AsyncIterator[Frame]:
    await until(pilot, lambda: tour.progress.place == place and not tour.progress.is_on_way)
    for _ in range(RUN_FRAMES):
        if not tour.is_measuring:
            break
        yield _frame(pilot, tour, RUN_SECONDS)
        await asyncio.sleep(RUN_INTERVAL)
    await settled(pilot)
    yield _frame(pilot, tour, reading_seconds(tour.progress.text))


def _frame(pilot: Pilot[None], tour: TourApp, seconds: float) -> Frame:
    svg = pilot.app.export_screenshot(title="jitchat demo", simplify=True)
    return Frame(heading(tour.progress.place), svg, seconds)


async def draw(home: Path) -> None:
    """Write the animation."""
    frames = [frame async for frame in tour_frames(home)]
    (HERE / NAME).write_text(animated(frames), encoding="utf-8")
    size = (HERE / NAME).stat().st_size
    print(f"{NAME}: {len(frames)} frames, {size:,} bytes")


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(draw(Path(home)))


if __name__ == "__main__":
    main()
