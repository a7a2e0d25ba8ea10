"""Embed with an ONNX model from fastembed's list, and download one."""

from collections.abc import Sequence
from pathlib import Path

import fastembed
import numpy as np
from huggingface_hub import snapshot_download
from loguru import logger

from jitchat.index.embedding_models import altered_file, published
from jitchat.index.vectors import Matrix, unit_rows

_ALWAYS = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "preprocessor_config.json",
)


class FastEmbedder:
    def __init__(
        self, model: str, folder: Path | None, cache: Path, embedder_id: str | None = None
    ) -> None:
        logger.disable("fastembed")  # it writes to the terminal
        self._model = fastembed.TextEmbedding(
            model,
            cache_dir=str(cache),
            local_files_only=True,
            specific_model_path=str(folder) if folder else None,
        )
        self.dimension = int(self._model.embedding_size)
        self.id = embedder_id or f"fastembed:{model}"

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return the model's sentence vectors, shape (len(texts), dimension)."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return unit_rows(np.array(list(self._model.embed(list(texts))), dtype=np.float32))


def download(model: str, cache: str) -> str:
    """Download the missing files of `model` into `cache`. Returns the snapshot's folder.

    Raises:
        LookupError: fastembed has no such model, or no repository for it.
        ValueError: A downloaded file is not the published one.

    """
    pinned = published(model)
    for known in fastembed.TextEmbedding.list_supported_models():
        if known["model"].lower() == model.lower() and known["sources"].get("hf"):
            wanted = [*_ALWAYS, known["model_file"], *known.get("additional_files", ())]
            folder: str = snapshot_download(
                str(known["sources"]["hf"]),
                revision=pinned.revision if pinned else None,
                cache_dir=cache,
                allow_patterns=list(pinned.sha256) if pinned else wanted,
                max_workers=2,
            )
            if name := altered_file(model, Path(folder)):
                raise ValueError(f"{name} is not the published file (its SHA-256 differs)")
            return folder
    raise LookupError(f"fastembed has no model {model}")
