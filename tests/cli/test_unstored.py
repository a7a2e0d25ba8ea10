"""The report after quitting with a reply that could not be stored."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat.cli import chat
from jitchat.cli.chat import run_chat
from jitchat.cli.options import Flags
from jitchat.events import Event, WindowBuilt
from jitchat.tui import garbage
from jitchat.values import Mode
from tests.session.sending import send
from tests.session.test_full_disk import LONG, fill, free
from tests.support import ScriptedProvider, conversation_of, session_on, talk

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore
    from jitchat.tui.app import JitchatApp


@pytest.fixture
def stores(monkeypatch: pytest.MonkeyPatch) -> list[ColdStore]:
    monkeypatch.setattr(chat, "require_terminal", lambda otherwise: None)
    monkeypatch.setattr(garbage, "pause", lambda: None)
    return []


def refused(app: JitchatApp) -> ColdStore:
    """Send a message whose reply does not fit on the disk."""
    store: ColdStore = app._backend.store
    session = session_on(store, conversation_of(store, talk("a", "b")))
    session.provider = ScriptedProvider(("The start ", LONG))

    def watch(event: Event) -> None:
        if isinstance(event, WindowBuilt):
            fill(store)

    asyncio.run(send(session, "hello", Mode.RECENCY, watch))
    return store


@pytest.mark.parametrize("end", [None, KeyboardInterrupt], ids=["quit", "signal"])
def test_an_unstored_reply_is_reported(
    stores: list[ColdStore],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    end: type[BaseException] | None,
) -> None:
    def run_app(app: JitchatApp) -> int:
        stores.append(refused(app))
        if end is not None:
            raise end
        return 0

    monkeypatch.setattr(chat, "run_app", run_app)
    if end is None:
        run_chat(Flags())
    else:
        with pytest.raises(end):
            run_chat(Flags())
    (rest,) = stores[0].unstored.rests
    told = capsys.readouterr().err
    assert told == f"jitchat: {len(rest):,} characters of a reply could not be stored.\n"


def test_a_reply_stored_at_last_is_not_reported(
    stores: list[ColdStore], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run_app(app: JitchatApp) -> int:
        stores.append(refused(app))
        free(stores[0])
        return 0

    monkeypatch.setattr(chat, "run_app", run_app)
    assert run_chat(Flags()) == 0
    assert not stores[0].unstored
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="an open file stays there")
def test_a_database_deleted_meanwhile_is_saved_again_and_reported(
    stores: list[ColdStore], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run_app(app: JitchatApp) -> int:
        store: ColdStore = app._backend.store
        conversation_of(store, talk("a", "b"))
        for end in ("", "-wal", "-shm"):
            Path(f"{store.database.path}{end}").unlink()
        stores.append(store)
        return 0

    monkeypatch.setattr(chat, "run_app", run_app)
    assert run_chat(Flags()) == 0
    path = stores[0].database.path
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT count(*) FROM turns WHERE content IN ('a', 'b')"
        assert connection.execute(query).fetchall() == [(2,)]
    told = capsys.readouterr().err
    assert told.startswith(f"jitchat: The database {path} was deleted or moved while it was open.")
