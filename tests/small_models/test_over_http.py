"""A real sub-call, from the settings to a server on this machine and back into the window."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.events import WindowBuilt
from jitchat.index.embedder import NoEmbedder
from jitchat.settings import load_settings
from jitchat.values import Mode, Role
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import ContextWindow, Kind
from tests.small_models.servers import Served, answering
from tests.small_models.support import QUESTION, TURNS, picks
from tests.small_models.writers import kept
from tests.support import conversation_of, make_session, talk
from tests.window.cases import turns_of

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.store.store import ColdStore

KEY = "sk-canary-5f3a9e0c7d2b"


def session_with(store: ColdStore, served: Served, timeout: str = "5") -> Session:
    environ = {
        "JITCHAT_PICKER_MODEL": "small-1",
        "JITCHAT_PICKER_BASE_URL": served.base_url,
        "JITCHAT_PICKER_API_KEY": KEY,
        "JITCHAT_PICKER_TIMEOUT": timeout,
    }
    settings = load_settings(Path("/nowhere/config.toml"), environ)
    conversation = conversation_of(store, talk(*TURNS))
    made = make_session(settings, store, conversation, NoEmbedder(), EstimateCounter())
    list(made.memory.index.catch_up())
    return made


async def window_of(session: Session) -> ContextWindow:
    found: ContextWindow | None = None
    async for event in session.send(QUESTION, Mode.JIT):
        if isinstance(event, WindowBuilt):
            found = event.window
    await session.aclose()
    assert found is not None
    return found


async def test_the_answer_of_a_server_becomes_the_window_and_the_key_goes_there_alone(store):
    async with answering(picks(4, 2)) as served:
        window = await window_of(session_with(store, served))

    ((head, body),) = served.requests
    assert head.startswith("POST /v1/chat/completions ")
    assert f"authorization: bearer {KEY}" in head.lower()
    assert [message["role"] for message in body["messages"]] == [Role.SYSTEM, Role.USER]
    assert body["model"] == "small-1"
    assert {4, 2} & set(turns_of(window, Kind.RETRIEVED))
    assert window.picking is not None
    assert (window.picking.fallback, window.picking.output_tokens) == ("", 23)
    schema = body["response_format"]["json_schema"]["schema"]
    assert window.picking.input_tokens == 1
    assert {4, 2} <= {*schema["properties"]["ids"]["items"]["enum"]}
    for file in store.database.path.parent.glob(f"{store.database.path.name}*"):
        assert KEY.encode() not in file.read_bytes()
    assert KEY not in repr(window)


async def test_a_server_that_says_nothing_is_left_alone_after_its_time(store):
    async with answering(picks(4), hold=asyncio.Event()) as served:
        window = await window_of(session_with(store, served, timeout="0.2"))

    assert window.picking is not None
    assert window.picking.fallback == "no answer in 0.2 s"
    assert 190 <= window.picking.ms < 5_000


async def test_prose_in_place_of_ids_falls_back(store):
    async with answering("Turn 4 looks right to me.") as served:
        window = await window_of(session_with(store, served))

    assert window.picking is not None
    assert window.picking.fallback == "its answer is not the JSON that was asked for"
    assert window.picking.output_tokens == 23


async def test_index_lines_of_a_server_are_stored_and_its_key_is_not(store):
    lines = '{"lines": {"1": "One is red.", "2": "Two is green."}}'
    async with answering(lines) as served:
        environ = {
            "JITCHAT_SUMMARISER_MODEL": "small-1",
            "JITCHAT_SUMMARISER_BASE_URL": served.base_url,
            "JITCHAT_SUMMARISER_API_KEY": KEY,
        }
        settings = load_settings(Path("/nowhere/config.toml"), environ)
        conversation = conversation_of(store, talk("red it is", "no, green"))
        session = make_session(settings, store, conversation, NoEmbedder(), EstimateCounter())
        list(session.memory.index.catch_up())
        assert session.summariser is not None
        steps = [each async for each in session.summariser.write()]
        await session.aclose()

    assert [(each.turns, each.output_tokens) for each in steps] == [((1, 2), 23)]
    assert kept(store) == [("small-1", "One is red."), ("small-1", "Two is green.")]
    assert f"authorization: bearer {KEY}" in served.requests[0][0].lower()
    for file in store.database.path.parent.glob(f"{store.database.path.name}*"):
        assert KEY.encode() not in file.read_bytes()
