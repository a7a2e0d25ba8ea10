"""The environment of the pictures: a temporary home, a fixed clock, and waiting for the app."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from jitchat.paths import locate
from jitchat.settings import load_settings
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.tui.backend import Backend

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.pilot import Pilot

HERE = Path(__file__).parent


class Clock:
    """13 March 2026, 10:00 UTC, advancing one second per call."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 13, 10, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


def backend_in(
    home: Path, provider: str = "reader", more: Mapping[str, str] = MappingProxyType({})
) -> Backend:
    """Return a backend on an empty store, with a built-in provider and `more` variables."""
    environ = {
        "JITCHAT_HOME": str(home),
        "JITCHAT_EMBEDDER_NAME": "builtin",  # nothing is offered
        "JITCHAT_PROVIDER_NAME": provider,
        "JITCHAT_SCREEN_INSPECTOR": "true",
    }
    environ |= dict(more) | {
        key: os.environ[key] for key in ("TIKTOKEN_CACHE_DIR",) if key in os.environ
    }
    paths = locate(environ)
    store = ColdStore(Database(paths.database), Clock())
    return Backend(load_settings(paths.config, environ), paths, store)


async def until(pilot: Pilot[None], true: Callable[[], object]) -> None:
    while not true():
        await asyncio.sleep(0.01)
    await pilot.pause()


async def settled(pilot: Pilot[None]) -> None:
    """Wait until no worker of the top screen is running."""
    await pilot.pause()
    workers = [each for each in pilot.app.workers if each.node is pilot.app.screen]
    await pilot.app.workers.wait_for_complete(workers)
    await pilot.pause()
