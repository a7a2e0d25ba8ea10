"""Embedders: their vectors, which one is chosen, and what happens if it cannot be loaded."""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import wordllama
from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import EmbedderUnavailable
from jitchat.index import embedding_models
from jitchat.index import load_embedder as embedder_module
from jitchat.index.embedder import NoEmbedder
from jitchat.index.embedding_models import DEFAULT_MODEL
from jitchat.index.indexer import Indexer
from jitchat.index.load_embedder import load_embedder
from jitchat.index.tables import IndexTables
from jitchat.index.vectors import unit_rows, vectors_of
from jitchat.memory import Memory
from tests.examples import examples
from tests.index.support import FailingEmbedder, FakeEmbedder
from tests.support import SHARED, conversation_of, talk

MODEL = SHARED / "models" / "all-MiniLM-L6-v2"
ODD = ["", " ", "a" * 50_000, "日本語", "\x1b[2J\0", "😀", "?!"]


@pytest.fixture(scope="module")
def fast(tmp_path_factory):
    if not MODEL.is_dir():
        pytest.skip("needs the model in ../shared/models/all-MiniLM-L6-v2")
    return load_embedder("auto", DEFAULT_MODEL, MODEL, tmp_path_factory.mktemp("cache"))


def lengths(vectors: np.ndarray) -> list[float]:
    return np.linalg.norm(vectors, axis=1).round(3).tolist()


def nearest(embedder, draft: str, texts: list[str]) -> str:
    cosines = vectors_of(embedder, texts) @ vectors_of(embedder, [draft])[0]
    return texts[int(cosines.argmax())]


def test_without_an_embedder_there_are_rows_and_no_numbers():
    assert vectors_of(NoEmbedder(), ["a", "b"]).shape == (2, 0)


def test_the_builtin_one_makes_unit_vectors_of_anything(builtin):
    vectors = vectors_of(builtin, ["a dog", *ODD])
    assert vectors.shape == (8, builtin.dimension)
    assert vectors.dtype == np.float32
    assert set(lengths(vectors)) <= {0.0, 1.0}
    assert lengths(vectors)[:2] == [1.0, 0.0]


def test_the_builtin_one_is_close_where_the_meaning_is(builtin):
    texts = ["The cat sleeps on the sofa.", "Stock prices fell today.", "It will rain."]
    assert nearest(builtin, "a sleeping kitten", texts) == texts[0]


def test_the_builtin_one_comes_with_its_package(builtin, monkeypatch, tmp_path):
    monkeypatch.setattr(wordllama, "__file__", str(tmp_path / "__init__.py"))
    loaded_anew = embedder_module._builtin_embedder.__wrapped__
    monkeypatch.setattr(embedder_module, "_builtin_embedder", loaded_anew)
    with pytest.raises(EmbedderUnavailable, match="wordllama"):
        load_embedder("builtin", DEFAULT_MODEL, None, tmp_path)
    assert load_embedder("auto", DEFAULT_MODEL, None, tmp_path).id == "none"


def test_a_model_in_a_folder_makes_unit_vectors_of_anything(fast):
    vectors = np.concatenate([vectors_of(fast, [text]) for text in ("a dog", *ODD)])
    assert vectors.shape == (8, 384)
    assert set(lengths(vectors)) <= {0.0, 1.0}
    assert fast.id == f"fastembed:{DEFAULT_MODEL}"
    assert fast.embed([]).shape == (0, 384)


def test_a_model_in_a_folder_is_close_where_the_meaning_is(fast):
    texts = ["We go live at three on Friday.", "The logo is green.", "Lunch was good."]
    assert nearest(fast, "When is the release?", texts) == texts[0]


def test_the_models_own_vectors_are_stored_and_read_back(fast, store):
    memory = Memory(store, conversation_of(store, talk("The release is on Friday.", "Ok.")), fast)
    assert sum(len(batch) for batch in memory.index.catch_up()) == 2
    first = memory.retrieve("When do we ship?", 3).candidates[0]
    assert first.turn == 1
    assert dict(first.parts)["dense"] > 0


