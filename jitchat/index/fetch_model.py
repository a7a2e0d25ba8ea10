"""A child process that downloads one embedding model; run as a module with two arguments.

Arguments: the model (a name of fastembed's list) and the folder that FastEmbedder looks in.
The last line it prints is JSON, {"ok": bool, "detail": str}. It is a process of its own
because a download that hangs inside the library can only be ended from outside.
"""

import json
import os
import sys

_QUIET = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_HUB_DISABLE_XET": "1",
    "HF_HUB_ETAG_TIMEOUT": "5",
    "HF_HUB_DOWNLOAD_TIMEOUT": "10",
}


def main(arguments: list[str]) -> int:
    """Download, and print how it went; returns the exit code."""
    os.environ.update(_QUIET)
    try:
        # here, for huggingface_hub reads the environment when it is imported
        from jitchat.index.fast_embedder import download  # noqa: PLC0415

        answer = {"ok": True, "detail": download(*arguments)}
    except Exception as error:  # noqa: BLE001  it fails in classes of four libraries
        first_line = str(error).strip().partition("\n")[0] or type(error).__name__
        answer = {"ok": False, "detail": first_line[:300]}
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0 if answer["ok"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
