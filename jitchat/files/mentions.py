"""File mentions in messages, and the paths that terminals paste for dropped files.

`@notes.md`, `@"meeting notes.md"`, `@src/*.py` and `@src/` attach existing files; if nothing exists
at the path, they are ordinary words. Quotes allow blanks.
"""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from urllib.parse import unquote, urlparse

from jitchat.attachments import Attachment
from jitchat.errors import FileRefused
from jitchat.files.load import load
from jitchat.paths import locate
from jitchat.text.sanitize import one_line
from jitchat.text.words import fold

MOST_FILES = 100
"""Most files that one message attaches."""
_MENTION = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|([^\s"][^\s]*))')
_SEARCHED = 100_000
"""Characters of a message that are searched for mentions."""
_BEHIND = ".,;:!?)'"
"""Punctuation that may follow a path."""
_WILD = frozenset("*?[")
_LONGEST_PASTE = 8_192
_LOOKED_AT = 10_000
"""Most entries of a folder that are examined."""
PASTED = re.compile(r"clipboard-[\d-]{1,32}\.(?:png|jpg)")
"""The name of a picture pasted from the clipboard."""


@dataclass(frozen=True, slots=True)
class Mention:
    start: int
    """Start and end, in characters of the message."""
    end: int
    files: tuple[Path, ...]
    """At least one."""


def mentions_in(text: str, folder: Path) -> Iterator[Mention]:
    """Find the mentions of existing files, in the order of the message.

    Raises:
        FileRefused: A mention names more than `MOST_FILES` files.

    """
    for found in islice(_MENTION.finditer(text[:_SEARCHED]), MOST_FILES):
        named, end = found[1] or found[2], found.end()
        files = files_at(named, folder)
        if not files and not found[1] and (bare := named.rstrip(_BEHIND)) != named and bare:
            end -= len(named) - len(bare)
            files = files_at(bare, folder)
        if files:
            yield Mention(found.start(), end, files)


def files_at(named: str, folder: Path) -> tuple[Path, ...]:
    """List the files of a path, a pattern or a folder; a folder's hidden files are left out.

    Raises:
        FileRefused: There are more than `MOST_FILES`.

    """
    files: tuple[Path, ...] = ()
    with suppress(OSError, ValueError, RuntimeError):  # not a valid path
        path = folder / Path(named).expanduser()
        is_there, is_folder = _found(path)
        if is_folder:
            files = tuple(islice(_within(path), MOST_FILES + 1))
        elif is_there:
            files = (path,)
        elif _WILD.intersection(path.name) and path.parent.is_dir():
            matching = (each for each in path.parent.glob(path.name) if each.is_file())
            files = tuple(sorted(islice(matching, MOST_FILES + 1)))
        elif PASTED.fullmatch(named) and (pasted := pasted_folder() / named).is_file():
            files = (pasted,)
    if len(files) > MOST_FILES:
        what = f"{named} names more than {MOST_FILES} files."
        raise FileRefused(what, "Attach fewer files at once.")
    return files


def _found(path: Path) -> tuple[bool, bool]:
    """Return whether the path exists, and whether it is a folder.

    A path without permission counts as existing, so that reading it reports the reason.
    """
    try:
        return path.is_symlink() or path.exists(), path.is_dir()
    except PermissionError:
        return True, False


def pasted_folder() -> Path:
    """The folder of pictures from the clipboard."""
    return locate(os.environ).pasted


def _within(folder: Path) -> Iterator[Path]:
    looked = 0
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(where, name)
        looked += len(names) + len(folders)
        if looked > _LOOKED_AT:
            return


def attached_by(text: str, folder: Path) -> tuple[Attachment, ...]:
    """Read the files that a message names, each once. Call in a thread.

    Files of a pattern or folder that cannot be attached are skipped if at least one can.

    Raises:
        FileRefused: A named file cannot be attached, or there are too many.

    """
    return _read([mention.files for mention in mentions_in(text, folder)], folder)


def attached_at(named: Sequence[str], folder: Path) -> tuple[Attachment, ...]:
    """Read paths, folders and patterns, each file once, like `attached_by`.

    Raises:
        FileRefused: A file cannot be attached, there are too many, or a path does not exist.

    """
    return _read([require_files(each, folder) for each in dict.fromkeys(named)], folder)


def require_files(named: str, folder: Path) -> tuple[Path, ...]:
    """List the files of a path, like `files_at`. Raises FileRefused if there are none."""
    if not named or not (files := files_at(named, folder)):
        raise FileRefused(f"There is no file at {one_line(named)}.", "Check the path.")
    return files


def _read(groups: Sequence[Sequence[Path]], folder: Path) -> tuple[Attachment, ...]:
    """Read the files of each mention; if it names several, some may be refused."""
    read: dict[Path, Attachment] = {}
    for files in groups:
        found, refused = _each_read(files, folder)
        if refused and not found:
            raise refused[-1]
        read |= found
    if len(read) > MOST_FILES:
        what = f"The message names {len(read)} files; at most {MOST_FILES} are attached."
        raise FileRefused(what, "Send some of them with another message.")
    return tuple(read.values())


def _each_read(
    files: Sequence[Path], folder: Path
) -> tuple[dict[Path, Attachment], list[FileRefused]]:
    read, refused = dict[Path, Attachment](), list[FileRefused]()
    for path in files:
        try:
            read[path] = load(path, shown_name(path, folder))
        except FileRefused as error:
            refused.append(error)
    return read, refused


def passed_over(text: str, folder: Path) -> str:
    """Name files of folders and patterns in a message that are not attached; usually empty.

    Call in a thread.
    """
    with suppress(FileRefused):
        return _notice_of_passed_over([each.files for each in mentions_in(text, folder)], folder)
    return ""


def passed_over_at(named: Sequence[str], folder: Path) -> str:
    """Do the same for paths, folders and patterns."""
    with suppress(FileRefused):
        return _notice_of_passed_over([files_at(each, folder) for each in named], folder)
    return ""


def _notice_of_passed_over(groups: Sequence[Sequence[Path]], folder: Path) -> str:
    names = list[str]()
    for files in groups:
        found = _each_read(files, folder)[0] if len(files) > 1 else {}
        names += [shown_name(path, folder) for path in files if found and path not in found]
    if not names:
        return ""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"not attached: {one_line(names[0])}{more}; attach one by name to see why"


def shown_name(path: Path, folder: Path) -> str:
    """Return a file's path relative to a folder, or only its name if it is elsewhere."""
    if PASTED.fullmatch(path.name) and path.parent == pasted_folder():
        return path.name
    with suppress(ValueError, OSError):
        return path.absolute().relative_to(folder.absolute()).as_posix()
    return path.name


def names_in(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Find the span and text after each `@`, whether or not a file exists."""
    for found in islice(_MENTION.finditer(text[:_SEARCHED]), MOST_FILES):
        name = found[1] or found[2].rstrip(_BEHIND)
        yield (found.start(), found.end() if found[1] else found.start(2) + len(name)), name


def is_named(name: str, file: Attachment) -> bool:
    """Whether a mention names a file, by its displayed name or its path; it may no longer exist."""
    with suppress(RuntimeError, ValueError):
        return name == file.name or os.fspath(Path(name).expanduser()) == file.path
    return False


def without_mentions(text: str) -> str:
    """Remove mentions from a message, leaving the text to search for."""
    return _MENTION.sub(" ", text)


def mention_of(path: str) -> str:
    """Write the mention of a path: `@notes.md`, `@"meeting notes.md"`."""
    return f'@"{path}"' if re.search(r"\s", path) else f"@{path}"


def mentions_for_paste(pasted: str) -> str:
    """Write mentions for a paste that consists only of file paths; empty for any other.

    Terminals paste the absolute paths of dropped files: quoted, with escaped blanks, or as file
    URIs; several paths are separated by blanks or line breaks.
    """
    if len(pasted) > _LONGEST_PASTE:
        return ""
    lines = filter(None, map(str.strip, pasted.splitlines()))
    paths = list(chain.from_iterable(map(_paths_in, islice(lines, MOST_FILES + 1))))
    with suppress(OSError, ValueError):
        if paths and all(path.is_absolute() and path.is_file() for path in paths):
            return " ".join(mention_of(str(path)) for path in paths)
    return ""


def _paths_in(pasted: str) -> Iterator[Path]:
    words = [pasted]
    if os.sep == "/":
        with suppress(ValueError, OSError):
            if not Path(pasted).is_file():
                words = shlex.split(pasted)
    for word in words:
        is_address = word.startswith("file://")
        yield Path(unquote(urlparse(word).path) if is_address else word.strip('"'))


def paths_beginning(typed: str, folder: Path, most: int) -> list[str]:
    """List the paths that complete the text after `@`; folders end in `/`.

    Hidden files are listed only after a typed dot. An unreadable folder has no completions.
    """
    ahead, slash, begin = typed.rpartition("/")
    found = list[str]()
    with suppress(OSError, RuntimeError, ValueError):
        where = folder / Path(f"{ahead}{slash}").expanduser()
        with os.scandir(where) as entries:
            for entry in islice(entries, _LOOKED_AT):
                is_shown = begin.startswith(".") or not entry.name.startswith(".")
                if is_shown and fold(entry.name).startswith(fold(begin)):
                    end = "/" if entry.is_dir() else ""
                    found.append(f"{ahead}{slash}{entry.name}{end}")
    return sorted(found)[:most]
