"""What a provider is made of, and which of them answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitchat.errors import SettingsError
from jitchat.providers.catalogue.table import presets
from jitchat.providers.provider import Options
from jitchat.settings import Settings, load_settings
from jitchat.settings.keys import find_key

NOWHERE = Path("/nowhere/config.toml")
WHOLE = """
[provider]
name = "work"
model = "large"
[providers.work]
protocol = "anthropic"
base_url = "https://llm.example/v1/"
model = "small"
api_key_env = "WORK_KEY"
limit = 272000
reserve = 4096
temperature = 0.2
top_p = 0.9
top_k = 40
seed = 7
effort = "low"
max_tokens = 900
headers = { "X-Title" = "jitchat" }
connect_seconds = 3
read_seconds = 60
[models."large"]
input_price = 0.25
[models."work/small"]
limit = 1000
[models."small"]
limit = 2000
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def loaded(config: Path, content: str, environ: dict[str, str] | None = None, **flags: object):
    config.write_text(content)
    given = {f"provider.{key}": value for key, value in flags.items()}
    return load_settings(config, environ or {}, given)


def test_a_provider_of_ones_own_is_what_its_table_says(config: Path):
    profile = loaded(config, WHOLE).in_use()

    assert (profile.name, profile.title, profile.protocol) == ("work", "work", "anthropic")
    assert profile.base_url == "https://llm.example/v1"
    assert profile.model == "large"
    assert profile.key_variables == ("WORK_KEY",)
    assert profile.sampling == Options(0.2, 0.9, 40, 7, "low", 900)
    assert (profile.connect_seconds, profile.read_seconds) == (3, 60)
    assert (profile.reserve, profile.is_local, profile.in_use) == (4096, False, True)
    assert profile.configured
    assert not profile.wants_key
    assert profile.requires_key


@pytest.mark.parametrize(
    ("own", "wanted"),
    [
        ('api_key_env = "LITE_KEY"', True),
        ('api_key_env = "LITE_KEY"\nheaders = { "X-Title" = "t" }', True),
        ('headers = { "X-Title" = "t" }', False),
        ("", False),
    ],
)
def test_a_key_whose_variable_is_named_is_missed_where_it_is_not_set(
    config: Path, own: str, wanted: bool
):
    table = f'[providers.lite]\nbase_url = "http://127.0.0.1:4000/v1"\nmodel = "m"\n{own}\n'
    profile = loaded(config, table).profile("lite")

    assert (profile.requires_key, profile.endpoint("m", "").wants_key) == (wanted, wanted)


def test_an_endpoint_says_where_and_what_to_do_about_the_key(config: Path):
    endpoint = loaded(config, WHOLE).in_use().endpoint("small", "sk-x")

    assert (endpoint.name, endpoint.base_url, endpoint.model, endpoint.key) == (
        "work",
        "https://llm.example/v1",
        "small",
        "sk-x",
    )
    assert endpoint.headers == {"X-Title": "jitchat"}
    assert endpoint.key_help == "Set WORK_KEY, or run `jitchat keys set work`."
    assert (endpoint.connect_seconds, endpoint.read_seconds) == (3, 60)


def test_a_limit_counts_for_the_model_that_it_was_said_of(config: Path):
    profile = loaded(config, WHOLE).in_use()

    assert profile.limit is None
    assert profile.limit_of("small") == 1000
    assert profile.facts_of("large").input_price == 0.25
    assert profile.facts_of("unknown").limit is None
    without_models = WHOLE.partition("[models")[0]
    assert loaded(config, without_models).in_use().limit_of("small") == 272_000
    assert loaded(config, without_models).in_use().limit_of("large") is None
    of_any = without_models.replace('model = "small"', "")
    assert loaded(config, of_any).in_use().limit == 272_000


def test_a_limit_given_now_wins_over_the_models_table_which_wins_over_the_files(config: Path):
    content = '[provider]\nmodel = "m"\nlimit = 3000\n[models."m"]\nlimit = 2000\n'

    assert loaded(config, content).in_use().limit == 2000
    assert loaded(config, content, limit=9000).in_use().limit == 9000
    assert loaded(config, content, {"JITCHAT_PROVIDER_LIMIT": "8000"}).in_use().limit == 8000


