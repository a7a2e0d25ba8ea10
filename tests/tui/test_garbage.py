"""The garbage collector does not walk an open conversation while its reply streams."""

from __future__ import annotations

import gc

from jitchat.tui import garbage
from tests.tui.support import TestBackend, demo_app, ready, until


async def test_what_an_open_conversation_holds_is_not_looked_at_until_another_takes_its_place(
    backend: TestBackend,
):
    garbage.unfreeze()
    async with demo_app(backend).run_test() as pilot:
        screen = await ready(pilot)
        assert gc.isenabled()
        kept = screen.session
        assert not _is_tracked_young_or_old(backend.store)
        assert not _is_tracked_young_or_old(kept)
        await screen.open(backend.store.create("Another"))
        assert _is_tracked_young_or_old(kept)
        await until(pilot, lambda: screen.session not in (None, kept), "the other conversation")


def test_nothing_is_collected_while_the_app_is_loaded():
    garbage.pause()
    try:
        assert not gc.isenabled()
    finally:
        garbage.freeze()
    assert gc.isenabled()
    garbage.unfreeze()
    assert gc.get_freeze_count() == 0


def _is_tracked_young_or_old(thing: object) -> bool:
    """Whether a collection would look at it: a frozen object is in no generation."""
    return any(each is thing for each in gc.get_objects())
