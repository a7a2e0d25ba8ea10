"""If a folder should have an embedding model and does not, the error says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitchat.errors import EmbedderUnavailable
from jitchat.index.embedding_models import DEFAULT_MODEL, folder_problem
from jitchat.index.load_embedder import load_embedder
from tests.support import SHARED

MODEL = SHARED / "models" / "all-MiniLM-L6-v2"
FILES = ("config.json", "model.onnx", "tokenizer.json", "tokenizer_config.json")


def model_folder(path: Path, *names: str) -> Path:
    """A folder with these files, none of which is a real model file."""
    path.mkdir()
    for name in names:
        (path / name).write_bytes(b"\xffnot a model")
    return path


def reason_of(folder: Path, name: str = "fastembed") -> str:
    """The reason given why a model folder cannot be used."""
    with pytest.raises(EmbedderUnavailable) as refused:
        load_embedder(name, DEFAULT_MODEL, folder, folder.parent / "cache")
    start = f"The embedding model {DEFAULT_MODEL} cannot be loaded from {folder}: "
    assert refused.value.what.startswith(start)
    assert "embedder.path" in refused.value.remedy
    return refused.value.what.removeprefix(start)


@pytest.mark.parametrize("name", ["fastembed", "auto"])
def test_a_missing_folder_is_an_error(tmp_path: Path, name: str):
    assert reason_of(tmp_path / "gone", name) == "there is no such folder."


def test_a_file_in_place_of_a_folder_is_an_error(tmp_path: Path):
    (tmp_path / "model.onnx").touch()
    assert reason_of(tmp_path / "model.onnx") == "it is not a folder."


@pytest.mark.parametrize("name", ["fastembed", "auto"])
def test_an_empty_folder_lacks_every_file(tmp_path: Path, name: str):
    wanted = "it lacks tokenizer.json, tokenizer_config.json, the weights (.onnx)."
    assert reason_of(model_folder(tmp_path / "empty"), name) == wanted


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        ("model.onnx", "the weights (.onnx)"),
        ("tokenizer.json", "tokenizer.json"),
        ("tokenizer_config.json", "tokenizer_config.json"),
    ],
)
def test_a_file_that_is_missing_is_named(tmp_path: Path, missing: str, named: str):
    folder = model_folder(tmp_path / "partial", *(each for each in FILES if each != missing))
    assert reason_of(folder) == f"it lacks {named}."


def test_weights_of_another_form_are_not_what_is_needed(tmp_path: Path):
    others = (each for each in FILES if each != "model.onnx")
    folder = model_folder(tmp_path / "torch", *others, "model.safetensors")
    assert reason_of(folder) == "it lacks the weights (.onnx)."


def test_files_of_no_model_are_an_error(tmp_path: Path):
    reason = reason_of(model_folder(tmp_path / "broken", *FILES))
    assert reason.startswith("its files cannot be used (")


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
def test_one_broken_file_among_good_ones_is_an_error(tmp_path: Path, broken: str):
    if not MODEL.is_dir():
        pytest.skip("needs the model in ../shared/models/all-MiniLM-L6-v2")
    folder = model_folder(tmp_path / "broken", broken)
    for file in MODEL.iterdir():
        if file.name != broken:
            (folder / file.name).symlink_to(file)
    assert reason_of(folder).startswith("its files cannot be used (")


def test_a_model_that_was_never_downloaded_is_an_error(tmp_path: Path):
    with pytest.raises(EmbedderUnavailable, match=r"loaded from .*: it has not been downloaded\."):
        load_embedder("fastembed", DEFAULT_MODEL, None, tmp_path)


def test_an_invalid_folder_name_is_reported():
    assert folder_problem(Path("a\0b")) in ("there is no such folder", "it cannot be read")


def test_a_folder_with_every_file_lacks_none(tmp_path: Path):
    assert folder_problem(model_folder(tmp_path / "whole", *FILES)) == ""
