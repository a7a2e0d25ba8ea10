"""The provider `local`: its engine is started when it is needed, and anew when it has ended."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import aclosing, closing
from typing import TYPE_CHECKING

import pytest

from jitchat.children import own_python
from jitchat.errors import StreamCut, Unreachable
from jitchat.events import LimitLearnt, ReplyDelta, UsageReported
from jitchat.providers.local.engine import Engine
from jitchat.providers.local.provider import LocalProvider
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import Endpoint, SentRequest
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.store.models import ModelLessons
from jitchat.values import Mode, Status
from jitchat.window.budget import Budget
from tests.engine.asking import SAMPLING, ask, said
from tests.engine.server import MISSING, plan_of
from tests.engine.tiny_model import BRIEF, write_tiny_model
from tests.session.sending import durable, failures, reply_text, send, stored_turns
from tests.support import ROOT, conversation_of, dump_of, is_running, session_on, talk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from jitchat.store.store import ColdStore

needs_engine = pytest.mark.skipif(bool(MISSING), reason=f"needs {MISSING}")
SILENT = "import sys; sys.stdin.read()"


def child(words: str, log: Path) -> tuple[str, ...]:
    """A command that notes its start, and its end by EOF, and says `words` once it has the key."""
    code = f"""
import sys
sys.stdin.readline()
open({str(log)!r}, "a").write("started\\n")
{words}
sys.stdin.read()
"""
    return own_python("-c", code)


def telling(text: str) -> str:
    return f"print({text!r}, flush=True)"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "starts"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    write_tiny_model(tmp_path / "tiny.gguf", 131_072)
    made = Engine(plan_of(tmp_path / "tiny.gguf"))
    yield made
    made.close()


@pytest.fixture
def roomy(tmp_path: Path) -> Iterator[Engine]:
    """One whose endless answer takes a quarter of a minute and more."""
    write_tiny_model(tmp_path / "roomy.gguf", 131_072)
    made = Engine(plan_of(tmp_path / "roomy.gguf", 131_072))
    yield made
    made.close()


def provider(engine: Engine, quirks: ModelLessons | None = None) -> LocalProvider:
    endpoint = Endpoint("local", "http://127.0.0.1/v1", "tiny", read_seconds=30.0)
    return LocalProvider(endpoint, protocol_named("openai"), engine, quirks)


def test_threads_that_need_it_at_once_start_it_once(tmp_path: Path, log: Path):
    told = telling('{"address": "http://127.0.0.1:9"}')
    engine, servers = Engine(plan_of(tmp_path), child(told, log)), []
    threads = [threading.Thread(target=lambda: servers.append(engine.server())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine.close()
    assert log.read_text() == "started\n"
    assert len(servers) == 4
    assert len(set(servers)) == 1
    assert servers[0][0] == "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (telling('{"error": "there is no memory."}'), "there is no memory"),
        (telling("llama_model_loader: hello"), "its process ended"),
        (telling("[1]"), "its process ended"),
        (telling("5"), "its process ended"),
        (telling("{}"), "its process ended"),
        (telling('{"error": "\\u001b[2J"}'), "\x1b[2J"),
        ("sys.exit(3)", "its process ended"),
        ("sys.stdout.buffer.write(bytes(range(256))); sys.exit()", "its process ended"),
    ],
)
def test_a_child_that_does_not_say_where_it_listens_is_ended_and_is_a_sentence(
    tmp_path: Path, log: Path, words, why
):
    engine = Engine(plan_of(tmp_path / "m.gguf"), child(words, log))
    for _ in range(2):
        with pytest.raises(Unreachable) as told:
            engine.server()
        assert told.value.what == f"llama.cpp could not load m.gguf: {why}."
        assert not is_running(engine._child.pid)
    assert log.read_text() == "started\n" * 2, "each asks anew"


def test_a_program_that_is_not_there_is_a_sentence(tmp_path: Path):
    engine = Engine(plan_of(tmp_path / "m.gguf"), ("no-such-program",))
    with pytest.raises(Unreachable, match=r"m\.gguf: No such file or directory\."):
        engine.server()
    engine.close()


def test_it_may_be_closed_while_it_starts(tmp_path: Path, log: Path):
    os.mkfifo(log)
    engine, refusals = Engine(plan_of(tmp_path / "m.gguf"), child("", log)), []

    def start() -> None:
        with pytest.raises(Unreachable) as told:
            engine.server()
        refusals.append(told.value.what)

    starting = threading.Thread(target=start)
    starting.start()
    log.read_text()  # it runs, and says nothing
    engine.close()
    starting.join()
    engine.close()
    assert refusals == ["llama.cpp could not load m.gguf: its process ended."]
    assert engine.ended_by() == "signal 9"


QUIT_WHILE_IT_LOADS = f"""
import asyncio, sys
from pathlib import Path
from jitchat.providers.local.engine import Engine
from tests.engine.asking import ask, said
from tests.engine.server import plan_of
from tests.engine.test_local import provider
engine = Engine(plan_of(Path("m.gguf")), (sys.executable, "-c", {SILENT!r}))
async def use():
    asking = asyncio.create_task(ask(provider(engine), said("Answer.")))
    while engine._child is None:
        await asyncio.sleep(0)
    asking.cancel()
