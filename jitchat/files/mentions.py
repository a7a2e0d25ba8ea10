r"""File mentions in messages, and the paths that terminals paste for dropped files.

`@notes.md`, `@"meeting notes.md"`, `@my\ notes.md`, `@src/*.py` and `@src/` name files, also in
brackets or quotes and before punctuation. Nothing here looks at a file; `files/named.py` does.
"""

import os
import re
import shlex
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from urllib.parse import unquote, urlparse

from jitchat.attachments import Attachment
from jitchat.draft import FOREIGN, Draft

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
            if path in (composed(file.name), composed(file.path)):
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
