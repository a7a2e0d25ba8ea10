"""Text from files, models and servers never controls the terminal, in any command."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import RequestRefused
from jitchat.text.sanitize import CHANGED
from tests.transfer.files import jsonl, locomo_sample, written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Result, Shell
    from tests.support import ScriptedProvider

PAYLOADS = {
    "escape sequences": [
        "\x1b[2J\x1b[H",
        "\x1b]0;a title\x07",
        "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
        "\x1b]52;c;cHduZWQ=\x07",
        "\x1bP+q544e\x1b\\",
        "\x9b31m\x9d0;a title\x9c\x90",
    ],
    "control characters": [
        "safe\b\b\b\bEVIL",
        "safe\rEVIL",
        "\x07\x7f\x7f",
        "\x0b\x0c\x85\u2028\u2029",
        "\x0e\x0f\x00\x1a",
    ],
    "hidden characters": [
        "\u202egnp.exe\u202c\u2067x\u2069",
        "a\u200b\u2060\ufeffb\u200f",
        "a" + "".join(chr(0xE0000 + ord(letter)) for letter in "evil"),
        "a\U000e0100\U000e01ef\ufe00\u034f\u00ad\u3164\u180e",
    ],
    "markup": [
        "[bold red]x[/bold red][/][link=http://evil.example]y",
        "[@click=app.quit]x[/]",
    ],
    "no text": ["a\udcffb\udc80"],
}
pytestmark = pytest.mark.usefixtures("demo", "terminal")


BY_NAME = pytest.mark.parametrize("payload", [*map(" ".join, PAYLOADS.values())], ids=[*PAYLOADS])


def assert_harmless(done: Result) -> None:
    """Check that the output has no control or invisible characters except line breaks."""
    for text in (done.out, done.err):
        for letter in set(text):
            assert letter == "\n" or unicodedata.category(letter) not in ("Cc", "Cs"), ascii(letter)
            assert ord(letter) not in CHANGED, ascii(letter)


@BY_NAME
def test_titles_names_ids_and_contents_of_a_file_are_sanitized(
    jitchat: Shell, tmp_path: Path, payload: str
):
    sample = locomo_sample(
        f"conv{payload}",
        speaker_a=f"Ann{payload}",
        session_1=[{"speaker": f"Ann{payload}", "text": f"Hello {payload}"}],
    )
    path = written(tmp_path, "f.json", [sample])

    imported = jitchat("import", path)
    listed = jitchat("conversations", "--json").json[0]["id"]

    assert imported.code == 0
    for arguments in (
        ["import", path],
        ["import", path, "--pick", payload],
        ["conversations"],
        ["conversations", "--json"],
        ["window", f"Hello {payload}", "--conversation", listed],
        ["window", f"Hello {payload}", "--conversation", listed, "--mode", "full"],
        ["window", f"Hello {payload}", "--conversation", listed, "--json"],
        ["send", f"Hello {payload}", "--conversation", listed],
        ["replay", "2", "--conversation", listed],
        ["replay", "2", "--conversation", listed, "--json"],
        ["replay", "2", "--conversation", listed, "--messages"],
        ["replay", payload, "--conversation", listed],
    ):
        done = jitchat(*arguments)
        assert done.out + done.err
        assert_harmless(done)
    assert_harmless(imported)


@BY_NAME
def test_json_escapes_control_characters_without_loss(jitchat: Shell, tmp_path: Path, payload: str):
    content = f"Hello {payload} there"
    jitchat("import", written(tmp_path, "t.jsonl", jsonl([{"role": "user", "content": content}])))
    stored = content.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    stored = stored.replace("\0", "␀")

    for encoding in ("utf-8", "ascii"):
        done = jitchat("window", "hi", "--mode", "full", "--json", encoding=encoding)
        assert_harmless(done)
        assert json.loads(done.raw)["messages"][1]["content"] == stored


@BY_NAME
def test_replies_and_errors_of_a_provider_are_sanitized(
    jitchat: Shell, scripted: ScriptedProvider, payload: str
):
    scripted.script = (f"So {payload}", *payload, RequestRefused(f"No {payload}.", payload))

    done = jitchat("send", "hi", "--conversation", "demo")

    assert done.code == 3
    assert_harmless(done)
    assert done.out.startswith("So ")
    assert done.err.startswith("jitchat: No ")


@BY_NAME
def test_arguments_and_file_names_in_errors_are_sanitized(
    jitchat: Shell, tmp_path: Path, payload: str
):
    payload = payload.replace("\0", "")
    named = payload.replace("/", "_")
    folder = tmp_path / f"d{named}"
    folder.mkdir()
    written(folder, "bad.json", b"{")
    written(folder, f"{named}.json", [{"role": "user", "content": "x"}])
    written(folder, "not.db", "no database" * 100)
    for arguments in (
        [payload],
        [f"--{payload}"],
        ["window", "hi", f"--x{payload}"],
        ["window", "hi", "--mode", payload],
        ["window", "hi", "--limit", payload],
        ["window", "hi", "--size", payload],
        ["window", "hi", "--conversation", payload],
        ["window", "hi", "--config", folder / "none.toml"],
        ["window", "hi", "--config", folder],
        ["window", "hi", "--db", folder / "not.db"],
        ["window", "hi", "--embedder", "auto", "--embedder-path", folder],
        ["paths", "--db", folder / "x.db", "--config", folder / "x.toml"],
        ["config", "--base-url", payload, "--model", payload],
        ["send", "hi", "--base-url", payload, "--model", payload],
        ["import", folder / "none.json"],
        ["import", folder],
        ["import", folder / "bad.json"],
        ["import", folder / f"{named}.json"],
        ["import", folder / f"{named}.json", "--pick", payload],
        ["conversations"],
    ):
        done = jitchat(*arguments)
        assert done.out + done.err, arguments
        assert "because of a bug" not in done.err, arguments
        assert_harmless(done)


@BY_NAME
def test_the_configuration_and_the_environment_are_sanitized(
    jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, payload: str
):
    text = json.dumps(payload.encode("utf-8", "replace").decode())[1:-1].replace("\x7f", "\\u007f")
    broken, whole = tmp_path / "broken.toml", tmp_path / "whole.toml"
    broken.write_text(f'[chat]\n"{text}" = 1\n')
    whole.write_text(f'[chat]\nsystem = "{text}"\n[keys]\n"{text}" = "{text}"\n')
    for variable in ("JITCHAT_SCREEN_THEME", "JITCHAT_CHAT_SYSTEM"):
        monkeypatch.setenv(variable, payload.replace("\0", ""))

    for arguments in (
        ["config", "--config", broken],
        ["config", "--config", whole],
        ["window", "hi", "--config", whole],
        ["window", "hi", "--config", whole, "--json"],
    ):
        done = jitchat(*arguments)
        assert done.out + done.err
        assert_harmless(done)
