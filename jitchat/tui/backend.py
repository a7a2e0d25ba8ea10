"""What the app needs from whoever starts it: it builds nothing below itself."""

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
from jitchat.values import Conversation, Instructions, Message
from jitchat.weights import Weights
from jitchat.window.budget import Budget

if TYPE_CHECKING:
    from jitchat.tools.mcp.elicitation import Elicitor
    from jitchat.tools.mcp.server import ServerState
    from jitchat.tools.mcp.servers import Servers


class Backend(Protocol):
    """Made by the composition root. What is marked slow is called from a thread."""

    settings: Settings
    store: ColdStore
    crash: Path
    """Where the report of a defect goes."""
    warning: str
    """What the user should know of the settings, once a session is open; mostly empty."""

    def open_session(self, conversation: Conversation) -> Session:
        """Slow: loads the embedder and the vocabulary the first time.

        Raises:
            JitchatError: What the settings ask for cannot be had.
        """

    def open_servers(
        self, on_change: Callable[[ServerState], object], elicitor: Elicitor
    ) -> Servers | None:
        """Make the configured servers of tools, not started yet; None where there are none."""

    def toolbox(self, servers: Servers, approver: Approver) -> Toolbox:
        """Put together what a session offers of servers, and who is asked before it is run."""

    def choices(self) -> Sequence[ProviderChoice]:
        """Slow: every provider, with the models that are known of it.

        Raises:
            JitchatError: The keys file or the store cannot be read.
        """

    async def find_local(self) -> Sequence[ProviderChoice]:
        """Look which servers run on this machine; no key is sent, and nothing is used.

        Raises:
            JitchatError: The keys file or the store cannot be read.
        """

    async def fetch_models(self, provider: str) -> ProviderChoice:
        """Ask a provider for its models.

        Raises:
            JitchatError: It does not tell.
        """

    def keep_key(self, provider: str, text: str) -> str:
        """Slow: store a provider's key as it was pasted; a sentence on where, and what was mended.

        Raises:
            SettingsError: It is no key, or cannot be stored.
        """

    def choose_model(
        self, session: Session | None, provider: str, model: str
    ) -> tuple[Session | None, str]:
        """Slow: have another model answer in the same conversation, and in those opened later.

        Returns the session in which it does, and what the user should know, mostly nothing. Where
        there was no session there is none: the conversation is to be opened.

        Raises:
            JitchatError: What the settings say of it cannot be had.
        """

    def own_instructions(self, conversation: str) -> Instructions:
        """Look up what a conversation has of instructions by itself."""

    def settings_for(self, conversation: str) -> Settings:
        """Give the settings of one conversation, with its persona and its own system text."""

    def use_instructions(
        self, conversation: str, session: Session | None, own: Instructions
    ) -> tuple[Session | None, str]:
        """Slow: have a conversation keep these from now on; what it gives is as of `choose_model`.

        Raises:
            JitchatError: They cannot be stored, or what the persona names cannot be had.
        """

    def save_persona(
        self, conversation: str, session: Session | None, name: str, system: str
    ) -> None:
        """Slow: write a persona into the configuration: a text, and who answers and how.

        Raises:
            SettingsError: It is no name, or the configuration cannot be written.
        """

    async def ask_limit(self, session: Session) -> Budget | None:
        """Ask the server how much its model takes; None where it does not tell, or need not."""

    async def count_exactly(self, session: Session, messages: Sequence[Message]) -> int:
        """Ask who answers how many tokens these messages are; they are not answered.

        Raises:
            JitchatError: That provider does not count, or did not.
        """

    @property
    def may_fetch_model(self) -> bool:
        """Whether a better embedder is missing, and allowed to be fetched."""

    async def fetch_model(self, on_progress: Callable[[int], None]) -> tuple[bool, str]:
        """Download the embedding model, telling the bytes so far; cancelling stops it.

        Returns whether it is here now, and that in a sentence.
        """

    async def fetch_weights(self, name: str, on_progress: Callable[[int], None]) -> Outcome:
        """Fetch weights by their name, telling the bytes so far; cancelling stops it."""

    def better_embedder(self) -> Embedder | None:
        """Slow: the embedder that was downloaded, if it is here now."""

    def lab_service(self) -> LabService:
        """Make what runs of the rot lab are made with: whoever answers here is asked there."""

    def live_service(self) -> LabService:
        """Slow: make what the live demo asks: who answers here, or the local model for the reader.

        Raises:
            SettingsError: That model, or its engine, is not on this machine.
        """

    def missing_weights(self) -> Weights | None:
        """Find the weights of the local model, where they alone are missing; else None."""

    def hint(self) -> str:
        """How to add a real model, in lines of at most 64 columns."""
