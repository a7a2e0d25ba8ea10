"""One provider as it is configured: its preset, the user's table for it, and `[provider]`.

`[provider]` counts for the one provider that is in use, and for no other. A profile holds no
key but the one that the configuration spells out; `jitchat.settings.keys` finds the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jitchat.providers.catalogue.presets import PRESETS
from jitchat.providers.provider import Options
from jitchat.settings.addresses import is_loopback, parts_of
from jitchat.settings.rules import Secret
from jitchat.settings.sections import NamedModel

if TYPE_CHECKING:
    from jitchat.providers.protocol import Endpoint

CHOSEN = "chosen in the app"
"""The origin of a provider and a model that nobody configured."""
MOST_RESERVED = 2_048
"""Tokens kept free for the reply where nobody says how many; a quarter of a small limit."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Who may answer."""

    name: str
    title: str
    """As the provider calls itself; its name, for one of the user's own."""
    protocol: str
    """openai, anthropic, gemini or ollama; `reader` for the embedded one."""
    base_url: str = ""
    """Without a slash at its end."""
    model: str = ""
    """The one that answers where no other is named; empty where none is."""
    api_key: Secret = field(default=Secret(), repr=False)
    """As the configuration has it; see `find_key` for every other source."""
    api_key_cmd: str = field(default="", repr=False)
    """A command that prints the key; it may hold a secret, too."""
    key_variables: tuple[str, ...] = ()
    """The environment variables that may hold the key, in the order in which they are looked at."""
    headers: Mapping[str, Secret] = field(default_factory=dict, repr=False)
    reserve: int | None = None
    """In tokens; None: as `reserve_of` has it."""
    sampling: Options = field(default_factory=Options)
    """What goes along with the messages."""
    connect_seconds: float = 5.0
    read_seconds: float = 600.0
    wants_key: bool = False
    """Whether it is known to answer nobody without a key."""
    names_key: bool = False
    """Whether the user names the variable that holds its key: one that is not set is a mistake."""
    is_local: bool = False
    """Whether it is a server on this machine."""
    in_use: bool = False
    """Whether it is the one that answers, so that `[provider]` counts for it."""
    configured: bool = False
    """Whether the user names it in a file, a variable or a flag."""
    limits: tuple[tuple[str, int], ...] = ()
    """What the user said of context sizes, best first: (model or empty for any, tokens)."""
    models: Mapping[str, NamedModel] = field(default_factory=dict)
    """What the user knows of its models, by their own names."""
    origin: str = "default"
    """What configures it: a file, a variable or a flag."""

    @property
    def is_reader(self) -> bool:
        """Whether it is the embedded one, which has no server and no key."""
        return self.protocol == "reader"

    @property
    def is_local_preset(self) -> bool:
        """Whether it is Ollama or another server that is looked for on this machine, and there.

        What it answers costs nothing. Whatever else listens here may pass a request on to
        somebody who charges for it.
        """
        preset = PRESETS.get(self.name)
        return self.is_local and preset is not None and preset.is_local

    @property
    def limit(self) -> int | None:
        """The context size that the user set for its model; None where there is none."""
        return self.limit_of(self.model)

    def limit_of(self, model: str) -> int | None:
        """Say what the user set as the context size of `model`, if anything."""
        return next((tokens for name, tokens in self.limits if name in ("", model)), None)

    def reserve_of(self, limit: int) -> int:
        """Say how many tokens of `limit` are kept free for the reply.

        Where nobody says: for the longest answer that is asked for, up to half of the limit.
        """
        if self.reserve is not None:
            return self.reserve
        longest = min(self.sampling.max_tokens or 0, limit // 2)
        return max(longest, min(MOST_RESERVED, limit // 4))

    def facts_of(self, model: str) -> NamedModel:
        """Say what the user knows of `model`."""
        return self.models.get(model) or NamedModel()

    def endpoint(self, model: str, key: str, renew: Callable[[str], str] | None = None) -> Endpoint:
        """Say where `model` is served, and with which key; `renew` is as `FoundKey` has it."""
        from jitchat.providers.protocol import Endpoint  # noqa: PLC0415  the reader needs none

        return Endpoint(
            name=self.name,
            base_url=self.base_url,
            model=model,
            key=key,
            renew=renew,
            headers=self.headers,
            key_help=self.key_help,
            key_variable=next(iter(self.key_variables), ""),
            wants_key=self.names_key or (self.wants_key and not self.headers),
            connect_seconds=self.connect_seconds,
            read_seconds=self.read_seconds,
        )

    @property
    def requires_key(self) -> bool:
        """Whether nothing is to be sent to it without a key."""
        return self.wants_key or self.names_key

    @property
    def key_help(self) -> str:
        """What to do where its key is missing or refused, as a sentence."""
        stored = f"`jitchat keys set {self.name}`"
        if self.api_key_cmd:
            return f"Check what api_key_cmd of {self.name} prints, or run {stored}."
        if self.key_variables:
            return f"Set {self.key_variables[0]}, or run {stored}."
        return f"Run {stored}."

    @property
    def exposes_key(self) -> str:
        """The host that a key would reach unencrypted; empty where none would."""
        parts = parts_of(self.base_url)
        open_way = parts is not None and parts.scheme == "http" and not is_loopback(self.base_url)
        return (parts.hostname or "") if parts is not None and open_way else ""
