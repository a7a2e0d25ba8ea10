"""Replies on file, so that a run that was stopped goes on where it was.

One JSON object a line, appended as it comes. A line that is not whole, for the run was killed
while it wrote, is as good as none. A reply belongs to its key, which holds all that the request
depends on; other runs' replies may stand in the same file.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from jitchat.errors import BenchFailed, ProviderError
from jitchat.turn import Message, Usage


@dataclass(frozen=True, slots=True)
class Job:
    """One request."""

    key: str
    messages: tuple[Message, ...]
    about: Mapping[str, object]
    """What is noted beside the reply, for who reads the file."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a request."""

    text: str
    reason: str
    """Why it ended, in the provider's word."""
    usage: Usage | None = None
    """None where the provider did not report it."""


def key_of(asked: Mapping[str, object], messages: Sequence[Message]) -> str:
    """Make a request's key: who is asked, on what data, in which mode, and every word of it."""
    words = [[message.role.value, message.content] for message in messages]
    text = json.dumps([dict(asked), words], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class ReplyLog:
    """The file of replies; `opened_log` makes one."""

    def __init__(self, path: Path, file: FileIO, replies: dict[str, Reply]) -> None:
        self.path, self._file = path, file
        self._replies = replies
        self.first_failure: ProviderError | None = None
        """Of those noted since it was opened."""

    def get(self, job: Job) -> Reply | None:
        """Find the reply to a request; None where it has none yet."""
        return self._replies.get(job.key)

    def add(self, job: Job, reply: Reply) -> None:
        """Keep a reply."""
        usage = reply.usage and [reply.usage.input_tokens, reply.usage.output_tokens]
        self._write(job, {"text": reply.text, "reason": reply.reason, "usage": usage})
        self._replies[job.key] = reply

    def add_failure(self, job: Job, error: ProviderError) -> None:
        """Note why a request failed; it will be sent again by the next run."""
        self.first_failure = self.first_failure or error
        self._write(job, {"failed": str(error)})

    def _write(self, job: Job, fields: Mapping[str, object]) -> None:
        line = json.dumps({"key": job.key, **job.about, **fields}).encode() + b"\n"
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise unusable(self.path, error.strerror) from error


@contextmanager
def opened_log(path: Path) -> Iterator[ReplyLog]:
    """Open the file for a while; it and its folder are made where they are not there.

    Raises:
        BenchFailed: It cannot be read or written.

    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab+", buffering=0)
    except OSError as error:
        raise unusable(path, error.strerror) from error
    with file:
        yield ReplyLog(path, file, _read(path, file))


def _read(path: Path, file: FileIO) -> dict[str, Reply]:
    """Read the replies, and end a torn line, so that the next one stands on its own."""
    try:
        file.seek(0)
        lines = file.readall().split(b"\n")
        if lines[-1]:
            file.write(b"\n")
    except OSError as error:
        raise unusable(path, error.strerror) from error
    return dict(_replies(lines))


def _replies(lines: Sequence[bytes]) -> Iterator[tuple[str, Reply]]:
    for line in lines:
        try:
            fields = json.loads(line)
            yield str(fields["key"]), _reply(fields)
        except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError):
            continue  # a torn line, a failure, or no line of ours


def _reply(fields: Mapping[str, object]) -> Reply:
    text, reason, usage = fields["text"], fields["reason"], fields["usage"]
    if not isinstance(text, str) or not isinstance(usage, list | None):
        raise TypeError
    return Reply(text, str(reason), Usage(*(int(each) for each in usage)) if usage else None)


def unusable(path: Path, why: str | None) -> BenchFailed:
    """Make the error about a file that cannot be read or written."""
    return BenchFailed(
        f"The answers cannot be kept in {path}: {why}.", "Name another with --answers."
    )
