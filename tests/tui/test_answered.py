"""Another model is to answer: what becomes of the conversation, and of a reply on its way."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from textual.widgets import Input

from jitchat.errors import SettingsError
from jitchat.settings.sections import ProviderSettings
from jitchat.tui.dialogs.models import ModelsScreen
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.window.budget import Budget
from tests.support import ScriptedProvider
from tests.tui.listing import answers, chosen, rows, status, told
from tests.tui.support import chat, demo_app, idle, ready, type_text, until

SIZE = (120, 36)


NAMED = {"ollama/qwen3:8b": "qwen3:8b", "grok": "x-ai/grok-4", "groq/new": "new"}


async def test_a_model_is_named_at_the_prompt_and_several_open_the_list_to_search(models) -> None:
    """One that cannot be had leaves the one that answers; what there is to know is told."""
    models.model_refusal = SettingsError("api_key_cmd of groq printed no key.", "Run it by hand.")
    async with demo_app(models).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        before = screen.session
        screen.models.pick("groq/new")
        await until(pilot, lambda: told(pilot), "why")
        assert told(pilot) == ["api_key_cmd of groq printed no key. Run it by hand."]
        assert screen.session is before
        assert status(pilot) == "reader · none · ~estimate"
        pilot.app.clear_notifications()
        await until(pilot, lambda: not told(pilot), "no notice")

        models.model_refusal = None
        models.note = "config.toml names another: it answers at the next start."
        screen.models.pick("groq/new")
        await answers(pilot, "new")
        assert told(pilot) == [models.note]

        models.note = ""
        for text, name in NAMED.items():
            await type_text(pilot, f"/model {text}")
            await pilot.press("enter")
            await answers(pilot, name)
            assert pilot.app.screen is screen
        await type_text(pilot, "/model openrouter")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelsScreen), "the list")
        assert pilot.app.screen.query_one(Input).value == "openrouter"
        await until(pilot, lambda: rows(pilot), "its rows")
        assert {provider for provider, _ in rows(pilot)} == {"openrouter"}


async def test_switching_keeps_the_conversation_and_plans_for_the_other_limit(models) -> None:
    models.told = Budget(limit=2_048, reserve=512, limit_source="loaded in the server")
    async with demo_app(models).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, "half a thought")
        turns = list(screen.session.memory.turns)
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelsScreen), "the list")
        await until(pilot, lambda: rows(pilot), "its rows")
        await pilot.press("enter")
        await answers(pilot, "qwen3:8b")
        await until(
            pilot,
            lambda: screen.previews.window and screen.previews.window.budget.limit == 2_048,
            "limit",
        )
        await pilot.pause()
        assert screen.session.memory.turns == turns
        assert screen.query_one(Prompt).text == "half a thought"
        note = str(screen.query_one(Inspector).query_one("#inspector-note").render())
        assert "limit 2,048 (loaded in the server)" in note


async def test_a_pick_while_a_reply_streams_counts_after_it(models) -> None:
    gate = asyncio.Event()
    first = models.provider = ScriptedProvider(("One, ", gate, "two."), "reader", "reader")
    async with demo_app(models).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, "count")
        await pilot.press("enter")
        await until(pilot, lambda: first.requests, "the request")
        for name in ("x-ai/grok-4", "ollama/qwen3:8b"):
            screen.models.pick(name)
            await until(pilot, lambda n=name: n.split("/")[-1] in " ".join(told(pilot)), "a word")
        assert screen.session.provider is first
        assert status(pilot).startswith("reader")
        gate.set()
        await answers(pilot, "qwen3:8b")
        assert screen.session.memory.turns[-1].content == "One, two."
        assert not screen.busy


async def test_a_conversation_that_cannot_be_answered_is_opened_by_another_pick(models) -> None:
    models.refusal = SettingsError("api_key_cmd of work printed no key.", "Run it by hand.")
    async with demo_app(models).run_test(size=SIZE) as pilot:
        screen = chat(pilot)
        await until(pilot, lambda: screen.opening.refusal, "the refusal")
        screen.models.pick("qwen3:8b")
        await answers(pilot, "qwen3:8b")
        await ready(pilot)
        assert screen.opening.refusal is None


async def test_a_provider_without_a_model_has_the_list_opened(models) -> None:
    models.settings = replace(models.settings, provider=ProviderSettings("openrouter"))
    models.refusal = SettingsError("No model is set for the provider openrouter.")
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelsScreen), "the list")
        await until(pilot, lambda: len(rows(pilot)) == 4, "its models")
        assert chosen(pilot) == ("openrouter", "openai/gpt-5-mini")


async def test_a_pick_that_comes_after_its_conversation_was_left_counts_in_the_next(
    models, monkeypatch
) -> None:
    real, at_work, goes_on = models.choose_model, asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(*asked: object) -> object:
        if not at_work.is_set():
            loop.call_soon_threadsafe(at_work.set)
            asyncio.run_coroutine_threadsafe(goes_on.wait(), loop).result(10)
        return real(*asked)

    async with demo_app(models).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        monkeypatch.setattr(models, "choose_model", slow)
        screen.models.pick("qwen3:8b")
        await at_work.wait()
        await screen.conversations.begin()
        await until(pilot, lambda: screen.session is not None, "the other conversation")
        goes_on.set()
        await answers(pilot, "qwen3:8b")
        assert screen.session.memory.turns == []


async def test_a_limit_that_is_told_during_a_reply_counts_for_the_next(models) -> None:
    gate = asyncio.Event()
    models.provider = ScriptedProvider(("One", gate), "groq", "new")
    async with demo_app(models).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, "count")
        await pilot.press("enter")
        await until(pilot, lambda: models.provider.requests, "the request")
        models.told = Budget(limit=9_000, reserve=512, limit_source="loaded in the server")
        screen.models.show_answerer(screen.session)
        await until(pilot, lambda: screen.session.options.budget.limit == 9_000, "the limit")
        gate.set()
        await idle(pilot)
        await type_text(pilot, "on")
        assert screen.previews.window.budget.limit == 9_000
