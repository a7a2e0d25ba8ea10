"""The process between jitchat and a server that runs on this machine: `python -m`, with a pipe.

It starts the server, whose standard input it shares. It replaces each message that is too large by
a notice, masks secrets in the standard error, and limits the log. Its own standard error is a pipe
that nothing is written to: when jitchat closes the other end, or is killed, the guard ends the
server and the processes that it started, whether or not they read their input.
"""

import json
import os
import select
import signal
import subprocess
import sys
import threading
from codecs import getincrementaldecoder
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import IO

from jitchat.tools.mcp.secrets import without

VARIABLE = "JITCHAT_SERVER"
"""Holds the guard's instructions, as JSON: command, env, secrets and log. No server gets it."""
LARGEST_MESSAGE = 16 << 20
"""Bytes from which a message is not read; a result is one message.

To count, index and store a result of 15 MB takes 6 s and 0.6 GB.
"""
TOO_LARGE = "notifications/jitchat/too_large"
"""The notification that replaces a larger message."""
GRACE = 0.15
"""Seconds for the server to end by itself, again after SIGTERM, and for the end of its log."""
_DRAIN = 0.3
"""Seconds for the last messages of a server that has ended."""
_LARGEST_LOG = 1 << 20
_TAIL = 64 << 10
"""Bytes of a log above the limit that are kept."""
_CHUNK = 64 << 10
"""Bytes of a line from which it is written in parts."""
_NOTICE = json.dumps({"jsonrpc": "2.0", "method": TOO_LARGE}).encode() + b"\n"


class Log:
    """A file for a server's standard error, limited in size; its end is kept."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._end = b""

    def write(self, text: str) -> None:
        data = text.encode(errors="replace")
        self._end = (self._end + data)[-_TAIL:]
        with suppress(OSError):  # a full disk stops the log, not the server
            if os.fstat(self._file).st_size + len(data) > _LARGEST_LOG:
                os.ftruncate(self._file, 0)
                data = b"[earlier output was removed]\n" + self._end
            os.write(self._file, data)


def _forward(source: IO[bytes]) -> None:
    """Forward the messages, one a line; of a line that is too large, nothing is kept."""
    begins = True
    with suppress(OSError):  # jitchat is gone
        for part in iter(partial(source.readline, LARGEST_MESSAGE), b""):
            if begins:
                sys.stdout.buffer.write(part if len(part) < LARGEST_MESSAGE else _NOTICE)
                sys.stdout.buffer.flush()
            begins = part.endswith(b"\n")
    os.close(1)  # the server has ended, or will say nothing more


def keep_log(source: IO[bytes], log: Log, secrets: tuple[str, ...], longest: int = _CHUNK) -> None:
    """Write the lines of a standard error; of one that is longer, the end waits for the rest."""
    decode = getincrementaldecoder("utf-8")("replace").decode
    overlap = max((len(secret) for secret in secrets), default=0)
    rest = ""
    for part in iter(partial(source.readline, longest), b""):
        text = without(secrets, rest + decode(part))
        cut = len(text) if part.endswith(b"\n") else max(0, len(text) - overlap)
        log.write(text[:cut])
        rest = text[cut:]
    log.write(rest)


def _in_thread(run: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def _wait(process: subprocess.Popen[bytes], lifeline: int) -> None:
    """Wait until the server ends, or has to: then give it time to, before and after SIGTERM."""
    ends, ending = os.pipe()
    ended = threading.Event()

    def note_end() -> None:
        process.wait()
        ended.set()
        os.close(ending)

    _in_thread(note_end)
    poll = select.poll()
    for file in (ends, lifeline):
        poll.register(file, 0)  # for the end of the other side alone, which is always reported
    poll.poll()
    if not ended.wait(GRACE):
        os.killpg(0, signal.SIGTERM)
        ended.wait(GRACE)


def main() -> None:
    """Run the server until it ends or is left; then end all processes of this group."""
    given = json.loads(os.environ.pop(VARIABLE))
    lifeline = os.dup(2)
    os.dup2(os.open(given["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), 2)
    secrets = tuple(given["secrets"])
    log = Log(2)
    try:
        process = subprocess.Popen(
            given["command"], env=given["env"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except (OSError, ValueError) as error:
        log.write(without(secrets, f"The server cannot be started: {error}\n"))
        return
    assert process.stdout and process.stderr  # noqa: PT018, S101  piped
    output = _in_thread(partial(_forward, process.stdout))
    errors = _in_thread(partial(keep_log, process.stderr, log, secrets))
    if os.name != "posix":  # the SDK ends a job of Windows as a whole
        process.wait()
        output.join()
        return
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # meant for the server, which is in this group
    _wait(process, lifeline)
    if process.poll() is not None:
        output.join(_DRAIN)
        errors.join(GRACE)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    if os.name == "posix" and os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    main()
