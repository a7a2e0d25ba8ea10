"""llama.cpp's server, run as a process of its own: `python -m jitchat.providers.local.server`.

It is given the file of a model and figures as arguments, and its key as the first line of
standard input. It prints one line of JSON, `{"address": …}` once it listens or `{"error": …}`,
and ends when standard input does: also when the process that started it is killed.
"""

import json
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xllamacpp


def main(model: str, context: str, threads: str, cached_mib: str) -> None:
    key = sys.stdin.readline().strip()
    try:
        server = _server(model, context, threads, cached_mib, key)
    except Exception as error:  # noqa: BLE001  of a library in C++, and whatever it is is told
        _tell(error=str(error))
    else:
        _tell(address=server.listening_address)
        sys.stdin.read()
    os._exit(0)  # llama.cpp's threads are not waited for


def _tell(**fields: str) -> None:
    print(json.dumps(fields), flush=True)  # noqa: T201  the parent reads it


def _server(
    model: str, context: str, threads: str, cached_mib: str, key: str
) -> "xllamacpp.Server":
    """Load the model, and listen on a free port of the loopback interface."""
    import xllamacpp  # noqa: PLC0415  an extra: that it is missing is told

    wanted = xllamacpp.CommonParams()
    wanted.model.path = model
    wanted.n_ctx = int(context)
    wanted.n_parallel = 1
    wanted.cpuparams.n_threads = int(threads)
    wanted.cache_ram_mib = int(cached_mib)
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = 0
    wanted.api_keys = [key]
    wanted.ui = False
    wanted.endpoint_slots = False  # they show what was asked
    return xllamacpp.Server(wanted)


if __name__ == "__main__":
    main(*sys.argv[1:])
