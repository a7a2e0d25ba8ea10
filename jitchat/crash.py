"""Crash reports: what failed and where, without the user's texts and without keys.

A report has no local variables or arguments, and no error messages, because these may quote data:
only the error's type, its codes, and the stack frames as file, line and function.
"""

import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path

from jitchat.paths import make_private

_LOOKS_LIKE_A_KEY = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|key|tok)[-_][\w-]{8,}|\bAIza[\w-]{10,}|(?i:bearer)\s+\S+"
    r"|(?i:x-api-key|api[-_]?key|authorization)\W{1,4}\S+"
)
_HOLDS_A_KEY = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
"""Suffixes of the names of environment variables whose values are secret."""
_SHORTEST_KEY = 8
"""Minimum characters of a secret; a shorter value may be an ordinary word in any text."""
_MOST_FRAMES = 40
_MOST_LINES = 400
_remembered: set[str] = set()


def remember_secret(secret: str) -> None:
    """Redact the secret in every later report of this process.

    A short one is ignored: it is a placeholder for servers that accept any key (`none`, `local`).
    """
    if len(secret) >= _SHORTEST_KEY:
        _remembered.add(str(secret))


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """Return the text with known secrets, and anything that looks like one, replaced."""
    for secret in sorted({*secrets, *_known_secrets()}, key=len, reverse=True):
        if len(secret) > 3:
            text = text.replace(secret, "•••")
    return _LOOKS_LIKE_A_KEY.sub("•••", text)


def holds_secret(text: str, secrets: Iterable[str] = ()) -> bool:
    known = {*secrets, *_known_secrets()}
    return any(secret in text for secret in known if len(secret) >= _SHORTEST_KEY)


def _known_secrets() -> Iterator[str]:
    """Yield the secrets that this process found, and those in its environment."""
    yield from tuple(_remembered)
    for name, value in os.environ.items():
        if name.endswith(_HOLDS_A_KEY) and len(value) >= _SHORTEST_KEY:
            yield value.strip()


def crash_report(error: BaseException, version: str, secrets: Iterable[str] = ()) -> str:
    python = ".".join(str(part) for part in sys.version_info[:3])
    lines = [f"jitchat {version}, Python {python}, {sys.platform}", *_described(error, set())]
    return redacted("\n".join(lines[:_MOST_LINES]), secrets) + "\n"


def write_crash(path: Path, report: str) -> bool:
    """Write the report to a file that only the user can read; return whether that worked."""
    try:
        make_private(path.parent)
        path.unlink(missing_ok=True)  # its permissions may be wider, or it may be a link
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(report)
    except OSError:
        return False
    return True


def _described(error: BaseException, seen: set[int]) -> Iterator[str]:
    """Yield the lines for the error, the members of a group, and its causes."""
    seen.add(id(error))
    yield f"{type(error).__name__}{_codes(error)}"
    yield from _frames(error)
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    context = None if error.__suppress_context__ else error.__context__
    for word, link in [
        *(("with", member) for member in inner),
        ("after", error.__cause__ or context),
    ]:
        if link is not None and id(link) not in seen and len(seen) < _MOST_FRAMES:
            yield word
            yield from _described(link, seen)


def _codes(error: BaseException) -> str:
    """Return the error's codes, which come from a library and never from the user."""
    found = {
        "errno": error.errno if isinstance(error, OSError) else None,
        "sqlite": getattr(error, "sqlite_errorname", None),
        "module": error.name if isinstance(error, ImportError) else None,
    }
    codes = [f"{name} {value}" for name, value in found.items() if value is not None]
    return f" ({', '.join(codes)})" if codes else ""


def _frames(error: BaseException) -> list[str]:
    walked = list(traceback.walk_tb(error.__traceback__))
    lines = [f"  {_short(f.f_code.co_filename)}:{at} in {f.f_code.co_qualname}" for f, at in walked]
    if len(lines) <= _MOST_FRAMES:
        return lines
    half = _MOST_FRAMES // 2
    return [*lines[:half], f"  … {len(lines) - 2 * half} more", *lines[-half:]]


def place_of(path: Path, report: str) -> str:
    """Write the report; return a sentence on where it is, or nothing if writing failed."""
    written = write_crash(path, report)
    return f" A report without your texts and keys is in {path}." if written else ""


def _short(filename: str) -> str:
    """Return a source file's path without the folders that identify the machine."""
    path = Path(filename)
    for base, shown in ((Path(__file__).parent, "jitchat/"), (Path(os.__file__).parent, "")):
        if path.is_relative_to(base):
            return f"{shown}{path.relative_to(base).as_posix()}"
    _, of_library, inside = path.as_posix().rpartition("/site-packages/")
    return inside if of_library else path.name
