"""A store that refuses is told on the screen; it ends nothing, and nothing hangs."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import StoreBusy, StoreFull
from jitchat.memory import Memory
from jitchat.store.database import Database
from jitchat.store.replies import ReplyWriter
from jitchat.store.store import ColdStore
from jitchat.tui.app import JitchatApp
from jitchat.tui.chat import conversations, sends
from jitchat.tui.notices import notify_error
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.transcript import Transcript
from jitchat.tui.widgets.turn_block import TurnBlock
from jitchat.values import Role, Status, Turn
from tests.support import ScriptedProvider
from tests.tui.drawn import blocks, part
from tests.tui.support import TestBackend, demo_app, idle, ready, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from jitchat.tui.chat.screen import ChatScreen


def full(*_: object, **__: object) -> None:
    raise StoreFull("The disk is full.", "Free some space.")


def told(pilot: object) -> list[str]:
    return [each.message for each in pilot.app._notifications]  # type: ignore[attr-defined]


async def test_it_is_told_the_newest_of_each_cause_and_the_app_goes_on(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = backend.store.create("New conversation")
    async with JitchatApp(backend, made).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        for refused, keys in (("suggest_title", ("enter",)), ("create", ("ctrl+n",))):
            screen.query_one(Prompt).text = "the harbour" if refused == "suggest_title" else ""
            with monkeypatch.context() as refusing:
                refusing.setattr(backend.store, refused, full)
                await pilot.press(*keys)
                await until(pilot, lambda: told(pilot), f"the sentence, at {refused}")
                assert "The disk is full." in told(pilot)[0], refused
                await idle(pilot)
            pilot.app.clear_notifications()
            await until(pilot, lambda: not told(pilot), "no notice")

        notify_error(screen, StoreFull("The reply cannot be written.", "Free some space."))
        notify_error(screen, StoreBusy("Another program holds it.", "Close it."))
        notify_error(screen, StoreFull("The draft cannot be written.", "Free some space."))
        newest = [
            "Another program holds it. Close it.",
            "The draft cannot be written. Free some space.",
        ]
        await until(pilot, lambda: told(pilot)[-1:] == newest[-1:], "the last notice")
        assert told(pilot) == newest

        assert screen.session is not None
        screen.session.preview = full  # type: ignore[assignment, method-assign]
        screen.previews.plan(afresh=True)
        await until(pilot, lambda: screen.previews.window is None, "the refusal")
        title = screen.query_one("#inspector-title")
        await until(pilot, lambda: "cannot be planned" in str(title.render()), "the title")


async def test_a_stopped_reply_that_cannot_be_kept_is_told_and_stays_in_view(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.provider = ScriptedProvider(("It is ", asyncio.Event()))
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        transcript = await _begun(pilot, screen)
        monkeypatch.setattr(ReplyWriter, "_write", full)
        monkeypatch.setattr(backend.store, "set_status", full)
        await pilot.press("escape")
        await idle(pilot)
        assert "The disk is full." in told(pilot)[0]
        assert _last(transcript).turn.status is Status.INTERRUPTED
        assert _last(transcript).text == "It is "


async def test_somebody_elses_turn_between_question_and_reply_shows_the_reply_once(
    backend: TestBackend,
) -> None:
    gate = asyncio.Event()
    backend.provider = ScriptedProvider(("It is ", gate, "now."))
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        assert screen.session is not None
        put = screen.session.memory.archive.put

        def then_another(*arguments: object) -> object:
            found = put(*arguments)  # type: ignore[arg-type]
            backend.store.append("demo", [Turn(0, Role.USER, "from another instance")])
            return found

        screen.session.memory.archive.put = then_another  # type: ignore[assignment, method-assign]
        screen.query_one(Prompt).insert("when?")
        await pilot.press("enter")
        transcript = screen.query_one(Transcript)
        await until(pilot, lambda: _last(transcript).turn.status is Status.STREAMING, "a piece")
        gate.set()
        await idle(pilot)
        shown = [block.turn for block in transcript.turn_blocks][-3:]
        assert [(turn.position, turn.content) for turn in shown] == [
            (61, "when?"),
            (62, "from another instance"),
            (63, "It is now."),
        ]


async def _begun(pilot: Pilot[None], screen: ChatScreen) -> Transcript:
    """Ask, and wait for the first piece of the reply."""
    screen.query_one(Prompt).insert("when?")
    await pilot.press("enter")
    transcript = screen.query_one(Transcript)

    def has_begun() -> bool:
        return _last(transcript).text == "It is "

    await until(pilot, has_begun, "the first piece")
    return transcript


def _last(transcript: Transcript) -> TurnBlock:
    return blocks(transcript.screen)[-1]


async def test_a_reply_that_is_not_stored_says_so_beside_it_until_it_is(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sends, "STORE_AGAIN", 0.05)
    gate = asyncio.Event()
    backend.provider = ScriptedProvider(("It is ", gate, "now."))
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        transcript = await _begun(pilot, screen)
        with monkeypatch.context() as refusing:
            refusing.setattr(ReplyWriter, "_write", full)
            gate.set()
            await idle(pilot)
            assert "Not stored from character 7 on" in part(_last(transcript), "note")
            assert _last(transcript).turn.content == "It is now."
        await until(pilot, lambda: _last(transcript).turn.status is Status.COMPLETE, "it is stored")
        assert "Not stored" not in part(_last(transcript), "note")
        assert backend.store.turns("demo")[-1].content == "It is now."


async def test_a_message_that_is_refused_meanwhile_leaves_the_reply_to_be_stored(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sends, "STORE_AGAIN", 0.05)
    monkeypatch.setattr(conversations, "LOOK_EVERY", 0.01)
    backend.provider = ScriptedProvider(("It is ", asyncio.Event()))
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        transcript = await _begun(pilot, screen)
        with monkeypatch.context() as refusing:
            refusing.setattr(ReplyWriter, "_write", full)
            refusing.setattr(Memory, "add_user_turn", full)
            await pilot.press("escape")
            await idle(pilot)
            screen.query_one(Prompt).insert("again")
            await pilot.press("enter")
            await idle(pilot)
            assert len(told(pilot)) == 1, "the newer notice of the same cause"
            assert screen.query_one(Prompt).draft == "again"
            with closing(Database(backend.store.database.path)) as another:
                ColdStore(another).create("Another program's")
            await asyncio.sleep(0.2)  # looks for what other programs wrote
            assert "Not stored" in part(_last(transcript), "note")
        await until(pilot, lambda: not backend.store.unstored, "it is stored")
        await until(pilot, lambda: _last(transcript).turn.status is Status.CANCELLED, "it is shown")
        assert "Not stored" not in part(_last(transcript), "note")
    assert backend.store.turns("demo")[-1].content == "It is "
