"""The app's requests to the composition root: models, keys, picks and limits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from jitchat import model_choices
from jitchat.errors import JitchatError, SettingsError, StoreFull, UsageError
from jitchat.paths import Paths, locate
from jitchat.providers.catalogue.models import State
from jitchat.providers.local import engine
from jitchat.settings import load_settings
from jitchat.settings.keys import KeysFile
from jitchat.store.models import ChosenModel, ModelLessons
from jitchat.store.pins import OwnInstructions
from jitchat.transfer.demo import store_demo
from jitchat.tui.backend import Backend
from jitchat.values import Instructions
from tests.providers.catalogue.servers import Routes, models
from tests.support import demo_session

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.session import Session

KEY = "gsk_1234567890abcdef"
OWN = '[providers.work]\nbase_url = "http://llm.test/v1"\n'


@pytest.fixture
def paths(home: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    monkeypatch.setenv("JITCHAT_EMBEDDER_NAME", "none")
    home.mkdir(exist_ok=True)
    return locate({"JITCHAT_HOME": str(home)})


@pytest.fixture
def made(paths: Paths, store, monkeypatch: pytest.MonkeyPatch):
    """made(toml, flags): the app's backend, started with this configuration."""

    def make(toml: str = "", flags: dict[str, object] | None = None) -> Backend:
        paths.config.write_text(toml)
        paths.config.chmod(0o600)
        settings = load_settings(paths.config, os.environ, flags)
        return Backend(settings, paths, store)

    return make


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch):
    """served(answers): replaces every server's answers; no network is used."""

    def serve(answers: dict[str, object]) -> Routes:
        routes = Routes(answers)
        real = model_choices.ModelChoices

        def routed(*known: object) -> model_choices.ModelChoices:
            return real(*known, transport=routes)

        monkeypatch.setattr(model_choices, "ModelChoices", routed)
        return routes

    return serve


def kept(store) -> tuple[str, str] | None:
    return ChosenModel(store.database).get()


def test_a_chosen_model_answers_now_and_at_the_next_start(made, store) -> None:
    backend, session = made(), demo_session(store)
    changed, note = backend.choose_model(session, "ollama", "qwen3:8b")
    assert changed is not None
    assert (changed.provider.name, changed.provider.model) == ("ollama", "qwen3:8b")
    assert changed.memory is session.memory
    assert (note, kept(store)) == ("", ("ollama", "qwen3:8b"))
    reopened = backend.open_session(session.memory.conversation)
    assert (reopened.provider.name, reopened.provider.model) == ("ollama", "qwen3:8b")


@pytest.mark.parametrize(
    ("toml", "named"),
    [
        ('[provider]\nname = "groq"\nmodel = "kimi"', "groq kimi"),
        ('[provider]\nname = "ollama"\nmodel = "other"', "ollama other"),
        ('[provider]\nmodel = "gpt-5-mini"', "openai gpt-5-mini"),
    ],
)
def test_a_configured_model_other_than_the_chosen_one_is_reported(
    made, store, paths, toml, named
) -> None:
    _, note = made(toml).choose_model(demo_session(store), "ollama", "qwen3:8b")
    assert note == f"{paths.config} names {named}, which will be used again at the next start."


