"""Which values of a server's definition are secrets, and masking them in what the server writes.

Only the standard library is used, because the guard beside each server loads this file.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit

BLOT = "•••"
_SHORTEST = 8
"""Minimum characters of a secret; a shorter value could be part of ordinary text."""
_KEY = re.compile(
    r"key|token|secret|signature|passw|passphrase|auth(?!ors?\b)|cookie|credential|header"
    r"|(?<![a-z])(?:pat|pin|pwd|pass|jwt|dsn|sas|sig)(?![a-z])",
    re.IGNORECASE,
)
"""Matches the names of variables, flags, headers and parameters that hold a secret."""
_ASSIGNMENT = re.compile(r"-{0,2}(\w[\w.-]*)\s*[=:]\s*(.+)", re.DOTALL)
_URL = re.compile(r"(?<=:)//[^\s\"'<>]+")
"""A URL without its scheme."""
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\]")
_RUN = re.compile(r"[A-Za-z\d+]{16,}")
"""With digits and capitals, it is not the name of a folder."""
_WORDS = re.compile(
    r"(?:[A-Z]?[a-z]{1,15}(?:[-_./ ][A-Z]?[a-z]{1,15})?|[A-Z]{1,15}(?:[-_./ ][A-Z]{1,15})?)"
)
"""One or two ordinary words: `production`, `read-only`, `application/json`."""


class Value(NamedTuple):
    """A value of a server's definition."""

    name: str
    """Of the variable, the header or the preceding flag; empty if there is none."""
    text: str
    """With its variables filled in."""
    variables: tuple[str, ...] = ()
    """The values of the variables in it."""


def secrets_of(values: Iterable[Value]) -> tuple[str, ...]:
    """List the secrets among the values, in each form in which a server may write them."""
    listed = {
        form for value in values for secret in _candidates(value) for form in _forms(secret.strip())
    }
    return tuple(sorted(listed, key=lambda secret: (-len(secret), secret)))


def _candidates(value: Value) -> Iterator[str]:
    yield from value.variables
    yield from _under_name(value.name, value.text)
    assignment = _ASSIGNMENT.fullmatch(value.text)
    if assignment is not None:
        yield from _under_name(assignment[1], assignment[2])
    for url in _URL.findall(value.text):
        with suppress(ValueError):
            yield from _in_url(url)


def _under_name(name: str, text: str) -> Iterator[str]:
    if _KEY.search(name):
        yield text
        for word in text.split():
            yield from (word.strip(",;"), word.strip(",;").partition("=")[2])


def _in_url(url: str) -> Iterator[str]:
    """Yield the password of a URL, or a user without one, and the key-like parameters."""
    parts = urlsplit(url)
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    yield password or user
    yield from (text for name, text in parse_qsl(parts.query) if _KEY.search(name))


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret as it is, in a URL, in JSON, and by lines, unless it is an ordinary text."""
    for text in {secret, unquote(secret), *secret.splitlines()}:
        if len(text) >= _SHORTEST and not _is_ordinary(text):
            yield from (text, quote(text, safe=""), json.dumps(text)[1:-1])
            yield json.dumps(text, ensure_ascii=False)[1:-1]


def _is_ordinary(text: str) -> bool:
    """Whether a text is one or two words, or a path; base64 text can begin with a slash, too."""
    if _PATH.match(text) is None:
        return _WORDS.fullmatch(text) is not None
    return all(run.islower() or run.isalpha() for run in _RUN.findall(text))


def without(secrets: tuple[str, ...], text: str) -> str:
    """Mask the secrets in a text that a server wrote."""
    for secret in secrets:  # the longest first
        text = text.replace(secret, BLOT)
    return text
