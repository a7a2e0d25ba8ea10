"""The disk fills after the database was opened: reading still works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jitchat import models
from jitchat.cli import cold_store, exchange
from jitchat.store.store import ColdStore
from tests.session.test_full_disk import LONG
from tests.store.support import make_full, make_read_only
from tests.support import ScriptedProvider, talk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jitchat.paths import Paths
    from jitchat.providers.provider import Options
    from jitchat.values import Message
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


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("is_freed", [True, False])
def test_a_reply_for_which_there_was_no_room_is_stored_when_there_is(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch, is_freed: bool
) -> None:
    opened = list[ColdStore]()
    open_store = cold_store.open_store

    def remembered(paths: Paths) -> ColdStore:
        opened.append(open_store(paths))
        return opened[-1]

    class Filling(ScriptedProvider):
        async def stream(self, messages: Sequence[Message], options: Options) -> Any:
            make_full(opened[-1], on=True)
            async for piece in super().stream(messages, options):
                yield piece

    async def sleep(seconds: float) -> None:
        if seconds == 1 and is_freed:
            make_full(opened[-1], on=False)

    monkeypatch.setattr(cold_store, "open_store", remembered)
    provider = Filling((LONG, "the end"))
    monkeypatch.setattr(models, "make_provider", lambda *_, **__: provider)
    monkeypatch.setattr(exchange.asyncio, "sleep", sleep)
    done = jitchat("send", "deploy?", "--conversation", "demo")

    assert "Storing the reply is tried for 10 seconds." in done.err
    assert done.out.endswith("the end\n")
    if is_freed:
        assert done.code == 0
        assert jitchat.stored()["demo"][-1].endswith("the end")
    else:
        assert done.code == 3
        assert "characters of a reply could not be stored" in done.err
