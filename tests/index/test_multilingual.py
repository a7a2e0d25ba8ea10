"""A multilingual model chosen by a setting, with fastembed's loader and a table of a few words."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from jitchat.memory import Memory
from jitchat.models import make_embedder
from jitchat.paths import locate
from jitchat.settings import load_settings
from tests.support import conversation_of, talk

if TYPE_CHECKING:
    from pathlib import Path

MODEL = "minishlab/potion-multilingual-128M"
"""From fastembed's list: a table of vectors and a tokenizer, 0.5 GB as published."""
MEANINGS = (
    ("bicycle", "Fahrrad", "bicicleta", "自転車"),
    ("garage", "Werkstatt", "taller", "車庫"),
    ("invoice", "Rechnung", "factura", "請求書"),
    ("lighthouse", "Leuchtturm", "faro", "灯台"),
)
"""Words that mean the same have one vector."""


def write_model(folder: Path) -> None:
    """Write the files of a static model, as they are published."""
    folder.mkdir(parents=True)
    vocabulary = {"[UNK]": 0}
    rows = [np.zeros(256)]
    for meaning, each in zip(np.eye(256), MEANINGS, strict=False):
        for word in each:
            vocabulary[word.lower()] = len(vocabulary)
            rows.append(meaning)
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    words.normalizer = normalizers.Lowercase()
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text("{}")
    table = np.array(rows, dtype="<f4")
    described = {"dtype": "F32", "shape": list(table.shape), "data_offsets": [0, table.nbytes]}
    head = json.dumps({"embeddings": described}).encode()
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + table.tobytes())


def in_a_folder(home: Path) -> dict[str, str]:
    write_model(home / "multilingual")
    return {"embedder.name": "fastembed", "embedder.path": str(home / "multilingual")}


def in_the_cache(home: Path) -> dict[str, str]:
    """Laid out as the hub's client does when it downloads the model; `auto` uses it then."""
    kept = locate({"JITCHAT_HOME": str(home)}).models / f"models--{MODEL.replace('/', '--')}"
    write_model(kept / "snapshots" / "abc123")
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("abc123")
    return {"embedder.name": "auto"}


@pytest.mark.parametrize("place", [in_a_folder, in_the_cache])
@pytest.mark.parametrize("question", ["Wo ist die Rechnung?", "¿Y la factura?", "請求書 ?"])
def test_a_question_in_another_language_finds_what_was_said(tmp_path, store, place, question):
    given = {**place(tmp_path), "embedder.model": MODEL}
    settings = load_settings(tmp_path / "config.toml", {}, given)
    embedder = make_embedder(settings, locate({"JITCHAT_HOME": str(tmp_path)}))
    assert embedder.id == f"fastembed:{MODEL}"
    said = [f"The {each[0]} stands over there." for each in MEANINGS]
    memory = Memory(store, conversation_of(store, talk(*said)), embedder)
    assert sum(len(batch) for batch in memory.index.catch_up()) == len(MEANINGS)

    (best, *_) = memory.retrieve(question, 5).candidates

    assert best.turn == 3
    assert dict(best.parts)["dense"] > 0
