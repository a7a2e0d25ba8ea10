"""The report of a defect: what failed and where, without anybody's text and without keys.

Neither locals nor arguments, and not the error's own words either, for these quote what they
stumbled over: only its type, the codes that it carries, and frames as file, line and function.
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
"""How the names of variables end that no report may quote."""
_SHORTEST_KEY = 8
"""Characters. A shorter value of such a variable is a word that may stand anywhere."""
_MOST_FRAMES = 40
_MOST_LINES = 400
_remembered: set[str] = set()


def remember_secret(secret: str) -> None:
    """Blot it out of every report that this process writes from now on.

    A short one is what servers are given that want any key at all (`none`, `local`).
    """
    if len(secret) >= _SHORTEST_KEY:
        _remembered.add(str(secret))


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without the secrets that are known and without what looks like one."""
    for secret in sorted({*secrets, *_known_secrets()}, key=len, reverse=True):
        if len(secret) > 3:
            text = text.replace(secret, "•••")
    return _LOOKS_LIKE_A_KEY.sub("•••", text)


def holds_secret(text: str, secrets: Iterable[str] = ()) -> bool:
    known = {*secrets, *_known_secrets()}
    return any(secret in text for secret in known if len(secret) >= _SHORTEST_KEY)


def _known_secrets() -> Iterator[str]:
    """List what was found in this process, and what its environment holds."""
    yield from tuple(_remembered)
    for name, value in os.environ.items():
        if name.endswith(_HOLDS_A_KEY) and len(value) >= _SHORTEST_KEY:
            yield value.strip()


def crash_report(error: BaseException, version: str, secrets: Iterable[str] = ()) -> str:
    python = ".".join(str(part) for part in sys.version_info[:3])
    lines = [f"jitchat {version}, Python {python}, {sys.platform}", *_described(error, set())]
    return redacted("\n".join(lines[:_MOST_LINES]), secrets) + "\n"


def write_crash(path: Path, report: str) -> bool:
    """Leave the report in a file that only the user can read; whether that worked."""
    try:
        make_private(path.parent)
        path.unlink(missing_ok=True)  # its rights may be wider, or it may be a link
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(report)
    except OSError:
        return False
    return True


def _described(error: BaseException, seen: set[int]) -> Iterator[str]:
    """Lines on the error, on the members of a group, and on what it came from."""
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
    """Tell the numbers and names that a library gave the error; nothing that a user wrote."""
    found = {
        "errno": error.errno if isinstance(error, OSError) else None,
        "sqlite": getattr(error, "sqlite_errorname", None),
        "module": error.name if isinstance(error, ImportError) else None,
    }
    told = [f"{name} {value}" for name, value in found.items() if value is not None]
    return f" ({', '.join(told)})" if told else ""


def _frames(error: BaseException) -> list[str]:
    walked = list(traceback.walk_tb(error.__traceback__))
    lines = [f"  {_short(f.f_code.co_filename)}:{at} in {f.f_code.co_qualname}" for f, at in walked]
    if len(lines) <= _MOST_FRAMES:
        return lines
    half = _MOST_FRAMES // 2
    return [*lines[:half], f"  … {len(lines) - 2 * half} more", *lines[-half:]]


def place_of(path: Path, report: str) -> str:
    """Write the report; a sentence on where it is, or nothing where that did not work."""
    written = write_crash(path, report)
    return f" A report without your texts and keys is in {path}." if written else ""


def _short(filename: str) -> str:
    """Name the module of a path, and not whose machine it is on."""
    path = Path(filename)
    for base, shown in ((Path(__file__).parent, "jitchat/"), (Path(os.__file__).parent, "")):
        if path.is_relative_to(base):
            return f"{shown}{path.relative_to(base).as_posix()}"
    _, of_library, inside = path.as_posix().rpartition("/site-packages/")
    return inside if of_library else path.name
