"""The rot lab's service: which model would answer, and which runs are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import KeyRefused, StoreBusy, UsageError
from jitchat.lab.experiment import Experiment
from jitchat.lab.facts import Kind
from jitchat.lab.service import LabService, judge_model
from jitchat.models import ResolvedModel, resolve_model
from jitchat.paths import Paths, locate
from jitchat.settings import load_settings
from jitchat.tui.backend import Backend
from jitchat.values import LOADED, Limit
from tests.support import conversation_of, talk

if TYPE_CHECKING:
    from jitchat.lab.service import LabService

TINY = Experiment((500,), (0.0,), (Kind.DIRECT,))
ELSEWHERE = {"picker.model": "m", "picker.base_url": "https://llm.example/v1"}


@pytest.fixture
def paths(home: Path) -> Paths:
    return locate({"JITCHAT_HOME": str(home)})


def model_of(**given: object) -> ResolvedModel:
    flags = {"embedder.name": "none"} | {key.replace("__", "."): v for key, v in given.items()}
    return resolve_model(load_settings(Path("/nowhere/config.toml"), {}, flags))


def desk_of(model: ResolvedModel, paths: Paths, store) -> LabService:
    return LabService(lambda: model, paths, store)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models whose limit was requested from the server; it is 16,384."""
    models: list[str] = []

    async def ask_limit(model: ResolvedModel) -> Limit | None:
        models.append(model.name)
        return None if model.profile.is_reader else Limit(16_384, LOADED)

    monkeypatch.setattr(ResolvedModel, "ask_limit", ask_limit)
    return models


def test_the_reader_is_local_and_free(paths: Paths, store, asked: list[str]):
    found = desk_of(model_of(), paths, store).answerer()

    assert (found.provider, found.model, found.is_reader) == ("reader", "reader", True)
    assert (found.limit, found.reserve) == (32_768, 2_048)
    assert found.size == 1_500
    assert (found.input_price, found.output_price, found.is_here) == (0.0, 0.0, True)


@pytest.mark.parametrize(
    ("given", "here"),
    [
        ({"provider.name": "ollama", "provider.model": "qwen3:8b"}, True),
        ({"provider.name": "ollama", "provider.model": "gpt-oss:120b-cloud"}, False),
        ({"provider.base_url": "http://localhost:9/v1", "provider.model": "m"}, False),
        ({"provider.name": "groq", "provider.model": "m"}, False),
        ({}, True),
        (ELSEWHERE, False),
    ],
)
def test_only_addresses_known_to_be_local_count_as_local(
    paths: Paths, store, asked: list[str], given: dict[str, object], here: bool
):
    found = desk_of(model_of(**given), paths, store).answerer()

    assert found.is_here is here
    assert found.picker == str(given.get("picker.model", ""))
    if not found.is_reader:
        assert found.limit == 16_384
    if given.get("provider.name") == "groq":
        assert (found.input_price, found.output_price) == (None, None)


def test_the_app_uses_the_model_chosen_in_it(paths: Paths, store, asked: list[str]):
    backend = Backend(load_settings(paths.config, {}), paths, store)
    desk = backend.lab_service()
    assert desk.answerer().model == "reader"

    backend.choose_model(None, "ollama", "qwen3:8b")
    assert desk.answerer().model == "qwen3:8b"
    assert desk.runs.folder == paths.rot


def test_a_run_is_described_by_its_settings(paths: Paths, store, asked: list[str]):
    made = conversation_of(store, talk(*["some words that are said"] * 400))
    own = Experiment((500, 99_000), (0.0,), (Kind.DIRECT,), conversation=made.title)
    model = model_of(provider__name="ollama", provider__model="qwen3:8b")
    lab = desk_of(model, paths, store).begin(own, 2)
    run = lab.file.run
    lab.file.close()

    assert (run.id, run.provider, run.model) == ("r1", "ollama", "qwen3:8b")
    assert (run.limit, run.reserve, run.embedder, run.judge) == (16_384, 2_048, "none", "")
    assert (run.experiment.conversation, run.experiment.lengths) == (made.id, (500,))
    assert dict(run.settings)["provider.model"] == '"qwen3:8b"'

    asked.clear()
    again = desk_of(model, paths, store).resume("last")
    again.file.close()
    assert again.file.run == run
    assert asked == [], "its windows have the size that they had"


