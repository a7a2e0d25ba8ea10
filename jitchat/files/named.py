r"""The files that a path, a folder or a pattern names. All of this blocks: call it in a thread.

In a folder and in a pattern, hidden files, symbolic links and ignored files (`files/ignored.py`)
are left out; a file's own name attaches it in any case, and `folder/!` ignored files, too.

A file's name may be followed by its lines, `server.log:20000-21000`, or its last ones,
`server.log:-2000`; a file that has this very name wins.

Mentions such as `@notes.md`, `@"meeting notes.md"`, `@my\ notes.md`, `@src/*.py` and `@src/` name
files, also in brackets or quotes and before punctuation; so do the paths that terminals paste for
dropped files. To find mentions, no file is looked at.
"""

import os
import re
import shlex
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain, islice
from pathlib import Path
from urllib.parse import unquote, urlparse

from jitchat.attachments import EXTRACTED, Attachment
from jitchat.draft import FOREIGN, Draft
from jitchat.errors import FileRefused
from jitchat.files.ignored import IgnoreRules
from jitchat.files.load import load, parted
from jitchat.paths import locate
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.text.words import fold

MOST_FILES = 100
"""Most files that one message attaches."""
_BEFORE = re.escape("([{<\"'“‘«„（【「『,;，；、。：！？") + "぀-ヿ㐀-鿿가-힣"
BEGINS = rf"(?<![^\s{_BEFORE}])@"
"""Pattern of the `@` of a mention; Chinese, Japanese and Korean need no blank before it."""
_MENTION = re.compile(
    rf'{BEGINS}(?:"([^"\n]+)"|((?:\\[^\S\n]|[^\s"])(?:\\[^\S\n]|(?![,;，；、]@)\S)*))'
)
_SEARCHED = 100_000
"""Characters of a message that are searched for mentions."""
BEHIND = ".,;:!?)]}>'\"…。，；：！？、）】」』”’»"
"""Punctuation that may follow a path."""
_AFTER = re.compile(r"[)\]},;。，；：！？、）】」』”’»]")
"""Punctuation that may stand between a path and a text without a blank."""
_END = re.compile(r":-\d+\Z")
"""Behind the name of a file of which only the end was attached."""
_ESCAPED = re.compile(r"\\(.)")
_LONGEST_PASTE = 8_192


@dataclass(frozen=True, slots=True)
class Mention:
    start: int
    end: int
    """Start and end, in characters of the message, without punctuation that follows."""
    name: str
    """As written after the `@`, without quotes."""


def mentions_in(text: str) -> Iterator[Mention]:
    """Find what follows each `@`, whether or not a file exists, except in foreign text."""
    for match in islice(_MENTION.finditer(text[:_SEARCHED]), MOST_FILES):
        name, end = match[1] or match[2], match.end()
        if match[2]:
            end -= len(name) - len(name.rstrip(BEHIND))
        if FOREIGN not in name:
            yield Mention(match.start(), end, name)


def mentions_of(draft: Draft) -> tuple[str, ...]:
    """List the mentions that the user typed or completed."""
    return tuple(mention.name for mention in mentions_in(draft.typed))


def adopted(draft: Draft, names: Collection[str]) -> Draft:
    """Return a draft with some mentions, and what surrounds them, as if the user had typed them."""
    typed = draft.typed
    for mention in mentions_in(draft.text):
        if mention.name in names:
            start = max(0, mention.start - 1)
            end = max(mention.end, mention.start + 1 + len(mention.name))
            typed = typed[:start] + draft.text[start:end] + typed[end:]
    return Draft(draft.text, typed, draft.files)


def spellings(name: str) -> Iterator[str]:
    """Yield the paths that a mention may mean, the likeliest first: as written, then shortened."""
    cut = _AFTER.split(name, maxsplit=1)[0]
    for written in dict.fromkeys((name, name.rstrip(BEHIND), cut.rstrip(BEHIND))):
        if written:
            yield written
        if "\\" in written:
            yield _ESCAPED.sub(r"\1", written)


def is_named(name: str, file: Attachment) -> bool:
    """Whether a mention names a file, by its displayed name or its path; it may no longer exist."""
    with suppress(RuntimeError, ValueError):
        for spelling in spellings(name):
            path = composed(os.fspath(Path(spelling).expanduser()))
            names = (file.name, file.path, _END.sub("", file.name))
            if path in [composed(known) for known in names]:
                return True
    return False


def composed(name: str) -> str:
    """Return the form in which names are compared: some systems store accents separately."""
    return unicodedata.normalize("NFC", name)


def without_mentions(text: str) -> str:
    """Remove mentions from a message, leaving the text to search for."""
    return _MENTION.sub(" ", text)


