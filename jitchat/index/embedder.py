"""Embedders: texts in, unit vectors out.

Which one is used is a setting. `auto` is fastembed where its model is on this machine, else
the built-in one. Nothing here asks the network; see `download` for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from jitchat.errors import EmbedderUnavailable
from jitchat.index.embedding_models import (
    DEFAULT_MODEL,
    foreign_file,
    lack_of,
    model_cached,
    snapshot_of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

__all__ = [
    "DEFAULT_MODEL", "BuiltinEmbedder", "Embedder", "FastEmbedder", "NoEmbedder", "load_embedder",
    "unit_rows", "vectors_of",
]  # fmt: skip

_REACH = 4_000
_RECALL_IS_LEXICAL = "Recall goes by words alone meanwhile; the turns are all kept."


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def id(self) -> str:
        """Names the vectors; those of another id are never compared with these."""

    @property
    def dimension(self) -> int:
        """Numbers a vector; 0 if it makes none."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension), float32; rows of length 1, or 0 where there is nothing."""


class NoEmbedder:
    """Makes no vectors: recall is lexical only."""

    id = "none"
    dimension = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), 0)."""
        import numpy as np  # noqa: PLC0415  100 ms, not needed to print help

        return np.zeros((len(texts), 0), dtype=np.float32)


class BuiltinEmbedder:
    """WordLlama's table of 256 dimensions, which its package carries."""

    id = "builtin-256"
    dimension = 256

    def __init__(self) -> None:
        import wordllama  # noqa: PLC0415  400 ms

        folder = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Mean of the words' vectors."""
        return unit_rows(self._model.embed(list(texts)))


class FastEmbedder:
    """An ONNX model of fastembed's list, from a local folder or its cache."""

    def __init__(self, model: str, folder: Path | None, cache: Path) -> None:
        import fastembed  # noqa: PLC0415  400 ms
        from loguru import logger  # noqa: PLC0415  comes with fastembed, writes to the terminal

        logger.disable("fastembed")
        self._model = fastembed.TextEmbedding(
            model,
            cache_dir=str(cache),
            local_files_only=True,
            specific_model_path=str(folder) if folder else None,
        )
        self.dimension = int(self._model.embedding_size)
        self.id = f"fastembed:{model}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The model's sentence vectors."""
        import numpy as np  # noqa: PLC0415

        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return unit_rows(np.array(list(self._model.embed(list(texts))), dtype=np.float32))


def vectors_of(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Embed `texts`, shape (len(texts), dimension): unit rows, and zeros for one that has none.

    Of a long text the first 4,000 characters count: a model reads no more of it.

    Raises:
        EmbedderUnavailable: The embedder failed, or made something else than it promised.

    """
    import numpy as np  # noqa: PLC0415

    try:
        made = np.asarray(embedder.embed([text[:_REACH] for text in texts]), dtype=np.float32)
    except Exception as error:  # each library fails in classes of its own
        raise EmbedderUnavailable(
            f"The embedder {embedder.id} failed ({type(error).__name__}).", _RECALL_IS_LEXICAL
        ) from error
    if made.shape != (len(texts), embedder.dimension):
        raise EmbedderUnavailable(
            f"The embedder {embedder.id} made vectors of another shape.", _RECALL_IS_LEXICAL
        )
    return unit_rows(made)


def unit_rows(vectors: Vectors) -> Vectors:
    """Scale rows to length 1; a row that is empty or not finite becomes zeros."""
    import numpy as np  # noqa: PLC0415

    clean = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, 0.0)
    lengths = np.linalg.norm(clean.astype(np.float64), axis=1, keepdims=True)
    scaled = np.divide(clean, lengths, out=np.zeros(clean.shape), where=lengths > 0)
    return np.asarray(scaled, dtype=np.float32)


def load_embedder(
    name: str,
    model: str,
    folder: Path | None,
    cache: Path,
    warn: Callable[[EmbedderUnavailable], object] = lambda _: None,
) -> Embedder:
    """Load the embedder of that name: auto, fastembed, builtin or none.

    `warn` is told why `auto` does not take the model that was downloaded.

    Raises:
        EmbedderUnavailable: One was asked for by name, or by its folder, and cannot be loaded.

    """
    if name == "none":
        return NoEmbedder()
    if name == "fastembed" or (name == "auto" and folder):
        return _fast_embedder(model, folder, cache)
    if name == "auto" and model_cached(model, cache):
        try:
            return _fast_embedder(model, folder, cache)
        except EmbedderUnavailable as error:
            warn(error)
    if name == "auto":
        with suppress(EmbedderUnavailable):
            return _builtin_embedder()
        return NoEmbedder()
    return _builtin_embedder()


def _fast_embedder(model: str, folder: Path | None, cache: Path) -> Embedder:
    snapshot = None if folder else snapshot_of(model, cache)
    if snapshot is not None and (name := foreign_file(model, snapshot)):
        raise EmbedderUnavailable(
            f"The embedding model {model} is not used: {name} in {snapshot} is not the published"
            " file (it has another SHA-256).",
            f"Delete {snapshot.parent.parent}; F5 in the chat fetches it again.",
        )
    try:
        return FastEmbedder(model, folder or snapshot, cache)
    except Exception as error:  # each library fails in classes of its own
        why = _why_not_loaded(error, model, folder, cache)
        raise EmbedderUnavailable(
            f"The embedding model {model} cannot be loaded from {folder or cache}: {why}.",
            "Name a folder with its ONNX files by embedder.path, or use"
            ' embedder.name = "auto" or "builtin".',
        ) from error


def _why_not_loaded(error: Exception, model: str, folder: Path | None, cache: Path) -> str:
    """Say it as a clause, as far as looking at the files tells."""
    if folder is not None:
        lack = lack_of(folder)
    else:
        lack = "" if model_cached(model, cache) else "it is not there"
    return lack or f"its files cannot be used ({type(error).__name__})"


def _builtin_embedder() -> Embedder:
    try:
        return BuiltinEmbedder()
    except Exception as error:  # each library fails in classes of its own
        raise EmbedderUnavailable(
            "The built-in embedder cannot be loaded: the package wordllama is incomplete.",
            'Install jitchat afresh, or use embedder.name = "none".',
        ) from error
