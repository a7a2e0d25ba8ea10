"""What the app needs to know of models: which there are, who answers, and keys for them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jitchat.paths import Paths
from jitchat.settings import Settings
from jitchat.store.store import ColdStore
from jitchat.values import Message

if TYPE_CHECKING:
    from jitchat.cli.lab_service import LocalLabDesk
    from jitchat.cli.model_choices import ModelChoices
    from jitchat.cli.who import Who
    from jitchat.memory import Memory
    from jitchat.providers.catalogue.models import ProviderChoice
    from jitchat.session import Session
    from jitchat.window.budget import Budget


class ModelBackend:
    """Made from the settings; what is picked in the app comes before what they say."""

    def __init__(self, settings: Settings, paths: Paths, store: ColdStore) -> None:
        self.settings, self.store = settings, store
        self._paths = paths
        self._picked: tuple[str, str] | None = None
        """Provider and model; None before one is picked here."""

    def session_on(self, memory: Memory) -> Session:
        """Start a session in which the model in use answers. Slow.

        Raises:
            SettingsError: What the settings say of it cannot be had.

        """
        from jitchat.cli.compose import session_with  # noqa: PLC0415

        return session_with(self._who(), memory)

    def doubt(self) -> str:
        """Warn of the limit that is set for the model in use; mostly empty. Slow."""
        return self._who().doubt()

    def choices(self) -> Sequence[ProviderChoice]:
        """List every provider, with the models that are known of it. Slow."""
        return self._choices().all()

    async def find_local(self) -> Sequence[ProviderChoice]:
        """Look which servers run on this machine."""
        return await (await asyncio.to_thread(self._asking)).here()

    async def fetch_models(self, provider: str) -> ProviderChoice:
        """Ask a provider for its models."""
        return await (await asyncio.to_thread(self._asking)).fetched(provider)

    def keep_key(self, provider: str, text: str) -> str:
        """Store a provider's key as it was pasted. Slow."""
        from jitchat.cli.keys import key_notes  # noqa: PLC0415  mostly not needed
        from jitchat.settings.keys import (  # noqa: PLC0415
            THE_FILE,
            KeysFile,
            cleaned_key,
            key_source,
        )

        cleaned, file = cleaned_key(text), KeysFile(self._paths.keys)
        file.put(provider, cleaned.key)
        profile = self.settings.profile(provider)
        notes = key_notes(profile, cleaned, THE_FILE, key_source(profile, os.environ, file.path))
        return " ".join((f"The key is in {file.path}, which only you can read.", *notes))

    def choose_model(
        self, session: Session | None, provider: str, model: str
    ) -> tuple[Session | None, str]:
        """Have another model answer in the same conversation, and in those opened later. Slow."""
        from jitchat.cli.answerers import exposed  # noqa: PLC0415  loads much
        from jitchat.cli.compose import session_with  # noqa: PLC0415

        who = self._who_is(provider, model)
        changed = session_with(who, session.memory) if session is not None else None
        self._picked = (provider, model)
        notes = (exposed(who.profile), who.doubt(), self._kept(provider, model))
        return changed, " ".join(filter(None, notes))

    async def ask_limit(self, session: Session) -> Budget | None:
        """Ask the server how much its model takes; None where it does not tell, or need not."""
        from jitchat.errors import JitchatError  # noqa: PLC0415  loaded by then

        who = self._who_is(session.provider.name, session.provider.model)
        try:
            limit = await who.asked_limit(patient=True)
            return who.budget(limit) if limit is not None else None
        except JitchatError:  # told when a message is sent
            return None

    def _kept(self, provider: str, model: str) -> str:
        """Keep the pick for the next start; say so where it will not count there."""
        from jitchat.errors import SettingsError, StoreError  # noqa: PLC0415  loaded by then
        from jitchat.settings import load_settings  # noqa: PLC0415  loaded by then
        from jitchat.store.models import ChosenModel  # noqa: PLC0415  brings json

        try:
            ChosenModel(self.store.database).put(provider, model)
        except StoreError as error:
            return f"The next start will not know of it: {error}"
        try:
            later = load_settings(self._paths.config, os.environ, chosen=(provider, model))
            profile = later.in_use()
        except SettingsError:
            return ""  # told at that start
        if (profile.name, profile.model) == (provider, model):
            return ""
        key = "provider.name" if profile.name != provider else "provider.model"
        origin = later.origin(key).removeprefix("implied by ")
        named = f"{profile.name} {profile.model}".strip()
        return f"{origin} names {named}: that answers again at the next start."

    async def count_exactly(self, session: Session, messages: Sequence[Message]) -> int:
        """Ask who answers how many tokens these messages are; they are not answered."""
        from jitchat.cli.counting import count_by  # noqa: PLC0415  loads httpx

        who = self._who_is(session.provider.name, session.provider.model)
        return await count_by(who.profile, who.model, messages)

    def lab_service(self) -> LocalLabDesk:
        """Make what makes runs of the rot lab, for whoever answers then."""
        from jitchat.cli.lab_service import LocalLabDesk  # noqa: PLC0415  loads much

        return LocalLabDesk(self._who, self._paths, self.store)

    def _who(self) -> Who:
        if self._picked is not None:
            return self._who_is(*self._picked)
        return self._who_is(self.settings.in_use().name, self.settings.model_name())

    def _who_is(self, provider: str, model: str) -> Who:
        from jitchat.cli.who import Who  # noqa: PLC0415  loads much

        return Who(self.settings, self.settings.profile(provider), model, self.store.database)

    def _choices(self) -> ModelChoices:
        from jitchat.cli.model_choices import ModelChoices  # noqa: PLC0415  loads much
        from jitchat.store.models import ModelLists  # noqa: PLC0415

        lists = ModelLists(self.store.database)
        return ModelChoices(self.settings, os.environ, self._paths.keys, lists)

    def _asking(self) -> ModelChoices:
        """Make what asks servers, with all that it needs loaded: a thread's work."""
        return self._choices()
