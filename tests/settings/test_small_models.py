"""Small models: their addresses, and which key is sent to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitchat.errors import SettingsError
from jitchat.settings import Settings, load_settings
from jitchat.settings.keys import find_key
from jitchat.settings.small_models import (
    SMALL_MODELS,
    ModelAddress,
    address_of,
    require_addresses,
)

NOWHERE = Path("/nowhere/config.toml")
CANARY = "sk-canary-0123456789abcdef"
FAR = {"provider.base_url": "https://models.test/v1", "provider.model": "large"}


def settings_with(environ: dict[str, str] | None = None, **given: object) -> Settings:
    flags = FAR | {key.replace("__", "."): value for key, value in given.items()}
    return load_settings(NOWHERE, environ or {}, flags)


def key_for(found: ModelAddress | None, **environ: str) -> str:
    """The key that goes to it; empty for none."""
    assert found is not None
    key = find_key(found.profile, environ, NOWHERE)
    return str(key.key) if key else ""


@pytest.mark.parametrize("model", ["", " "])
def test_without_a_model_there_is_none(model: str):
    assert address_of(settings_with(picker__model=model), "picker") is None
    require_addresses(load_settings(NOWHERE, {}))


@pytest.mark.parametrize("section", SMALL_MODELS)
def test_what_is_not_said_is_the_providers(section):
    settings = settings_with(**{f"{section}__model": "small"})

    found = address_of(settings, section)

    assert found is not None
    assert (found.model, found.profile.base_url) == ("small", "https://models.test/v1")
    assert key_for(found, OPENAI_API_KEY=CANARY) == CANARY


def test_a_picker_has_two_seconds_and_a_summariser_a_minute():
    settings = settings_with(picker__model="small", summariser__model="small")

    found = [address_of(settings, section) for section in SMALL_MODELS]

    assert [each.timeout for each in found if each] == [2.0, 60.0]


@pytest.mark.parametrize(
    ("address", "goes"),
    [
        ("https://models.test/other/v1", True),
        ("https://models.test:443/v1", True),
        ("https://MODELS.test/v1", True),
        ("http://models.test/v1", False),
        ("https://models.test:8443/v1", False),
        ("https://models.test.evil.test/v1", False),
        ("https://models.test@evil.test/v1", False),
        ("http://localhost:11434/v1", False),
        ("https://[models.test", False),
        ("", True),
    ],
)
def test_the_providers_key_goes_to_the_providers_server_alone(address: str, goes: bool):
    settings = settings_with(picker__model="small", picker__base_url=address)

    found = address_of(settings, "picker")

    assert key_for(found, OPENAI_API_KEY=CANARY) == (CANARY if goes else "")
    assert key_for(found, JITCHAT_PROVIDER_API_KEY=CANARY) == (CANARY if goes else "")


def test_a_key_of_its_own_goes_wherever_it_is_set_for():
    environ = {"JITCHAT_PICKER_API_KEY": CANARY}
    settings = settings_with(
        environ, picker__model="small", picker__base_url="https://elsewhere.test/v1"
    )

    found = address_of(settings, "picker")

    others = {"OPENAI_API_KEY": "sk-other", "JITCHAT_PROVIDER_API_KEY": "sk-other"}
    assert key_for(found, **others) == CANARY
    assert CANARY not in repr(found)
    assert settings.secrets() == [CANARY]


@pytest.mark.parametrize("section", SMALL_MODELS)
def test_a_model_beside_the_reader_asks_for_an_address(tmp_path: Path, section):
    config = tmp_path / "config.toml"
    config.write_text(f'[{section}]\nmodel = "small"\n')

    with pytest.raises(SettingsError) as caught:
        require_addresses(load_settings(config, {}))

    assert str(caught.value).startswith(f'{config}: {section}.model is "small"')
    assert f"Add provider under [{section}]" in caught.value.remedy


def test_a_model_beside_the_reader_with_an_address_is_fine():
    given = {"picker.model": "small", "picker.base_url": "http://localhost:11434/v1"}
    settings = load_settings(NOWHERE, {}, given)

    found = address_of(settings, "picker")

    assert settings.model_name() == "reader"
    assert found is not None
    assert found.profile.base_url == "http://localhost:11434/v1"
    assert key_for(found, OPENAI_API_KEY=CANARY) == ""


@pytest.mark.parametrize("value", ["0", "-1", "nan", "soon"])
def test_a_time_that_is_none_is_refused(value: str):
    with pytest.raises(SettingsError, match=r"picker\.timeout must be"):
        load_settings(NOWHERE, {"JITCHAT_PICKER_TIMEOUT": value})


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_a_small_model_is_served_by_the_provider_that_is_named_with_its_own_key(config: Path):
    config.write_text(
        f'[providers.groq]\napi_key = "{CANARY}"\nmodel = "large"\n'
        '[picker]\nprovider = "groq"\nmodel = "small"\n[summariser]\nprovider = "groq"\n'
    )

    settings = load_settings(config, {}, FAR)
    picker, summariser = address_of(settings, "picker"), address_of(settings, "summariser")

    assert picker is not None
    assert (picker.model, picker.profile.base_url) == ("small", "https://api.groq.com/openai/v1")
    assert key_for(picker, JITCHAT_PROVIDER_API_KEY="sk-other") == CANARY
    assert summariser is not None
    assert summariser.model == "large"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('provider = "grok"\nmodel = "m"', "picker.provider is 'grok', but"),
        (
            'provider = "reader"\nmodel = "m"',
            'picker.provider is "reader", but its address is unknown',
        ),
        ('provider = "groq"', 'picker.provider is "groq", but no model is set'),
        (
            'provider = "groq"\nmodel = "m"\nbase_url = "http://x.test"',
            "both provider and base_url",
        ),
    ],
)
def test_a_provider_that_cannot_serve_it_is_told(config: Path, content: str, told: str):
    config.write_text(f"[picker]\n{content}\n")

    with pytest.raises(SettingsError) as caught:
        require_addresses(load_settings(config, {}))

    assert str(caught.value).startswith(f"{config}: ")
    assert told in str(caught.value)
