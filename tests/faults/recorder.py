"""Runs a command and records what it looks up on the network and which files it leaves behind.

Where strace is installed, every system call that resolves a name, connects, or makes a file is
seen, of all child processes too. Elsewhere, only the files that are left are.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

STRACE = shutil.which("strace")
_CALLS = (
    "connect,sendto,sendmsg,sendmmsg,open,openat,creat,mkdir,mkdirat,"
    "rename,renameat,renameat2,link,linkat,symlink,symlinkat"
)
_STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_ADDRESS = re.compile(r'sin6?_addr=.*?"((?:\\x[0-9a-f]{2})+)"')
_NO_FILES = ("/dev/", "/proc/", "/sys/")
OWN = "jitchat"
"""Name of jitchat's folder in each of the user's folders."""


@dataclass(frozen=True)
class Recorded:
    names: frozenset[str]
    """Host names that were looked up."""
    hosts: frozenset[str]
    """Addresses of other machines that were connected to, name servers aside."""
    files: frozenset[str]
    """Files outside jitchat's own folders that are left."""


class Recorder:
    """Runs commands with a home folder and a folder for temporary files of their own."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.temporary = folder / "temporary"
        self._trace = folder / "trace"
        self.home.mkdir()
        self.temporary.mkdir()
        # The bytecode of a child's imports is no file of interest.
        self.environ = {
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "PATH": os.defpath,  # no wrappers of a tool chain, which leave files of their own
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def command(self, words: Sequence[str]) -> list[str]:
        """Return the command that records what `words` do."""
        if STRACE is None:
            return list(words)
        traced = [STRACE, "-f", "-qq", "-xx", "-yy", "-s", "4096", "-e", f"trace={_CALLS}"]
        return [*traced, "-o", str(self._trace), *words]

    def run(
        self, words: Sequence[str], more: Mapping[str, str] | None = None
    ) -> tuple[subprocess.CompletedProcess[str], Recorded]:
        done = subprocess.run(
            self.command(words),
            env=self.environ | dict(more or {}),
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return done, self.recorded()

    def recorded(self) -> Recorded:
        lines = self._trace.read_text().splitlines() if self._trace.exists() else []
        left = {path for folder in (self.home, self.temporary) for path in folder.rglob("*")}
        traced = {Path(path) for line in lines for path in _paths_of(line)}
        return Recorded(
            frozenset(name for line in lines for name in _names_of(line)),
            frozenset(host for line in lines for host in _hosts_of(line)),
            frozenset(
                str(path)
                for path in left | traced
                if path.is_file() and self._is_foreign(path) and "__pycache__" not in path.parts
            ),
        )

    def _is_foreign(self, path: Path) -> bool:
        """Whether the file is in none of jitchat's folders."""
        if path.is_relative_to(self.home):
            return OWN not in path.relative_to(self.home).parts[:-1]
        return path.is_relative_to(self.temporary) or not str(path).startswith(_NO_FILES)


def _names_of(line: str) -> Iterator[str]:
    """Yield the names in queries to a name server (RFC 1035, section 4.1)."""
    if ":53]>" not in line:
        return
    for match in _STRING.finditer(line):
        query = bytes.fromhex(match[1].replace("\\x", ""))
        labels: list[str] = []
        at = 12  # behind the header
        while at < len(query) and query[at]:
            end = at + 1 + query[at]
            labels.append(query[at + 1 : end].decode("ascii", "replace"))
            at = end
        if labels:
            yield ".".join(labels)


def _hosts_of(line: str) -> Iterator[str]:
    if "connect(" not in line or "htons(53)" in line:
        return
    for match in _ADDRESS.finditer(line):
        address = bytes.fromhex(match[1].replace("\\x", "")).decode()
        if not address.startswith("127.") and address != "::1":
            yield address


def _paths_of(line: str) -> Iterator[str]:
    """Yield the paths that a call makes."""
    makes = "O_CREAT" in line or not re.search(r" (open|openat|connect|send\w+)\(", line)
    if makes and " = -1 " not in line:
        for match in _STRING.finditer(line):
            path = bytes.fromhex(match[1].replace("\\x", "")).decode("utf-8", "replace")
            if path.startswith("/"):
                yield path
