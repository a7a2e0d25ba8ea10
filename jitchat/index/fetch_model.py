"""A child process that downloads one embedding model; run as a module with two arguments.

Arguments: the model (a name of fastembed's list) and the folder that FastEmbedder looks in.
The last line it prints is JSON, {"ok": bool, "detail": str}. It is a process of its own
because a download that hangs inside the library can only be ended from outside.
"""

import json
import os
import sys
from pathlib import Path

from jitchat.index.embedding_models import foreign_file, published

_ALWAYS = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "preprocessor_config.json",
)
_QUIET = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_HUB_DISABLE_XET": "1",
    "HF_HUB_ETAG_TIMEOUT": "5",
    "HF_HUB_DOWNLOAD_TIMEOUT": "10",
}


def main(arguments: list[str]) -> int:
    """Fetch, tell how it went; the exit code."""
    os.environ.update(_QUIET)  # huggingface_hub reads them when it is imported
    try:
        answer = {"ok": True, "detail": _fetch(*arguments)}
    except Exception as error:  # noqa: BLE001  it fails in classes of four libraries
        first_line = str(error).strip().partition("\n")[0] or type(error).__name__
        answer = {"ok": False, "detail": first_line[:300]}
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0 if answer["ok"] else 1


def _fetch(model: str, cache: str) -> str:
    """Download what is missing of `model` into `cache`; the snapshot's folder.

    Raises:
        LookupError: fastembed has no such model, or no repository for it.
        ValueError: What came is not what was published.

    """
    from fastembed import TextEmbedding  # noqa: PLC0415  400 ms
    from huggingface_hub import snapshot_download  # noqa: PLC0415  reads the environment

    pinned = published(model)
    for known in TextEmbedding.list_supported_models():
        if known["model"].lower() == model.lower() and known["sources"].get("hf"):
            wanted = [*_ALWAYS, known["model_file"], *known.get("additional_files", ())]
            folder: str = snapshot_download(
                str(known["sources"]["hf"]),
                revision=pinned.revision if pinned else None,
                cache_dir=cache,
                allow_patterns=list(pinned.sha256) if pinned else wanted,
                max_workers=2,
            )
            if name := foreign_file(model, Path(folder)):
                raise ValueError(f"{name} is not the published file (it has another SHA-256)")
            return folder
    raise LookupError(f"fastembed has no model {model}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