@pytest.mark.parametrize("name", list(presets()))
def test_every_preset_is_there_as_it_is(name: str):
    profile, preset = load_settings(NOWHERE, {}).profile(name), presets()[name]

    assert (profile.title, profile.protocol, profile.base_url) == (
        preset.title,
        preset.protocol,
        preset.address,
    )
    assert profile.key_variables == preset.key_variables
    assert profile.is_local == (preset.is_local or preset.is_engine)
    assert profile.wants_key == bool(preset.key_variables)
    assert profile.sampling == Options()
    assert (profile.reserve, profile.limit) == (None, None)


def test_what_stands_under_provider_wins_for_who_answers_and_for_nobody_else(config: Path):
    content = (
        '[provider]\nname = "groq"\ntemperature = 0.0\nmodel = "fast"\n'
        '[providers.groq]\ntemperature = 1.0\nseed = 3\nmodel = "slow"\n[providers.xai]\nseed = 4\n'
    )
    settings = loaded(config, content)

    assert settings.in_use().sampling == Options(temperature=0.0, seed=3)
    assert settings.in_use().model == "fast"
    assert settings.profile("xai").sampling == Options(seed=4)
    assert settings.profile("xai").model == ""


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("gpu-box", "http://gpu-box:11434"),
        ("gpu-box:8000", "http://gpu-box:8000"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:11434", "http://127.0.0.1:11434"),
        (":9000", "http://127.0.0.1:9000"),
        ("http://gpu-box", "http://gpu-box:80"),
        ("https://gpu-box/ollama/", "https://gpu-box:443/ollama"),
        ("[::]:11434", "http://[::1]:11434"),
        ("::1", "http://[::1]:11434"),
        ('"127.0.0.1:11434"', "http://127.0.0.1:11434"),
        ("gpu-box:99999", "http://gpu-box:11434"),
    ],
)
def test_ollamas_own_variable_says_where_it_is(given: str, address: str):
    profile = load_settings(NOWHERE, {"OLLAMA_HOST": given}).profile("ollama")

    assert profile.base_url == address
    assert profile.is_local == ("gpu-box" not in address)


def test_openais_own_variable_moves_openai_and_nobody_else(config: Path):
    environ = {"OPENAI_BASE_URL": "https://proxy.test/v1"}
    settings = load_settings(NOWHERE, environ)

    assert settings.provider.name == "reader"
    assert settings.profile("openai").base_url == "https://proxy.test/v1"
    assert settings.profile("groq").base_url == presets()["groq"].base_url
    file = '[providers.openai]\nbase_url = "https://file.test/v1"\n'
    assert loaded(config, file, environ).profile("openai").base_url == "https://proxy.test/v1"
    flag = loaded(config, file, environ, base_url="https://flag.test/v1")
    assert flag.in_use().base_url == "https://flag.test/v1"


def key_sent(settings: Settings, name: str) -> str:
    """The key that goes to a provider's server, with OPENAI_API_KEY and no other."""
    found = find_key(settings.profile(name), {"OPENAI_API_KEY": "sk-o"}, NOWHERE)
    return str(found.key) if found else ""


def test_openais_key_follows_the_address_that_is_given_and_goes_to_no_other_preset():
    given = {"provider.base_url": "http://localhost:8080/v1", "provider.model": "m"}
    settings = load_settings(NOWHERE, {}, given)

    assert settings.in_use().is_local
    assert key_sent(settings, "openai") == "sk-o"
    others = [each.name for each in settings.profiles() if key_sent(settings, each.name)]
    assert others == ["openai"]


