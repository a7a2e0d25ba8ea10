"""Driving the app in tests: a backend on the test's own store, and waiting for what matters."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from jitchat.downloads import Outcome
from jitchat.errors import JitchatError, RequestRefused, SettingsError, Unreachable
from jitchat.index.embedder import Embedder, NoEmbedder
from jitchat.memory import Memory
from jitchat.providers.catalogue.models import ProviderChoice, State
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.settings import Settings, personas
from jitchat.settings.sections import NamedPersona, ScreenSettings
from jitchat.store.pins import OwnInstructions
from jitchat.tools.approvals import Approvals, Rules
from jitchat.tools.toolbox import Toolbox
from jitchat.transfer.demo import DEMO_ID, store_demo
from jitchat.tui.app import JitchatApp
from jitchat.tui.chat.screen import ChatScreen
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.values import AUTO
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import ContextWindow
from tests.support import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from textual.pilot import Pilot

    from jitchat.lab.service import LabService
    from jitchat.providers.catalogue.models import ModelInfo
    from jitchat.providers.provider import Provider
    from jitchat.store.store import ColdStore
    from jitchat.tools.approvals import Approver
    from jitchat.tools.mcp.elicitation import Elicitor
    from jitchat.tools.mcp.server import ServerState
    from jitchat.values import Conversation, Instructions, Message
    from jitchat.weights import Weights
    from tests.tools.support import ScriptedServers


class FakeEmbedder(NoEmbedder):
    """Another embedder, as far as the screen can tell."""

    id = "fake-embedder"


SMALL = Budget(size=1_500)
"""A budget whose windows do not hold all of the demo conversation, as the reader's."""


@dataclass
class TestBackend:
    """A backend without files, models or network."""

    __test__ = False

    store: ColdStore
    crash: Path
    demo: Path | None = None
    """A cold store with the demo conversation alone, indexed; None: there is none to copy."""
    provider: Provider = field(default_factory=ScriptedProvider)
    settings: Settings = field(
        default_factory=lambda: Settings(screen=ScreenSettings(inspector=True))
    )
    """With the inspector open, which most tests look at."""
    options: SessionOptions = field(default_factory=lambda: SessionOptions(budget=SMALL))
    embedder: Embedder = field(default_factory=NoEmbedder)
    refusal: JitchatError | None = None
    larger: Weights | None = None
    """The larger embedding model that is not here yet."""
    warning: str = ""
    providers: Sequence[ProviderChoice] = ()
    local: Sequence[ProviderChoice] | None = None
    """What looking at this machine finds; None: those of `providers` that are running."""
    lists: dict[str, tuple[ModelInfo, ...]] = field(default_factory=dict)
    """What each provider answers that is asked for its models; others cannot be reached."""
    list_refusal: JitchatError | None = None
    """Why they cannot, if it is something else."""
    keys: dict[str, str] = field(default_factory=dict)
    exact: int | None = None
    """What the provider counts; None where it does not."""
    counted: list[tuple[Message, ...]] = field(default_factory=list)
    told: Budget | None = None
    """What the server says of its limit."""
    model_refusal: JitchatError | None = None
    """Why no other model can be chosen."""
    note: str = ""
    """What there is to know of one that was."""
    service: LabService | None = None
    """What makes runs of the rot lab."""
    live_refusal: JitchatError | None = field(
        default_factory=lambda: SettingsError("The local model is not here.", "Fetch it.")
    )
    """Why the live demo has nobody to ask."""
    lacking: Weights | None = None
    """What it could fetch."""
    servers: ScriptedServers | None = None
    """What offers tools."""

    def open_servers(
        self, on_change: Callable[[ServerState], object], elicitor: Elicitor
    ) -> ScriptedServers | None:
        return self.servers

    def toolbox(self, servers: ScriptedServers, approver: Approver) -> Toolbox:
        return Toolbox(servers.sources(), Approvals(Rules(), servers, approver))

    def open_session(self, conversation: Conversation) -> Session:
        if self.refusal is not None:
            raise self.refusal
        memory = Memory(self.store, conversation, self.embedder)
        options = self._options(self.own_instructions(conversation.id))
        return Session(memory, self.provider, EstimateCounter(), options)

    def choices(self, *, asks_keyring: bool = True) -> Sequence[ProviderChoice]:
        return self.providers

    async def find_local(self) -> Sequence[ProviderChoice]:
        if self.local is not None:
            return self.local
        return [each for each in self.providers if each.state is State.RUNNING]

    async def fetch_models(self, provider: str) -> ProviderChoice:
        if provider not in self.lists:
            raise self.list_refusal or Unreachable(f"{provider} cannot be reached.", "Start it.")
        found = next(each for each in self.providers if each.name == provider)
        listed = replace(found, models=self.lists[provider])
        self.providers = [listed if each is found else each for each in self.providers]
        return listed

    def keep_key(self, provider: str, text: str) -> str:
        if not text.startswith("sk-"):
            raise SettingsError("That is no key.", "Copy it again.")
        self.keys[provider] = text
        self.providers = [
            replace(each, state=State.READY, note="") if each.name == provider else each
            for each in self.providers
        ]
        return "The key is kept."

    def choose_model(
        self, session: Session | None, provider: str, model: str
    ) -> tuple[Session | None, str]:
        if self.model_refusal is not None:
            raise self.model_refusal
        self.provider, self.refusal = ScriptedProvider(name=provider, model=model), None
        if session is None:
            return None, self.note
        made = Session(session.memory, self.provider, EstimateCounter(), self.options)
        return made, self.note

    def own_instructions(self, conversation: str) -> Instructions:
        return OwnInstructions(self.store.database).get(conversation)

    def settings_for(self, conversation: str) -> Settings:
        return personas.settings_for(self.settings, self.own_instructions(conversation))

    def use_instructions(
        self, conversation: str, session: Session | None, own: Instructions
    ) -> tuple[Session | None, str]:
        OwnInstructions(self.store.database).put(conversation, own)
        self.refusal = None
        if session is None:
            return None, self.note
        options = self._options(own)
        return Session(session.memory, self.provider, EstimateCounter(), options), self.note

    def save_persona(
        self, conversation: str, session: Session | None, name: str, system: str
    ) -> None:
        made = {**self.settings.personas, name: NamedPersona(name, system)}
        self.settings = replace(self.settings, personas=made)

    def _options(self, own: Instructions) -> SessionOptions:
        """The session's options, with the instructions and the size that a conversation has."""
        settings, options = personas.settings_for(self.settings, own), self.options
        if (size := settings.window.size) != AUTO:
            options = replace(options, budget=options.budget.of_size(size))
        if not settings.chat.system:
            return options
        reason = personas.reason_of(settings)
        return replace(options, system=settings.chat.system, system_reason=reason)

    async def ask_limit(self, session: Session) -> Budget | None:
        return self.told

    async def count_exactly(self, session: Session, window: ContextWindow) -> int:
        self.counted.append(window.messages())
        if self.exact is None:
            raise RequestRefused(f"{session.provider.name} does not count.", "Send it.")
        return self.exact

    async def fetch_weights(self, name: str, on_progress: Callable[[int], None]) -> Outcome:
        on_progress(3 << 20)
        return Outcome(True, f"{name} is here.")

    def better_weights(self) -> Weights | None:
        return self.larger

    def better_embedder(self) -> Embedder | None:
        return FakeEmbedder()

    def lab_service(self) -> LabService:
        assert self.service is not None
        return self.service

    def live_service(self) -> LabService:
        if self.live_refusal is not None:
            raise self.live_refusal
        return self.lab_service()

    def missing_weights(self) -> Weights | None:
        return self.lacking

    def hint(self) -> str:
        return "jitchat --base-url URL --model NAME"


