"""The header of a GGUF file: the figures read from it, and an error for any other bytes."""

from __future__ import annotations

import os
import struct
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import SettingsError
from jitchat.providers.local.engine import Machine, plan_engine
from jitchat.providers.local.gguf import ModelFile, read_model_file

if TYPE_CHECKING:
    from collections.abc import Mapping

LLAMA = {
    "general.architecture": "llama",
    "llama.context_length": 8_192,
    "llama.embedding_length": 576,
    "llama.block_count": 30,
    "llama.attention.head_count": 9,
    "llama.attention.head_count_kv": 3,
}


def string(text: str, order: str = "<") -> bytes:
    encoded = text.encode()
    return struct.pack(f"{order}Q", len(encoded)) + encoded


def value(of: object, order: str = "<") -> bytes:
    match of:
        case bool():
            return struct.pack(f"{order}I?", 7, of)
        case int():
            return struct.pack(f"{order}Iq", 11, of)
        case float():
            return struct.pack(f"{order}If", 6, of)
        case str():
            return struct.pack(f"{order}I", 8) + string(of, order)
        case list():
            numbers = b"".join(struct.pack(f"{order}q", each) for each in of)
            return struct.pack(f"{order}IIQ", 9, 11, len(of)) + numbers
    raise AssertionError(of)


def head(fields: Mapping[str, object], order: str = "<", count: int | None = None) -> bytes:
    start = b"GGUF" + struct.pack(f"{order}IQQ", 3, 0, len(fields) if count is None else count)
    return start + b"".join(string(name, order) + value(of, order) for name, of in fields.items())


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gguf") / "model.gguf"


def read(path: Path, content: bytes) -> ModelFile:
    path.write_bytes(content)
    return read_model_file(path)


def refused(path: Path, content: bytes) -> None:
    with pytest.raises(SettingsError, match=r"model\.gguf is not a GGUF file of a language model"):
        read(path, content)


def test_the_context_and_the_memory_of_a_token_are_read(path: Path):
    content = head(LLAMA)
    assert read(path, content) == ModelFile(path, len(content), 8_192, 30 * 3 * (64 + 64) * 2)


@pytest.mark.parametrize(
    ("changed", "token_bytes"),
    [
        ({"llama.attention.head_count_kv": [0, 3, 1]}, 23_040),
        ({"llama.attention.key_length": 128, "llama.attention.value_length": 32}, 28_800),
        ({"llama.attention.head_count": 0, "llama.attention.head_count_kv": 0}, 0),
    ],
    ids=["heads of each layer", "keys of another width", "no attention"],
)
def test_kinds_of_models_are_told_apart(path: Path, changed, token_bytes):
    assert read(path, head(LLAMA | changed)).token_bytes == token_bytes


def test_nothing_is_read_from_the_vocabulary_on(path: Path):
    content = head(LLAMA | {"tokenizer.ggml.tokens": "x"})
    assert read(path, content[:-6]).trained_context == 8_192


@pytest.mark.parametrize(
    "changed",
    [
        {"llama.context_length": 0},
        {"llama.context_length": -1},
        {"llama.context_length": 1 << 62},
        {"llama.context_length": 8_192.0},
        {"llama.context_length": "8192"},
        {"llama.block_count": []},
        {"general.architecture": 5},
        {"general.architecture": "clip"},
        {"llama.attention.head_count": [-3]},
    ],
    ids=str,
)
def test_a_head_that_no_language_model_has_is_refused(path: Path, changed):
    refused(path, head(LLAMA | changed))


@pytest.mark.parametrize("missing", [*LLAMA][:-1])
def test_a_head_without_what_is_needed_is_refused(path: Path, missing):
    refused(path, head({name: of for name, of in LLAMA.items() if name != missing}))


def test_a_file_of_the_other_byte_order_is_refused(path: Path):
    refused(path, head(LLAMA, ">"))


def test_counts_that_are_no_models_are_refused_without_reading_on(path: Path):
    for_ever = struct.pack("<IIQ", 9, 0, 1 << 62)
    refused(path, head({}, count=1) + string("general.tags") + for_ever)
    refused(path, head(LLAMA, count=1 << 63))
    refused(path, head({}, count=1) + struct.pack("<Q", 1 << 63))
    refused(path, head({}, count=1) + string("x") + struct.pack("<IIQ", 9, 9, 1) + bytes(99))
    refused(path, head({}, count=1) + string("x") + struct.pack("<I", 99))


@given(cut=st.integers(0, len(head(LLAMA)) - 1))
def test_a_file_that_ends_in_its_head_is_refused(path: Path, cut):
    refused(path, head(LLAMA)[:cut])


@given(content=st.binary(), at=st.integers(0, len(head(LLAMA))), is_in=st.booleans())
def test_whatever_the_bytes_are_there_is_a_plan_or_a_sentence(path: Path, content, at, is_in):
    whole = head(LLAMA)
    try:
        file = read(path, whole[:at] + content + whole[at + len(content) * is_in :])
    except SettingsError:
        return
    plan = plan_engine(file, Machine(1 << 33, 4))
    assert 0 < plan.context <= 32_768


@pytest.mark.parametrize("name", ["", "none.gguf", "no\0name.gguf", "x" * 300])
def test_a_path_that_is_no_files_is_a_sentence(tmp_path: Path, name):
    with pytest.raises(SettingsError):
        read_model_file(tmp_path / name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with a name")
def test_a_pipe_is_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "model.gguf")
    with pytest.raises(SettingsError, match="cannot be read"):
        read_model_file(tmp_path / "model.gguf")


GB = 1 << 30
FILE = ModelFile(Path("model.gguf"), 4 * GB, 131_072, 131_072)


@pytest.mark.parametrize(
    ("free", "file", "wanted", "context", "cached"),
    [
        (64 * GB, FILE, None, 32_768, 1_024),
        (64 * GB, replace(FILE, trained_context=4_096), None, 4_096, 1_024),
        (10 * GB, FILE, None, 8_192, 1_024),
        (4 * GB, FILE, None, 2_048, 512),
        (0, FILE, None, 2_048, 0),
        (0, replace(FILE, trained_context=512), None, 512, 0),
        (4 * GB, FILE, 100_000, 100_000, 512),
        (64 * GB, replace(FILE, token_bytes=0), None, 32_768, 1_024),
    ],
    ids=[
        "much memory", "a small model", "some memory", "too little", "none", "less than the least",
        "as the user wants", "no attention",
    ],
)  # fmt: skip
def test_the_context_is_what_the_model_takes_and_the_memory_holds(
    free, file, wanted, context, cached
):
    plan = plan_engine(file, Machine(free, 3), wanted)
    assert (plan.context, plan.threads, plan.cached_mib) == (context, 3, cached)
    assert plan.memory == file.size + context * file.token_bytes


def test_a_plan_is_told_in_words():
    plan = plan_engine(FILE, Machine(10 * GB, 1))
    assert str(plan) == "8,192 tokens, 1 thread, ~5,368.7 MB of memory"
