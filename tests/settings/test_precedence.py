"""Which source of a setting wins, and how the origin of a value is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitchat.settings import Settings, load_settings
from jitchat.settings.load import unknown_variables
from jitchat.settings.sections import SETTINGS

NOWHERE = Path("/nowhere/config.toml")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def value_of(settings: Settings, key: str) -> object:
    section, name = key.split(".")
    return getattr(getattr(settings, section), name)


def valid(key: str, value: object) -> object:
    """What the setting takes: `value`, or what it must be one of."""
    if key == "provider.name" or key.endswith(".provider"):
        return "groq"
    choices = SETTINGS[key].choices
    return choices[-1] if choices else value


def test_without_any_source_everything_is_the_default():
    settings = load_settings(NOWHERE, {})

    assert settings.chat.mode == "jit"
    assert settings.provider.name == "reader"
    assert {origin for _, _, origin in settings.rows()} == {"default"}


@pytest.mark.parametrize(
    ("file", "flags", "picked", "mode"),
    [
        ("", {}, ("", ""), "jit"),
        ("", {}, ("", "recency"), "recency"),
        ("", {}, ("full", "recency"), "full"),
        ('[chat]\nmode = "observe"\n', {}, ("", "recency"), "observe"),
        ('[chat]\nmode = "observe"\n', {}, ("full", "recency"), "full"),
        ("", {"chat.mode": "jit"}, ("full", "recency"), "jit"),
    ],
)
def test_the_mode_of_a_conversation_is_its_own_the_configured_or_the_one_picked_last(
    config: Path, file: str, flags: dict[str, object], picked: tuple[str, str], mode: str
):
    config.write_text(file)
    assert load_settings(config, {}, flags).mode_in(*picked) == mode


def test_a_mode_picked_in_the_app_replaces_a_flag_of_the_run():
    settings = load_settings(NOWHERE, {}, {"chat.mode": "jit"}).yielding("chat.mode")
    assert (settings.mode_in("", "full"), settings.mode_in("", "")) == ("full", "jit")


def test_flag_wins_over_environment_over_file_over_default(config: Path):
    config.write_text('[chat]\nmode = "full"\n')
    environ = {"JITCHAT_CHAT_MODE": "recency"}

    by_file = load_settings(config, {})
    by_variable = load_settings(config, environ)
    by_flag = load_settings(config, environ, {"chat.mode": "jit"})

    assert [each.chat.mode for each in (by_file, by_variable, by_flag)] == [
        "full",
        "recency",
        "jit",
    ]
    assert [each.origin("chat.mode") for each in (by_file, by_variable, by_flag)] == [
        str(config),
        "$JITCHAT_CHAT_MODE",
        "--mode",
    ]


@pytest.mark.parametrize("key", [key for key in SETTINGS if SETTINGS[key].flag])
def test_the_origin_of_a_flag_is_the_flag_as_it_is_typed(key: str, config: Path):
    config.write_text("[personas.x]")
    value = valid(key, {str: "x", int: 9_000}[SETTINGS[key].kind])

    settings = load_settings(config, {}, {key: value})

    assert value_of(settings, key) == value
    assert settings.origin(key) == SETTINGS[key].flag


def test_every_setting_has_a_variable_of_its_own(config: Path):
    config.write_text("[personas.x]")
    for key, setting in SETTINGS.items():
        text = str(valid(key, {bool: "no", int: "77", float: "1"}.get(setting.kind, "x")))

        settings = load_settings(config, {setting.variable: text})

        taken: object = {"no": False, "77": 77, "1": 1.0}.get(text, text)
        assert value_of(settings, key) == ((text,) if setting.kind is tuple else taken), key
        assert settings.origin(key) == f"${setting.variable}", key


def test_an_empty_variable_counts_as_not_set():
    assert load_settings(NOWHERE, {"JITCHAT_CHAT_MODE": "", "OPENAI_API_KEY": ""}) == load_settings(
        NOWHERE, {}
    )


@pytest.mark.parametrize(
    ("flags", "origin"),
    [
        ({"provider.base_url": "http://localhost:1/v1"}, "implied by --base-url"),
        ({"provider.model": "m"}, "implied by --model"),
    ],
)
def test_an_address_or_a_model_alone_means_openai(flags: dict[str, object], origin: str):
    settings = load_settings(NOWHERE, {}, flags)

    assert settings.provider.name == "openai"
    assert settings.origin("provider.name") == origin


def test_an_implied_provider_names_the_file_that_implies_it(config: Path):
    config.write_text('[provider]\nmodel = "m"\n')

    assert load_settings(config, {}).origin("provider.name") == f"implied by {config}"


def test_a_named_provider_is_not_overruled_by_an_address():
    flags = {"provider.name": "reader", "provider.base_url": "http://localhost:1/v1"}

    assert load_settings(NOWHERE, {}, flags).provider.name == "reader"


def test_an_empty_model_in_the_file_implies_nothing(config: Path):
    config.write_text('[provider]\nmodel = ""\n')

    assert load_settings(config, {}).provider.name == "reader"


def test_a_key_alone_changes_nothing():
    settings = load_settings(NOWHERE, {"OPENAI_API_KEY": "sk-x"})

    assert settings.provider.name == "reader"
    assert settings == load_settings(NOWHERE, {})


def test_key_bindings_are_taken_as_they_stand(config: Path):
    config.write_text('[keys]\ninspector = "f3"\n')

    settings = load_settings(config, {})

    assert settings.keys == {"inspector": "f3"}
    assert ("keys.inspector", '"f3"', str(config)) in list(settings.rows())


@pytest.mark.parametrize("content", [b"", b"\n# nothing\n", b"\xef\xbb\xbf[chat]\n"])
def test_a_file_that_sets_nothing_is_fine(config: Path, content: bytes):
    config.write_bytes(content)

    assert load_settings(config, {}).chat == load_settings(NOWHERE, {}).chat


def test_variables_that_set_nothing_are_named_with_the_nearest_that_does():
    environ = {
        "JITCHAT_WINDOW_SISE": "5",
        "JITCHAT_HOME": "/x",
        "JITCHAT_CHAT_MODE": "jit",
        "A": "b",
    }

    assert list(unknown_variables(environ)) == [
        "$JITCHAT_WINDOW_SISE is not a setting and has no effect."
        " Did you mean 'JITCHAT_WINDOW_SIZE'?"
    ]


FORMER_PARTS = 384 + 1_536 + 256 + 256 + 192 + 1_536 + 2_048


@pytest.mark.parametrize(
    ("file", "environ", "size", "told"),
    [
        ("", {}, "auto", ""),
        ("recent = 128", {}, "auto", "window.recent is now a share of window.size; set that"),
        (
            "recent = 384\nretrieved = 3000",
            {},
            FORMER_PARTS + 1_464,
            "window.recent, window.retrieved are now shares of window.size, which is 7,672: what",
        ),
        ("", {"JITCHAT_WINDOW_INDEX": "300"}, FORMER_PARTS + 44, "$JITCHAT_WINDOW_INDEX: window."),
        ("retrieved = 3000\nsize = 900", {}, 900, "window.retrieved is now a share"),
        ("retrieved = 3000\nsize = 'auto'", {}, "auto", "set that instead."),
    ],
)
def test_parts_of_earlier_versions_make_a_size_if_they_were_raised_and_none_is_set(
    config: Path, file: str, environ: dict[str, str], size: int | str, told: str
):
    config.write_text(f"[window]\n{file}\n")

    settings = load_settings(config, environ)

    assert settings.window.size == size
    assert told in settings.retired()
    assert bool(told) == bool(settings.retired())
    assert not list(unknown_variables(environ))


def test_text_that_no_request_can_hold_is_repaired():
    settings = load_settings(NOWHERE, {"JITCHAT_CHAT_SYSTEM": "a\udcffb\0c"})

    assert settings.chat.system == "a�b␀c"
