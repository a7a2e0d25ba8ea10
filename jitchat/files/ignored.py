"""What `.gitignore` and `.jitchatignore` leave out of a folder.

The files of every folder from the root of the repository down apply, as in git: the last matching
pattern decides, and nothing in an ignored folder is included again. Without a repository, the root
is the current folder, or the named folder if that is elsewhere.
"""

import re
from contextlib import suppress
from functools import lru_cache
from os.path import lexists
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_NAMES = (".gitignore", ".jitchatignore")
_MOST_BYTES = 2**20


class IgnoreRules:
    """The rules for the entries of a folder and of the folders below it. Reads files."""

    def __init__(self, folder: Path, current: Path) -> None:
        roots = (parent for parent in (folder, *folder.parents) if lexists(parent / ".git"))
        top = current if folder.is_relative_to(current) else folder
        self._root = next(roots, top)
        self._ignored = {self._root: False}

    def ignores(self, path: Path) -> bool:
        """Whether a path below the root is ignored, itself or with a folder that it is in."""
        if path not in self._ignored:
            self._ignored[path] = self.ignores(path.parent) or self._matches(path)
        return self._ignored[path]

    def _matches(self, path: Path) -> bool:
        is_ignored = False
        slash = "/" if path.is_dir() else ""
        depth = len(path.parents) - len(self._root.parents)
        for folder in reversed(path.parents[:depth]):
            for name in _NAMES:
                relative = f"{path.relative_to(folder).as_posix()}{slash}"
                verdict = _verdict(folder / name, relative)
                is_ignored = is_ignored if verdict is None else verdict
        return is_ignored


def _verdict(file: Path, relative: str) -> bool | None:
    """Whether a file of patterns ignores a path; None if no pattern matches or it is missing."""
    with suppress(OSError):
        status = file.stat()
        if S_ISREG(status.st_mode) and status.st_size <= _MOST_BYTES:
            patterns = _patterns(file, status.st_mtime_ns, status.st_size)
            return patterns.check_file(relative).include
    return None


@lru_cache(maxsize=256)
def _patterns(file: Path, _modified_ns: int, _size: int) -> "GitIgnoreSpec":
    """Read a file of patterns; as in git, lines that are not valid patterns count for nothing."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415  not on the first frame

    valid = list[str]()
    with suppress(OSError):
        for line in file.read_text("utf-8", "replace").splitlines():
            with suppress(ValueError, re.error):
                GitIgnoreSpec.from_lines([line])
                valid.append(line)
    return GitIgnoreSpec.from_lines(valid)
