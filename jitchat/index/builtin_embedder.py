"""The built-in embedder: WordLlama's table of 256 dimensions, which is part of its package."""

import logging
from collections.abc import Sequence
from pathlib import Path

from jitchat.index.vectors import Matrix, unit_rows

_QUIET = logging.NullHandler()
logging.getLogger().addHandler(_QUIET)  # else wordllama makes every library log to the screen
import wordllama  # noqa: E402

logging.getLogger().removeHandler(_QUIET)


class BuiltinEmbedder:
    """Needs no download; a text's vector is the mean of its words' vectors."""

    id = "builtin-256"
    dimension = 256

    def __init__(self) -> None:
        folder = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)

    def embed(self, texts: Sequence[str]) -> Matrix:
        return unit_rows(self._model.embed(list(texts)))
