"""A process that has loaded jitchat and forks it: an app is there in a third of the time.

Each order is a line of JSON over a socket, with the files that are to be 0, 1 and 2; each answer is
a number or null. A command is Python with `-m` or `-c`, as `subprocess` would have it.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

from jitchat.tui.views.view import load_views
from tests.benchmarks.terminal import begin
from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LOADED = (
    "jitchat.cli.chat",
    "jitchat.cli.turns",
    "jitchat.tui.app",
    "jitchat.tui.driver",
    "jitchat.model_choices",
    "jitchat.providers.http.provider",
    "httpcore",
    "anyio._backends._asyncio",
)


class Fork:
    """A process of the server's, with what tests use of `subprocess.Popen`."""

    def __init__(self, server: ForkServer, pid: int) -> None:
        self._server = server
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._server.ask({"poll": self.pid})
        return self.returncode

    def wait(self, timeout: float = 30.0) -> int:
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"process {self.pid} is still there")
            time.sleep(0.01)
        return code

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class ForkServer:
    """Starts commands in copies of a process that has loaded what they load."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.fork_server", str(theirs.fileno())],
                cwd=ROOT,
                pass_fds=[theirs.fileno()],
            )

    def start(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        files: Sequence[int],
        ignored: Sequence[signal.Signals] = (),
    ) -> Fork:
        """Run a command of Python's; a terminal on standard input is that of the process."""
        order = {"command": list(command), "environ": dict(environ), "ignored": list(ignored)}
        return Fork(self, self.ask(order, files))

    def ask(self, order: Mapping[str, object], files: Sequence[int] = ()) -> Any:
        socket.send_fds(self._socket, [f"{json.dumps(order)}\n".encode()], files)
        return json.loads(self._socket.recv(64))

    def close(self) -> None:
        self._socket.close()
        self._process.wait()


def main() -> None:
    for module in LOADED:
        import_module(module)
    load_views()
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        while True:
            line, files, _, _ = socket.recv_fds(connection, 1 << 16, 3)
            while line and not line.endswith(b"\n"):
                line += connection.recv(1 << 16)
            if not line:
                return
            connection.send(json.dumps(obey(json.loads(line), files)).encode())
            for file in files:
                os.close(file)


def obey(order: dict[str, Any], files: Sequence[int]) -> int | None:
    if "poll" in order:
        ended, status = os.waitpid(order["poll"], os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if ended else None
    if (pid := os.fork()) == 0:
        for number, file in enumerate(files):
            os.dup2(file, number)
        os.closerange(3, max(files) + 1)
        os.environ.clear()
        os.environ.update(order["environ"])
        begin(order["ignored"])
        run(*order["command"][1:])
    return pid


def run(flag: str, code: str, *arguments: str) -> None:
    """Run a module or a program as Python does; end without taking all that is loaded apart."""
    sys.argv[1:] = arguments
    end = SystemExit()
    try:
        if flag == "-m":
            runpy.run_module(code, run_name="__main__", alter_sys=True)
        else:
            exec(code, {"__name__": "__main__"})
    except SystemExit as raised:
        end = raised
    threading._shutdown()  # waits for threads, as Python does at its end
    sys.stdout.flush()
    os._exit(int(end.code or 0))


if __name__ == "__main__":
    main()
