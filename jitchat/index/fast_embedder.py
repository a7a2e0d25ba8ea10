"""Embed with an ONNX model from fastembed's list."""

from collections.abc import Sequence
from pathlib import Path

import fastembed
import numpy as np
from loguru import logger

from jitchat.index.vectors import Matrix, unit_rows


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