asyncio.run(use())
print(engine._child.pid)
"""


def test_the_app_can_be_left_while_a_model_loads():
    command = [sys.executable, "-c", QUIT_WHILE_IT_LOADS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert not is_running(int(done.stdout))


@needs_engine
async def test_requests_at_once_start_it_once_and_wait_for_each_other(engine: Engine):
    asking = provider(engine)
    each = [ask(asking, said(f"Number {number}, briefly."), close=False) for number in range(4)]
    answers = await asyncio.gather(*each)
    await asking.aclose()
    assert [(asked.text, asked.error) for asked in answers] == [(BRIEF, None)] * 4


def session_with(store: ColdStore, engine: Engine, limit: int) -> Session:
    learnt = ModelLessons(store.database, "http://127.0.0.1/v1", "tiny")
    options = SessionOptions(budget=Budget(limit, 64), request=SAMPLING, learnt=learnt)
    turns = talk(*(f"Number {number}: {'the boat is red. ' * 8}" for number in range(16)))
    return session_on(
        store, conversation_of(store, turns), provider(engine, learnt), options=options
    )


@needs_engine
async def test_a_window_that_is_larger_than_the_context_teaches_its_size(
    store: ColdStore, engine: Engine
):
    session = session_with(store, engine, 8_192)
    events = await send(session, "Where is it? Answer briefly.", Mode.RECENCY)
    await session.aclose()
    assert not failures(events)
    assert reply_text(events) == BRIEF
    (told,) = (event for event in events if isinstance(event, LimitLearnt))
    assert told.limit.tokens == session.options.learnt.limit() == 1_024


@needs_engine
async def test_one_that_is_killed_in_its_answer_is_a_sentence_and_is_started_anew(
    store: ColdStore, roomy: Engine
):
    session, shown = session_with(store, roomy, 131_072), ""
    events = []
    async with aclosing(session.send("Go on for ever.", Mode.JIT)) as sending:
        async for event in sending:
            events.append(event)
            shown += event.text if isinstance(event, ReplyDelta) else ""
            if len(shown) > 50 and not roomy.ended_by():
                os.kill(roomy._child.pid, signal.SIGKILL)
                roomy._child.wait()
    after = await send(session, "And now briefly.")
    await session.aclose()

    (failed,) = failures(events)
    assert str(failed.error).startswith(
        "The local model's process ended (signal 9). Send again to restart it."
    )
    (cut,) = (turn for turn in stored_turns(events) if turn.status is Status.CUT)
    assert cut.content == shown.replace("\0", "␀")
    assert reply_text(after) == BRIEF
    assert durable(store).turns[-4][2] == "Go on for ever."


@needs_engine
async def test_one_that_dies_of_a_window_is_told_at_once_and_not_tried_again(engine: Engine):
    """Its end comes before the first byte of the answer, as where memory is short."""
    asking, pieces = provider(engine), []
    await ask(asking, said("Answer briefly."), close=False)

    async def send() -> None:
        async for piece in asking.stream(said("Answer briefly."), SAMPLING):
            pieces.append(type(piece))
            engine._child.kill()

    with pytest.raises(StreamCut, match=r"ended \(signal 9\)"):
        await send()
    await asking.aclose()
    assert pieces == [SentRequest]


@needs_engine
async def test_a_cancelled_answer_frees_it_for_the_next(store: ColdStore, roomy: Engine):
    session, shown = session_with(store, roomy, 131_072), 0
    async with aclosing(session.send("Go on for ever.", Mode.JIT)) as events:
        async for event in events:
            shown += isinstance(event, ReplyDelta)
            if shown > 20:
                break
    after = await send(session, "And now briefly.")
    await session.aclose()
    assert reply_text(after) == BRIEF
    assert [event.usage.output_tokens for event in after if isinstance(event, UsageReported)][
        -1
    ] == 4


@needs_engine
async def test_its_key_is_in_no_request_that_is_shown_and_in_no_database(
    store: ColdStore, engine: Engine
):
    session = session_with(store, engine, 1_024)
    before = session.provider.wire(said("Answer briefly."), SAMPLING)
    assert before.url == "http://127.0.0.1/v1/chat/completions"
    assert engine._child is None, "to show it starts nothing"
    await send(session, "Answer briefly.")
    base_url, key = engine.server()
    after = session.provider.wire(said("Answer briefly."), SAMPLING)
    await session.aclose()
    assert after.url == f"{base_url}/chat/completions"
    with closing(sqlite3.connect(store.database.path)) as other:
        kept = "\n".join(dump_of(other))
    assert base_url in kept
    assert key not in repr(after) + repr(session.provider) + kept
