"""A cross-encoder of two nodes, as the ONNX file that fastembed loads: each word has a weight, and
a pair of texts scores the sum of its words' weights.

Written by hand in the wire format of protobuf (https://protobuf.dev/programming-guides/encoding/)
by the fields of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, so that nothing but
onnxruntime is needed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MODEL = "Xenova/ms-marco-MiniLM-L-6-v2"
"""The model from fastembed's list that the files are loaded as."""
_FLOAT, _INT64, _INT = 1, 7, 2


def write_cross_encoder(folder: Path, weights: Mapping[str, float]) -> None:
    """Write the files of a cross-encoder; a word without a weight counts 0."""
    (folder / "onnx").mkdir(parents=True)
    vocabulary = {"[PAD]": 0, "[UNK]": 1} | {word: n for n, word in enumerate(weights, start=2)}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    words.normalizer = normalizers.Lowercase()
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.save(str(folder / "tokenizer.json"))
    settings = {"model_max_length": 512, "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "config.json").write_text('{"pad_token_id": 0}')
    (folder / "special_tokens_map.json").write_text('{"pad_token": "[PAD]"}')
    table = np.array([[0.0], [0.0], *([weight] for weight in weights.values())], dtype="<f4")
    (folder / "onnx" / "model.onnx").write_bytes(_model(table))


def _model(table: np.ndarray) -> bytes:
    axis = np.array([1], dtype="<i8")
    keeps_no_axis = _text(1, "keepdims") + _number(3, 0) + _number(20, _INT)
    nodes = (
        _text(1, "table") + _text(1, "input_ids") + _text(2, "weights") + _text(4, "Gather"),
        _text(1, "weights") + _text(1, "axis") + _text(2, "scores") + _text(4, "ReduceSum")
        + _field(5, keeps_no_axis),
    )  # fmt: skip
    graph = (
        b"".join(_field(1, node) for node in nodes)
        + _text(2, "sum of weights")
        + _field(5, _tensor("table", table, _FLOAT))
        + _field(5, _tensor("axis", axis, _INT64))
        + _field(11, _value("input_ids", _INT64, "texts", "words"))
        + _field(12, _value("scores", _FLOAT, "texts", "one"))
    )
    return _number(1, 8) + _field(8, _text(1, "") + _number(2, 13)) + _field(7, graph)


def _tensor(name: str, values: np.ndarray, kind: int) -> bytes:
    dimensions = b"".join(_number(1, size) for size in values.shape)
    return dimensions + _number(2, kind) + _text(8, name) + _field(9, values.tobytes())


def _value(name: str, kind: int, *dimensions: str) -> bytes:
    shape = b"".join(_field(1, _text(2, each)) for each in dimensions)
    return _text(1, name) + _field(2, _field(1, _number(1, kind) + _field(2, shape)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _field(field, value.encode())


def _field(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])
