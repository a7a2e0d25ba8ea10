"""Picking who answers: the list, its keys and its errors, and what becomes of the conversation."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, Static

from jitchat.errors import JitchatError, KeyRefused, SettingsError, Unreachable
from jitchat.providers.catalogue.choices import State
from jitchat.settings import Settings
from jitchat.settings.sections import ProviderSettings
from jitchat.tui.screens.key import KeyInput, KeyScreen
from jitchat.tui.screens.models import ModelsScreen
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.model_list import MOST, ModelList
from jitchat.tui.widgets.prompt import PLACEHOLDER, Prompt
from jitchat.tui.widgets.top_line import TopLine
from jitchat.window.budget import Budget
from tests.support import ScriptedProvider
from tests.tui.choices import GROQ, OLLAMA, OPENAI, READER, every, model, openrouter
from tests.tui.support import TestBackend, chat, demo_app, idle, ready, type_text, until

SIZE = (120, 36)
KEY = "sk-or-1234567890"


@pytest.fixture
def models(backend: TestBackend) -> TestBackend:
    """With providers in every state, and the reader answering."""
    backend.providers = every()
    backend.provider = ScriptedProvider(name="reader", model="reader")
    return backend


def rows(pilot: Pilot[None]) -> list[tuple[str, str]]:
    return [row.id for each in pilot.app.screen.query(ModelList) for row in each._rows]


def chosen(pilot: Pilot[None]) -> tuple[str, str]:
    row = pilot.app.screen.query_one(ModelList).chosen
    assert row is not None
    return row.id


def drawn(pilot: Pilot[None]) -> str:
    listed = pilot.app.screen.query_one(ModelList)
    return "\n".join(str(option.prompt) for option in listed.options)


def status(pilot: Pilot[None]) -> str:
    return str(chat(pilot).query_one(TopLine).query_one("#status").render())


def told(pilot: Pilot[None]) -> list[str]:
    return [each.message for each in pilot.app._notifications]


async def opened(pilot: Pilot[None]) -> ModelsScreen:
    """The list, once it shows what is known."""
    await ready(pilot)
    await pilot.press("ctrl+l")
    await until(pilot, lambda: isinstance(pilot.app.screen, ModelsScreen), "the list")
    await until(pilot, lambda: rows(pilot), "its rows")
    await pilot.pause()
    assert isinstance(pilot.app.screen, ModelsScreen)
    return pilot.app.screen


async def enter_text(pilot: Pilot[None], text: str) -> None:
    """Into the line of the dialog on top."""
    pilot.app.screen.query_one(Input).value = text
    await pilot.pause()


async def answers(pilot: Pilot[None], name: str) -> None:
    """Until this model does."""
    await until(
        pilot,
        lambda: (s := chat(pilot).session) is not None and s.provider.model == name,
        f"{name} answering",
    )
    await pilot.pause()


async def test_every_provider_is_listed_and_greyed_where_it_cannot_be_used(models) -> None:
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        assert [name for name, _ in dict.fromkeys(rows(pilot))] == [
            *("reader", "ollama", "ollama", "ollama"),
            *("openrouter",) * 4,
            *("groq", "openai", "lmstudio"),
        ]
        assert "set OPENAI_API_KEY" in drawn(pilot)
        greyed = [r.provider for r in pilot.app.screen.query_one(ModelList)._rows if not r.is_ready]
        assert greyed == ["openai", "lmstudio"]


async def test_with_the_reader_two_keys_have_a_model_of_this_machine_answer(models) -> None:
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


async def test_the_first_screen_says_what_is_there(models) -> None:
    async with demo_app(models).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        line = screen.query_one("#offer", Static)
        await until(pilot, lambda: "Ollama runs here" in str(line.render()), "the offer")
        assert line.display
        assert line.size.height == 1
        assert "reader" in str(screen.query_one(Prompt).placeholder)


async def test_looking_around_that_fails_leaves_the_reader_usable(models, monkeypatch) -> None:
    def fail() -> None:
        raise SettingsError("The keys file cannot be read.", "Correct it.")

    monkeypatch.setattr(models, "choices", fail)
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await ready(pilot)
        await pilot.press("ctrl+l")
        await until(pilot, lambda: told(pilot), "the reason")
        assert told(pilot) == ["The keys file cannot be read. Correct it."]
        await pilot.press("escape")
        assert pilot.app.screen is chat(pilot)


async def test_a_server_that_was_found_is_not_forgotten_when_the_rest_is_read(models) -> None:
    models.local = [OLLAMA]
    models.providers = [READER, OPENAI, replace(OLLAMA, state=State.NOT_LOOKED, models=())]
    async with demo_app(models).run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        await until(pilot, lambda: ("ollama", "qwen3:8b") in rows(pilot), "the server")
        screen.post_message(ModelsScreen.Known(models.providers))
        await pilot.pause()
        assert ("ollama", "qwen3:8b") in rows(pilot)


async def test_a_server_that_starts_while_the_list_is_open_is_found(models) -> None:
    models.local = []
    models.providers = [READER, replace(OLLAMA, state=State.NOT_RUNNING, models=())]
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        models.local = [OLLAMA]
        await pilot.press("f5")
        await until(pilot, lambda: ("ollama", "qwen3:8b") in rows(pilot), "the server")


async def test_enter_on_a_provider_lists_its_models_and_goes_to_them(models) -> None:
    models.lists["groq"] = (model("llama-3.1-8b"), model("kimi-k2"))
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        await enter_text(pilot, "groq")
        await pilot.press("enter")
        await until(pilot, lambda: chosen(pilot) == ("groq", "llama-3.1-8b"), "its models")
        await pilot.press("down", "enter")
        await answers(pilot, "kimi-k2")


async def test_while_it_is_asked_its_row_says_so_and_a_second_enter_asks_no_more(
    models, monkeypatch
) -> None:
    asked, gate = [], asyncio.Event()

    async def slow(provider: str) -> object:
        asked.append(provider)
        await gate.wait()
        return replace(GROQ, models=(model("kimi-k2"),))

    monkeypatch.setattr(models, "fetch_models", slow)
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        await enter_text(pilot, "groq")
        await pilot.press("enter", "enter", "f5")
        await until(pilot, lambda: "asking…" in drawn(pilot), "the row")
        gate.set()
        await until(pilot, lambda: ("groq", "kimi-k2") in rows(pilot), "its models")
        assert asked == ["groq"]
        assert "asking…" not in drawn(pilot)


async def test_a_provider_that_does_not_answer_says_so_at_its_row(models) -> None:
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        await enter_text(pilot, "groq")
        await pilot.press("enter")
        await until(pilot, lambda: "groq cannot be reached. Start it." in drawn(pilot), "why")
        assert told(pilot) == []
        models.lists["groq"] = (model("kimi-k2"),)
        await pilot.press("f5")
        await until(pilot, lambda: ("groq", "kimi-k2") in rows(pilot), "its models")
        assert "cannot be reached" not in drawn(pilot)


async def test_a_key_is_pasted_kept_and_the_models_are_listed(models) -> None:
    models.lists["openai"] = (model("gpt-5-mini"), model("o9"))
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        await enter_text(pilot, "openai")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, KeyScreen)
        field = pilot.app.screen.query_one(KeyInput)
        field.post_message(events.Paste(f"\n{KEY}\r\n"))
        await until(pilot, lambda: field.value, "the paste")
        assert KEY not in str(field.render_line(0).text)
        await pilot.press("enter")
        await until(pilot, lambda: models.keys, "the key")
        assert models.keys == {"openai": KEY}
        await until(pilot, lambda: ("openai", "gpt-5-mini") in rows(pilot), "its models")
        assert told(pilot) == ["The key is kept."]
        assert chosen(pilot) == ("openai", "gpt-5-mini")


async def test_what_is_no_key_is_refused_in_place_and_may_be_pasted_again(models) -> None:
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


async def test_a_refused_key_can_be_replaced_from_its_row(models) -> None:
    models.list_refusal = KeyRefused("Groq refused the key.", "Set GROQ_API_KEY.")
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        await enter_text(pilot, "groq")
        await pilot.press("enter")
        await until(pilot, lambda: "Enter takes another key." in drawn(pilot), "the refusal")
        models.lists["groq"] = (model("kimi-k2"),)
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, KeyScreen)
        await enter_text(pilot, KEY)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelsScreen), "the list")
        await until(pilot, lambda: ("groq", "kimi-k2") in rows(pilot), "its models")
        assert "refused" not in drawn(pilot)


async def test_another_key_for_the_model_in_use_is_used_at_once(models) -> None:
    models.provider = ScriptedProvider(name="openrouter", model="x-ai/grok-4")
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        before = chat(pilot).session
        assert chosen(pilot) == ("openrouter", "x-ai/grok-4")
        await pilot.press("f4")
        await pilot.pause()
        await enter_text(pilot, KEY)
        await pilot.press("enter")
        await until(pilot, lambda: chat(pilot).session is not before, "the new session")
        assert pilot.app.screen is chat(pilot)
        assert status(pilot).startswith("openrouter x-ai/grok-4")


async def test_a_model_that_no_list_has_can_be_named(models) -> None:
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        await enter_text(pilot, "groq/brand-new")
        assert chosen(pilot) == ("groq", "brand-new")
        await pilot.press("enter")
        await answers(pilot, "brand-new")


async def test_one_that_is_named_of_a_provider_without_a_key_asks_for_it_first(models) -> None:
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        await enter_text(pilot, "openai/o9")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, KeyScreen)
        await enter_text(pilot, KEY)
        await pilot.press("enter")
        await answers(pilot, "o9")
        assert models.keys == {"openai": KEY}


async def test_the_model_in_use_is_marked_and_found_although_no_list_has_it(models) -> None:
    models.provider = ScriptedProvider(name="openrouter", model="secret-model")
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        assert chosen(pilot) == ("openrouter", "secret-model")
        assert "  • secret-model" in drawn(pilot)


async def test_search_goes_to_the_first_model_that_fits_and_tells_of_none(models) -> None:
    async with demo_app(models).run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        await enter_text(pilot, "grok")
        assert chosen(pilot) == ("openrouter", "x-ai/grok-4")
        await enter_text(pilot, "grok nowhere")
        assert rows(pilot) == []
        assert screen.query_one("#models-nothing").display
        await pilot.press("enter")
        assert pilot.app.screen is screen


async def test_a_row_that_the_user_went_to_stays_chosen_when_others_come(models) -> None:
    models.local = []
    models.providers = [READER, openrouter(), replace(OLLAMA, state=State.NOT_LOOKED, models=())]
    async with demo_app(models).run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        await pilot.press("down")
        went = chosen(pilot)
        screen.post_message(ModelsScreen.Known([OLLAMA]))
        await until(pilot, lambda: ("ollama", "qwen3:8b") in rows(pilot), "the server")
        assert chosen(pilot) == went


async def test_of_very_many_models_those_that_are_not_drawn_are_counted(models) -> None:
    models.providers = [READER, openrouter(*(model(f"m-{n}") for n in range(MOST + 5)))]
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await opened(pilot)
        assert "and 10 more: type to search them" in drawn(pilot)
        await pilot.press("pageup", "enter")
        await pilot.pause()
        assert pilot.app.screen is chat(pilot)


@pytest.mark.parametrize(
    ("text", "name"),
    [("ollama/qwen3:8b", "qwen3:8b"), ("grok", "x-ai/grok-4"), ("groq/new", "new")],
)
async def test_a_model_is_named_at_the_prompt(models, text: str, name: str) -> None:
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await ready(pilot)
        await type_text(pilot, f"/model {text}")
        await pilot.press("enter")
        await answers(pilot, name)
        assert pilot.app.screen is chat(pilot)


async def test_what_names_several_opens_the_list_with_it_as_search(models) -> None:
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await ready(pilot)
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
        await until(pilot, lambda: screen.window and screen.window.budget.limit == 2_048, "limit")
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
            screen.action_models(name)
            await until(pilot, lambda n=name: n.split("/")[-1] in " ".join(told(pilot)), "a word")
        assert screen.session.provider is first
        assert status(pilot).startswith("reader")
        gate.set()
        await answers(pilot, "qwen3:8b")
        assert screen.session.memory.turns[-1].content == "One, two."
        assert not screen.busy


async def test_a_model_that_cannot_be_had_leaves_the_one_that_answers(models) -> None:
    models.model_refusal = SettingsError("api_key_cmd of groq printed no key.", "Run it by hand.")
    async with demo_app(models).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        before = screen.session
        screen.action_models("groq/new")
        await until(pilot, lambda: told(pilot), "why")
        assert told(pilot) == ["api_key_cmd of groq printed no key. Run it by hand."]
        assert screen.session is before
        assert status(pilot) == "reader · none · ~estimate"


async def test_what_there_is_to_know_of_a_pick_is_told(models) -> None:
    models.note = "config.toml names another: it answers at the next start."
    async with demo_app(models).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        screen.action_models("groq/new")
        await answers(pilot, "new")
        assert told(pilot) == [models.note]


async def test_a_conversation_that_cannot_be_answered_is_opened_by_another_pick(models) -> None:
    models.refusal = SettingsError("api_key_cmd of work printed no key.", "Run it by hand.")
    async with demo_app(models).run_test(size=SIZE) as pilot:
        screen = chat(pilot)
        await until(pilot, lambda: screen.refusal, "the refusal")
        screen.action_models("qwen3:8b")
        await answers(pilot, "qwen3:8b")
        await ready(pilot)
        assert screen.refusal is None


async def test_a_provider_without_a_model_has_the_list_opened(models) -> None:
    models.settings = replace(Settings(), provider=ProviderSettings("openrouter"))
    models.refusal = SettingsError("No model is named for the provider openrouter.")
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
        screen.action_models("qwen3:8b")
        await at_work.wait()
        await screen.action_new_conversation()
        await until(pilot, lambda: screen.session is not None, "the other conversation")
        goes_on.set()
        await answers(pilot, "qwen3:8b")
        assert screen.session.memory.turns == []


@pytest.mark.parametrize("refusal", [KeyRefused("No."), Unreachable("No.")])
async def test_a_key_that_is_refused_in_the_chat_says_how_to_give_another(
    models, refusal: JitchatError
) -> None:
    models.provider = ScriptedProvider((refusal,), "groq", "new")
    async with demo_app(models).run_test(size=SIZE) as pilot:
        await ready(pilot)
        await type_text(pilot, "hello")
        await pilot.press("enter")
        await until(pilot, lambda: told(pilot), "the refusal")
        await idle(pilot)
        hinted = "Ctrl+L, then F4, takes another key." in told(pilot)
        assert hinted is isinstance(refusal, KeyRefused)


async def test_a_limit_that_is_told_during_a_reply_counts_for_the_next(models) -> None:
    gate = asyncio.Event()
    models.provider = ScriptedProvider(("One", gate), "groq", "new")
    async with demo_app(models).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, "count")
        await pilot.press("enter")
        await until(pilot, lambda: models.provider.requests, "the request")
        models.told = Budget(limit=9_000, reserve=512, limit_source="loaded in the server")
        screen._ask_limit(screen.session)
        await until(pilot, lambda: screen.session.options.budget.limit == 9_000, "the limit")
        gate.set()
        await idle(pilot)
        await type_text(pilot, "on")
        assert screen.window.budget.limit == 9_000
