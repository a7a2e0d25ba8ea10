"""Which embedding models are on this machine, by the folders that the hub's library makes."""

from __future__ import annotations

import pytest

from jitchat.index.embedding_models import DEFAULT_MODEL, model_cached

FOLDER = "models--Qdrant--all-MiniLM-L6-v2-onnx"


@pytest.mark.parametrize(
    ("model", "folder", "cached"),
    [
        (DEFAULT_MODEL, FOLDER, True),
        (DEFAULT_MODEL, FOLDER.lower(), True),
        (DEFAULT_MODEL, "models--Qdrant--all-MiniLM-L6-v2", True),
        (DEFAULT_MODEL, "models--Qdrant--all-MiniLM-L12-v2-onnx", False),
        (DEFAULT_MODEL, "all-MiniLM-L6-v2", False),
        ("BAAI/bge-small-en", "models--Qdrant--bge-small-en-v1.5-onnx-Q", False),
        ("BAAI/bge-base-en", "models--Qdrant--fast-bge-base-en", True),
        ("nomic-ai/nomic-embed-text-v1.5-Q", "models--nomic-ai--nomic-embed-text-v1.5", True),
    ],
)
def test_a_model_is_known_by_the_folder_of_its_repository(tmp_path, model, folder, cached):
    snapshot = tmp_path / folder / "snapshots" / "abc"
    (snapshot / "onnx").mkdir(parents=True)
    (snapshot / "tokenizer.json").touch()
    (snapshot / "onnx" / "model.onnx").touch()
    assert model_cached(model, tmp_path) is cached


def test_every_model_of_fastembed_is_known_by_its_own_folder(tmp_path):
    from fastembed import TextEmbedding

    models = [each for each in TextEmbedding.list_supported_models() if each["sources"]["hf"]]
    for number, each in enumerate(models):
        cache = tmp_path / str(number)
        repository = each["sources"]["hf"].replace("/", "--")
        file = cache / f"models--{repository}" / "snapshots" / "abc" / each["model_file"]
        file.parent.mkdir(parents=True)
        file.touch()
        (cache / f"models--{repository}" / "snapshots" / "abc" / "tokenizer.json").touch()
        assert model_cached(each["model"], cache), each["model"]


@pytest.mark.parametrize("missing", ["tokenizer.json", "model.onnx"])
def test_a_half_finished_download_is_not_a_model(tmp_path, missing):
    snapshot = tmp_path / FOLDER / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    for name in {"tokenizer.json", "model.onnx"} - {missing}:
        (snapshot / name).touch()
    (snapshot / missing).symlink_to(tmp_path / "blobs" / "not-there-yet")
    assert not model_cached(DEFAULT_MODEL, tmp_path)
    assert not model_cached(DEFAULT_MODEL, tmp_path / "no-such-folder")
