"""`jitchat paths` and `jitchat config` print the values in use and their origin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell

CANARY = "sk-canary-0123456789abcdef"


def rows(out: str) -> dict[str, list[str]]:
    """The cells of each line, by the first."""
    return {line.split()[0]: re.split(r"  +", line)[1:] for line in out.splitlines()}


def test_paths_are_printed_with_their_origin(
    jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    config = tmp_path / "my.toml"
    config.write_text("")
    monkeypatch.setenv("JITCHAT_CONFIG", str(config))

    done = jitchat("paths", "--db", tmp_path / "my.db")

    assert done.code == 0
    assert rows(done.out) == {
        "config": [str(config), "$JITCHAT_CONFIG"],
        "keys": [str(jitchat.home / "keys.toml"), "$JITCHAT_HOME (does not exist yet)"],
        "database": [str(tmp_path / "my.db"), "--db (does not exist yet)"],
        "models": [str(jitchat.home / "models"), "$JITCHAT_HOME (does not exist yet)"],
        "crash": [str(jitchat.home / "crash.txt"), "$JITCHAT_HOME (does not exist yet)"],
        "log": [str(jitchat.home / "log.txt"), "$JITCHAT_HOME (does not exist yet)"],
        "answers": [str(jitchat.home / "answers.jsonl"), "$JITCHAT_HOME (does not exist yet)"],
        "rot": [str(jitchat.home / "rot"), "$JITCHAT_HOME (does not exist yet)"],
        "servers": [str(jitchat.home / "servers"), "$JITCHAT_HOME (does not exist yet)"],
        "pasted": [str(jitchat.home / "pasted"), "$JITCHAT_HOME (does not exist yet)"],
    }


def test_looking_creates_nothing(jitchat: Shell):
    jitchat("paths")
    jitchat("config")

    assert not jitchat.home.exists()


def test_every_setting_is_printed_with_its_origin(
    jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    config = tmp_path / "my.toml"
    config.write_text("[window]\nsize = 500\n")
    monkeypatch.setenv("JITCHAT_CHAT_MODE", "recency")

    done = jitchat("config", "--config", config, "--base-url", "http://localhost:8080/v1")

    assert done.code == 0
    found = rows(done.out)
    assert found["window.size"] == ["500", str(config)]
    assert found["chat.mode"] == ['"recency"', "$JITCHAT_CHAT_MODE"]
    assert found["provider.base_url"] == ['"http://localhost:8080/v1"', "--base-url"]
    assert found["provider.name"] == ['"openai"', "implied by --base-url"]
    assert found["embedder.name"] == ['"none"', "$JITCHAT_EMBEDDER_NAME"]
    assert found["window.order"] == ['"auto"', "default"]


def test_flags_before_the_command_apply_and_those_after_it_win(jitchat: Shell):
    ahead = jitchat("--mode", "full", "--limit", "9000", "config", "--mode", "recency")

    assert rows(ahead.out)["chat.mode"] == ['"recency"', "--mode"]
    assert rows(ahead.out)["provider.limit"] == ["9000", "--limit"]


@pytest.mark.parametrize("source", ["variable", "file"])
def test_a_key_is_never_printed(
    jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
):
    config = tmp_path / "my.toml"
    config.write_text(f'[provider]\napi_key = "{CANARY}"\n' if source == "file" else "")
    if source == "variable":
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)

    done = jitchat("config", "--config", config, "--model", "m")

    origin = str(config) if source == "file" else "$OPENAI_API_KEY"
    assert rows(done.out)["provider.api_key"] == ["set (hidden)", origin]
    assert "canary" not in done.out + done.err


def test_a_variable_without_effect_is_reported(jitchat: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JITCHAT_WINDOW_SISE", "5")

    done = jitchat("config")

    assert done.code == 0
    assert "$JITCHAT_WINDOW_SISE is not a setting" in done.err
    assert "JITCHAT_WINDOW_SIZE" in done.err


@pytest.mark.parametrize("command", [["config"], ["window", "hi"], ["send", "hi"], ["import", "f"]])
def test_a_wrong_configuration_ends_every_command_that_needs_it(
    jitchat: Shell, tmp_path: Path, command: list[str]
):
    config = tmp_path / "my.toml"
    config.write_text("[chat]\nmod = 'jit'\n")

    done = jitchat(*command, "--config", config)

    assert done.code == 2
    assert done.out == ""
    assert f"jitchat: {config}: 'chat.mod' is not a key of jitchat." in done.err
    assert "Did you mean 'chat.mode'?" in done.err


def test_settings_of_earlier_versions_are_told_once_and_always_in_the_list(
    jitchat: Shell, tmp_path: Path
):
    config = tmp_path / "my.toml"
    config.write_text("[window]\nrecent = 128\n")
    told = f"{config}: window.recent is now a share of window.size; set that instead."

    first, again = (jitchat("window", "hi", "--config", config) for _ in range(2))

    assert (first.code, again.code) == (0, 0)
    assert told in first.err
    assert told not in again.err
    assert told in jitchat("config", "--config", config).err


def test_a_named_configuration_must_exist(jitchat: Shell, tmp_path: Path):
    done = jitchat("config", "--config", tmp_path / "typo.toml")

    assert done.code == 2
    assert f"there is no file {tmp_path / 'typo.toml'}" in done.err


def test_an_invalid_variable_ends_with_an_error(jitchat: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JITCHAT_WINDOW_SIZE", "abc")

    done = jitchat("window", "hi")

    assert done.code == 2
    assert done.err == (
        "jitchat: $JITCHAT_WINDOW_SIZE: window.size must be a whole number or auto, not 'abc'."
        " Meaning: tokens that a window may have once not everything fits; auto: what suits the"
        ' model. Default: "auto".\n'
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('inspectr = "f12"', "Did you mean 'inspector'?"),
        ('help = "f2"', "'f2' is bound to both inspector and help"),
        ('newline = "ctrl+r"', "'ctrl+r' is bound to both resume and newline"),
    ],
)
def test_a_key_for_no_action_or_for_two_is_refused(
    jitchat: Shell, tmp_path: Path, line: str, told: str
):
    config = tmp_path / "config.toml"
    config.write_text(f"[keys]\n{line}\n")
    done = jitchat("config", "--config", config)
    assert done.code == 2
    assert str(config) in done.err
    assert told in done.err


def test_keys_can_be_changed(jitchat: Shell, tmp_path: Path):
    config = tmp_path / "config.toml"
    config.write_text('[keys]\ninspector = "f12"\nhelp = "f2"\nwire = ""\nledger = ""\n')
    assert jitchat("config", "--config", config).code == 0