def test_a_model_set_by_a_variable_is_reported(
    made, store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JITCHAT_PROVIDER_NAME", "groq")
    monkeypatch.setenv("JITCHAT_PROVIDER_MODEL", "kimi")
    _, note = made().choose_model(demo_session(store), "ollama", "qwen3:8b")
    named = "$JITCHAT_PROVIDER_NAME names groq kimi"
    assert note == f"{named}, which will be used again at the next start."


@pytest.mark.parametrize(
    ("toml", "flags"),
    [
        ('[provider]\nname = "ollama"', {}),
        ('[provider]\nname = "ollama"\nmodel = "qwen3:8b"', {}),
        ("", {"provider.name": "groq", "provider.model": "kimi"}),
    ],
)
def test_the_same_model_and_flags_of_this_start_are_not_reported(made, store, toml, flags) -> None:
    _, note = made(toml, flags).choose_model(demo_session(store), "ollama", "qwen3:8b")
    assert note == ""


def test_a_key_that_would_be_sent_unencrypted_is_reported(made, store) -> None:
    backend = made(OWN + 'api_key = "sk-work-1234567890"')
    _, note = backend.choose_model(demo_session(store), "work", "m")
    assert note == "The key would be sent to llm.test unencrypted: use https."


@pytest.mark.parametrize(
    ("limit", "taught"), [(16_000, 8_192), (8_192, 8_192), (16_000, None), (None, 8)]
)
def test_a_limit_above_the_one_learnt_from_a_refusal_is_questioned_at_the_start(
    made, store, paths: Paths, limit: int | None, taught: int | None
) -> None:
    own = OWN.replace("http:", "https:") + 'model = "m"\n'
    toml = '[provider]\nname = "work"\n' + (f"limit = {limit}\n" if limit else "") + own
    if taught is not None:
        ModelLessons(store.database, "https://llm.test/v1", "m").learn_limit(taught)
    backend = Backend(made(toml).settings, paths, store)
    backend.open_session(store_demo(store))
    told = "m once refused a window and stated a limit of 8,192 tokens; the limit is set to 16,000"
    is_doubted = (limit, taught) == (16_000, 8_192)
    assert backend.warning.startswith(told) if is_doubted else backend.warning == ""


def test_a_chosen_model_that_cannot_be_stored_answers_anyway(made, store, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise StoreFull("The disk is full.", "Make room.")

    monkeypatch.setattr(ChosenModel, "put", full)
    changed, note = made().choose_model(demo_session(store), "ollama", "qwen3:8b")
    assert changed is not None
    assert note == "The choice will be forgotten on exit: The disk is full. Make room."


def test_a_failing_key_command_keeps_the_previous_model(made, store) -> None:
    backend, session = made(OWN + 'api_key_cmd = "false"'), demo_session(store)
    with pytest.raises(SettingsError, match="api_key_cmd of work exited with code 1"):
        backend.choose_model(session, "work", "m")
    assert kept(store) is None
    assert backend.open_session(session.memory.conversation).provider.name == "reader"


def test_a_model_chosen_without_a_session_applies_to_the_next_one(made, store) -> None:
    backend = made('[provider]\nname = "groq"\napi_key_cmd = "false"\nmodel = "kimi"')
    assert backend.choose_model(None, "ollama", "qwen3:8b")[0] is None
    assert (
        backend.open_session(demo_session(store).memory.conversation).provider.model == "qwen3:8b"
    )


def test_the_other_model_has_its_own_limit_and_counter(made, store) -> None:
    backend, session = made('[models."qwen3:8b"]\nlimit = 9000'), demo_session(store)
    changed, _ = backend.choose_model(session, "ollama", "qwen3:8b")
    assert changed is not None
    assert changed.options.budget.limit == 9_000
    assert changed.options.budget.limit_source == "set by you"


def test_a_key_is_cleaned_and_kept_for_its_owner_only(made, paths) -> None:
    told = made().keep_key("groq", f'export GROQ_API_KEY="{KEY}"')
    assert str(KeysFile(paths.keys).keys()["groq"]) == KEY
    assert paths.keys.stat().st_mode & 0o777 == 0o600
    assert told.startswith(f"The key is stored in {paths.keys}, which only you can read. Removed: ")
    assert KEY not in told


def test_an_invalid_key_is_not_stored(made, paths) -> None:
    with pytest.raises(UsageError, match="This is not a key"):
        made().keep_key("groq", "gsk_…")
    assert not paths.keys.exists()


def test_a_key_of_another_provider_or_overridden_by_another_source_is_reported(
    made, monkeypatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234567890")
    told = made().keep_key("openai", KEY)
    assert "This looks like a key for groq, not for openai." in told
    assert told.endswith("The key in $OPENAI_API_KEY takes precedence over it.")


def test_only_providers_with_a_key_are_listed_as_having_one(made, paths) -> None:
    backend = made(OWN)
    KeysFile(paths.keys).put("groq", KEY)
    found = {each.name: each for each in backend.choices()}
    assert [each.name for each in found.values() if each.has_key] == ["groq"]
    assert (found["work"].state, found["openai"].state) == (State.READY, State.NEEDS_KEY)
    assert found["openai"].key_variable == "OPENAI_API_KEY"


async def test_models_are_requested_and_stored(made, served) -> None:
    served({"GET /openai/v1/models": models({"id": "kimi"})})
    backend = made()
    backend.keep_key("groq", KEY)
    assert [each.name for each in (await backend.fetch_models("groq")).models] == ["kimi"]
    again = next(each for each in backend.choices() if each.name == "groq")
    assert [each.name for each in again.models] == ["kimi"]
    assert again.fetched_at is not None


async def test_local_servers_are_found_and_none_is_chosen(made, served, store) -> None:
    routes = served(
        {
            "GET /api/version": {"version": "1"},
            "GET /api/tags": {"models": [{"name": "qwen3:8b"}]},
            "GET /api/ps": {"models": []},
        }
    )
    found = {each.name: each for each in await made().find_local()}
    assert found["ollama"].state is State.RUNNING
    assert [each.name for each in found["ollama"].models] == ["qwen3:8b"]
    assert kept(store) is None
    assert all(request.url.host == "localhost" for request in routes.requests)


async def test_a_cloud_provider_behind_a_proxy_of_this_machine_is_no_local_server(made) -> None:
    backend = made('[providers.openrouter]\nbase_url = "http://127.0.0.1:18080/v1"')
    found = next(each for each in backend.choices() if each.name == "openrouter")
    assert found.state is State.READY


async def test_no_limit_is_requested_for_the_reader_or_if_one_is_set(made, store) -> None:
    backend = made('[models."qwen3:8b"]\nlimit = 9000')
    session = backend.open_session(demo_session(store).memory.conversation)
    assert await backend.ask_limit(session) is None
    changed, _ = backend.choose_model(session, "ollama", "qwen3:8b")
    assert changed is not None
    assert await backend.ask_limit(changed) is None


def test_an_unreadable_keys_file_is_reported(made, paths, store) -> None:
    paths.keys.write_text("no = [toml")
    with pytest.raises(JitchatError, match="is not valid TOML"):
        made().choices()
    assert store_demo(store).turns


def test_the_live_demo_uses_the_local_model_only_instead_of_the_reader(
    made, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[str] = []
    monkeypatch.setattr("jitchat.models.engine_plan", lambda profile, model: plans.append(model))

    made('[provider]\nname = "reader"').live_service()
    assert plans == ["smollm2"]

    backend = made('[provider]\nname = "ollama"\nmodel = "qwen3:8b"')
    assert backend.live_service()._resolve().name == "qwen3:8b"
    assert plans == ["smollm2"]


@pytest.mark.parametrize("is_missing", [True, False])
def test_weights_are_missing_only_if_an_engine_could_run_them(
    made, monkeypatch: pytest.MonkeyPatch, *, is_missing: bool
) -> None:
    monkeypatch.setattr(engine, "is_missing", lambda: is_missing)

    found = made().missing_weights()

    assert (found is None) is is_missing


PERSONAS = '[personas.poet]\nsystem = "In verse."\nmodel = "ollama/verse"\n[personas.terse]\n'


def answers(session: Session) -> tuple[str, str, str]:
    """Return the model, the system text and its origin."""
    options = session.options
    return session.provider.model, options.system[:9], options.system_reason


def used(backend: Backend, session: Session, *own: str | None) -> Session:
    """Return the session after giving its conversation these instructions."""
    made, note = backend.use_instructions(
        session.memory.conversation.id, session, Instructions(*own)
    )
    assert made is not None
    assert not note
    return made


def test_a_reopened_conversation_has_its_persona_and_system_text(made, store) -> None:
    session = demo_session(store)
    conversation = session.memory.conversation
    changed = used(made(PERSONAS), session, None, "poet")
    assert changed.memory is session.memory
    assert answers(changed) == ("verse", "In verse.", "persona poet")

    backend = made(PERSONAS)
    reopened = backend.open_session(conversation)
    assert answers(reopened) == ("verse", "In verse.", "persona poet")
    assert answers(backend.open_session(store.create("Other")))[0] == "reader"
    own = used(backend, reopened, "My own.", "poet")
    whose = "persona poet · instructions for this conversation"
    assert answers(own) == ("verse", "My own.", whose)

    gone = made().open_session(conversation)
    assert answers(gone) == ("reader", "My own.", "instructions for this conversation")


def test_a_reopened_conversation_has_the_size_of_its_windows(made, store) -> None:
    toml = "[window]\nsize = 700\n"
    session = demo_session(store)
    conversation = session.memory.conversation
    sized, _ = made(toml).use_instructions(conversation.id, session, Instructions(size=900))
    assert sized.options.budget.size == 900

    backend = made(toml)
    assert backend.open_session(conversation).options.budget.size == 900
    assert backend.open_session(store.create("Other")).options.budget.size == 700
    usual, _ = backend.use_instructions(conversation.id, sized, Instructions(size="auto"))
    assert usual.options.budget.size_source == "usual for the model"


def test_the_most_recently_named_model_answers(made, store) -> None:
    backend, session = made(PERSONAS), demo_session(store)
    poet = used(backend, session, None, "poet")
    picked, _ = backend.choose_model(poet, "ollama", "qwen3:8b")
    assert answers(picked) == ("qwen3:8b", "In verse.", "persona poet")
    edited = used(backend, picked, "My own.", "poet")
    assert edited.provider.model == "qwen3:8b"

    other = store.create("Other")
    assert backend.open_session(other).provider.model == "qwen3:8b"
    OwnInstructions(store.database).put(other.id, Instructions(None, "poet"))
    assert backend.open_session(other).provider.model == "verse"
    assert used(backend, edited, None, "").provider.model == "qwen3:8b"
    again = used(backend, edited, None, "poet")
    assert again.provider.model == "verse"


def test_a_choice_in_the_app_overrides_the_flag_until_it_is_undone(made, store) -> None:
    backend, session = made(PERSONAS, {"chat.system": "The flag."}), demo_session(store)
    OwnInstructions(store.database).put(session.memory.conversation.id, Instructions("My own."))
    assert backend.open_session(session.memory.conversation).options.system == "The flag."
    typed = used(backend, session, "Typed now")
    assert typed.options.system == "Typed now"
    assert used(backend, typed).options.system == "The flag."


def test_an_unavailable_choice_is_not_stored(made, store) -> None:
    toml = PERSONAS + '[personas.work]\nprovider = "work"\n' + OWN
    backend, session = made(toml), demo_session(store)
    with pytest.raises(SettingsError, match="No model is set for the provider work"):
        used(backend, session, None, "work")
    assert backend.own_instructions(session.memory.conversation.id) == Instructions()


def test_a_persona_is_saved_with_its_model_and_can_be_used_at_once(made, store, paths) -> None:
    backend, session = made("# mine\n" + PERSONAS), demo_session(store)
    picked, _ = backend.choose_model(session, "ollama", "qwen3:8b")
    backend.save_persona("demo", picked, "strict", "Be strict.")
    assert paths.config.read_text().startswith("# mine\n")
    strict = used(backend, picked, None, "strict")
    assert answers(strict) == ("qwen3:8b", "Be strict", "persona strict")
    reader = made("").open_session(store.create("Other"))
    backend.save_persona("other", reader, "plain", "Be plain.")
    assert not backend.settings.personas["plain"].provider
