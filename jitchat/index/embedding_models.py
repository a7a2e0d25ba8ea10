"""Check which files of an embedding model are on this machine, and whether they are unmodified.

Only the file system is read; no model is loaded.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"

_PREFIX = "models--"
_TOKENIZER = "tokenizer.json"
_NEEDED = (_TOKENIZER, "tokenizer_config.json")
_ONNX = ("*.onnx", "onnx/*.onnx")
_WEIGHTS = (*_ONNX, "*.safetensors")


@dataclass(frozen=True, slots=True)
class Published:
    """A model as it was published: the commit of its repository and the hashes of its files."""

    revision: str
    sha256: Mapping[str, str]
    """By file name."""


@cache
def published_models() -> dict[str, Published]:
    """Read the pinned models, by fastembed's name. Other models are downloaded at their latest."""
    text = (Path(__file__).parent / "data" / "published.json").read_text("utf-8")
    return {name: Published(**fields) for name, fields in json.loads(text).items()}


def model_cached(model: str, cache: Path) -> bool:
    """Return whether `cache` has a complete snapshot of `model`, a name from fastembed's list.

    fastembed names a model's folder after the repository it is downloaded from: the model's own
    name, or that name followed by `-onnx` and a suffix.
    """
    return bool(_whole_revisions(model, cache))


def published(model: str) -> Published | None:
    """Look up a model, ignoring case as fastembed does."""
    models = published_models().items()
    return next((known for name, known in models if name.lower() == model.lower()), None)


def snapshot_of(model: str, cache: Path) -> Path | None:
    """Find a pinned model's snapshot: the published revision if complete, else any complete one.

    None if the model is not pinned, or no snapshot is complete.
    """
    known = published(model)
    if known is None:
        return None
    revisions = _whole_revisions(model, cache)
    return max(revisions, key=lambda revision: revision.name == known.revision, default=None)


def altered_file(model: str, snapshot: Path) -> str:
    """Return the first file that differs from the published one, or "" if none. Slow: 0.1 s."""
    known = published(model)
    for name, sha256 in known.sha256.items() if known else ():
        try:
            with (snapshot / name).open("rb") as file:
                is_published = hashlib.file_digest(file, "sha256").hexdigest() == sha256
        except OSError:
            is_published = False
        if not is_published:
            return name
    return ""


def folder_problem(folder: Path) -> str:
    """Return why `folder` is not a usable model folder, as a clause, or "" if it is complete."""
    try:
        if not folder.is_dir():
            return "it is not a folder" if folder.exists() else "there is no such folder"
        missing = [name for name in _NEEDED if not (folder / name).is_file()]
        if not _has_any(folder, _ONNX):
            missing.append("the weights (.onnx)")
    except (OSError, ValueError):  # no permission, or not a valid folder name
        return "it cannot be read"
    return f"it lacks {', '.join(missing)}" if missing else ""


def _is_of(folder: str, model: str) -> bool:
    name = model.rpartition("/")[2].lower().removesuffix("-q")
    kept_as = folder.rpartition("--")[2].lower()
    is_named = kept_as in (name, f"fast-{name}") or kept_as.startswith(f"{name}-onnx")
    return is_named and folder.startswith(_PREFIX)


def _whole_revisions(model: str, cache: Path) -> list[Path]:
    """List the snapshots with a tokenizer and weights: a file is linked once it is complete."""
    try:
        return [
            revision
            for folder in cache.iterdir()
            if _is_of(folder.name, model)
            for revision in (folder / "snapshots").glob("*")
            if (revision / _TOKENIZER).exists() and _has_any(revision, _WEIGHTS)
        ]
    except OSError:
        return []


def _has_any(folder: Path, patterns: Sequence[str]) -> bool:
    return any(file.exists() for pattern in patterns for file in folder.glob(pattern))