def mention_of(path: str) -> str:
    r"""Write the mention of a path: `@notes.md`, `@"meeting notes.md"`, `@a\ "b".md`."""
    if '"' in path:
        return "@" + re.sub(r"(\s)", r"\\\1", path)
    return f'@"{path}"' if re.search(r"\s|\\\Z|[,;，；、]@", path) else f"@{path}"


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
    words: Iterable[str] = [pasted]
    if os.sep == "/":
        with suppress(ValueError, OSError):
            if not Path(pasted).is_file():
                words = shlex.split(pasted)
    for word in words:
        is_address = word.startswith("file://")
        yield Path(unquote(urlparse(word).path) if is_address else word.strip('"'))


PASTED = re.compile(r"clipboard-[\d-]{1,32}\.(?:png|jpg)")
"""The name of a picture pasted from the clipboard."""
_WILD = frozenset("*?[")
_LOOKED_AT = 10_000
"""Most entries of a folder that are examined."""
_EVERYTHING = "/!"
"""Behind a folder: with its ignored files."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a path, a folder or a pattern names."""

    name: str
    files: tuple[Path, ...] = ()
    links: tuple[Path, ...] = ()
    """Symbolic links that are left out."""
    ignored: int = 0
    """Number of files and folders that are left out because they are ignored."""
    folder: Path | None = None
    """The folder that the files are in, without symbolic links; None if there are no files, or if
    they are jitchat's own."""
    is_single: bool = False
    """Whether a file is named itself."""


def find_mention(name: str, current: Path) -> Named:
    """Find the files of a mention, trying its spellings; if it names nothing, there are none.

    Raises:
        FileRefused: There are more than `MOST_FILES`.

    """
    for spelling in spellings(name):
        if (named := _named_at(spelling, current)) is not None:
            return named
    return Named(name.rstrip(BEHIND))


def require_named(path: str, current: Path) -> Named:
    """Find the files of a path.

    Raises:
        FileRefused: There are none, or more than `MOST_FILES`.

    """
    named = _named_at(path, current) if path else None
    if named is None:
        raise FileRefused(f"There is no file at {one_line(path)}.", "Check the path.")
    return named


def _named_at(written: str, current: Path) -> Named | None:
    """Return what a path names; None if nothing is there, or if it is not a valid path."""
    with suppress(OSError, ValueError, RuntimeError):
        is_all = written.endswith(_EVERYTHING)
        relative = Path(written.removesuffix("!") if is_all else written).expanduser()
        path = _as_stored(Path(os.path.abspath(current / relative)))  # noqa: PTH100  keeps links
        if os.path.isdir(path):  # noqa: PTH112  a folder without permission is not an error
            rules = None if is_all else IgnoreRules(path, current)
            return _sorted_out(written, path, _entries_in(path, rules), rules)
        file, lines = parted(path)
        if os.path.lexists(path) or (lines and file.is_file()):
            return Named(written, (path,), folder=file.resolve().parent, is_single=True)
        if _WILD.intersection(path.name) and path.parent.is_dir():
            rules = IgnoreRules(path.parent, current)
            return _sorted_out(written, path.parent, _matches(path), rules)
        picture = pasted_folder() / written
        if is_pasted(picture) and picture.is_file():
            return Named(written, (picture,), is_single=True)
    return None


def pasted_folder() -> Path:
    """The folder of pictures from the clipboard."""
    return locate(os.environ).pasted


def is_pasted(path: Path) -> bool:
    return PASTED.fullmatch(path.name) is not None and path.parent == pasted_folder()


def _as_stored(path: Path) -> Path:
    """Return the path as the file system spells it, with composed or decomposed accents."""
    forms = (Path(unicodedata.normalize(form, os.fspath(path))) for form in ("NFC", "NFD"))
    return next((form for form in (path, *forms) if os.path.lexists(parted(form)[0])), path)


def _entries_in(folder: Path, rules: IgnoreRules | None) -> Iterator[Path]:
    """Yield the files of a folder and of those in it, and each link or folder not gone into."""
    with suppress(PermissionError):
        for path in sorted(folder.iterdir()):
            if path.name.startswith("."):
                continue
            is_left_out = path.is_symlink() or (rules is not None and rules.ignores(path))
            if path.is_dir() and not is_left_out:
                yield from _entries_in(path, rules)
            else:
                yield path


def _matches(pattern: Path) -> Iterator[Path]:
    """Yield the files that match a pattern, in which `*` does not match a first dot."""
    wanted = composed(pattern.name)
    for path in sorted(pattern.parent.iterdir()):
        is_shown = wanted.startswith(".") or not path.name.startswith(".")
        if is_shown and fnmatchcase(composed(path.name), wanted) and not path.is_dir():
            yield path