def test_texts_that_are_embedded_together_get_the_vectors_they_would_get_alone(fast, store):
    sizes = (12, 1, 4, 2)
    said = [f"Case {size}: " + "the ferry carries lamps and flour " * size for size in sizes]
    memory = Memory(store, conversation_of(store, talk(*said)), fast)
    list(memory.index.catch_up())
    rows = IndexTables(store.database, memory.conversation.id).rows(memory.turns, fast)
    stored = np.array([np.frombuffer(row.vector, dtype="<f2") for row in rows])
    alone = np.concatenate([fast.embed([text]) for text in said])
    assert np.allclose(stored, alone, rtol=2**-11, atol=1e-5)  # in half precision


def test_a_name_chooses_an_embedder(tmp_path):
    assert load_embedder("none", DEFAULT_MODEL, None, tmp_path).id == "none"
    assert load_embedder("builtin", DEFAULT_MODEL, None, tmp_path).id == "builtin-256"


def test_auto_looks_before_it_loads_fastembed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastembed", None)
    assert load_embedder("auto", DEFAULT_MODEL, None, tmp_path / "missing").id == "builtin-256"


def cache_folder(where: Path) -> Path:
    made = where / "models--Qdrant--all-MiniLM-L6-v2-onnx" / "snapshots" / "abc123"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def cached(tmp_path, fast):
    """The model in a cache, as a download leaves it."""
    kept = cache_folder(tmp_path)
    for file in MODEL.iterdir():
        (kept / file.name).symlink_to(file)
    return kept


def published(monkeypatch, folder: Path) -> None:
    """Pin the files of `folder` as the published ones."""
    hashes = {file.name: sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}
    monkeypatch.setitem(
        embedding_models.published_models(),
        DEFAULT_MODEL,
        embedding_models.Published(folder.name, hashes),
    )


def test_auto_takes_the_model_that_is_here_and_else_the_builtin_one(tmp_path, monkeypatch):
    cached = cache_folder(tmp_path)
    for name in ("model.onnx", "tokenizer.json"):
        (cached / name).write_bytes(b"as it was published")
    published(monkeypatch, cached)
    monkeypatch.setattr("jitchat.index.fast_embedder.FastEmbedder", lambda *given: given)
    loaded = load_embedder("auto", DEFAULT_MODEL, None, tmp_path)
    assert loaded == (DEFAULT_MODEL, cached, tmp_path)

    monkeypatch.setattr("jitchat.index.fast_embedder.FastEmbedder", _fail)
    assert load_embedder("auto", DEFAULT_MODEL, None, tmp_path).id == "builtin-256"