@pytest.mark.parametrize(
    ("environ", "flags", "in_use"),
    [
        ({}, {"name": "openai"}, ("openai", "", "https://api.openai.com/v1")),
        ({"JITCHAT_PROVIDER_NAME": "groq"}, {}, ("groq", "", "https://api.groq.com/openai/v1")),
        ({}, {"name": "work"}, ("work", "m", "https://work.test/v1")),
        ({}, {"model": "other"}, ("work", "other", "https://work.test/v1")),
        ({}, {"base_url": "http://x.test"}, ("work", "m", "http://x.test")),
    ],
)
def test_what_is_meant_for_one_provider_does_not_count_for_another(
    config: Path, environ: dict[str, str], flags: dict[str, object], in_use: tuple[str, str, str]
):
    content = (
        '[provider]\nname = "work"\nmodel = "m"\nlimit = 5\napi_key = "sk-work"\n'
        'base_url = "https://work.test/v1"\n[providers.work]\nbase_url = "https://old.test"\n'
    )

    profile = loaded(config, content, environ, **flags).in_use()

    assert (profile.name, profile.model, profile.base_url) == in_use
    is_work = in_use[0] == "work"
    assert str(profile.api_key) == ("sk-work" if is_work else "")
    assert profile.limit == (5 if is_work else None)


@pytest.mark.parametrize("flags", [{"name": "groq", "model": "m"}, {"model": "groq/m"}])
def test_a_key_in_the_file_that_names_nobody_is_openais(config: Path, flags: dict[str, object]):
    content = '[provider]\napi_key = "sk-o"\n'

    assert str(loaded(config, content, **flags).in_use().api_key) == ""
    assert str(loaded(config, content, model="m").in_use().api_key) == "sk-o"
    chosen = load_settings(config, {}, chosen=("groq", "m"))
    assert chosen.in_use().name == "groq"
    assert str(chosen.in_use().api_key) == ""


@pytest.mark.parametrize(
    ("flags", "in_use"),
    [
        ({"model": "groq/llama"}, ("groq", "llama")),
        ({"model": "openrouter/openai/gpt-5"}, ("openrouter", "openai/gpt-5")),
        ({"model": "nobody/llama"}, ("openai", "nobody/llama")),
        ({"model": "groq/"}, ("openai", "groq/")),
        ({"model": "groq/llama", "name": "openrouter"}, ("openrouter", "groq/llama")),
        ({"model": "groq/llama", "base_url": "http://x.test"}, ("openai", "groq/llama")),
    ],
)
def test_a_model_may_name_its_provider_where_nothing_else_does(
    flags: dict[str, object], in_use: tuple[str, str]
):
    given = {f"provider.{key}": value for key, value in flags.items()}

    profile = load_settings(NOWHERE, {}, given).in_use()

    assert (profile.name, profile.model) == in_use


def test_a_named_provider_takes_a_model_as_it_stands(config: Path):
    profile = loaded(config, '[provider]\nname = "openrouter"\n', model="groq/llama").in_use()

    assert (profile.name, profile.model) == ("openrouter", "groq/llama")


def test_the_model_chosen_in_the_app_counts_where_nobody_names_another(config: Path):
    chosen = ("groq", "picked")
    default = load_settings(NOWHERE, {}, chosen=chosen)
    by_flag = load_settings(NOWHERE, {}, {"provider.name": "groq"}, chosen)
    elsewhere = load_settings(NOWHERE, {}, {"provider.name": "xai"}, chosen)
    modelled = load_settings(NOWHERE, {}, {"provider.model": "gpt"}, chosen)
    gone = load_settings(NOWHERE, {}, chosen=("deleted", "m"))

    assert (default.in_use().name, default.in_use().model) == chosen
    assert default.origin("provider.name") == default.origin("provider.model")
    assert default.origin("provider.model") == "chosen in the app"
    assert by_flag.in_use().model == "picked"
    assert (elsewhere.in_use().name, elsewhere.in_use().model) == ("xai", "")
    assert (modelled.in_use().name, modelled.in_use().model) == ("groq", "gpt")
    assert gone.in_use().name == "reader"


def test_the_pick_wins_over_a_tables_default_model_and_keeps_the_files_limit(config: Path):
    config.write_text('[provider]\nlimit = 7000\n[providers.groq]\nmodel = "usual"\n')

    profile = load_settings(config, {}, chosen=("groq", "picked")).in_use()

    assert profile.model == "picked"
    assert profile.limit_of("another") == 7000


