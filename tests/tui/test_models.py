"""The model picker: its rows, its keys, and errors at their rows."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from textual import events
from textual.widgets import Input, Static

from jitchat.errors import KeyRefused, SettingsError
from jitchat.providers.catalogue.models import State
from jitchat.tui.dialogs.models import KeyInput, KeyScreen, ModelList, ModelsScreen
from jitchat.tui.model_rows import MOST
from jitchat.tui.widgets.prompt import PLACEHOLDER, Prompt
from tests.support import ScriptedProvider
from tests.tui.choices import GROQ, OLLAMA, OPENAI, READER, model, openrouter
from tests.tui.listing import answers, chosen, drawn, enter_text, opened, rows, status, told
from tests.tui.support import chat, demo_app, idle, type_text, until

SIZE = (120, 36)
KEY = "sk-or-1234567890"


async def test_every_provider_is_listed_and_searchable_and_greyed_if_unusable(models) -> None:
    async with demo_app(models).run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        assert [name for name, _ in rows(pilot)] == [
            *("reader", "ollama", "ollama", "ollama"),
            *("openrouter",) * 4,
            *("groq", "openai", "lmstudio"),
        ]
        assert "set OPENAI_API_KEY" in drawn(pilot)
        greyed = [r.provider for r in pilot.app.screen.query_one(ModelList)._rows if not r.is_ready]
        assert greyed == ["openai", "lmstudio"]
        await enter_text(pilot, "grok")
        assert chosen(pilot) == ("openrouter", "x-ai/grok-4")
        await enter_text(pilot, "llama")
        assert chosen(pilot) == ("ollama", "llama3.2:3b"), "not the first of Ollama"
        await enter_text(pilot, "grok nowhere")
        assert rows(pilot) == []
        assert screen.query_one("#models-nothing").display
        await pilot.press("enter")
        assert pilot.app.screen is screen
        await enter_text(pilot, "groq/brand-new")
        assert chosen(pilot) == ("groq", "brand-new"), "one that no list has can be named"
        await pilot.press("enter")
        await answers(pilot, "brand-new")


async def test_two_keys_switch_from_the_reader_to_a_local_model(models, monkeypatch) -> None:
    """The list also stays usable if the search for local servers fails."""

    def fail() -> None:
        raise SettingsError("The keys file cannot be read.", "Correct it.")

    models.providers = [READER, OPENAI, replace(OLLAMA, models=OLLAMA.models[:1])]
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        assert chosen(pilot) == ("ollama", "qwen3:8b")
        await pilot.press("enter")
        await answers(pilot, "qwen3:8b")
        assert status(pilot) == "ollama qwen3:8b · none · ~estimate"
        assert chat(pilot).query_one(Prompt).placeholder == PLACEHOLDER
        assert not chat(pilot).query_one("#offer").display
        await type_text(pilot, "hello")
        await pilot.press("enter")
        await idle(pilot)
        assert isinstance(models.provider, ScriptedProvider)
        assert models.provider.requests[0][-1].content.endswith("hello")

        monkeypatch.setattr(models, "choices", fail)
        pilot.app.clear_notifications()
        await until(pilot, lambda: not told(pilot), "no notice")
        await pilot.press("ctrl+l")
        await until(pilot, lambda: told(pilot), "the reason")
        assert told(pilot) == ["The keys file cannot be read. Correct it."]
        await pilot.press("escape")
        assert pilot.app.screen is chat(pilot)


async def test_a_server_that_starts_is_found_and_kept_and_the_highlight_stays(
    models,
) -> None:
    models.local = []
    models.providers = [READER, openrouter(), replace(OLLAMA, state=State.NOT_LOOKED, models=())]
    async with demo_app(models).run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        await pilot.press("down")
        went = chosen(pilot)
        models.local = [OLLAMA]
        await pilot.press("ctrl+r")
        await until(pilot, lambda: ("ollama", "qwen3:8b") in rows(pilot), "the server")
        assert chosen(pilot) == went
        screen.take_choices(models.providers)
        await pilot.pause()
        assert ("ollama", "qwen3:8b") in rows(pilot)


async def test_a_providers_row_shows_loading_then_an_error_or_its_models(
    models, monkeypatch
) -> None:
    asked, gate = [], asyncio.Event()

    async def slow(provider: str) -> object:
        asked.append(provider)
        await gate.wait()
        return replace(GROQ, models=(model("llama-3.1-8b"), model("kimi-k2")))

    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        await enter_text(pilot, "groq")
        await pilot.press("enter")
        await until(pilot, lambda: "groq cannot be reached. Start it." in drawn(pilot), "why")
        assert told(pilot) == []
        monkeypatch.setattr(models, "fetch_models", slow)
        await pilot.press("enter", "enter", "f5")
        await until(pilot, lambda: "loading…" in drawn(pilot), "the row")
        gate.set()
        await until(pilot, lambda: chosen(pilot) == ("groq", "llama-3.1-8b"), "its models")
        assert asked == ["groq"]
        assert "loading…" not in drawn(pilot)
        assert "cannot be reached" not in drawn(pilot)
        await pilot.press("down", "enter")
        await answers(pilot, "kimi-k2")


async def test_an_invalid_or_refused_key_is_replaced_in_place_and_the_models_are_listed(
    models,
) -> None:
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        await enter_text(pilot, "openai")
        await pilot.press("enter")
        await pilot.pause()
        screen = pilot.app.screen
        await enter_text(pilot, "nope")
        await pilot.press("enter", "enter")
        refusal = screen.query_one("#key-refusal", Static)
        await until(pilot, lambda: str(refusal.render()), "the reason")
        assert str(refusal.render()) == "That is no key. Copy it again."
        assert screen.query_one(Input).value == ""
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, ModelsScreen)
        assert models.keys == {}

        models.list_refusal = KeyRefused("Groq refused the key.", "Set GROQ_API_KEY.")
        await enter_text(pilot, "groq")
        await pilot.press("enter")
        await until(
            pilot, lambda: "Press Enter to paste another key." in drawn(pilot), "the refusal"
        )
        models.lists["groq"] = (model("kimi-k2"),)
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, KeyScreen)
        await enter_text(pilot, KEY)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelsScreen), "the list")
        await until(pilot, lambda: ("groq", "kimi-k2") in rows(pilot), "its models")
        assert models.keys == {"groq": KEY}
        assert told(pilot) == ["The key is kept."]
        assert chosen(pilot) == ("groq", "kimi-k2")
        assert "refused" not in drawn(pilot)

        await enter_text(pilot, "openai/o9")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, KeyScreen), "one that is named asks for it first too"
        field = pilot.app.screen.query_one(KeyInput)
        field.post_message(events.Paste(f"\n{KEY}\r\n"))
        await until(pilot, lambda: field.value, "the paste")
        assert KEY not in str(field.render_line(0).text)
        await pilot.press("enter")
        await answers(pilot, "o9")
        assert models.keys == {"groq": KEY, "openai": KEY}


async def test_an_unlisted_model_in_use_is_marked_and_uses_a_new_key_at_once(
    models,
) -> None:
    models.provider = ScriptedProvider(name="openrouter", model="secret-model")
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        before = chat(pilot).session
        assert chosen(pilot) == ("openrouter", "secret-model")
        assert " • secret-model" in drawn(pilot)
        await pilot.press("ctrl+k")
        await pilot.pause()
        await enter_text(pilot, KEY)
        await pilot.press("enter")
        await until(pilot, lambda: chat(pilot).session is not before, "the new session")
        assert pilot.app.screen is chat(pilot)
        assert status(pilot).startswith("openrouter secret-model")


async def test_of_very_many_models_those_not_drawn_are_counted(models) -> None:
    models.provider = ScriptedProvider(name="openrouter", model=f"m-{MOST}")
    models.providers = [READER, openrouter(*(model(f"m-{n}") for n in range(MOST + 5))), OPENAI]
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        assert "7 more: type to search" in drawn(pilot)
        assert chosen(pilot) == ("openrouter", f"m-{MOST}")
        assert ("openai", "") in rows(pilot)
        await pilot.press("down")
        assert chosen(pilot) == ("openai", "")
        await enter_text(pilot, f"m-{MOST + 4}")
        assert chosen(pilot) == ("openrouter", f"m-{MOST + 4}")


@pytest.mark.usefixtures("every_frame")
async def test_the_header_is_aligned_with_the_columns_after_a_search_without_matches(
    models,
) -> None:
    async with demo_app(models).run_test(size=(80, 24)) as pilot:
        screen = await opened(pilot)

        def header() -> str:
            return str(screen.query_one("#models-header", Static).render()).rstrip()

        before = header()
        for found in ("", "gpt"):
            await enter_text(pilot, "no such thing")
            assert header() == ""
            await enter_text(pilot, found)
            assert header() == before
            await pilot.pause()
            line = next(each for each in drawn(pilot).splitlines() if "400,000" in each)
            assert line.index("400,000") + len("400,000") == before.index("context") + len(
                "context"
            )
            assert header() == before
        await enter_text(pilot, "no such thing")
        await pilot.resize_terminal(120, 36)
        await enter_text(pilot, "gpt")
        columns = screen.query_one(ModelList).columns
        await until(pilot, lambda: header() == columns.header().rstrip(), "the wider header")
        assert header() != before
