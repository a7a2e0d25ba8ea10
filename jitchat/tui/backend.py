"""The app's backend: what makes its sessions, models and services of the settings.

The first frame does not wait for them: they are imported by the methods that use them, in the
threads that call these methods.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from jitchat import weights
from jitchat.errors import JitchatError, SettingsError, StoreError
from jitchat.index.embedder import Embedder
from jitchat.index.embedding_models import DEFAULT_MODEL
from jitchat.index.load_embedder import MINILM, has_downloaded
from jitchat.paths import Paths, current_folder
from jitchat.providers.catalogue.table import READER
from jitchat.settings import Settings, edit, load_settings, personas
from jitchat.settings import keys as stored_keys
from jitchat.settings.sections import NamedPersona
from jitchat.store.models import ChosenModel, ModelLists
from jitchat.store.pins import OwnInstructions
from jitchat.store.store import ColdStore
from jitchat.values import Conversation, Instructions
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.downloads import Outcome
    from jitchat.lab.service import LabService
    from jitchat.model_choices import ModelChoices
    from jitchat.models import ResolvedModel
    from jitchat.providers.catalogue.models import ProviderChoice
    from jitchat.session import Session
    from jitchat.tools.approvals import Approver
    from jitchat.tools.mcp.elicitation import Elicitor
    from jitchat.tools.mcp.server import Servers, ServerState
    from jitchat.tools.toolbox import Toolbox
    from jitchat.weights import Weights
    from jitchat.window.budget import Budget

_LOCAL = "local"
"""The provider of models that run in this process."""


class Backend:
    """Makes what the app uses; a model picked in the app takes precedence over the settings.

    Methods marked "Slow" are called in a thread.
    """

    def __init__(
        self, settings: Settings, paths: Paths, store: ColdStore, *, warns: bool = True
    ) -> None:
        """Without `warns`, no warning about the settings is shown."""
        self.settings, self.store = settings, store
        self.crash = paths.crash
        """File for the crash report."""
        self.warning = ""
        """A warning about the settings, shown once a session is open; usually empty."""
        self._paths, self._warns = paths, warns
        self._picked: tuple[str, str] | None = None
        """Provider and model; None until one is picked in this session of the app."""
        self._current = self._picked_in = ""
        """The conversation opened last, and the one in which a model was last picked."""
        self._embedder: Embedder | None = None

    def open_session(self, conversation: Conversation) -> Session:
        """Slow: open a session; the first call loads the embedder and the vocabulary.

        Raises:
            JitchatError: The settings name something that is not available.
        """
        from jitchat import models  # noqa: PLC0415  300 ms
        from jitchat.memory import Memory  # noqa: PLC0415  loaded by then

        self._current = conversation.id
        model = self._model(conversation.id)
        warnings = [
            models.unencrypted_keys(model.settings), model.warning(), self.store.database.warning()
        ]  # fmt: skip
        if self._embedder is None:
            self._embedder = models.make_embedder(
                self.settings, self._paths, lambda error: warnings.append(str(error))
            )
        self.warning = " ".join(filter(None, warnings)) if self._warns else ""
        memory = Memory(self.store, conversation, self._embedder)
        session = model.open_session(memory)
        session.folder = current_folder()
        return session

    def open_servers(
        self, on_change: Callable[[ServerState], object], elicitor: Elicitor
    ) -> Servers | None:
        """Create the configured MCP servers without starting them; None if there are none."""
        if not any(server.enabled for server in self.settings.mcp.values()):
            return None
        from jitchat.settings.served_tools import make_servers  # noqa: PLC0415  only with servers

        return make_servers(self.settings, self._paths.servers, on_change, elicitor)

    def toolbox(self, servers: Servers, approver: Approver) -> Toolbox:
        """Combine the servers' tools for a session, with the approver asked before each call."""
        from jitchat.settings.served_tools import make_toolbox  # noqa: PLC0415  only with servers
        from jitchat.store.tool_grants import ToolGrants  # noqa: PLC0415  likewise

        grants = ToolGrants(self.store.database)
        return make_toolbox(self.settings, servers, approver, grants)

    def own_instructions(self, conversation: str) -> Instructions:
        """Return the conversation's own instructions, without those of the settings."""
        return OwnInstructions(self.store.database).get(conversation)

    def settings_for(self, conversation: str) -> Settings:
        """Return the settings of one conversation, with its persona and its own system text."""
        return personas.settings_for(self.settings, self.own_instructions(conversation))

    def use_instructions(
        self, conversation: str, session: Session | None, own: Instructions
    ) -> tuple[Session | None, str]:
        """Slow: set what a conversation has of its own. Returns the same as `choose_model`.

        Raises:
            JitchatError: They cannot be stored, or the persona names something not available.
        """
        from jitchat.models import unencrypted_key  # noqa: PLC0415  300 ms

        if own.persona != self.own_instructions(conversation).persona:
            self._picked_in = ""
        self.settings = self.settings.yielding("chat.system").yielding("window.size")
        model = self._model(conversation, own)
        changed = _with_model(session, model)
        OwnInstructions(self.store.database).put(conversation, own)
        return changed, " ".join(filter(None, (unencrypted_key(model.profile), model.warning())))

    def save_persona(
        self, conversation: str, session: Session | None, name: str, system: str
    ) -> None:
        """Slow: write a persona to the configuration, with `system` and the current model settings.

        Raises:
            SettingsError: The name is not valid, or the configuration cannot be written.
        """
        in_use = self.settings_for(conversation).chat.persona
        known = self.settings.personas.get(in_use) or NamedPersona()
        saved = replace(known, name=name, system=system)
        if session is not None and session.provider.name != READER.name:
            provider = session.provider
            saved = replace(saved, provider=provider.name, model=provider.model)
        edit.save_persona(self._paths.config, saved, replaces=name == in_use)
        loaded = load_settings(self._paths.config, os.environ).personas
        self.settings = replace(self.settings, personas=loaded)

    def _model(self, conversation: str, own: Instructions | None = None) -> ResolvedModel:
        """Resolve the model that answers in a conversation.

        This is the picked model, unless it was picked in another conversation and the persona of
        this one names a model.
        """
        from jitchat.models import resolve_model  # noqa: PLC0415  300 ms

        own = self.own_instructions(conversation) if own is None else own
        settings = personas.settings_for(self.settings, own)
        is_named = settings.origin("provider.name").startswith("persona ")
        if self._picked is None or (is_named and self._picked_in != conversation):
            return resolve_model(settings, self.store.database)
        return self._resolved(own, *self._picked)

    def _resolved(self, own: Instructions, provider: str, model: str) -> ResolvedModel:
        from jitchat.models import ResolvedModel  # noqa: PLC0415  300 ms

        settings = personas.settings_for(self.settings, own, (provider, model))
        return ResolvedModel(settings, settings.profile(provider), model, self.store.database)

    def _resolved_for(self, session: Session) -> ResolvedModel:
        own = self.own_instructions(session.memory.conversation.id)
        return self._resolved(own, session.provider.name, session.provider.model)

    def choices(self, *, asks_keyring: bool = True) -> Sequence[ProviderChoice]:
        """Slow: return every provider with its known models.

        Without `asks_keyring`, keys that are stored in the system's keyring are not known.

        Raises:
            JitchatError: The keys file or the store cannot be read.
        """
        return replace(self._choices(), asks_keyring=asks_keyring).all()

    async def find_local(self) -> Sequence[ProviderChoice]:
        """Find the model servers that run on this machine, without sending a key or using them.

        Raises:
            JitchatError: The keys file or the store cannot be read.
        """
        return await (await asyncio.to_thread(self._choices)).here()

    async def fetch_models(self, provider: str) -> ProviderChoice:
        """Ask a provider for its models.

        Raises:
            JitchatError: The provider does not list its models.
        """
        return await (await asyncio.to_thread(self._choices)).fetched(provider)

    def _choices(self) -> ModelChoices:
        from jitchat import model_choices  # noqa: PLC0415  loads httpx

        lists = ModelLists(self.store.database)
        return model_choices.ModelChoices(self.settings, os.environ, self._paths.keys, lists)

    def keep_key(self, provider: str, text: str) -> str:
        """Slow: store a pasted key of a provider.

        Returns a sentence on where it is stored and what was corrected in the pasted text.

        Raises:
            SettingsError: The text is not a key, or it cannot be stored.
        """
        cleaned, file = stored_keys.cleaned_key(text), stored_keys.KeysFile(self._paths.keys)
        file.put(provider, cleaned.key)
        profile = self.settings.profile(provider)
        source = stored_keys.key_source(profile, os.environ, file.path)
        notes = stored_keys.key_notes(profile, cleaned, stored_keys.THE_FILE, source)
        return " ".join((f"The key is stored in {file.path}, which only you can read.", *notes))

    def choose_model(
        self, session: Session | None, provider: str, model: str
    ) -> tuple[Session | None, str]:
        """Slow: change the model of the conversation, and of conversations opened later.

        Returns the new session and a notice for the user, which is usually empty. The session is
        None if `session` is None: the conversation must be opened again.

        Raises:
            JitchatError: The settings name something that is not available for the model.
        """
        from jitchat.models import unencrypted_key  # noqa: PLC0415  300 ms

        conversation = self._current if session is None else session.memory.conversation.id
        resolved = self._resolved(self.own_instructions(conversation), provider, model)
        changed = _with_model(session, resolved)
        self._picked, self._picked_in = (provider, model), conversation
        notes = (
            unencrypted_key(resolved.profile), resolved.warning(), self._keep_pick(provider, model)
        )  # fmt: skip
        return changed, " ".join(filter(None, notes))

    def _keep_pick(self, provider: str, model: str) -> str:
        """Store the picked model for the next start; say so if it will not be used then."""
        try:
            ChosenModel(self.store.database).put(provider, model)
        except StoreError as error:
            return f"The choice will be forgotten on exit: {error}"
        try:
            later = load_settings(self._paths.config, os.environ, chosen=(provider, model))
            profile = later.in_use()
        except SettingsError:
            return ""  # reported at the next start
        if (profile.name, profile.model) == (provider, model):
            return ""
        key = "provider.name" if profile.name != provider else "provider.model"
        origin = later.origin(key).removeprefix("implied by ")
        named = f"{profile.name} {profile.model}".strip()
        return f"{origin} names {named}, which will be used again at the next start."

    async def ask_limit(self, session: Session) -> Budget | None:
        """Ask the server for its model's context size; None if unnecessary or not reported."""
        try:
            model = await asyncio.to_thread(self._resolved_for, session)
            limit = await model.ask_limit(patient=True)
            return model.budget(limit) if limit is not None else None
        except JitchatError:  # reported when a message is sent
            return None

    async def count_exactly(self, session: Session, window: ContextWindow) -> int:
        """Have the provider count the tokens of a window, without answering it.

        Raises:
            JitchatError: The provider cannot count tokens, or the request failed.
        """
        model = await asyncio.to_thread(self._resolved_for, session)
        return await model.count_exactly(window.messages(), window.tools)

    def better_weights(self) -> Weights | None:
        """Slow: return the weights of a larger embedding model that `auto` would use.

        None if it is here already or the settings name another embedder.
        """
        wanted = self.settings.embedder
        is_chosen = wanted.name != "auto" or wanted.path or wanted.model != DEFAULT_MODEL
        if is_chosen or has_downloaded(wanted.model, self._paths.models):
            return None
        return weights.known()[MINILM]

    async def fetch_weights(self, name: str, on_progress: Callable[[int], None]) -> Outcome:
        """Download weights by name, reporting the bytes so far; cancelling stops it."""
        return await weights.fetch(weights.known()[name], self._paths.models, on_progress)

    def better_embedder(self) -> Embedder | None:
        """Slow: return the downloaded embedder, if it is available."""
        from jitchat.models import make_embedder  # noqa: PLC0415  300 ms

        found = make_embedder(self.settings, self._paths)
        if self._embedder is not None and found.id == self._embedder.id:
            return None
        self._embedder = found
        return found

    def lab_service(self) -> LabService:
        """Create the service that runs the rot lab, with the current model."""
        from jitchat.lab.service import LabService  # noqa: PLC0415  loads the lab

        model = partial(self._model, self._current)
        return LabService(model, self._paths, self.store)

    def live_service(self) -> LabService:
        """Slow: create the live demo's service: the current model, or the local one for the reader.

        Raises:
            SettingsError: The local model or its engine is not on this machine.
        """
        from jitchat.lab.service import LabService  # noqa: PLC0415  loads the lab
        from jitchat.models import engine_plan  # noqa: PLC0415  300 ms

        model = self._model(self._current)
        if model.profile.is_reader:
            profile = self.settings.profile(_LOCAL)
            model = self._resolved(Instructions(), _LOCAL, profile.model)
            engine_plan(profile, model.name)
        return LabService(lambda: model, self._paths, self.store)

    def missing_weights(self) -> weights.Weights | None:
        """Return the local model's weights if nothing else is missing to run it; else None."""
        from jitchat.providers.local.engine import is_missing  # noqa: PLC0415  rarely needed

        name = self.settings.profile(_LOCAL).model
        is_here = is_missing() or weights.find(name, self._paths.models) is not None
        return None if is_here else weights.known().get(name)

    def hint(self) -> str:
        """Explain how to add a real model, in lines of at most 64 columns."""
        return (
            "/model lists the providers; Enter adds a key or lists models.\n"
            "Ollama, LM Studio, llama.cpp and vLLM are detected when running.\n"
            f"Add your own providers in {self._paths.config}"
        )


def _with_model(session: Session | None, model: ResolvedModel) -> Session | None:
    """Open a session on the same conversation with another model."""
    if session is None:
        return None
    opened = model.open_session(session.memory)
    opened.folder = session.folder
    return opened
