"""The names under which servers' tools are offered, valid in every protocol. Pure."""

import hashlib
import re
from collections.abc import Iterable, Iterator

from jitchat.tools.approvals import BETWEEN

_LONGEST = 64
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_DIGITS = 6
"""Minimum digits of the digest that distinguishes names which would be the same."""


def offered_names(server: str, names: Iterable[str]) -> dict[str, str]:
    """Map each name of a server's tools to the offered name, `server__tool`.

    A name that had to be changed, for its characters or length, ends with a digest of the
    original: the same in every run, in whatever order the tools are listed.
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
    """Yield the possible names of a tool, the best first."""
    whole = f"{server}{BETWEEN}{name}"
    if _fits(server, name):
        yield whole
        return
    plain = _FOREIGN.sub("_", whole)
    digest = hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()
    for digits in range(_DIGITS, len(digest) // 2):
        yield f"{plain[: _LONGEST - digits - 1]}_{digest[:digits]}"