def demo_app(backend: TestBackend) -> JitchatApp:
    """The app on the demo conversation; in a store that holds something it is not indexed yet."""
    with backend.store.database.writing() as connection:
        if backend.demo is None or connection.total_changes:
            return JitchatApp(backend, store_demo(backend.store))
        with closing(sqlite3.connect(backend.demo)) as demo:
            demo.backup(connection)
    for _ in ("made", "filled"):
        backend.store.now()
    return JitchatApp(backend, backend.store.conversation(DEMO_ID))


def chat(pilot: Pilot[None]) -> ChatScreen:
    """The chat screen under whatever is on top of it."""
    return next(s for s in pilot.app.screen_stack if isinstance(s, ChatScreen))


def notices(pilot: Pilot[None]) -> list[str]:
    """What the user is told now: over the screen, and in the chat's last line."""
    over = [each.message for each in pilot.app._notifications]
    chats = [each for each in pilot.app.screen_stack if isinstance(each, ChatScreen)]
    return over + [hint.notice for each in chats for hint in each.query(HintLine) if hint.notice]


async def until(pilot: Pilot[None], true: Callable[[], object], what: str) -> None:
    """Let the app work until something holds."""
    give_up = time.monotonic() + 20.0
    while time.monotonic() < give_up:
        if true():
            return
        await asyncio.sleep(0.005)
    raise AssertionError(f"never came: {what}")


async def ready(pilot: Pilot[None]) -> ChatScreen:
    """The chat once its conversation is indexed and the next window is on screen."""
    screen = chat(pilot)
    await until(
        pilot,
        lambda: screen.previews.window is not None and screen.indexing.indexed,
        "the first window",
    )
    await pilot.pause()
    return screen


async def type_text(pilot: Pilot[None], text: str) -> None:
    """Into the prompt, as a paste of short texts would be."""
    screen = chat(pilot)
    serial = screen.previews.planned
    screen.query_one("#prompt").insert(text)  # type: ignore[attr-defined]
    await until(pilot, lambda: screen.previews.planned > serial, "the window for the draft")
    await pilot.pause()


async def idle(pilot: Pilot[None]) -> None:
    """Until no reply is under way."""
    await until(pilot, lambda: not chat(pilot).busy, "the end of the reply")
    await pilot.pause()
