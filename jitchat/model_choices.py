"""Every provider with its state and models, for `jitchat models` and the model picker.

Servers are contacted only on request; `running` contacts only those on this machine.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import httpx

from jitchat import weights
from jitchat.errors import SettingsError
from jitchat.models import completed_facts, engine_plan, kept_models
from jitchat.providers.catalogue import servers, table
from jitchat.providers.catalogue.models import OTHER, LocalServer, ModelInfo, ProviderChoice, State
from jitchat.providers.local.engine import is_missing
from jitchat.settings import Settings, keys
from jitchat.settings.profiles import Profile
from jitchat.store.models import ModelLists, server_of
from jitchat.text.figures import megabytes
from jitchat.values import CHOSEN, OWN, Limit

_Running = Sequence[LocalServer] | None
"""The servers running on this machine; None if they were not looked for."""


@dataclass(frozen=True, slots=True)
class ModelChoices:
    settings: Settings
    environ: Mapping[str, str]
    keys_file: Path
    lists: ModelLists
    transport: httpx.AsyncBaseTransport | None = None
    asks_keyring: bool = True

    def all(self, running: _Running = None) -> tuple[ProviderChoice, ...]:
        """List every provider. Slow; raises JitchatError if keys or stored lists are unreadable."""
        return self._choices(self.settings.profiles(), running)

    def one(self, name: str, running: _Running = None) -> ProviderChoice:
        return self._choices([self.settings.profile(name)], running)[0]

    def _choices(
        self, profiles: Sequence[Profile], running: _Running
    ) -> tuple[ProviderChoice, ...]:
        sources = keys.key_sources(
            profiles, self.environ, self.keys_file, asks_keyring=self.asks_keyring
        )
        return tuple(self._choice(profile, running, sources[profile.name]) for profile in profiles)

    def _choice(self, profile: Profile, running: _Running, key_source: str) -> ProviderChoice:
        if profile.is_engine:
            return _engine_choice(profile)
        here = _server_of(profile, running or ())
        state, note = _state(profile, running, key_source)
        if state is State.RUNNING and here is not None and here.models:
            models, fetched_at = here.models, None
        else:
            models, fetched_at = kept_models(profile, self.lists)
        name, title, variable = profile.name, profile.title, next(iter(profile.key_variables), "")
        offered, has_key = _offered(profile, models), bool(key_source)
        return ProviderChoice(name, title, state, note, offered, fetched_at, has_key, variable)

    async def running(self) -> tuple[LocalServer, ...]:
        """Look for servers on this machine, within a second."""
        moved = {profile.name: profile.base_url for profile in self._local()}
        return await servers.find_local(self.transport, moved)

    async def here(self) -> tuple[ProviderChoice, ...]:
        """Look for servers on this machine, and describe each local provider."""
        return await asyncio.to_thread(self._choices, self._local(), await self.running())

    def _local(self) -> list[Profile]:
        return [profile for profile in self.settings.profiles() if profile.is_local_preset]

    async def fetched(self, name: str) -> ProviderChoice:
        """Fetch and store a provider's list of models, and return its updated description."""
        models = await self.refresh(name)
        profile = self.settings.profile(name)
        running = (LocalServer(name, profile.base_url, models),)
        return await asyncio.to_thread(self.one, name, running)

    async def refresh(self, name: str) -> tuple[ModelInfo, ...]:
        """Fetch and store a provider's list of models. Raises JitchatError if that fails."""
        profile = self.settings.profile(name)
        found = await asyncio.to_thread(keys.find_key, profile, self.environ, self.keys_file)
        key, renew = (found.key, found.renew) if found else ("", None)
        endpoint = profile.endpoint(profile.model, key, renew)
        models = await servers.fetch_models(endpoint, profile.protocol, self.transport)
        fields = [model.fields() for model in models]
        await asyncio.to_thread(self.lists.put, server_of(profile.base_url), fields)
        return models


def _state(profile: Profile, running: _Running, key_source: str) -> tuple[State, str]:
    if profile.is_reader:
        return State.READY, "Needs no key and no network."
    if profile.is_local_preset:
        return _local_state(profile, running, has_key=bool(key_source))
    if profile.requires_key and not key_source:
        return State.NEEDS_KEY, profile.key_help
    return State.READY, f"The key is from {key_source}." if key_source else ""


def _engine_choice(profile: Profile) -> ProviderChoice:
    """Describe the model that jitchat runs itself: with which resources, or what is missing."""
    wanted, limit = weights.known().get(profile.model), None
    try:
        plan = engine_plan(profile, profile.model)
    except SettingsError as error:
        note = str(error)
        state = State.NOT_INSTALLED if is_missing() else State.NO_FILE
        if state is State.NO_FILE and wanted is not None:
            state = State.TO_FETCH
            note = f"{megabytes(wanted.download_size)} to download"
    else:
        state, note = State.READY, str(plan)
        limit = Limit(plan.context, CHOSEN)
    if wanted is not None and wanted.about:
        about = wanted.about
        is_sentence = note.endswith(".")
        note += f" {about[:1].upper()}{about[1:]}." if is_sentence else f"; {about}."
    models = (completed_facts(profile, ModelInfo(profile.model, limit)),)
    return ProviderChoice(profile.name, profile.title, state, note, models, None)


def _local_state(profile: Profile, running: _Running, *, has_key: bool) -> tuple[State, str]:
    if running is None:
        return State.NOT_LOOKED, ""
    here = _server_of(profile, running)
    if here is None:
        return State.NOT_RUNNING, f"Nothing answers at {server_of(profile.base_url)}."
    if server_of(here.base_url) != server_of(profile.base_url):
        moved = f"Set providers.{profile.name}.base_url to that address."
        return State.NOT_RUNNING, f"A server answers at {here.base_url}. {moved}"
    if here.models:
        return State.RUNNING, ""
    if profile.protocol == "ollama":
        return State.RUNNING, "No models yet: download one with `ollama pull`."
    return State.RUNNING, "" if has_key else f"It requires a key. {profile.key_help}"


def _server_of(profile: Profile, running: Sequence[LocalServer]) -> LocalServer | None:
    """Find the profile's server: at its own address, otherwise any of the same kind."""
    of_kind = [server for server in running if server.name == profile.name]
    own = server_of(profile.base_url)
    at_own_address = [server for server in of_kind if server_of(server.base_url) == own]
    return next(iter(at_own_address + of_kind), None)


def _offered(profile: Profile, models: Sequence[ModelInfo]) -> tuple[ModelInfo, ...]:
    """Put the configured model first, and complete each from the settings and the bundled table.

    Models that are only available through an API that jitchat does not support are left out.
    """
    listed = {model.name: model for model in models}
    first = [listed.pop(profile.model, ModelInfo(profile.model))] if profile.model else []
    if profile.is_reader:
        first = [replace(model, limit=Limit(table.READER_LIMIT, OWN)) for model in first]
    known = (completed_facts(profile, model) for model in (*first, *listed.values()))
    spoken = (model for model in known if model.other_api != OTHER or model.name == profile.model)
    return tuple(spoken)
