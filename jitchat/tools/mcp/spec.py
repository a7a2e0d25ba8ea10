"""How a server is started or reached: as configured, and with its variables filled in."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, unquote, urlsplit

from jitchat.errors import JitchatError, SettingsError
from jitchat.text.variables import expanded

_KEY = re.compile(r"key|token|secret|signature|passw|auth|cookie|credential", re.IGNORECASE)
_SHORTEST_SECRET = 8
"""Minimum characters of a secret; a shorter value could be an ordinary word."""
BLOT = "•••"


class ServerFailed(JitchatError):
    """A tool server cannot be started or reached, or failed to do what was requested."""


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """The specification of a server: a local one has a command, a remote one a URL."""

    name: str
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 30.0
    """Maximum seconds for the start."""
    enabled: bool = True

    @property
    def launch(self) -> str:
        """A digest of how the server is started or reached; if it differs, the server does."""
        parts = (self.command, self.args, self.cwd, self.url)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def expanded(self, environ: Mapping[str, str]) -> "ServerSpec":
        """Fill in `${NAME}` and `${NAME:-default}`. Raises SettingsError if NAME is not set."""

        def fill(text: str, where: str) -> str:
            try:
                return expanded(text, environ)
            except LookupError as missing:
                name = missing.args[0]
            raise SettingsError(
                f"mcp.{self.name}.{where} needs ${name}, which is not set.",
                f"Set it, or write ${{{name}:-default}} there.",
            )

        return replace(
            self,
            command=fill(self.command, "command"),
            args=tuple(fill(text, "args") for text in self.args),
            env={name: fill(text, f"env.{name}") for name, text in self.env.items()},
            cwd=fill(self.cwd, "cwd"),
            url=fill(self.url, "url"),
            headers={name: fill(text, f"headers.{name}") for name, text in self.headers.items()},
        )

    def secrets(self) -> tuple[str, ...]:
        """List the texts that no message may repeat, longest first; `self` must be expanded."""
        return _longest_first({value for _, value in self._values()})

    def keys(self) -> tuple[str, ...]:
        """List the secrets that are keys by their name, which no result may repeat either."""
        return _longest_first({value for name, value in self._values() if _KEY.search(name)})

    def _values(self) -> Iterator[tuple[str, str]]:
        """Yield (name, value) from variables, headers and their words, and the URL."""
        yield from self.env.items()
        for name, value in self.headers.items():
            yield name, value
            yield from ((name, word) for word in value.split())
        parts = urlsplit(self.url)
        login, at, _ = parts.netloc.rpartition("@")
        if at:
            yield "password", login
            yield "password", unquote(login.partition(":")[2])
        for name, value in parse_qsl(parts.query):
            yield name, value


def _longest_first(texts: set[str]) -> tuple[str, ...]:
    return tuple(sorted((s for s in texts if len(s) >= _SHORTEST_SECRET), key=len, reverse=True))


def without(secrets: tuple[str, ...], text: str) -> str:
    """Mask the secrets in a text that a server wrote."""
    for secret in secrets:
        text = text.replace(secret, BLOT)
    return text
