"""fastembed's cross-encoders: from a folder, from the hub's cache, and if there is none."""

from __future__ import annotations

import sys

import pytest

from jitchat.errors import RerankerUnavailable
from jitchat.index.cross_encoder import load_cross_encoder
from tests.index.tiny_cross_encoder import MODEL, write_cross_encoder

WEIGHTS = {"ferry": 2.0, "noon": 1.0, "never": -3.0}
TEXTS = ["The ferry leaves at noon.", "Never.", "Something else", "", "日本語 \0 \x1b[2J"]


def test_one_in_a_folder_scores_each_text(tmp_path):
    write_cross_encoder(tmp_path / "model", WEIGHTS)
    encoder = load_cross_encoder(MODEL, tmp_path / "model", tmp_path / "cache")
    assert list(encoder.scores("when?", TEXTS)) == pytest.approx([3.0, -3.0, 0.0, 0.0, 0.0])
    assert list(encoder.scores("the ferry?", TEXTS[:2])) == pytest.approx([5.0, -1.0])


def test_one_in_the_hubs_cache_is_found(tmp_path):
    kept = tmp_path / f"models--{MODEL.replace('/', '--')}"
    write_cross_encoder(kept / "snapshots" / "abc123", WEIGHTS)
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("abc123")
    encoder = load_cross_encoder(MODEL, None, tmp_path)
    assert list(encoder.scores("when?", TEXTS[:1])) == pytest.approx([3.0])


def test_without_one_fastembed_is_not_even_loaded(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastembed.rerank.cross_encoder", None)
    with pytest.raises(RerankerUnavailable, match="its model is not on this machine"):
        load_cross_encoder(MODEL, None, tmp_path)


def test_a_folder_without_its_files_is_an_error(tmp_path):
    with pytest.raises(RerankerUnavailable, match="cannot be loaded: there is no such folder"):
        load_cross_encoder(MODEL, tmp_path / "gone", tmp_path)
    write_cross_encoder(tmp_path / "model", WEIGHTS)
    (tmp_path / "model" / "onnx" / "model.onnx").write_bytes(b"\xff not a model")
    with pytest.raises(RerankerUnavailable, match=r"cannot be loaded \(\w+\)"):
        load_cross_encoder(MODEL, tmp_path / "model", tmp_path)


def test_a_name_that_fastembed_does_not_know_is_refused(tmp_path):
    write_cross_encoder(tmp_path / "model", WEIGHTS)
    with pytest.raises(RerankerUnavailable, match="cannot be loaded"):
        load_cross_encoder("nobody/nothing", tmp_path / "model", tmp_path)
