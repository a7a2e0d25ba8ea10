"""Every provider with its state and its models: for `jitchat models`, and for the screen.

Nothing is asked for here without being told to, but `running`, which looks at this machine only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.cli.answerers import keyed_endpoint
from jitchat.providers.catalogue.models import (
    LocalServer,
    ModelInfo,
    ProviderChoice,
    State,
    model_from,
)
from jitchat.providers.catalogue.table import PRESETS, READER_LIMIT, Prices, known_as
from jitchat.settings import Settings
from jitchat.settings.keys import find_key, key_sources
from jitchat.settings.profiles import Profile, same_server
from jitchat.store.database import Database
from jitchat.store.models import ModelLists, server_of
from jitchat.values import BY_USER, OWN, Limit

if TYPE_CHECKING:
    from jitchat.providers.catalogue.models import LocalServer

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class ModelChoices:
    """What the settings, the kept lists and this machine have to offer."""

    settings: Settings
    environ: Mapping[str, str]
    keys_file: Path
    lists: ModelLists
    transport: httpx.AsyncBaseTransport | None = None

    def all(self, running: Sequence[LocalServer] | None = None) -> tuple[ProviderChoice, ...]:
        """List every provider; `running` is None where nobody looked yet. A thread's work.

        Raises:
            SettingsError: The keys file cannot be read.
            StoreError: The kept lists cannot be read.

        """
        return self._told(self.settings.profiles(), running)

    def one(self, name: str, running: Sequence[LocalServer] | None = None) -> ProviderChoice:
        """Tell of one provider; raises what `all` raises."""
        return self._told([self.settings.profile(name)], running)[0]

    def _told(
        self, profiles: Sequence[Profile], running: Sequence[LocalServer] | None
    ) -> tuple[ProviderChoice, ...]:
        sources = key_sources(profiles, self.environ, self.keys_file)
        return tuple(self._choice(each, running, sources[each.name]) for each in profiles)

    def _choice(
        self, profile: Profile, running: Sequence[LocalServer] | None, source: str
    ) -> ProviderChoice:
        """Make the choice; `source` is where the provider's key is from."""
        here = _found(profile, running or ())
        state, note = self._state(profile, running, source)
        if state is State.RUNNING and here is not None and here.models:
            models, fetched_at = here.models, None
        else:
            models, fetched_at = kept_models(profile, self.lists)
        known, variable = _known(profile, models), next(iter(profile.key_variables), "")
        return ProviderChoice(
            profile.name, profile.title, state, note, known, fetched_at, bool(source), variable
        )

    async def running(self) -> tuple[LocalServer, ...]:
        """Look for servers on this machine, within a second."""
        from jitchat.providers.catalogue.lists import find_local  # noqa: PLC0415  loads httpx

        moved = {
            each.name: each.base_url for each in self.settings.profiles() if each.is_local_preset
        }
        return await find_local(self.transport, moved)

    async def here(self) -> tuple[ProviderChoice, ...]:
        """Look for servers on this machine; what became of each of those that are looked for."""
        found = await self.running()
        looked_for = [each for each in self.settings.profiles() if each.is_local_preset]
        return await asyncio.to_thread(self._told, looked_for, found)

    async def fetched(self, name: str) -> ProviderChoice:
        """Ask a provider for its models, keep the list, and tell of the provider anew.

        Raises:
            JitchatError: See `refresh` and `all`.

        """
        models = await self.refresh(name)
        profile = self.settings.profile(name)
        running = (LocalServer(name, profile.base_url, models),)
        return await asyncio.to_thread(self.one, name, running)

    async def refresh(self, name: str) -> tuple[ModelInfo, ...]:
        """Ask a provider for its models, and keep the list.

        Raises:
            ProviderError: It did not give one.
            SettingsError: Its key cannot be had.
            StoreError: The list cannot be kept.

        """
        from jitchat.providers.catalogue.lists import fetch_models  # noqa: PLC0415  loads httpx

        profile = self.settings.profile(name)
        found = await asyncio.to_thread(find_key, profile, self.environ, self.keys_file)
        endpoint = keyed_endpoint(profile, profile.model, found)
        models = await fetch_models(endpoint, profile.protocol, self.transport)
        fields = [each.fields() for each in models]
        await asyncio.to_thread(self.lists.put, server_of(profile.base_url), fields)
        return models

    def _state(
        self, profile: Profile, running: Sequence[LocalServer] | None, source: str
    ) -> tuple[State, str]:
        """Say whether it can answer, and a sentence on that; `source` is where its key is from."""
        if profile.is_reader:
            return State.READY, "It needs no key and no network."
        if profile.is_local_preset:
            return _state_here(profile, running, has_key=bool(source))
        if profile.requires_key and not source:
            return State.NEEDS_KEY, profile.key_help
        return State.READY, f"The key is from {source}." if source else ""


