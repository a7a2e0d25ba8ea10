"""The disk fills after the database was opened: reading still works."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.cli import cold_store
from tests.store.support import make_full, make_read_only
from tests.support import talk

if TYPE_CHECKING:
    from collections.abc import Callable

    from jitchat.paths import Paths
    from jitchat.store.store import ColdStore
    from tests.cli.conftest import Shell

UNINDEXED = [f"zebra {number} is at the harbour " * 50 for number in range(100)]


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("refuse", [make_full, make_read_only])
@pytest.mark.parametrize(
    "command", [("window", "deploy"), ("window", "deploy", "--json"), ("why", "9", "deploy")]
)
def test_reading_commands_work_though_turns_cannot_be_indexed(
    jitchat: Shell,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    refuse: Callable[..., None],
) -> None:
    open_store = cold_store.open_store

    def filled(paths: Paths) -> ColdStore:
        store = open_store(paths)
        store.append("demo", talk(*UNINDEXED))
        refuse(store, on=True)
        return store

    monkeypatch.setattr(cold_store, "open_store", filled)
    done = jitchat(*command)
    assert done.code == 0, done.err
    assert "the newest turns are not indexed" in done.err
    assert "#9" in done.out or '"turn": 9' in done.out


@pytest.mark.usefixtures("demo")
def test_a_message_is_still_refused_on_a_full_disk(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store = cold_store.open_store

    def filled(paths: Paths) -> ColdStore:
        store = open_store(paths)
        make_full(store, on=True)
        return store

    monkeypatch.setattr(cold_store, "open_store", filled)
    done = jitchat("send", "deploy " * 10_000)
    assert done.code == 1
    assert "the disk is full" in done.err
