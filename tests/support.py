"""What tests share: a scripted provider, short turns, and where outside data is."""

from __future__ import annotations

import asyncio
import os
import socket
import sqlite3
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.errors import JitchatError
from jitchat.index.embedder import Embedder, NoEmbedder
from jitchat.memory import Memory
from jitchat.models import resolve_model
from jitchat.providers.provider import Finished, Options, Piece, ReplyDelta, Wire
from jitchat.replay import sent_exchange
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.statements import Observation
from jitchat.store.observations import ObservationPass, PassKind
from jitchat.transfer.demo import store_demo
from jitchat.values import Conversation, Message, Role, ToolCall, ToolResult, ToolUse, Turn, Usage
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter, TokenCounter
from jitchat.window.window import ContextWindow
from jitchat.writing.pieces import PLAIN, WritingRules

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    Script = Sequence[str | JitchatError | asyncio.Event | Piece]

    from jitchat.settings import Settings
    from jitchat.store.store import ColdStore

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("JITCHAT_SHARED", ROOT.parent / "shared"))
TALK = (
    "Which port does the gateway use?",
    "We agreed on port 8443 for the gateway.",
    "And the colour of the logo?",
    "The logo stays green.",
)


def png(width: int, height: int) -> bytes:
    """Draw a picture of one colour."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        check = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + b"\x30\x60\x90" * width for _ in range(height)))
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", rows), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@dataclass
class ScriptedProvider:
    """Answers as told: texts become deltas, errors are raised, events are waited for.

    An answer with a `ToolCall` in it ends by that: the next request, with its result, gets the
    next answer.
    """

    script: Script = ("Understood.",)
    name: str = "scripted"
    model: str = "scripted-1"
    requests: list[tuple[Message, ...]] = field(default_factory=list)
    options: list[Options] = field(default_factory=list)
    """What went along with each of the requests."""
    later: list[Script] = field(default_factory=list)
    """The answers after that; behind the last one comes `script` again."""
    usage: Usage = field(default_factory=lambda: Usage(100, 10))
    """What is reported for each answer."""

    def rules(self, options: object) -> WritingRules:
        return PLAIN

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        self.requests.append(tuple(messages))
        self.options.append(options)
        script = self._script()
        for step in script:
            if isinstance(step, asyncio.Event):
                await step.wait()
            elif isinstance(step, JitchatError):
                raise step
            else:
                yield ReplyDelta(step) if isinstance(step, str) else step
            await asyncio.sleep(0)
        yield self.usage
        calls = any(isinstance(step, ToolCall) for step in script)
        yield Finished("tool_calls" if calls else "stop")

    def _script(self) -> Script:
        answers = [self.script, *self.later]
        return answers[(len(self.requests) - 1) % len(answers)]

    def wire(
        self, messages: Sequence[Message], options: Options, *, as_posted: bool = False
    ) -> Wire | None:
        return None

    async def aclose(self) -> None:
        """Nothing to give back."""


def turn(position: int, content: str, role: Role | None = None, name: str | None = None) -> Turn:
    """A turn; odd positions are the user's unless a role is given."""
    spoken = role or (Role.USER if position % 2 else Role.ASSISTANT)
    return Turn(position, spoken, content, None, name)


def result_message(result: ToolResult, turn: int | None = None) -> Message:
    """A result as a message to send back; `turn` is its position, if it is stored."""
    use = ToolUse(answers=result.call, is_error=result.is_error)
    return Message(Role.TOOL, result.content, turn, use)


def talk(*contents: str) -> list[Turn]:
    """Turns that take turns, the user first."""
    return [turn(number, content) for number, content in enumerate(contents, start=1)]


def conversation_of(store: ColdStore, turns: Sequence[Turn]) -> Conversation:
    """A stored conversation."""
    made = store.create("A talk")
    store.append(made.id, turns)
    return store.conversation(made.id)


def make_session(
    settings: Settings,
    store: ColdStore,
    conversation: Conversation,
    embedder: Embedder,
    counter: TokenCounter | None = None,
) -> Session:
    """A session as the settings have it, with the provider that they choose."""
    model = resolve_model(settings, store.database)
    return model.open_session(Memory(store, conversation, embedder), counter)


def session_on(
    store: ColdStore,
    conversation: Conversation,
    provider: ScriptedProvider | None = None,
    *,
    embedder: Embedder | None = None,
    counter: TokenCounter | None = None,
    options: SessionOptions | None = None,
) -> Session:
    """A session with everything indexed."""
    memory = Memory(store, conversation, embedder or NoEmbedder())
    made = Session(
        memory,
        provider or ScriptedProvider(),
        counter or EstimateCounter(),
        options or SessionOptions(),
    )
    list(made.memory.index.catch_up())
    return made


def demo_session(store: ColdStore, provider: ScriptedProvider | None = None) -> Session:
    """A session on the bundled demo conversation, lexical only, in windows of the reader's size."""
    options = SessionOptions(budget=Budget(size=1_500))
    return session_on(store, store_demo(store), provider, options=options)


def sent_window(session: Session, said: Turn) -> ContextWindow | None:
    """What was sent last for a user's turn, as it is kept."""
    sent = sent_exchange(session.memory, said)
    return sent[0] if sent is not None else None


def has_loopback() -> bool:
    """A network namespace of its own may be without: even this machine cannot be reached."""
    with socket.socket() as listening, socket.socket() as calling:
        try:
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            calling.connect(listening.getsockname())
        except OSError:
            return False
    return True


def is_running(pid: int) -> bool:
    """One that has ended and that nobody has reaped yet does not run."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


def observe(memory: Memory, through: int, *lines: Observation) -> None:
    """Have observations stand for the turns of a conversation up to a position."""
    path = memory.store.tree(memory.conversation.id).path()
    memory.observed.add(path, ObservationPass(PassKind.OBSERVE, 1, through, lines, "built in"))


def dump_of(connection: sqlite3.Connection) -> list[str]:
    """The definitions and rows of all tables; FTS5 reads its own from theirs."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL TABLE%'"
    names = [name for (name,) in connection.execute(query)]
    rows = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}
    schema = connection.execute("SELECT sql FROM sqlite_master").fetchall()
    return sorted([repr(item) for item in (*rows.items(), *schema)])