def _sorted_out(
    name: str, folder: Path, entries: Iterable[Path], rules: IgnoreRules | None
) -> Named | None:
    """Sort entries into files, links and ignored ones; None if there are no entries."""
    files = list[Path]()
    links = list[Path]()
    number = 0
    for number, path in enumerate(entries, start=1):
        if path.is_symlink():
            links.append(path)
        elif rules is None or not rules.ignores(path):
            files.append(path)
        if len(files) > MOST_FILES or number > _LOOKED_AT:
            limit = MOST_FILES if len(files) > MOST_FILES else _LOOKED_AT
            what = f"{one_line(name)} names more than {limit:,} files."
            raise FileRefused(what, "Attach fewer files at once.")
    ignored = number - len(files) - len(links)
    named = Named(name, tuple(files), tuple(links), ignored, folder.resolve())
    return named if number else None


def folder_to_ask(named: Named, current: Path) -> Path | None:
    """Return the folder of hidden files or of files outside the current folder; None for others."""
    folder = named.folder
    if folder is None:
        return None
    try:
        inside = folder.relative_to(current.resolve()).parts
    except ValueError:
        return folder
    files = (parted(path)[0] for path in named.files)
    names = [path.resolve().name if named.is_single else path.name for path in files]
    is_hidden = any(part.startswith(".") for part in (*inside, *names))
    return folder if is_hidden else None


def attach(named: Iterable[Named], current: Path) -> tuple[Attachment, ...]:
    """Read files, each once.

    Files of a pattern or folder that cannot be attached are skipped if at least one can.

    Raises:
        FileRefused: A named file cannot be attached, or there are too many.

    """
    attached: dict[Path, Attachment] = {}
    for group in named:
        readable, refused = _read(group.files, current)
        if refused and not readable:
            raise refused[-1]
        attached |= readable
    if len(attached) > MOST_FILES:
        what = f"The message names {len(attached)} files; at most {MOST_FILES} are attached."
        raise FileRefused(what, "Send some of them with another message.")
    return tuple(attached.values())


def _read(files: Sequence[Path], current: Path) -> tuple[dict[Path, Attachment], list[FileRefused]]:
    readable, refused = dict[Path, Attachment](), list[FileRefused]()
    for path in files:
        try:
            readable[path] = load(path, shown_name(path, current))
        except FileRefused as error:
            refused.append(error)
    return readable, refused


def left_out(named: Iterable[Named], current: Path) -> str:
    """Say which mentions name nothing, and what folders and patterns leave out; usually empty."""
    notes = list[str]()
    for group in named:
        if not (group.files or group.links or group.ignored):
            notes.append(f"no file at @{one_line(group.name)}")
        if group.links:
            notes.append(f"symbolic link, not attached: {_names(group.links, current)}")
        if group.ignored:
            is_folder = not _WILD.intersection(group.name)
            advice = f": @{one_line(group.name.rstrip('/'))}/! attaches all" if is_folder else ""
            notes.append(f"{plural(group.ignored, 'ignored file')} left out{advice}")
        is_extracted = group.is_single and group.name.lower().endswith(EXTRACTED)
        readable = {} if is_extracted else _read(group.files, current)[0]
        for path, file in readable.items():
            if file.path != os.fspath(path):
                notes.append(f"too large, so only its end is attached: {one_line(file.name)}")
        if refused := [path for path in group.files if readable and path not in readable]:
            notes.append(f"not attached: {_names(refused, current)}; attach one by name to see why")
    return " · ".join(notes)


def _names(paths: Sequence[Path], current: Path) -> str:
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"{one_line(shown_name(paths[0], current))}{more}"


def shown_name(path: Path, current: Path) -> str:
    """Return a file's path relative to a folder, or only its name if it is elsewhere."""
    if is_pasted(path):
        return path.name
    with suppress(ValueError, OSError):
        return path.absolute().relative_to(current.absolute()).as_posix()
    return path.name


def paths_beginning(typed: str, current: Path, most: int) -> list[str]:
    """List the paths that complete the text after `@`; folders end in `/`.

    Hidden files are listed only after a typed dot, ignored ones never. An unreadable folder has no
    completions.
    """
    ahead, slash, begin = typed.rpartition("/")
    paths = list[str]()
    with suppress(OSError, RuntimeError, ValueError):
        folder = _as_stored(current / Path(f"{ahead}{slash}").expanduser()).resolve()
        rules = IgnoreRules(folder, current.resolve())
        for path in islice(folder.iterdir(), _LOOKED_AT):
            is_shown = begin.startswith(".") or not path.name.startswith(".")
            is_begun = is_shown and fold(path.name).startswith(fold(begin))
            if is_begun and not rules.ignores(path):
                paths.append(f"{ahead}{slash}{path.name}{'/' if path.is_dir() else ''}")
    return sorted(paths)[:most]
