"""A process that forks writers, so that a thousand of them can be killed within minutes.

Reads one job a line, as JSON: {"job": name, "path": database, "copies": n, ...}. Each copy is
forked, tells what it did in lines of its own, and runs until it is done or killed; when all
are gone, "gone" is told. Every line is one write, so lines of several copies never mix.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import sys
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import jitchat.index.indexer
import jitchat.index.search  # noqa: F401  what is loaded late elsewhere is loaded once here
from jitchat.errors import JitchatError, StaleDocument
from jitchat.events import SendFailed, StepStored, ToolReturned, TurnStored
from jitchat.memory import Memory
from jitchat.metering import MeteredProvider
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Options, Piece
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.spending import SpendingLimits
from jitchat.store import database as database_module
from jitchat.store.database import Database
from jitchat.store.path import parent_of
from jitchat.store.replies import Place, ReplyWriter, Timing
from jitchat.store.requests import Purpose
from jitchat.store.store import ColdStore
from jitchat.synthesis.session_end import SessionEnd
from jitchat.tools.source import Step, ToolOutput
from jitchat.tools.toolbox import Toolbox
from jitchat.values import Message, Mode, Role, Status, ToolCall, Turn, Usage
from jitchat.window.tokens import EstimateCounter
from tests.index.support import FakeEmbedder
from tests.support import ScriptedProvider
from tests.tools.support import ScriptedTools

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncIterator, Mapping, Sequence

LIMIT = 3_000
"""Tokens, of windows in which turns are observed."""
PIECE_SECONDS = 0.1
"""A reply's pieces come this far apart, on the clock of its writer."""


