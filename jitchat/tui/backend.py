"""The interface of the app to the layers below it; the app itself constructs none of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from jitchat.downloads import Outcome
from jitchat.index.embedder import Embedder
from jitchat.lab.service import LabService
from jitchat.providers.catalogue.models import ProviderChoice
from jitchat.session import Session
from jitchat.settings import Settings
from jitchat.store.store import ColdStore
from jitchat.tools.approvals import Approver
from jitchat.tools.toolbox import Toolbox
from jitchat.values import Conversation, Instructions
from jitchat.weights import Weights
from jitchat.window.budget import Budget
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.tools.mcp.elicitation import Elicitor
    from jitchat.tools.mcp.server import ServerState
    from jitchat.tools.mcp.servers import Servers


class Backend(Protocol):
    """Implemented by the composition root. Methods marked "Slow" are called in a thread."""

    settings: Settings
    store: ColdStore
    crash: Path
    """File for the crash report."""
    warning: str
    """A warning about the settings, shown once a session is open; usually empty."""

    def open_session(self, conversation: Conversation) -> Session:
        """Slow: open a session; the first call loads the embedder and the vocabulary.

        Raises:
            JitchatError: The settings name something that is not available.
        """

    def open_servers(
        self, on_change: Callable[[ServerState], object], elicitor: Elicitor
    ) -> Servers | None:
        """Create the configured MCP servers without starting them; None if there are none."""

    def toolbox(self, servers: Servers, approver: Approver) -> Toolbox:
        """Combine the servers' tools for a session, with the approver asked before each call."""

    def choices(self, *, asks_keyring: bool = True) -> Sequence[ProviderChoice]:
        """Slow: return every provider with its known models.

        Without `asks_keyring`, keys that are stored in the system's keyring are not known.

        Raises:
            JitchatError: The keys file or the store cannot be read.
        """

    async def find_local(self) -> Sequence[ProviderChoice]:
        """Find the model servers that run on this machine, without sending a key or using them.

        Raises:
            JitchatError: The keys file or the store cannot be read.
        """

    async def fetch_models(self, provider: str) -> ProviderChoice:
        """Ask a provider for its models.

        Raises:
            JitchatError: The provider does not list its models.
        """

    def keep_key(self, provider: str, text: str) -> str:
        """Slow: store a pasted key of a provider.

        Returns a sentence on where it is stored and what was corrected in the pasted text.

        Raises:
            SettingsError: The text is not a key, or it cannot be stored.
        """

    def choose_model(
        self, session: Session | None, provider: str, model: str
    ) -> tuple[Session | None, str]:
        """Slow: change the model of the conversation, and of conversations opened later.

        Returns the new session and a notice for the user, which is usually empty. The session is
        None if `session` is None: the conversation must be opened again.

        Raises:
            JitchatError: The settings name something that is not available for the model.
        """

    def own_instructions(self, conversation: str) -> Instructions:
        """Return the conversation's own instructions, without those of the settings."""

    def settings_for(self, conversation: str) -> Settings:
        """Return the settings of one conversation, with its persona and its own system text."""

    def use_instructions(
        self, conversation: str, session: Session | None, own: Instructions
    ) -> tuple[Session | None, str]:
        """Slow: set a conversation's own instructions. Returns the same as `choose_model`.

        Raises:
            JitchatError: They cannot be stored, or the persona names something not available.
        """

    def save_persona(
        self, conversation: str, session: Session | None, name: str, system: str
    ) -> None:
        """Slow: write a persona to the configuration, with `system` and the current model settings.

        Raises:
            SettingsError: The name is not valid, or the configuration cannot be written.
        """

    async def ask_limit(self, session: Session) -> Budget | None:
        """Ask the server for its model's context size; None if unnecessary or not reported."""

    async def count_exactly(self, session: Session, window: ContextWindow) -> int:
        """Have the provider count the tokens of a window, without answering it.

        Raises:
            JitchatError: The provider cannot count tokens, or the request failed.
        """

    def better_weights(self) -> Weights | None:
        """Slow: return the weights of a larger embedding model that `auto` would use.

        None if it is here already or the settings name another embedder.
        """

    async def fetch_weights(self, name: str, on_progress: Callable[[int], None]) -> Outcome:
        """Download weights by name, reporting the bytes so far; cancelling stops it."""

    def better_embedder(self) -> Embedder | None:
        """Slow: return the downloaded embedder, if it is available."""

    def lab_service(self) -> LabService:
        """Create the service that runs the rot lab, with the current model."""

    def live_service(self) -> LabService:
        """Slow: create the live demo's service: the current model, or the local one for the reader.

        Raises:
            SettingsError: The local model or its engine is not on this machine.
        """

    def missing_weights(self) -> Weights | None:
        """Return the local model's weights if nothing else is missing to run it; else None."""

    def hint(self) -> str:
        """Explain how to add a real model, in lines of at most 64 columns."""
