"""Every source of a key, which one wins, and that none of them ever shows it."""

from __future__ import annotations

import os
import shlex
import sys
import traceback
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from jitchat.crash import redacted
from jitchat.errors import JitchatError, SettingsError
from jitchat.settings import keys, load_settings
from jitchat.settings.keys import (
    KeysFile,
    find_key,
    key_from_ring,
    key_source,
    put_into_ring,
    remove_from_ring,
)
from jitchat.settings.sections import Secret

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "canary-0123456789-abcdef"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """A keyring that holds what is put into it."""
    held: dict[tuple[str, str], str] = {}
    made = SimpleNamespace(
        get_password=lambda service, name: held.get((service, name)),
        set_password=lambda service, name, key: held.update({(service, name): key}),
        delete_password=lambda service, name: held.pop((service, name)),
    )
    monkeypatch.setitem(sys.modules, "keyring", made)
    return held


def printing(text: str, *, code: int = 0, error: str = "") -> str:
    """A command that prints `text`, as the TOML has it."""
    script = f"import sys; print({text!r}); print({error!r}, file=sys.stderr); sys.exit({code})"
    return f"api_key_cmd = '''{shlex.join([sys.executable, '-c', script])}'''"


def test_the_first_source_that_has_a_key_wins(config: Path, ring: dict[tuple[str, str], str]):
    ring["jitchat", "groq"] = "of-the-keyring"
    file = KeysFile(config.parent / "keys.toml")
    file.put("groq", Secret("of-the-file"))
    environ = {"JITCHAT_PROVIDER_API_KEY": "of-who-answers", "GROQ_API_KEY": " of-its-variable\n"}
    lines = ['[provider]\nname = "groq"\n[providers.groq]', printing("of-a-command\nnot this")]
    config.write_text("\n".join([*lines, 'api_key = "of-the-toml"']))
    found = []

    def look() -> None:
        profile = load_settings(config, environ).in_use()
        source = key_source(profile, environ, file.path)
        key = find_key(profile, environ, file.path)
        assert (key.source if key else "") == source
        found.append(f"{key.key} {source}" if key else "none")

    for name in ("JITCHAT_PROVIDER_API_KEY", "GROQ_API_KEY"):
        look()
        environ[name] = ""
    look()
    config.write_text("\n".join([lines[0], 'api_key = "of-the-toml"']))
    look()
    config.write_text(lines[0])
    look()
    file.remove("groq")
    look()
    ring.clear()
    look()

    assert found == [
        "of-who-answers $JITCHAT_PROVIDER_API_KEY",
        "of-its-variable $GROQ_API_KEY",
        "of-a-command api_key_cmd",
        "of-the-toml the configuration",
        "of-the-file the keys file",
        "of-the-keyring the keyring",
        "none",
    ]


def test_the_key_of_who_answers_goes_to_nobody_else(config: Path):
    environ = {"JITCHAT_PROVIDER_API_KEY": CANARY}
    settings = load_settings(config, environ, {"provider.name": "groq"})

    keys = {p.name: find_key(p, environ, config) for p in settings.profiles()}

    assert [name for name, key in keys.items() if key] == ["groq"]


def test_google_s_variable_comes_after_gemini_s(config: Path):
    profile = load_settings(config, {}).profile("gemini")
    environ = {"GOOGLE_API_KEY": "second"}

    assert find_key(profile, environ, config).key == "second"  # type: ignore[union-attr]
    environ["GEMINI_API_KEY"] = "first"
    assert find_key(profile, environ, config).key == "first"  # type: ignore[union-attr]


def test_a_variable_that_is_named_takes_the_place_of_the_usual_one(config: Path):
    config.write_text('[providers.openai]\napi_key_env = "WORK_KEY"\n')
    profile = load_settings(config, {}).profile("openai")

    assert find_key(profile, {"OPENAI_API_KEY": "usual"}, config.parent / "none") is None
    assert find_key(profile, {"WORK_KEY": CANARY}, config).key == CANARY  # type: ignore[union-attr]


def test_a_command_runs_once_for_a_process(config: Path, tmp_path: Path):
    counted = tmp_path / "runs"
    script = f"open({str(counted)!r}, 'a').write('x'); print('{CANARY}')"
    command = shlex.join([sys.executable, "-c", script])
    config.write_text(f"[providers.groq]\napi_key_cmd = '''{command}'''\n")
    profile = load_settings(config, {}).profile("groq")

    assert key_source(profile, {}, config) == "api_key_cmd"
    assert not counted.exists()
    for _ in range(2):
        assert find_key(profile, {}, config).key == CANARY  # type: ignore[union-attr]
    assert counted.read_text() == "x"


