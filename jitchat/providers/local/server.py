"""llama.cpp's server in a separate process: `python -m jitchat.providers.local.server`.

Its arguments are the path of a model and figures; the first line of standard input is its key. It
prints one line of JSON, `{"address": …}` once it listens or `{"error": …}`, and exits at the end of
standard input, which is also how it notices that its parent was killed.
"""

import json
import os
import select
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xllamacpp

_SPINS = "300"
"""Iterations for which an OpenMP thread spins before it sleeps. With OpenMP's default, answers take
ten times as long if other programs use the cores; with this value, a tenth longer if none does."""

_IDLE = 900
"""Seconds without a request after which the model is unloaded until the next one."""


def main(model: str, context: str, threads: str, cached_mib: str) -> None:
    key = sys.stdin.readline().strip()
    _end_with_input()
    os.environ["GOMP_SPINCOUNT"] = _SPINS
    try:
        import xllamacpp  # noqa: PLC0415  an extra; if it is missing, that is reported

        server = xllamacpp.Server(parameters(model, context, threads, cached_mib, key))
    except Exception as error:  # noqa: BLE001  any error of the C++ library is reported
        _report(error=str(error))
    else:
        _report(address=server.listening_address)
        sys.stdin.read()
    os._exit(0)  # without waiting for llama.cpp's threads


def _end_with_input() -> None:
    """Have the system end this process at the end of its input, even while a model loads.

    A thread could not do it, because llama.cpp holds the GIL while loading.
    """
    if sys.platform == "linux":
        import fcntl  # noqa: PLC0415  not on Windows

        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
        if select.select([0], [], [], 0)[0]:  # it has ended already
            os._exit(0)


def _report(**fields: str) -> None:
    print(json.dumps(fields), flush=True)  # noqa: T201  the parent reads it


def parameters(
    model: str, context: str, threads: str, cached_mib: str, key: str
) -> "xllamacpp.CommonParams":
    """Return the server's parameters: the model, on a free port of the loopback interface."""
    import xllamacpp  # noqa: PLC0415  an extra

    wanted = xllamacpp.CommonParams()
    wanted.model.path = model
    wanted.n_ctx = int(context)
    wanted.n_parallel = 1
    wanted.cpuparams.n_threads = int(threads)
    wanted.warmup = False  # takes longer than it saves for the first answer
    wanted.cache_ram_mib = int(cached_mib)
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = 0
    wanted.api_keys = [key]
    wanted.ui = False
    wanted.sleep_idle_seconds = _IDLE
    wanted.endpoint_slots = False  # they would expose prompts
    return wanted


if __name__ == "__main__":
    main(*sys.argv[1:])