def _state_here(
    profile: Profile, running: Sequence[LocalServer] | None, *, has_key: bool
) -> tuple[State, str]:
    if running is None:
        return State.NOT_LOOKED, ""
    found = _found(profile, running)
    if found is None:
        return State.NOT_RUNNING, f"Nothing answers at {server_of(profile.base_url)}."
    if server_of(found.base_url) != server_of(profile.base_url):
        moved = f"Set providers.{profile.name}.base_url to that."
        return State.NOT_RUNNING, f"One answers at {found.base_url}. {moved}"
    if found.models:
        return State.RUNNING, ""
    if profile.protocol == "ollama":
        return State.RUNNING, "It has no models yet: `ollama pull` fetches one."
    return State.RUNNING, "" if has_key else f"It wants its key. {profile.key_help}"


def facts_of(profile: Profile, model: str, database: Database | None) -> ModelInfo:
    """Tell what is known of one model without asking: set by the user, listed, or in the table."""
    listed = kept_models(profile, ModelLists(database))[0] if database is not None else ()
    found = next((each for each in listed if each.name == model), ModelInfo(model))
    if found.is_loaded:
        found = replace(found, limit=None)  # it was, when the list was made
    return _completed(profile, found)


def kept_models(
    profile: Profile, lists: ModelLists
) -> tuple[tuple[ModelInfo, ...], datetime | None]:
    """Read a provider's kept list and its time; a row that cannot be read is as good as none."""
    kept = lists.get(server_of(profile.base_url)) if profile.base_url else None
    if kept is None:
        return (), None
    fetched_at, rows = kept
    try:
        return tuple(model_from(row) for row in rows), fetched_at
    except LookupError:
        return (), None


def _found(profile: Profile, running: Sequence[LocalServer]) -> LocalServer | None:
    """Find the profile's server: at its own address, else wherever one of its kind answers."""
    mine = [each for each in running if each.name == profile.name]
    at_home = [each for each in mine if server_of(each.base_url) == server_of(profile.base_url)]
    return next(iter(at_home + mine), None)


def _known(profile: Profile, models: Sequence[ModelInfo]) -> tuple[ModelInfo, ...]:
    """Put the configured model first, and complete each by what the user and the table know.

    Models that answer on another API than the provider's chat are left out.
    """
    listed = {each.name: each for each in models}
    first = [listed.pop(profile.model, ModelInfo(profile.model))] if profile.model else []
    if profile.is_reader:
        first = [replace(each, limit=Limit(READER_LIMIT, OWN)) for each in first]
    known = (_completed(profile, each) for each in (*first, *listed.values()))
    return tuple(each for each in known if not each.other_api or each.name == profile.model)


def _completed(profile: Profile, model: ModelInfo) -> ModelInfo:
    known = known_as(profile.name, profile.base_url)
    told = model.completed(known)
    preset = PRESETS.get(known)
    if preset is None or not same_server(profile.base_url, preset.base_url):
        told = replace(told, other_api="", retires=None)  # a gateway may translate, or keep it
    return _as_set(profile, told)


def _as_set(profile: Profile, model: ModelInfo) -> ModelInfo:
    """Let what the user set win over what anybody tells."""
    limit, facts = profile.limit_of(model.name), profile.facts_of(model.name)
    if limit is not None:
        model = replace(model, limit=Limit(limit, BY_USER))
    own = {
        "input": facts.input_price,
        "output": facts.output_price,
        "cached": facts.cached_price,
        "written": facts.written_price,
    }
    told = {kind: price for kind, price in own.items() if price is not None}
    if told:
        known = model.prices or Prices(None, None)
        model = replace(model, prices=replace(known, **told, source=BY_USER, above=()))
    return model
