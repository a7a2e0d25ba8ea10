"""`jitchat keys`: storing, listing and removing keys, without ever printing one."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import click
import pytest

from jitchat.cli import output

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell

CANARY = "gsk_canary0123456789abcdef"


@pytest.fixture
def file(home: Path) -> Path:
    return home / "keys.toml"


def test_a_key_on_standard_input_is_cleaned_and_stored(jitchat: Shell, file: Path):
    done = jitchat("keys", "set", "groq", stdin=f'export GROQ_API_KEY="{CANARY}"\n'.encode())

    assert done.code == 0
    assert done.out == f"Stored the API key of Groq in {file}, which only you can read.\n"
    assert done.err == "jitchat: Removed: the variable's name, quotation marks.\n"
    assert f'"groq" = "{CANARY}"' in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert "groq         the keys file\n" in jitchat("keys", "list").out


def test_a_key_at_the_terminal_is_asked_for_without_showing_it(
    jitchat: Shell, file: Path, monkeypatch: pytest.MonkeyPatch
):
    asked: list[object] = []

    def prompt(text: str, **how: object) -> str:
        asked.append((text, how["hide_input"], how["err"]))
        return CANARY

    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    monkeypatch.setattr(click, "prompt", prompt)

    assert jitchat("keys", "set", "groq").code == 0
    assert asked == [("Groq API key", True, True)]
    assert CANARY in file.read_text()


def test_without_a_command_the_keys_are_listed(jitchat: Shell, tmp_path: Path):
    config = tmp_path / "other.toml"
    config.write_text('[providers.mine]\nbase_url = "https://llm.test/v1"\n')

    listed = jitchat("keys", "list", "--config", config)

    assert "mine" in listed.out
    assert jitchat("keys", "--config", config) == listed


@pytest.mark.parametrize("pasted", [b"", b"gsk_can\xe2\x80\xa6", b"gsk_canary 1234", b"\xff\xfe"])
def test_an_invalid_key_is_not_stored(jitchat: Shell, file: Path, pasted: bytes):
    done = jitchat("keys", "set", "groq", stdin=pasted)

    assert done.code == 2
    assert "This is not a key: " in done.err
    assert "can" not in done.err.replace("cannot", "")
    assert not file.exists()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("grok", "There is no provider 'grok'."),
        ("reader", "The built-in reader needs no key."),
    ],
)
def test_a_key_for_an_unknown_provider_is_refused_before_the_prompt(
    jitchat: Shell, name: str, told: str
):
    done = jitchat("keys", "set", name, stdin=CANARY.encode())

    assert done.code == 2
    assert told in done.err
    assert not jitchat.home.exists()


def test_a_key_of_another_provider_is_stored_with_a_warning(jitchat: Shell, file: Path):
    done = jitchat("keys", "set", "openai", stdin=CANARY.encode())

    assert done.code == 0
    assert done.err == "jitchat: This looks like a key for groq, not for openai.\n"
    assert CANARY in file.read_text()


def test_a_key_overridden_by_another_source_is_reported(
    jitchat: Shell, file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GROQ_API_KEY", "gsk_another0123456789")

    done = jitchat("keys", "set", "groq", stdin=CANARY.encode())

    assert done.err == "jitchat: The key in $GROQ_API_KEY takes precedence over it.\n"
    assert "groq         $GROQ_API_KEY\n" in jitchat("keys", "list").out


def test_the_list_names_every_provider_and_what_would_give_it_a_key(jitchat: Shell, home: Path):
    home.mkdir()
    (home / "config.toml").write_text('[providers.work]\nbase_url = "http://x.test/v1"\n')

    lines = jitchat("keys", "list").out.splitlines()

    assert "openai       no key: set OPENAI_API_KEY, or run `jitchat keys set openai`" in lines
    assert "ollama       no key (may not be required)" in lines
    assert "work         no key (may not be required)" in lines
    assert not any(line.startswith("reader") for line in lines)


def test_the_list_as_json_has_the_source_and_never_the_key(jitchat: Shell):
    jitchat("keys", "set", "groq", stdin=CANARY.encode())

    done = jitchat("keys", "list", "--json")

    assert {"provider": "groq", "key": "the keys file"} in done.json
    assert {"provider": "xai", "key": None} in done.json
    assert "canary" not in done.out


def test_a_key_is_removed(jitchat: Shell, file: Path):
    jitchat("keys", "set", "groq", stdin=CANARY.encode())

    done = jitchat("keys", "remove", "groq")
    again = jitchat("keys", "remove", "groq")

    assert done.out == "Removed the API key of groq from the keys file.\n"
    assert CANARY not in file.read_text()
    assert (again.code, again.out) == (2, "")
    assert "No key is stored for 'groq'." in again.err


def test_a_file_that_others_can_read_is_warned_of(jitchat: Shell, file: Path):
    jitchat("keys", "set", "groq", stdin=CANARY.encode())
    assert "Others can read the keys" not in jitchat("keys", "list").err
    file.chmod(0o640)

    assert "Others can read the keys" in jitchat("keys", "list").err


def test_a_damaged_keys_file_ends_with_an_error(jitchat: Shell, file: Path):
    file.parent.mkdir()
    file.write_text(f"groq = {CANARY}")

    done = jitchat("keys", "list")

    assert done.code == 2
    assert "is not valid TOML" in done.err
    assert "canary" not in done.err


def test_a_key_is_stored_in_a_keyring_on_request(
    jitchat: Shell, file: Path, monkeypatch: pytest.MonkeyPatch
):
    held: dict[str, str] = {}
    ring = SimpleNamespace(
        get_password=lambda service, name: held.get(name),
        set_password=lambda service, name, key: held.update({name: key}),
        delete_password=lambda service, name: held.pop(name),
    )
    monkeypatch.setitem(sys.modules, "keyring", ring)

    done = jitchat("keys", "set", "groq", "--keyring", stdin=CANARY.encode())

    assert done.out == "Stored the API key of Groq in the keyring.\n"
    assert held == {"groq": CANARY}
    assert not file.exists()
    assert jitchat("keys", "remove", "groq").out.endswith("from the keyring.\n")


def test_without_a_keyring_nothing_is_stored(
    jitchat: Shell, file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "keyring", None)

    done = jitchat("keys", "set", "groq", "--keyring", stdin=CANARY.encode())

    assert done.code == 1
    assert "was not stored in the keyring: the package keyring is not installed" in done.err
    assert not file.exists()