def test_an_impossible_run_creates_no_file(paths: Paths, store, asked: list[str]):
    groq = model_of(provider__name="groq", provider__model="m")
    with pytest.raises(KeyRefused, match="Nothing was sent: https://api"):
        desk_of(groq, paths, store).begin(TINY)
    with pytest.raises(KeyRefused):
        desk_of(model_of(), paths, store).begin(TINY, judge="groq/m")
    with pytest.raises(UsageError, match="There is no conversation"):
        desk_of(model_of(), paths, store).begin(Experiment((500,), (0.0,), conversation="none"))

    assert not paths.rot.exists()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"window.size": 3_000}, 'r1 was started with window.size = "auto"; now it is 3000.'),
        ({"chat.system": "Rhyme."}, 'r1 was started with chat.system = ""; now it is "Rhyme.".'),
        (
            {"provider.temperature": 0.5},
            "r1 was started with provider.temperature not set; now it is 0.5.",
        ),
        (
            {"provider.base_url": "http://me:secret@localhost:9/v1"},
            'r1 was started with provider.base_url = ""; now it is "http://localhost:9/v1".',
        ),
        (
            {"picker.model": "small", "picker.timeout": 9.0},
            'r1 was started with picker.model = ""; now it is "small".'
            " r1 was started with picker.timeout = 2.0; now it is 9.0.",
        ),
    ],
)
def test_a_run_is_resumed_only_with_the_same_settings(
    paths: Paths, store, asked: list[str], given: dict[str, object], told: str
):
    named: dict[str, object] = {"provider.name": "ollama", "provider.model": "qwen3:8b"}
    desk_of(model_of(**named), paths, store).begin(TINY).file.close()

    with pytest.raises(UsageError) as refused:
        desk_of(model_of(**named, **given), paths, store).resume("r1")
    assert refused.value.what == told
    them = "it" if len(given) == 1 else "them"
    assert refused.value.remedy == f"Set {them} back, or start a new run."

    apart = {"screen.theme": "nord", "provider.limit": 9_000, "provider.reserve": 100}
    again = desk_of(model_of(**named, **apart), paths, store).resume("r1")
    assert again.file.run.limit == 16_384
    again.file.close()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"version": "0.0.1"}, "r1 was started with jitchat 0.0.1; now it would be "),
        ({"counter": "fingers"}, "r1 was started with tokens counted by fingers; now it would be "),
        ({"embedder": "other"}, "r1 was started with the embedder other; now it would be none."),
    ],
)
def test_a_run_is_not_resumed_by_another_version(
    paths: Paths, store, asked: list[str], changes: dict[str, str], told: str
):
    desk = desk_of(model_of(), paths, store)
    lab = desk.begin(TINY)
    lab.file.run = replace(lab.file.run, **changes)
    lab.file.end()
    lab.file.close()

    with pytest.raises(UsageError) as refused:
        desk.resume("r1")
    assert refused.value.what.startswith(told)
    desk.runs.open("r1", to_ask=True).close()


def test_a_run_is_not_resumed_if_its_conversation_changed(paths: Paths, store, asked: list[str]):
    made = conversation_of(store, talk(*["some words that are said"] * 400))
    desk = desk_of(model_of(), paths, store)
    desk.begin(Experiment((500,), (0.0,), conversation=made.id)).file.close()
    desk.resume("r1").file.close()
    store.append(made.id, talk("one more"))

    with pytest.raises(UsageError, match="has changed since r1 was started"):
        desk.resume("r1")


def test_a_run_is_locked_while_it_is_started_or_resumed(paths: Paths, store, asked: list[str]):
    desk = desk_of(model_of(), paths, store)
    lab = desk.begin(TINY)
    with pytest.raises(StoreBusy, match="Another jitchat is running r1"):
        desk.resume("r1")
    lab.file.close()
    again = desk.resume("r1")
    with pytest.raises(StoreBusy):
        desk.runs.forget("r1")
    again.file.close()


@pytest.mark.parametrize(
    ("given", "model", "judge"),
    [
        ({}, "gpt-5", ("openai", "gpt-5")),
        ({}, "ollama/qwen3:8b", ("ollama", "qwen3:8b")),
        ({}, "somewhere/m", ("openai", "somewhere/m")),
        ({"provider.name": "groq", "provider.model": "m"}, "openai/gpt", ("groq", "openai/gpt")),
    ],
)
def test_the_judge_belongs_to_the_provider_that_answers(
    given: dict[str, object], model: str, judge: tuple[str, str]
):
    found = judge_model(model_of(**given), model)

    assert (found.profile.name, found.name) == judge
