"""Errors in the sources of settings: where, what, and what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import SettingsError
from jitchat.settings import Settings, load_settings
from jitchat.settings.sections import SETTINGS
from tests.examples import examples

NOWHERE = Path("/nowhere/config.toml")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def refusal(config: Path, environ: dict[str, str] | None = None, **flags: object) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        load_settings(config, environ or {}, {k.replace("__", "."): v for k, v in flags.items()})
    assert caught.value.exit_code == 2
    return caught.value


def loaded_or_refused(config: Path, environ: dict[str, str]) -> tuple[Settings | None, str]:
    """The settings, or what is said of them; any other end is a failure."""
    try:
        return load_settings(config, environ), ""
    except SettingsError as error:
        return None, str(error)


WRONG_FILES = [
    ("[window]\nsise = 5\n", ["'window.sise'", "not a key", "'window.size'"]),
    ("[windo]\nsize = 5\n", ["'windo'", "not a section", "'window'"]),
    ("model = 'x'\n", ["'model'", "not a section", "'provider.model'"]),
    (
        "[chat]\nmode = 'jitt'\n",
        ["chat.mode", "'jitt'", "full, recency, jit, observe or document", "'jit'"],
    ),
    ("[window]\nsize = '5'\n", ["window.size", "a whole number or auto", "'5'"]),
    ("[window]\nsize = true\n", ["window.size", "a whole number", "true"]),
    ("[window]\nsize = 1.5\n", ["window.size", "a whole number", "1.5"]),
    ("[window]\nsize = [1]\n", ["window.size", "a whole number", "a list"]),
    ("[window]\nsize = -1\n", ["window.size", "at least 1", "-1"]),
    ("[provider]\nreserve = 0\n", ["provider.reserve", "at least 1", "0"]),
    ("[provider]\nread_seconds = 0.5\n", ["provider.read_seconds", "at least 1", "0.5"]),
    ("[provider]\ntemperature = nan\n", ["provider.temperature", "finite", "nan"]),
    ("[provider]\ntemperature = true\n", ["provider.temperature", "a number", "true"]),
    ("[screen]\ninspector = 1\n", ["screen.inspector", "true or false", "1"]),
    ("[chat.mode]\nx = 1\n", ["chat.mode", "a string", "a table"]),
    ("[chat]\nsystem = 2026-01-01\n", ["chat.system", "a string", "2026-01-01"]),
    ("chat = 5\n", ["chat", "must be a table", "[chat]"]),
    ("[[chat]]\nmode = 'jit'\n", ["chat", "must be a table"]),
    ("keys = 3\n", ["[keys]", "a string"]),
    ("[keys]\ninspector = 3\n", ["[keys]", "a string"]),
    ("providers = 3\n", ["providers must be a table of tables", "[providers.work]"]),
    ("[providers]\nwork = 3\n", ["providers.work must be a table", "[providers.work]"]),
    ("[[providers.work]]\nmodel = 'x'\n", ["providers.work must be a table"]),
    ("[providers.'']\n", ["''", "cannot be the name of a provider", "letters, digits"]),
    ("[providers.'a b']\n", ["'a b'", "cannot be the name of a provider"]),
    ("[providers.'a/b']\n", ["'a/b'", "cannot be the name of a provider"]),
    ("[providers.work]\nmodel = 'x'\n", ["providers.work has no base_url", "https://"]),
    ("[providers.gorq]\nmodel = 'x'\n", ["no base_url", "Did you mean 'groq'?"]),
    ("[providers.groq]\nlimt = 5\n", ["'providers.groq.limt'", "Did you mean 'limit'?"]),
    ("[providers.groq]\nname = 'x'\n", ["'providers.groq.name'", "not a key"]),
    ("[providers.groq]\nlimit = '5'\n", ["providers.groq.limit", "a whole number", "'5'"]),
    ("[providers.groq]\nlimit = 0\n", ["providers.groq.limit", "at least 1"]),
    ("[providers.groq]\ntop_p = 1.5\n", ["providers.groq.top_p", "at most 1", "1.5"]),
    ("[providers.groq]\nseed = true\n", ["providers.groq.seed", "a whole number", "true"]),
    (
        "[providers.groq]\nprotocol = 'opneai'\n",
        ["providers.groq.protocol", "openai, responses, anthropic, gemini or ollama", "'openai'?"],
    ),
    ("[providers.groq]\nheaders = 3\n", ["providers.groq.headers", "a table of strings"]),
    ("[providers.groq]\nheaders = { a = 3 }\n", ["a table of strings", "a table of other values"]),
    ("[providers.groq]\nheaders = { 'a b' = 'x' }\n", ["'a b'", "not a valid header name"]),
    ("[providers.groq]\nheaders = { a = 'naïve' }\n", ["has a a that is not printable"]),
    ("[providers.reader]\nbase_url = 'x'\n", ["'providers.reader.base_url'", "limit, reserve"]),
    ("[provider]\nname = 'grok'\n", ["provider.name", "'grok'", "Did you mean 'groq'?"]),
    ("[provider]\nname = ''\n", ["provider.name", "''"]),
    ("[picker]\nprovider = 'grok'\n", ["picker.provider", "Did you mean 'groq'?"]),
    ("[writer]\nprovider = 'grok'\n", ["writer.provider", "Did you mean 'groq'?"]),
    ("models = 3\n", ["models must be a table of tables", "[models."]),
    ("[models]\nm = 3\n", ["models.m must be a table"]),
    ("[models.'']\n", ["'' cannot be the name of a model"]),
    ("[models.'a  b']\n", ["cannot be the name of a model"]),
    ("[models.'m']\nprice = 3\n", ["price", "not a key", "input_price"]),
    ("[models.'m']\ninput_price = -1\n", ['models."m".input_price', "at least 0"]),
    ("[models.'m']\nlimit = 1.5\n", ['models."m".limit', "a whole number"]),
    ("[chat]\nmode = \n", ["not valid TOML", "line 2"]),
    ("[chat]\nmode = 'jit'\nmode = 'full'\n", ["not valid TOML", "line 3"]),
    (f"x = {'[' * 100_000}", ["nested too deeply"]),
    (f"[chat]\nsystem = '{'x' * (256 << 10)}'\n", ["larger than 256 KB", "Shorten it."]),
    ("a" + ".a" * 20_000 + " = 1\n", ["a name of more than 32 parts", "fewer levels"]),
    ("[b" + ' . "b"' * 60 + "]\n", ["a name of more than 32 parts"]),
    (f"[window]\nsize = {'9' * 5_000}\n", ["not valid TOML"]),
]


def test_a_wrong_file_is_told_by_name_with_what_to_write_instead(config: Path):
    for content, parts in WRONG_FILES:
        config.write_text(content)

        settings, told = loaded_or_refused(config, {})

        assert settings is None, content[:80]
        assert str(config) in told, content[:80]
        for part in parts:
            assert part in told, content[:80]


def test_a_file_that_is_not_utf8_is_told_with_the_byte(config: Path):
    config.write_bytes(b"[chat]\nsystem = '\xff'\n")

    assert "not UTF-8 text (byte 17)" in str(refusal(config))


def test_a_directory_in_place_of_the_file_is_told(tmp_path: Path):
    assert f"{tmp_path} cannot be read: Is a directory." in str(refusal(tmp_path))


@pytest.mark.parametrize(
    ("variable", "text", "parts"),
    [
        ("JITCHAT_WINDOW_SIZE", "abc", ["window.size", "a whole number", "'abc'"]),
        ("JITCHAT_WINDOW_SIZE", "-5", ["window.size", "at least 1"]),
        ("JITCHAT_WINDOW_SIZE", "9" * 5_000, ["window.size", "a whole number"]),
        ("JITCHAT_SCREEN_INSPECTOR", "maybe", ["screen.inspector", "true or false"]),
        ("JITCHAT_PROVIDER_TEMPERATURE", "inf", ["provider.temperature", "finite"]),
        ("JITCHAT_CHAT_MODE", "recent", ["chat.mode", "'recent'", "Did you mean 'recency'?"]),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_wrong_variable_is_told_by_name(variable: str, text: str, parts: list[str]):
    told = str(refusal(NOWHERE, {variable: text}))

    assert told.startswith(f"${variable}: ")
    for part in parts:
        assert part in told


@pytest.mark.parametrize(
    "line",
    ["api_key = 'canary…'", "api_key = 'a canary'", "api_key = ['canary']",
     "api_key_cmd = ['canary']", "headers = { a = 'canary\u00e9' }", "headers = ['canary']"],
)  # fmt: skip
@pytest.mark.parametrize("table", ["providers.groq", "provider"])
def test_what_may_be_a_secret_is_refused_without_quoting_it(config: Path, table: str, line: str):
    config.write_text(f"[{table}]\n{line}\n")

    told = str(refusal(config))

    assert told.startswith(f"{config}: ")
    assert f"{table}.{line.partition(' ')[0]}" in told
    assert "canary" not in told


def test_a_wrong_flag_is_told_by_name():
    told = str(refusal(NOWHERE, chat__mode="jitt"))

    assert told.startswith("--mode: ")
    assert told.endswith("Did you mean 'jit'?")


def test_what_is_wrong_is_told_even_where_another_source_wins(config: Path):
    config.write_text("[window]\nsize = 'many'\n")

    assert str(config) in str(refusal(config, {"JITCHAT_WINDOW_SIZE": "5"}))


VALID = """
[chat]
mode = "full"
system = "Be brief."
[provider]
limit = 16000
temperature = 0.5
[providers.work]
base_url = "http://x.test/v1"
headers = { "X-A" = "b" }
[models."a/b"]
limit = 5
[screen]
inspector = false
[keys]
quit = "ctrl+q"
"""


@examples(40)
@given(data=st.data())
def test_no_file_makes_it_fail_in_another_way(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    start = data.draw(st.integers(0, len(VALID)))
    end = data.draw(st.integers(start, min(len(VALID), start + 12)))
    middle = data.draw(
        st.binary(max_size=12) | st.sampled_from([b"[", b"=", b"[[x]]\n", b"9" * 50])
    )
    config = tmp_path_factory.getbasetemp() / "mutated.toml"
    config.write_bytes(VALID[:start].encode() + middle + VALID[end:].encode())

    settings, told = loaded_or_refused(config, {})

    assert list(settings.rows()) if settings else str(config) in told


@examples(24)
@given(key=st.sampled_from(list(SETTINGS)), text=st.text(max_size=20))
def test_no_variable_makes_it_fail_in_another_way(key: str, text: str):
    variable, (section, name) = SETTINGS[key].variable, key.split(".")

    settings, told = loaded_or_refused(NOWHERE, {variable: text})

    if settings:
        value = getattr(getattr(settings, section), name)
        assert value is None or type(value) is SETTINGS[key].kind
    else:
        assert told.startswith(f"${variable}: {key} ")
