"""How a server is started or reached: as configured, and with its variables filled in."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from jitchat.errors import JitchatError, SettingsError
from jitchat.text.variables import expanded, variables_in
from jitchat.tools.mcp.secrets import Value, secrets_of


class ServerFailed(JitchatError):
    """A tool server cannot be started or reached, or failed to do what was requested."""


class SessionEnded(ServerFailed):
    """The server does not know the session any more; it did nothing."""


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
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """The texts that nothing may repeat; known once the variables are filled in."""

    @property
    def launch(self) -> tuple[tuple[str, str], ...]:
        """(name, text) of everything that starts or reaches the server."""
        fields = (("command", self.command), ("cwd", self.cwd), ("url", self.url))
        numbered = ((f"args.{number}", text) for number, text in enumerate(self.args, 1))
        env = ((f"env.{name}", text) for name, text in self.env.items())
        headers = ((f"headers.{name}", text) for name, text in self.headers.items())
        return (*fields, *numbered, *env, *headers)

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

        filled = replace(
            self,
            command=fill(self.command, "command"),
            args=tuple(fill(text, "args") for text in self.args),
            env={name: fill(text, f"env.{name}") for name, text in self.env.items()},
            cwd=fill(self.cwd, "cwd"),
            url=fill(self.url, "url"),
            headers={name: fill(text, f"headers.{name}") for name, text in self.headers.items()},
        )
        return replace(filled, secrets=secrets_of(_values(self, filled, environ)))


def _values(written: ServerSpec, filled: ServerSpec, environ: Mapping[str, str]) -> Iterator[Value]:
    """Yield the values of a definition; the name of an argument is the flag before it."""
    flag = ""
    for (name, text), (_, value) in zip(written.launch, filled.launch, strict=True):
        variables = tuple(environ.get(variable, "") for variable in variables_in(text))
        yield Value(flag if name.startswith("args.") else name, value, variables)
        flag = value if value.startswith("-") and "=" not in value else ""
