"""A key is used, and never shown."""

from __future__ import annotations

import copy
import traceback
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import SettingsError
from jitchat.settings import load_settings
from jitchat.settings.sections import Secret, shown

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "sk-canary-0123456789abcdef"


def test_a_key_is_the_text_that_was_given_without_blanks_around_it(tmp_path: Path):
    settings = load_settings(tmp_path / "none", {"JITCHAT_PROVIDER_API_KEY": f" {CANARY}\n"})

    assert f"Bearer {settings.provider.api_key}" == f"Bearer {CANARY}"


@pytest.mark.parametrize("source", ["variable", "file"])
def test_no_representation_of_the_settings_shows_it(tmp_path: Path, source: str):
    config = tmp_path / "config.toml"
    environ = {"JITCHAT_PROVIDER_API_KEY": CANARY} if source == "variable" else {}
    if source == "file":
        config.write_text(f'[provider]\napi_key = "{CANARY}"\n')

    settings = load_settings(config, environ)

    assert settings.provider.api_key == CANARY
    assert CANARY not in repr(settings)
    assert CANARY not in repr(copy.deepcopy(settings))
    assert CANARY not in str(list(settings.rows()))
    assert ("set (hidden)") in [value for _, value, _ in settings.rows()]


def test_no_traceback_shows_it_even_with_locals(tmp_path: Path):
    settings = load_settings(tmp_path / "none", {"JITCHAT_PROVIDER_API_KEY": CANARY})

    def fails(key: Secret) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError) as caught:
        fails(settings.provider.api_key)

    told = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert "key = '•••'" in "".join(told.format())


@pytest.mark.parametrize(
    "value", [f'["{CANARY}"]', '{k = "' + CANARY + '"}', "12345678901234567890", "1.2345678901"]
)
def test_an_error_about_the_key_does_not_quote_it(tmp_path: Path, value: str):
    config = tmp_path / "config.toml"
    config.write_text(f"[provider]\napi_key = {value}\n")

    with pytest.raises(SettingsError) as caught:
        load_settings(config, {})

    assert "provider.api_key must be a string" in str(caught.value)
    assert "canary" not in str(caught.value)
    assert "23456789" not in str(caught.value)


def test_broken_toml_beside_the_key_does_not_quote_it(tmp_path: Path):
    config = tmp_path / "config.toml"
    config.write_text(f'[provider]\napi_key = "{CANARY}\nlimit = 5\n')

    with pytest.raises(SettingsError) as caught:
        load_settings(config, {})

    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_no_key_is_told_as_such():
    assert shown(Secret()) == "not set"
    assert repr(Secret()) == "''"
