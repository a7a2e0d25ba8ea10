"""How a server is started or reached, as it is configured, and with its variables filled in."""

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
"""Characters; a shorter value is a word, which may stand anywhere."""
BLOT = "•••"


class ServerFailed(JitchatError):
    """A server of tools cannot be started or reached, or does not do what it was asked."""


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """A server by its name: one that runs here has a command, one that is reached has a url."""

    name: str
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 30.0
    """Seconds that starting it may take."""
    enabled: bool = True

    @property
    def launch(self) -> str:
        """A digest of how it is started or reached: another one is another server."""
        parts = (self.command, self.args, self.cwd, self.url)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def expanded(self, environ: Mapping[str, str]) -> "ServerSpec":
        """Fill in `${NAME}` and `${NAME:-default}`; SettingsError for one that is not set."""

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
        """List what no message may repeat, of a specification that is expanded; longest first."""
        return _longest_first({value for _, value in self._values()})

    def keys(self) -> tuple[str, ...]:
        """List those of them whose name says that they are keys: no result may repeat these."""
        return _longest_first({value for name, value in self._values() if _KEY.search(name)})

    def _values(self) -> Iterator[tuple[str, str]]:
        """(name, value) of variables, of headers and their words, of the address's login, query."""
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
    """Blot secrets out of a text that a server wrote."""
    for secret in secrets:
        text = text.replace(secret, BLOT)
    return text
