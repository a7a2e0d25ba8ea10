"""fastembed's cross-encoders: models that read a query and a text together and score the pair.

Only a model that is on this machine is loaded. Nothing here uses the network.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from jitchat.children import disable_reports
from jitchat.errors import RerankerUnavailable
from jitchat.index.embedding_models import folder_problem, model_cached


class CrossEncoder(Protocol):
    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Score each text; higher is a better match, on the model's own scale. Slow."""


def load_cross_encoder(model: str, folder: Path | None, cache: Path) -> CrossEncoder:
    """Load a model from its `folder`, or from the hub's `cache`. Slow: half a second.

    Raises:
        RerankerUnavailable: The model is not on this machine, or its files cannot be used.

    """
    if folder is None and not model_cached(model, cache):
        raise RerankerUnavailable("its model is not on this machine")
    disable_reports()
    try:
        return _FastCrossEncoder(model, folder, cache)
    except Exception as error:  # each library raises its own exception classes
        problem = folder_problem(folder) if folder is not None else ""
        why = f": {problem}" if problem else f" ({type(error).__name__})"
        raise RerankerUnavailable(f"its model cannot be loaded{why}") from error


class _FastCrossEncoder:
    def __init__(self, model: str, folder: Path | None, cache: Path) -> None:
        from fastembed.rerank.cross_encoder import TextCrossEncoder  # noqa: PLC0415  500 ms
        from loguru import logger  # noqa: PLC0415  a dependency of fastembed

        logger.disable("fastembed")  # it writes to the terminal
        self._model = TextCrossEncoder(
            model,
            cache_dir=str(cache),
            local_files_only=True,
            specific_model_path=str(folder) if folder else None,
        )

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return list(self._model.rerank(query, texts))
