"""Text that a model, a file or a server wrote is neither markup nor a terminal command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.geometry import Offset
from textual.widgets import Static

from jitchat.errors import RequestRefused
from jitchat.tui.app import JitchatApp
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import Conversation, Role, Turn
from tests.support import ScriptedProvider
from tests.tui.drawn import offset_of
from tests.tui.support import TestBackend, idle, ready, type_text, until

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from jitchat.store.store import ColdStore

PAYLOADS = (
    "\x1b[2J\x1b[31mred",
    "\x1b]0;owned\x07",
    "\x1b]52;c;aGk=\x07",
    "\x9b31m",
    "\x1bP1;1|17/ab\x1b\\",
    "\x07\x08\x0b\x0c\r",
    "[/]",
    "[/nope] [bold",
    "[@click=app.quit]x[/]",
    "[link=https://example.org]x[/link]",
    "\u202egnp.exe",
    "![x](https://example.org/leak.png) [y](https://example.org)",
    "<script>alert(1)</script>",
    "\ud800 lone",
    "| a | b |\n|---|\n| [bold] | \x1b[1m |",
)


def drawn(app: JitchatApp) -> str:
    """Every character that is on the terminal now."""
    size = app.size
    lines = app.screen._compositor.render_strips(size)
    return "\n".join(strip.text for strip in lines)


def hostile(store: ColdStore, payload: str) -> Conversation:
    made = store.create(f"title {payload}")
    turns = [
        Turn(1, Role.USER, f"user {payload}", None, f"name {payload}"),
        Turn(2, Role.ASSISTANT, f"assistant {payload}"),
    ]
    store.append(made.id, turns)
    return store.conversation(made.id)


def forbidden(seen: str) -> set[str]:
    return {
        each
        for each in seen
        if (ord(each) < 32 and each != "\n") or 0x7F <= ord(each) < 0xA0 or each == "\u202e"
    }


async def test_no_surface_lets_it_through(
    store: ColdStore, backend: TestBackend, rounds: Callable[[int, int], int]
) -> None:
    """Three of them at a time, and each alone with the whole of --long."""
    app = JitchatApp(backend, store.create("at first"))
    together = rounds(3, 1)
    starts = range(0, len(PAYLOADS), together)
    payloads = ["\n\n".join(PAYLOADS[at : at + together]) for at in starts]
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        prompt = screen.query_one(Prompt)
        for payload in payloads:
            backend.provider = ScriptedProvider(
                script=(f"answer {payload}", RequestRefused(f"server {payload}", "")),
                model=f"model {payload}",
            )
            await screen.open(hostile(store, payload))
            await ready(pilot)
            app.clear_notifications()
            prompt.text = ""
            await type_text(pilot, "user assistant?")
            await pilot.press("enter")
            await until(pilot, lambda: app._notifications, "the error")
            await idle(pilot)
            prompt.post_message(events.Paste(f"draft {payload}"))
            prompt.give_back(f"again {payload}")
            await pilot.pause()
            seen = drawn(app)
            for surface in ("title", "user", "assistant", "answer", "model", "draft"):
                assert surface in seen, (surface, payload)
            assert not forbidden(seen), payload
        screen.conversations.choose()
        await until(pilot, lambda: drawn(app).count("title") >= len(payloads), "a row of each")
        await pilot.pause()
        seen = drawn(app)
        assert not forbidden(seen)
        assert app.is_running


async def test_a_link_in_an_answer_says_where_it_leads_and_is_not_opened(
    backend: TestBackend, store: ColdStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(JitchatApp, "open_url", lambda _, url, **__: opened.append(url))
    made = store.create("links", "links")
    store.append(made.id, [Turn(1, Role.ASSISTANT, "[click here](https://example.org/x)")])
    app = JitchatApp(backend, store.conversation("links"))
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        transcript, sentence = screen.query_one(Transcript), screen.query_one("#cost", Static)
        link = offset_of(transcript, "click here")
        await pilot.hover(transcript, offset=link + Offset(3, 0))
        await until(pilot, lambda: str(sentence.content) == "https://example.org/x", "where to")
        await pilot.click(transcript, offset=link + Offset(3, 0))
        await pilot.hover(transcript, offset=link + Offset(30, 0))
        await until(pilot, lambda: "example.org" not in str(sentence.content), "the figures again")
    assert opened == []