def test_the_reader_has_no_address_and_no_key(config: Path):
    settings = loaded(config, "[provider]\nlimit = 900\nreserve = 100\n", name="reader")

    assert (settings.in_use().base_url, settings.in_use().model) == ("", "reader")
    assert (settings.in_use().limit, settings.in_use().reserve) == (900, 100)
    environ = {"JITCHAT_PROVIDER_API_KEY": "sk-x"}
    assert find_key(settings.in_use(), environ, NOWHERE) is None


def test_an_unknown_provider_is_told_with_those_that_there_are():
    with pytest.raises(SettingsError) as caught:
        load_settings(NOWHERE, {}).profile("Grok")

    assert str(caught.value).startswith(
        "There is no provider 'Grok'. Known providers: reader, openai,"
    )
    assert str(caught.value).endswith("Did you mean 'groq'?")


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://127.1.2.3:80/v1", True),
        ("http://127.1:8080/v1", True),
        ("http://localhost.:8080/v1", True),
        ("http://[::1]:8080", True),
        ("http://box.localhost/v1", True),
        ("http://LOCALHOST/v1", True),
        ("http://localhost.evil.test/v1", False),
        ("http://192.168.0.2/v1", False),
        ("http://[broken", False),
    ],
)
def test_this_machine_is_recognised_by_its_address(address: str, here: bool):
    settings = load_settings(NOWHERE, {}, {"provider.base_url": address})

    assert settings.in_use().is_local == here


def test_two_tables_for_one_server_share_its_variable(config: Path):
    content = '[providers.fast]\nbase_url = "https://api.groq.com/openai/v1"\n'

    assert loaded(config, content).profile("fast").key_variables == ("GROQ_API_KEY",)


def test_another_account_needs_no_address(config: Path):
    content = '[providers.mine]\nprotocol = "anthropic"\napi_key_env = "MINE"\n'

    assert loaded(config, content).profile("mine").base_url == presets()["anthropic"].base_url


def test_what_the_user_named_is_listed_and_nothing_else(config: Path):
    rows = {key: value for key, value, _ in loaded(config, WHOLE).rows()}

    assert rows["providers.work.base_url"] == '"https://llm.example/v1/"'
    assert rows["providers.work.headers"] == "X-Title (hidden)"
    assert rows['models."work/small".limit'] == "1000"
    assert "providers.work.api_key" not in rows
    assert not any(key.startswith("providers.groq") for key in rows)


def test_a_model_that_a_flag_names_alone_is_one_of_the_provider_that_was_picked():
    picked = ("ollama", "qwen3:8b")
    profile = load_settings(NOWHERE, {}, {"provider.model": "qwen3:4b"}, chosen=picked).in_use()
    assert (profile.name, profile.model) == ("ollama", "qwen3:4b")
    variable = {"JITCHAT_PROVIDER_MODEL": "groq/llama"}
    assert load_settings(NOWHERE, variable, chosen=picked).in_use().name == "groq"
    address = {"provider.base_url": "http://localhost:1/v1", "provider.model": "m"}
    assert load_settings(NOWHERE, {}, address, chosen=picked).in_use().name == "openai"


@pytest.mark.parametrize(
    ("name", "environ", "address"),
    [
        (
            "azure",
            {"AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com/"},
            "https://mine.openai.azure.com/openai/v1",
        ),
        ("azure", {"AZURE_OPENAI_ENDPOINT": " "}, "${AZURE_OPENAI_ENDPOINT}/openai/v1"),
        ("bedrock", {}, "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1"),
        (
            "bedrock",
            {"AWS_REGION": "eu-west-1"},
            "https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1",
        ),
        (
            "vertex",
            {"GOOGLE_CLOUD_PROJECT": "mine"},
            "https://aiplatform.googleapis.com/v1/projects/mine/locations/global/endpoints/openapi",
        ),
    ],
)
def test_an_address_that_is_every_users_own_is_filled_in_from_variables(name, environ, address):
    settings = load_settings(NOWHERE, environ, {"provider.name": name})
    assert settings.in_use().base_url == address


def test_an_address_of_ones_own_stands_before_a_preset_with_defaults(config: Path):
    content = '[provider]\nname = "bedrock"\nbase_url = "https://mine.example/openai/v1"\n'
    assert loaded(config, content).in_use().base_url == "https://mine.example/openai/v1"
