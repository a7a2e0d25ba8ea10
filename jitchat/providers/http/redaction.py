"""Secrets are blotted out of what a server says, however it writes them.

A server may repeat a key whole or cut, in capitals or small letters, or with its characters
percent-encoded: any eight characters of it in a row are taken for it.
"""

import copy
import re
from itertools import groupby
from operator import itemgetter
from urllib.parse import parse_qsl, unquote

from jitchat.errors import ProviderError
from jitchat.providers.protocols.registry import query_of
from jitchat.providers.provider import Endpoint

_RUN = 8
BLOT = "•••"
"""What stands in the place of a secret."""
OPEN = frozenset({"http-referer", "referer", "origin", "user-agent", "x-title"})
"""Headers that say who asks; what servers say of themselves may well have words in common."""
_SECRET = re.compile(r"key|token|secret|signature|password|^(?:sig|code)$", re.IGNORECASE)
"""Names of what may be a key in an address's query."""
_CHARACTERS = re.compile(r"%[0-9a-f]{2}|.", re.IGNORECASE | re.DOTALL)


def without_secrets(error: ProviderError, endpoint: Endpoint) -> ProviderError:
    """Make the error anew, alone and without what it repeats of the endpoint's secrets."""
    made = copy.copy(error)
    made.what, made.remedy = (blotted(text, endpoint) for text in (error.what, error.remedy))
    made.args = (made.what,)
    return made


def blotted(text: str, endpoint: Endpoint) -> str:
    """Blot out eight characters or more in a row of a secret, and each short one as a word."""
    for secret in _secrets(endpoint):
        if len(secret) >= _RUN:
            text = _without_runs(text, secret.lower())
        elif secret:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", BLOT, text, flags=re.IGNORECASE)
    return text


def _secrets(endpoint: Endpoint) -> tuple[str, ...]:
    """List what must not be shown: the key, what the address has of one, and long headers."""
    login, at, _ = endpoint.base_url.rpartition("@")
    password = unquote(login.rpartition(":")[2]) if at else ""
    headers = (
        value
        for name, value in endpoint.headers.items()
        if len(value) >= _RUN and name.lower() not in OPEN
    )
    queried = (
        value for name, value in parse_qsl(query_of(endpoint.base_url)) if _SECRET.search(name)
    )
    return tuple(filter(None, (endpoint.key, password, *headers, *queried)))


def _without_runs(text: str, secret: str) -> str:
    runs = {secret[start : start + _RUN] for start in range(len(secret) - _RUN + 1)}
    written = _CHARACTERS.findall(text)
    read = [unquote(character).lower()[:1] for character in written]
    plain = "".join(read)
    hidden = [False] * len(read)
    for start in range(len(plain) - _RUN + 1):
        if plain[start : start + _RUN] in runs:
            hidden[start : start + _RUN] = [True] * _RUN
    runs_of_either = groupby(zip(hidden, written, strict=True), key=itemgetter(0))
    return "".join(
        BLOT if is_hidden else "".join(character for _, character in run)
        for is_hidden, run in runs_of_either
    )
