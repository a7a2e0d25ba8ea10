"""The names under which tools of servers are offered: what every protocol takes. Pure."""

import hashlib
import re
from collections.abc import Iterable, Iterator

from jitchat.tools.approvals import BETWEEN

_LONGEST = 64
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_DIGITS = 6
"""Of a digest, which tells names apart that would be the same."""


def offered_names(server: str, names: Iterable[str]) -> dict[str, str]:
    """Give each tool of a server its name, `server__tool`, by the name that it has there.

    A name that had to be changed, by its characters or its length, ends with a digest of what it
    was: the same from run to run, in whatever order the tools are listed.
    """
    wanted = sorted(set(names), key=lambda name: (not _fits(server, name), name))
    given: dict[str, str] = {}
    for name in wanted:
        taken = given.values()
        given[name] = next(each for each in _candidates(server, name) if each not in taken)
    return given


def _fits(server: str, name: str) -> bool:
    whole = f"{server}{BETWEEN}{name}"
    return bool(name) and len(whole) <= _LONGEST and not _FOREIGN.search(whole)


def _candidates(server: str, name: str) -> Iterator[str]:
    """List what a tool may be called, the best first."""
    whole = f"{server}{BETWEEN}{name}"
    if _fits(server, name):
        yield whole
        return
    plain = _FOREIGN.sub("_", whole)
    digest = hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()
    for digits in range(_DIGITS, len(digest) // 2):
        yield f"{plain[: _LONGEST - digits - 1]}_{digest[:digits]}"