@pytest.mark.parametrize("changed", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_downloaded_model_with_another_file_is_refused_and_said_so(
    tmp_path, monkeypatch, changed
):
    cached = cache_folder(tmp_path)
    for name in ("model.onnx", "tokenizer.json", "config.json"):
        (cached / name).write_bytes(b"as it was published")
    published(monkeypatch, cached)
    (cached / changed).write_bytes(b"as it was  published")
    warnings: list[EmbedderUnavailable] = []

    embedder = load_embedder("auto", DEFAULT_MODEL, None, tmp_path, warnings.append)

    assert embedder.id == "builtin-256"
    assert len(warnings) == 1
    assert f"is not used: {changed} in {cached} is not the published file" in str(warnings[0])
    assert f"Delete {cached.parent.parent}," in warnings[0].remedy
    with pytest.raises(EmbedderUnavailable, match="SHA-256 differs"):
        load_embedder("fastembed", DEFAULT_MODEL, None, tmp_path)


def test_a_folder_of_the_users_own_is_taken_whatever_its_files_hold(fast):
    assert embedding_models.altered_file(DEFAULT_MODEL, MODEL)
    assert type(fast).__name__ == "FastEmbedder"


def test_the_published_revision_comes_before_another_one(tmp_path, cached):
    pinned = cached.parent / embedding_models.published_models()[DEFAULT_MODEL].revision
    assert embedding_models.snapshot_of(DEFAULT_MODEL, tmp_path) == cached
    pinned.symlink_to(cached)
    assert embedding_models.snapshot_of(DEFAULT_MODEL.upper(), tmp_path) == pinned
    assert embedding_models.altered_file(DEFAULT_MODEL.upper(), pinned)
    assert embedding_models.snapshot_of(DEFAULT_MODEL, tmp_path) == pinned


def _fail(*_: object) -> None:
    raise RuntimeError("[ONNXRuntimeError] : 7 : INVALID_PROTOBUF")


@pytest.mark.parametrize(("name", "folder"), [("fastembed", None), ("auto", Path("gone"))])
def test_an_embedder_that_was_asked_for_and_is_not_here_is_an_error(name, folder, tmp_path):
    with pytest.raises(EmbedderUnavailable, match="cannot be loaded") as refused:
        load_embedder(name, DEFAULT_MODEL, folder and tmp_path / folder, tmp_path)
    assert "embedder." in refused.value.remedy


def test_an_unknown_model_is_an_error(tmp_path):
    with pytest.raises(EmbedderUnavailable, match="no/such"):
        load_embedder("fastembed", "no/such", None, tmp_path)


@pytest.mark.filterwarnings("error")
def test_rows_that_are_no_direction_become_zeros():
    bad = [[np.nan, 1], [np.inf, 0], [-np.inf, np.nan], [0, 0], [3e38, 3e38], [3, 4]]
    made = unit_rows(np.array(bad, dtype=np.float32))
    assert lengths(made) == [0, 0, 0, 0, 1, 1]
    assert made.dtype == np.float32


@examples(20)
@given(st.lists(st.tuples(*[st.floats(width=32)] * 3), max_size=5))
def test_every_row_has_length_one_or_none(rows):
    made = unit_rows(np.array(rows, dtype=np.float32).reshape(-1, 3))
    assert all(abs(length - 1) < 1e-3 or length == 0 for length in lengths(made))


def test_whatever_an_embedder_raises_is_one_error():
    with pytest.raises(EmbedderUnavailable, match="RuntimeError") as refused:
        vectors_of(FailingEmbedder(), ["a"])
    assert "words alone" in refused.value.remedy


@pytest.mark.parametrize("spoil", [lambda made: made[:, :3], lambda made: made[:0], np.ravel])
def test_vectors_of_another_shape_are_an_error(spoil):
    with pytest.raises(EmbedderUnavailable, match="shape"):
        vectors_of(FakeEmbedder(spoil=spoil), ["a", "b"])


def test_a_long_text_is_read_as_far_as_a_model_would():
    embedder = FakeEmbedder()
    vectors_of(embedder, ["x" * 10_000_000])
    assert len(embedder.asked[0][0]) == 4_000


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_a_vector_that_is_none_is_not_stored_and_not_asked_for_again(store, bad):
    talked = conversation_of(store, talk("one", "two"))
    embedder = FakeEmbedder(spoil=lambda made: np.full_like(made, bad))
    indexer = Indexer(store, talked.id, embedder)
    assert sum(len(batch) for batch in indexer.catch_up()) == 2
    assert IndexTables(store.database, talked.id).missing(embedder) == []
    with store.database.read() as connection:
        assert connection.execute("SELECT DISTINCT vector FROM vectors").fetchall() == [(b"",)]


def test_the_same_embedder_with_other_dimensions_indexes_again(store):
    talked = conversation_of(store, talk("one", "two"))
    list(Indexer(store, talked.id, FakeEmbedder(dimension=8)).catch_up())
    wider, tables = FakeEmbedder(dimension=16), IndexTables(store.database, talked.id)
    assert len(tables.missing(wider)) == 2
    list(Indexer(store, talked.id, wider).catch_up())
    assert [len(row.vector) for row in tables.rows(store.turns(talked.id), wider)] == [32, 32]


def test_vectors_of_two_embedders_live_side_by_side(store):
    talked = conversation_of(store, talk("one", "two"))
    first, second = FakeEmbedder("first", 4), FakeEmbedder("second", 6)
    for each in (first, second):
        list(Indexer(store, talked.id, each).catch_up())
    turns = store.turns(talked.id)
    for each in (first, second):
        rows = IndexTables(store.database, talked.id).rows(turns, each)
        assert [len(row.vector) for row in rows] == [2 * each.dimension] * 2
