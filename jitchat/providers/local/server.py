"""llama.cpp's server, run as a process of its own: `python -m jitchat.providers.local.server`.

It is given the file of a model and figures as arguments, and its key as the first line of
standard input. It prints one line of JSON, `{"address": …}` once it listens or `{"error": …}`,
and ends when standard input does: also when the process that started it is killed.
"""

import json
import os
import select
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xllamacpp

_SPINS = "300"
"""How often a thread looks whether the others are ready before it sleeps. By OpenMP's own number
an answer takes ten times as long where other programs use the cores; by this, a tenth more where
none does."""

_IDLE = 900
"""Seconds without a request after which the model's memory is given back, until the next one."""


def main(model: str, context: str, threads: str, cached_mib: str) -> None:
    key = sys.stdin.readline().strip()
    _end_with_input()
    os.environ["GOMP_SPINCOUNT"] = _SPINS
    try:
        import xllamacpp  # noqa: PLC0415  an extra: that it is missing is told

        server = xllamacpp.Server(parameters(model, context, threads, cached_mib, key))
    except Exception as error:  # noqa: BLE001  of a library in C++, and whatever it is is told
        _tell(error=str(error))
    else:
        _tell(address=server.listening_address)
        sys.stdin.read()
    os._exit(0)  # llama.cpp's threads are not waited for


def _end_with_input() -> None:
    """Have the system end this process with its input, also while a model loads.

    No thread could: llama.cpp holds Python's lock meanwhile.
    """
    if sys.platform == "linux":
        import fcntl  # noqa: PLC0415  not on Windows

        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
        if select.select([0], [], [], 0)[0]:  # it ended before
            os._exit(0)


def _tell(**fields: str) -> None:
    print(json.dumps(fields), flush=True)  # noqa: T201  the parent reads it


def parameters(
    model: str, context: str, threads: str, cached_mib: str, key: str
) -> "xllamacpp.CommonParams":
    """Ask for the model on a free port of the loopback interface."""
    import xllamacpp  # noqa: PLC0415  an extra

    wanted = xllamacpp.CommonParams()
    wanted.model.path = model
    wanted.n_ctx = int(context)
    wanted.n_parallel = 1
    wanted.cpuparams.n_threads = int(threads)
    wanted.warmup = False  # it takes longer than the first answer gains by it
    wanted.cache_ram_mib = int(cached_mib)
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = 0
    wanted.api_keys = [key]
    wanted.ui = False
    wanted.sleep_idle_seconds = _IDLE
    wanted.endpoint_slots = False  # they show what was asked
    return wanted


if __name__ == "__main__":
    main(*sys.argv[1:])
