"""What survives the end of the app: the draft, and the theme."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from jitchat.draft import EMPTY, Draft
from jitchat.session import Session
from jitchat.settings import Settings
from jitchat.store.drafts import Drafts
from jitchat.store.pins import ScreenState
from jitchat.tui.app import JitchatApp
from jitchat.tui.chat import opening
from jitchat.tui.widgets.prompt import Prompt
from jitchat.values import Mode
from tests.support import ScriptedProvider
from tests.tui.chat.stage import StageHost
from tests.tui.drawn import streams
from tests.tui.support import TestBackend, demo_app, idle, ready, type_text, until

if TYPE_CHECKING:
    import pytest

    from jitchat.window.steering import Once

SIZE = (140, 40)


def again(backend: TestBackend) -> JitchatApp:
    return JitchatApp(backend, backend.store.conversation("demo"))


async def test_draft_and_theme_are_there_again_unless_the_settings_name_a_theme(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await ready(pilot)
        assert ScreenState(backend.store.database).get("theme") == "", "nothing was picked"
        pilot.app.theme = "textual-light"
        await pilot.pause()
        await type_text(pilot, "half a draft")
        await pilot.press("x", "ctrl+q")
    async with again(backend).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        assert pilot.app.theme == "textual-light"
        assert screen.query_one(Prompt).text == "half a draftx"
        assert "draft restored: Ctrl+C clears it" in str(screen.query_one("#cost").render())
        await type_text(pilot, "!")
        assert "last time" not in str(screen.query_one("#cost").render())
        screen.query_one(Prompt).text = ""
    assert Drafts(backend.store.database).get("demo") == EMPTY
    settings = replace(Settings().screen, theme="nord")
    backend.settings = Settings(screen=settings, origins={"screen.theme": "config.toml"})
    async with again(backend).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        assert pilot.app.theme == "nord"
        assert not pilot.app._notifications  # a theme that the settings name is no news
        pilot.app.theme = "gruvbox"
        told = "config.toml sets nord, which the next start will use."
        await until(pilot, lambda: told in str(screen.query_one("#cost").render()), "the warning")


async def test_a_draft_is_on_disk_soon_after_the_last_key_and_until_its_reply_begins(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "KEEP_AFTER", 0.01)
    drafts, begins, ends = Drafts(backend.store.database), asyncio.Event(), asyncio.Event()
    backend.provider = ScriptedProvider(script=(begins, "Tuesday.", ends))
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, "before a kill -9")
        await until(pilot, lambda: drafts.get("demo").text == "before a kill -9", "the draft")
        await pilot.press("enter")
        await until(pilot, lambda: screen.previews.sent, "the sent window")
        await screen.keeper.keep_now()
        assert drafts.get("demo").text == "before a kill -9"
        begins.set()
        await until(pilot, lambda: streams(screen), "the reply")
        await screen.keeper.keep_now()
        assert drafts.get("demo") == EMPTY
        ends.set()
        await idle(pilot)
        await until(pilot, lambda: not drafts.get("demo"), "its end: it was answered")


async def test_a_message_is_kept_while_it_is_prepared(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts, kept = Drafts(backend.store.database), list[str]()
    find_named = Session.find_named
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, "sent, and the power fails")
        loop = asyncio.get_running_loop()

        def noting_what_is_kept(session: Session, once: Once) -> Once:
            if screen.sends.prepares:
                asyncio.run_coroutine_threadsafe(screen.keeper.keep_now(), loop).result(5)
                kept.append(drafts.get("demo").text)
            return find_named(session, once)

        monkeypatch.setattr(Session, "find_named", noting_what_is_kept)
        await pilot.press("enter")
        await idle(pilot)
        assert kept[:1] == ["sent, and the power fails"]
        await until(pilot, lambda: not drafts.get("demo"), "its end: it was answered")


async def test_what_failed_without_the_screen_is_told_and_not_put_into_the_prompt(
    backend: TestBackend,
) -> None:
    demo_app(backend)
    session = backend.open_session(backend.store.conversation("demo"))
    sending = session.send("tell me", Mode.JIT)
    await anext(sending)
    await sending.aclose()
    async with again(backend).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        assert screen.query_one(Prompt).text == ""
        told = str(screen.query_one("#cost").render())
        assert told.startswith("#61 was not answered: /retry sends it again")
        await pilot.press("alt+r", "enter")
        await until(pilot, lambda: len(backend.store.turns("demo")) == 62, "the reply")
        await idle(pilot)
        assert [turn.content for turn in backend.store.turns("demo")][60] == "tell me"


async def test_a_known_key_is_never_written(backend: TestBackend) -> None:
    demo_app(backend)
    drafts, typed = Drafts(backend.store.database), "use sk-canary-0123456789"
    keeper = opening.DraftKeeper(
        StageHost(), drafts, lambda: Draft.by_user(typed), lambda: ["sk-canary-0123456789"]
    )
    keeper.open("demo")
    await keeper.keep_now()
    assert drafts.get("demo") == EMPTY