def tell(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def opened(path: str, conversation: str) -> Memory:
    store = ColdStore(Database(Path(path)))
    return Memory(store, store.conversation(conversation))


def chat(path: str, conversation: str) -> None:
    """Say, answer, append pairs, for ever; tell what is on the disk and what is on the screen."""
    memory = opened(path, conversation)
    for number in count():
        said = memory.add_user_turn(f"said {number} by {os.getpid()}")
        tell("stored", said.id)
        pair = [Turn(0, Role.USER, f"pair {os.getpid()}"), Turn(0, Role.ASSISTANT, "pair")]
        tell("stored", memory.store.append(conversation, pair)[1].id)
        tell("stored", answer(memory).id)


def fork_often(path: str, conversation: str) -> None:
    """Say, answer, answer again, edit, go to another version, for ever."""
    memory = opened(path, conversation)
    for number in count():
        said = memory.add_user_turn(f"said {number} by {os.getpid()}")
        tell("stored", said.id)
        tell("stored", answer(memory, Place(said.position)).id)
        tell("stored", answer(memory, Place(said.position, again=True)).id)
        edited = memory.add_user_turn(f"edited {number}", parent_of(said))
        tell("stored", edited.id)
        tell("stored", answer(memory, Place(edited.position)).id)
        memory.switch_to(said.position)
        tell("looked-at", said.position)


def call_tools(path: str, conversation: str) -> None:
    """Send messages whose answers call tools, two at a time, for ever."""
    memory = opened(path, conversation)
    pair = ToolCall("a", "look", "{}"), ToolCall("b", "count", "{}")
    provider = ScriptedProvider(("I look.", *pair), later=[(pair[1],), ("Done.",)])
    options = SessionOptions(toolbox=Toolbox((TellingTools(),)))
    session = Session(memory, provider, EstimateCounter(), options)

    async def send() -> None:
        async for event in session.send(f"said by {os.getpid()}", Mode.FULL):
            if isinstance(event, TurnStored | StepStored | ToolReturned):
                tell("stored", event.turn.id)
            else:
                tell(type(event).__name__)

    while True:
        asyncio.run(send())


class TellingTools(ScriptedTools):
    """Tells that a call runs, and gives way before it returns."""

    async def run(self, call: ToolCall, arguments: Mapping[str, Any], step: Step) -> ToolOutput:
        tell("runs", call.id)
        await asyncio.sleep(0)
        return await super().run(call, arguments, step)


def answer(memory: Memory, place: Place | None = None) -> Turn:
    seconds = 0.0
    timing = Timing(lambda: seconds, lambda *_: lambda: None)
    writer = ReplyWriter(memory.store, memory.conversation.id, place, timing)
    tell("answering", os.getpid())
    for number in range(30):
        seconds = number * PIECE_SECONDS
        if writer.add(f"{os.getpid()}-{number} "):
            writer.save()
        tell("shown", number + 1)
    reply = writer.finish(Status.COMPLETE)
    tell("answered", reply.id)
    return reply


def say(path: str, conversation: str, turns: int) -> None:
    """Say so much, one turn a transaction, and answer to every tenth."""
    memory = opened(path, conversation)
    for number in range(turns):
        if number % 10 == 9:
            answer(memory)
        else:
            memory.add_user_turn(f"{os.getpid()} {number}")
    tell("done")


def open_only(path: str) -> None:
    Database(Path(path)).close()
    tell("done")


def open_and_die(path: str, statement: int) -> None:
    """Open, and be killed when SQLite runs so many statements, in whatever connection."""
    connect, seen = database_module._connection, count(1)

    def watched(where: Path | str) -> sqlite3.Connection:
        connection = connect(where)
        connection.set_trace_callback(
            lambda _: os.kill(os.getpid(), signal.SIGKILL) if next(seen) >= statement else None
        )
        return connection

    database_module._connection = watched
    open_only(path)


def index(path: str, conversation: str) -> None:
    memory = opened(path, conversation)
    for entries in memory.index.catch_up(FakeEmbedder("second", 6)):
        tell("indexed", len(entries))
    tell("done")


def observe(path: str, conversation: str, exchanges: int = 0) -> None:
    """Say long exchanges and have them observed, for ever or so often; tell of each pass."""
    memory = opened(path, conversation)
    session = Session(memory, ScriptedProvider(), EstimateCounter(), SessionOptions())

    async def run(number: int) -> None:
        text = f"Exchange {number} by {os.getpid()} was about the kettle, the lamp and the port."
        pair = [Turn(0, Role.USER, text), Turn(0, Role.ASSISTANT, f"Noted as {number}. " * 20)]
        memory.store.append(conversation, pair)
        memory.refresh()
        async for event in session.observing.run(LIMIT):
            tell("observed", event.made.id)

    for number in range(exchanges) if exchanges else count():
        asyncio.run(run(number))
    tell("done")


def unlike(seed: str) -> list[str]:
    """Make words that no other seed has: nothing contradicts a statement of them."""
    digits = (
        hashlib.sha256(seed.encode())
        .hexdigest()
        .translate(str.maketrans("0123456789", "ghijklmnop"))
    )
    return [digits[start : start + 9] for start in (0, 9, 18)]


def end_sessions(path: str, sessions: int) -> None:
    """Hold sessions in a conversation of its own, and end each: the memory document is shared."""
    store = ColdStore(Database(Path(path)))
    memory = Memory(store, store.create("Talk", f"talk-{os.getpid()}"))
    ending = SessionEnd(memory)
    for number in range(sessions):
        first, second, third = unlike(f"{os.getpid()} {number}")
        said = memory.add_user_turn(f"In Lisbon {first} feeds {second} with {third}.")
        tell("stored", said.id)
        memory.distilled(said.position)
        while True:  # one that lost to another process goes into what that one wrote
            try:
                ended = asyncio.run(ending.end())
            except StaleDocument:
                memory.begin_session()
            else:
                break
        tell("ended", ended.document.version if ended else 0)
    tell("done")


class Slow(ScriptedProvider):
    """Tells that a request arrived, and answers with 500 tokens after some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        tell("sent", os.getpid())
        await asyncio.sleep(self._seconds)
        async for piece in super().stream(messages, options):
            yield Usage(100, 500) if isinstance(piece, Usage) else piece


def spend(path: str, kind: str, limit: float, seconds: float) -> None:
    """Send a request that costs $0.02 within a limit of the day, as an answer or a small model."""
    store = ColdStore(Database(Path(path)))
    memory = Memory(store, store.create("Talk"))
    prices, limits = Prices(0.0, 40.0), SpendingLimits(day=limit)
    options = SessionOptions(prices=prices, spending=limits)
    session = Session(memory, Slow(seconds), EstimateCounter(), options)

    async def send() -> None:
        async for event in session.send("hello", Mode.FULL):
            if isinstance(event, SendFailed):
                raise event.error

    async def ask(metered: MeteredProvider) -> None:
        async for _ in metered.stream([Message(Role.USER, "hello")], Options()):
            pass

    try:
        asyncio.run(send() if kind == "answer" else ask(session.metered(Purpose(kind))))
    except JitchatError as error:
        tell("refused", str(error).replace("\n", " "))


JOBS = {
    each.__name__: each
    for each in (
        *(chat, fork_often, call_tools, say, open_only, open_and_die, index),
        *(observe, end_sessions, spend),
    )
}


def main() -> None:
    with TemporaryDirectory() as folder:  # what a first one loads late is loaded once here, too
        database = Database(Path(folder) / "any.db")
        Memory(ColdStore(database), ColdStore(database).create("Talk")).add_user_turn("any")
        database.close()
    for line in sys.stdin:
        job = json.loads(line)
        work, copies = JOBS[job.pop("job")], job.pop("copies", 1)
        children = [fork(work, job) for _ in range(copies)]
        for child in children:
            os.waitpid(child, 0)
        tell("gone")


def fork(work, arguments: dict) -> int:
    child = os.fork()
    if child:
        return child
    tell("started", os.getpid())
    try:
        work(**arguments)
    except BaseException as error:  # noqa: BLE001  it is told, and judged by the test
        tell("failed", type(error).__name__, str(error).replace("\n", " "))
    os._exit(0)


if __name__ == "__main__":
    main()
