"""Personas: what they override, what overrides them, and how they are saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.errors import SettingsError
from jitchat.settings import Settings, edit, load_settings
from jitchat.settings.personas import missing, reason_of, settings_for, with_persona
from jitchat.settings.sections import NamedPersona
from jitchat.values import Instructions

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-canary-0123456789abcdef"
FILE = f"""
[chat]
system = "Of the file."
[provider]
name = "groq"
model = "kimi"
limit = 9000
api_key = "{KEY}"
[personas.reviewer]
system = "Review."
model = "anthropic/opus"
temperature = 0.5
tools = ["files"]
[personas.other-model]
model = "qwen"
[personas.plain]
effort = "low"
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(FILE)
    return path


def test_what_it_sets_is_laid_over_the_settings_and_named_as_the_origin(config: Path) -> None:
    settings = with_persona(load_settings(config, {}), "reviewer")

    profile = settings.in_use()
    assert (profile.name, settings.model_name()) == ("anthropic", "opus")
    assert profile.sampling.temperature == 0.5
    rows = {key: (value, origin) for key, value, origin in settings.rows()}
    of_it = {key: value for key, (value, origin) in rows.items() if origin == "persona reviewer"}
    assert of_it == {
        "chat.system": '"Review."',
        "provider.name": '"anthropic"',
        "provider.model": '"opus"',
        "provider.temperature": "0.5",
    }


def test_the_key_and_the_limit_of_another_model_are_not_for_its_own(config: Path) -> None:
    loaded = load_settings(config, {})

    assert not with_persona(loaded, "reviewer").in_use().api_key
    other = with_persona(loaded, "other-model")
    assert (other.in_use().name, other.model_name(), other.in_use().limit) == ("groq", "qwen", None)
    assert other.in_use().api_key == KEY
    same = with_persona(loaded, "plain")
    assert (same.model_name(), same.in_use().limit) == ("kimi", 9_000)
    assert same.in_use().sampling.effort == "low"


def test_flags_win_over_it_and_variables_do_not(config: Path) -> None:
    flags = {"chat.system": "Of the flag.", "provider.model": "llama", "provider.limit": 500}
    by_flags = with_persona(load_settings(config, {}, flags), "reviewer")
    assert (by_flags.chat.system, by_flags.model_name()) == ("Of the flag.", "llama")
    assert by_flags.in_use().sampling.temperature == 0.5

    by_variables = load_settings(config, {"JITCHAT_PROVIDER_MODEL": "llama"})
    assert with_persona(by_variables, "reviewer").model_name() == "opus"
    sized = load_settings(config, {}, {"provider.limit": 500})
    assert with_persona(sized, "reviewer").in_use().limit == 500


def test_its_parameters_count_for_a_model_that_is_picked_in_its_place(config: Path) -> None:
    settings = with_persona(load_settings(config, {}), "reviewer", ("ollama", "qwen3:8b"))

    assert (settings.in_use().name, settings.model_name()) == ("ollama", "qwen3:8b")
    assert settings.in_use().sampling.temperature == 0.5


@pytest.mark.parametrize(
    ("default", "own", "system", "reason"),
    [
        ("", Instructions(), "Of the file.", "instructions from the settings"),
        ("", Instructions("Own."), "Own.", "instructions for this conversation"),
        ("", Instructions(None, "reviewer"), "Review.", "persona reviewer"),
        (
            "",
            Instructions("Own.", "reviewer"),
            "Own.",
            "persona reviewer · instructions for this conversation",
        ),
        (
            "",
            Instructions(None, "plain"),
            "Of the file.",
            "persona plain · instructions from the settings",
        ),
        ("reviewer", Instructions(), "Review.", "persona reviewer"),
        ("reviewer", Instructions(None, ""), "Of the file.", "instructions from the settings"),
        ("reviewer", Instructions(None, "gone"), "Review.", "persona reviewer"),
    ],
)
def test_a_conversation_has_its_own_text_else_its_personas_else_that_of_the_settings(
    config: Path, default: str, own: Instructions, system: str, reason: str
) -> None:
    loaded = load_settings(config, {"JITCHAT_CHAT_PERSONA": default})

    settings = settings_for(loaded, own)

    assert (settings.chat.system, reason_of(settings)) == (system, reason)
    assert bool(missing(loaded, own)) == (own.persona == "gone")


def test_the_size_of_a_conversations_windows_comes_before_the_settings_and_after_a_flag(
    config: Path,
) -> None:
    own = Instructions(size="auto")
    by_variable = load_settings(config, {"JITCHAT_WINDOW_SIZE": "900"})
    by_flag = load_settings(config, {}, {"window.size": 900})

    assert settings_for(by_variable, Instructions()).window.size == 900
    assert settings_for(by_variable, own).window.size == "auto"
    assert settings_for(by_flag, own).window.size == 900


def test_nothing_that_is_set_is_called_instructions_and_no_more() -> None:
    assert reason_of(settings_for(Settings(), Instructions())) == "instructions"


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ("[personas.a]\nsytem = 'x'", "Did you mean 'system'?"),
        ("[personas.a]\nprovider = 'grok'", "personas.a.provider is 'grok', but"),
        ("[personas.'a b']", "'a b' cannot be the name of a persona"),
        ("[personas.a]\ntemperature = -1", "personas.a.temperature must be at least 0"),
        ("[chat]\npersona = 'revewer'\n[personas.reviewer]", "Did you mean 'reviewer'?"),
    ],
)
def test_what_cannot_be_is_refused_by_name(config: Path, toml: str, told: str) -> None:
    config.write_text(toml)
    with pytest.raises(SettingsError) as refusal:
        load_settings(config, {})
    assert told in str(refusal.value)


def test_a_saved_one_is_loaded_as_it_was_and_the_rest_of_the_file_stays(config: Path) -> None:
    saved = NamedPersona("strict", 'Be "strict".\nSay why.', "groq", "m", 0.1, tools=("a", "b__*"))

    edit.save_persona(config, saved, replaces=False)

    assert config.read_text().startswith(FILE)
    assert load_settings(config, {}).personas["strict"] == saved
    for name, told in (("strict", "already has a persona strict"), ("a.b", "cannot be the name")):
        with pytest.raises(SettingsError, match=told):
            edit.save_persona(config, NamedPersona(name, "x"), replaces=False)
    edit.save_persona(config, NamedPersona("strict", "Less."), replaces=True)
    assert load_settings(config, {}).personas["strict"].system == "Less."
