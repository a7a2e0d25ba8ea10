"""What there is to choose from, as a list of models shows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from jitchat.providers.catalogue.model import ModelInfo
from jitchat.providers.catalogue.presets import PRESETS


class State(StrEnum):
    """Whether a provider can answer now."""

    READY = "ready"
    """Its key is there, or it needs none."""
    RUNNING = "running here"
    NOT_RUNNING = "not running"
    NOT_LOOKED = "not looked for"
    """A server of this machine, before anybody looked."""
    NEEDS_KEY = "needs key"


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    """A provider and its models."""

    name: str
    title: str
    state: State
    note: str
    """Where its key is from, or what to do to use it, as a sentence; empty for nothing to say."""
    models: tuple[ModelInfo, ...]
    """Those that it listed, and those that the user configured, which come first."""
    fetched_at: datetime | None
    """When it listed them, for a list that was kept; None where none was, or it is of now."""
    has_key: bool = False
    """Whether a key was found for it, wherever."""
    key_variable: str = ""
    """The environment variable that may hold its key; empty where none is known."""

    @property
    def is_usable(self) -> bool:
        """Whether choosing it makes sense now."""
        return self.state in (State.READY, State.RUNNING)

    @property
    def is_paid(self) -> bool:
        """Whether somebody may charge for it: no preset that answers on this machine does."""
        preset = PRESETS.get(self.name)
        return preset is None or bool(preset.key_variables)

    def matching(self, *words: str) -> tuple[ModelInfo, ...]:
        """Find the models in whose names every word occurs, in capitals or not."""
        wanted = [word.casefold() for word in words]
        return tuple(
            each for each in self.models if all(word in each.name.casefold() for word in wanted)
        )
