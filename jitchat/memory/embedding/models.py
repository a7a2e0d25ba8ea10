"""Which files of an embedding model are on this machine; found by looking, nothing is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_PREFIX = "models--"
_TOKENIZER = "tokenizer.json"
_NEEDED = (_TOKENIZER, "tokenizer_config.json")
_ONNX = ("*.onnx", "onnx/*.onnx")
_WEIGHTS = (*_ONNX, "*.safetensors")


def model_cached(model: str, cache: Path) -> bool:
    """Whether a whole snapshot of `model` (a name of fastembed's list) is in the folder `cache`.

    fastembed keeps a model under the name of the repository that it comes from, which is the
    model's own, with or without `-onnx` and what follows it.
    """
    try:
        return any(_is_whole(folder) for folder in cache.iterdir() if _is_of(folder.name, model))
    except OSError:
        return False


def lack_of(folder: Path) -> str:
    """Say what keeps `folder` from being a model's, as a clause; empty where no file is missing."""
    try:
        if not folder.is_dir():
            return "it is no folder" if folder.exists() else "there is no such folder"
        missing = [name for name in _NEEDED if not (folder / name).is_file()]
        if not _has_any(folder, _ONNX):
            missing.append("the weights (.onnx)")
    except (OSError, ValueError):  # no leave to look, or a name that no folder can have
        return "it cannot be read"
    return f"it lacks {', '.join(missing)}" if missing else ""


def _is_of(folder: str, model: str) -> bool:
    if not folder.startswith(_PREFIX):
        return False
    name = model.rpartition("/")[2].lower().removesuffix("-q")
    kept_as = folder.rpartition("--")[2].lower()
    return kept_as in (name, f"fast-{name}") or kept_as.startswith(f"{name}-onnx")


def _is_whole(folder: Path) -> bool:
    """Whether a revision has its tokenizer and weights: each is linked once it is complete."""
    return any(
        (revision / _TOKENIZER).exists() and _has_any(revision, _WEIGHTS)
        for revision in (folder / "snapshots").glob("*")
    )


def _has_any(folder: Path, patterns: Sequence[str]) -> bool:
    return any(file.exists() for pattern in patterns for file in folder.glob(pattern))
