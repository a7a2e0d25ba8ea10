"""Pasted keys: what is cleaned, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import UsageError
from jitchat.settings import load_settings
from jitchat.settings.keys import THE_FILE, CleanedKey, cleaned_key, key_notes
from jitchat.settings.sections import Secret
from tests.examples import examples

KEY = "sk-canary-0123456789abcdef=="


@pytest.mark.parametrize(
    ("pasted", "removed"),
    [
        (KEY, ()),
        (f"  {KEY}\r\n\n", ("surrounding white space",)),
        (f'"{KEY}"', ("quotation marks",)),
        (f"“{KEY}”", ("quotation marks",)),
        (f"Bearer {KEY}", ("the word Bearer",)),
        (f"Authorization: bearer {KEY}", ("the word Bearer",)),
        (f"OPENAI_API_KEY={KEY}", ("the variable's name",)),
        (f"api_key: {KEY}", ("the variable's name",)),
        (f"\ufeff{KEY[:9]}\u200b{KEY[9:]}", ("invisible characters",)),
        (
            f' export K="{KEY}"\n',
            ("surrounding white space", "the variable's name", "quotation marks"),
        ),
    ],
)
def test_what_is_pasted_along_is_taken_off_and_said(pasted: str, removed: tuple[str, ...]):
    cleaned = cleaned_key(pasted)

    assert str(cleaned.key) == KEY
    assert cleaned.removed == removed


@pytest.mark.parametrize(
    ("pasted", "reason"),
    [
        ("", "it is empty"),
        ("''", "fewer than 8"),
        ("sk-canary…", "an ellipsis"),
        ("sk-canary...cdef", "an ellipsis"),
        ("sk-canary********", "masked"),
        ("sk-canary••••", "masked"),
        ("sk-canary 0123456789", "a space"),
        ("sk-canary\n0123456789", "a line break"),
        ("sk-canary-é123456789", "no key has"),
        ("sk-canary-\x1b[2J123", "control characters"),
        ("sk-12", "fewer than 8"),
    ],
)
def test_what_is_no_key_is_refused_without_quoting_it(pasted: str, reason: str):
    with pytest.raises(UsageError) as caught:
        cleaned_key(pasted)

    assert reason in str(caught.value)
    assert "Nothing was stored." in str(caught.value)
    assert "canary" not in str(caught.value)


@examples(40)
@given(st.text(max_size=40))
def test_whatever_is_pasted_is_refused_or_can_be_sent(pasted: str):
    try:
        key = cleaned_key(pasted).key
    except UsageError:
        return
    assert key.isascii()
    assert key.isprintable()
    assert " " not in key


@pytest.mark.parametrize(
    ("key", "provider", "owner"),
    [
        ("sk-ant-api03-x", "openai", "anthropic"),
        ("sk-or-v1-x", "openai", "openrouter"),
        ("gsk_x", "openai", "groq"),
        ("AIzaX", "anthropic", "gemini"),
        ("sk-proj-x", "deepseek", "openai"),
        ("sk-ant-api03-x", "anthropic", ""),
        ("sk-x", "deepseek", ""),
    ],
)
def test_a_key_that_looks_like_somebody_elses_is_recognised(key: str, provider: str, owner: str):
    profile = load_settings(Path("/nowhere/config.toml"), {}).profile(provider)

    notes = list(key_notes(profile, CleanedKey(Secret(key)), THE_FILE, THE_FILE))

    assert notes == ([f"This looks like a key for {owner}, not for {provider}."] if owner else [])