def test_a_command_runs_again_for_a_key_that_was_refused_and_for_no_other(
    config: Path, tmp_path: Path
):
    script = f"p = __import__('pathlib').Path({str(tmp_path / 'runs')!r})"
    script += "; n = len(p.read_text()) if p.exists() else 0; p.write_text('x' * (n + 1))"
    command = shlex.join([sys.executable, "-c", f"{script}; print('{CANARY}-%d' % n)"])
    config.write_text(f'[providers.groq]\napi_key_cmd = """{command}"""\n')
    profile = load_settings(config, {}).profile("groq")

    found = find_key(profile, {}, config)
    assert found is not None
    assert found.renew is not None
    assert [found.renew(f"{CANARY}-0") for _ in range(2)] == [f"{CANARY}-1"] * 2
    again = find_key(profile, {}, config)
    assert again is not None
    assert again.key == f"{CANARY}-1"
    assert find_key(profile, {"GROQ_API_KEY": "sk-1"}, config).renew is None  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (printing("", code=3, error="no such\nentry"), "exited with code 3: no such entry."),
        (printing("", code=2), "exited with code 2 and printed no error."),
        (printing(CANARY, code=1, error=f"got {CANARY}"), "exited with code 1: got •••."),
        (printing("  \n"), "printed no key."),
        ("api_key_cmd = 'no-such-program-at-all x'", "cannot be run: No such file or directory."),
        ("""api_key_cmd = "'never closed" """, "a quotation mark is missing."),
    ],
)
def test_a_command_that_gives_no_key_is_told_in_a_sentence(config: Path, line: str, told: str):
    config.write_text(f"[providers.groq]\n{line}\n")
    profile = load_settings(config, {}).profile("groq")

    with pytest.raises(SettingsError) as caught:
        find_key(profile, {}, config.parent / "none")

    assert str(caught.value).startswith("api_key_cmd of groq ")
    assert told in str(caught.value)
    assert caught.value.__context__ is None
    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_a_command_that_hangs_is_given_up(config: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(keys, "SECONDS", 0.05)
    waiting = shlex.join([sys.executable, "-c", "input_ = __import__('time').sleep(60)"])
    config.write_text(f"[providers.groq]\napi_key_cmd = '''{waiting}'''\n")

    with pytest.raises(SettingsError, match="did not finish within"):
        find_key(load_settings(config, {}).profile("groq"), {}, config)


def test_what_was_found_is_blotted_out_of_every_report(config: Path):
    config.write_text(f"[providers.groq]\n{printing(f'{CANARY}-cmd')}\n")
    KeysFile(config.parent / "keys.toml").put("xai", Secret(f"{CANARY}-file"))
    settings = load_settings(config, {})

    for name in ("groq", "xai"):
        find_key(settings.profile(name), {}, config.parent / "keys.toml")

    assert redacted(f"{CANARY}-cmd {CANARY}-file") == "••• •••"


@pytest.mark.parametrize("source", ["api_key", "headers", "command", "provider"])
def test_no_source_in_the_file_is_ever_shown(config: Path, source: str):
    canary = f"{CANARY}-{source}"
    config.write_text(
        {
            "api_key": f'[providers.groq]\napi_key = "{canary}"',
            "headers": f'[providers.groq]\nheaders = {{ "X-Key" = "{canary}" }}',
            "command": f'[providers.groq]\napi_key_cmd = "echo {canary}"',
            "provider": f'[provider]\nname = "groq"\napi_key_cmd = "echo {canary}"',
        }[source]
    )
    settings = load_settings(config, {})
    profile = settings.profile("groq")
    found = find_key(profile, {}, config.parent / "none")

    shown = [repr(settings), repr(profile), repr(found), repr(profile.endpoint("m", canary))]
    assert canary not in "".join([*shown, str(list(settings.rows()))])
    assert "(hidden)" in str(list(settings.rows()))
    assert redacted(f"<{canary}>") == "<•••>"


def test_the_keys_file_is_for_its_owner_alone(tmp_path: Path):
    file = KeysFile(tmp_path / "made" / "keys.toml")

    file.put("groq", Secret(CANARY))
    file.put("xai", Secret('quo"ted\\key'))

    assert file.keys() == {"groq": CANARY, "xai": 'quo"ted\\key'}
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.path.parent.stat().st_mode & 0o777 == 0o700
    assert [each.name for each in file.path.parent.iterdir()] == ["keys.toml"]
    assert file.warning() == ""
    assert file.remove("groq")
    assert not file.remove("groq")
    assert list(file.keys()) == ["xai"]


def test_a_keys_file_that_others_can_read_is_warned_of_and_made_safe_by_the_next_key(
    tmp_path: Path,
):
    file = KeysFile(tmp_path / "keys.toml")
    file.put("groq", Secret(CANARY))
    file.path.chmod(0o644)

    assert "(0644)" in file.warning()
    assert CANARY not in file.warning()
    file.put("xai", Secret(CANARY))
    assert file.warning() == ""


@pytest.mark.parametrize("content", [f"groq = {CANARY}", f'groq = ["{CANARY}"]', "\0", "[[["])
def test_a_damaged_keys_file_is_told_without_quoting_it(tmp_path: Path, content: str):
    path = tmp_path / "keys.toml"
    path.write_text(content)

    with pytest.raises(SettingsError) as caught:
        KeysFile(path).keys()

    assert str(path) in str(caught.value)
    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_a_failed_write_leaves_the_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = KeysFile(tmp_path / "keys.toml")
    file.put("groq", Secret("first-key"))

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(JitchatError, match="No space left on device"):
        file.put("groq", Secret(CANARY))

    assert file.keys() == {"groq": "first-key"}
    assert [each.name for each in tmp_path.iterdir()] == ["keys.toml"]


def test_a_keyring_holds_keys_by_the_providers_name(ring: dict[tuple[str, str], str]):
    put_into_ring("groq", Secret(CANARY))

    assert ring == {("jitchat", "groq"): CANARY}
    assert key_from_ring("groq") == CANARY
    assert remove_from_ring("groq")
    assert not remove_from_ring("groq")


def test_a_keyring_that_fails_is_no_key(monkeypatch: pytest.MonkeyPatch):
    def fails(*asked: str) -> None:
        raise RuntimeError(CANARY)

    broken = SimpleNamespace(get_password=fails, set_password=fails, delete_password=fails)
    monkeypatch.setitem(sys.modules, "keyring", broken)

    assert key_from_ring("groq") == ""
    with pytest.raises(JitchatError, match="it refused") as caught:
        put_into_ring("groq", Secret("x"))
    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_without_the_package_there_is_no_keyring(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "keyring", None)

    assert key_from_ring("groq") == ""
    with pytest.raises(JitchatError, match="not installed"):
        put_into_ring("groq", Secret("x"))
