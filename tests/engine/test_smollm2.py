"""SmolLM2 itself: what holds whatever it says, for it is real and tiny."""

from __future__ import annotations

import json
import os
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat import weights
from jitchat.errors import ContextOverflow, NotAnAnswer
from jitchat.events import ReplyDelta, UsageReported, WindowBuilt
from jitchat.index.embedder import NoEmbedder
from jitchat.lab.experiment import Experiment, Verdict
from jitchat.lab.facts import Kind
from jitchat.lab.lab import Lab
from jitchat.providers.catalogue.servers import count_exactly
from jitchat.providers.local.engine import Engine, Machine, plan_engine
from jitchat.providers.local.gguf import read_model_file
from jitchat.providers.local.provider import LocalProvider
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import Endpoint, Options
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.small_models.picker import parse_ids, picker_request, picker_schema
from jitchat.small_models.small_model import SmallModel
from jitchat.store.models import ModelLessons
from jitchat.values import Mode
from jitchat.window.budget import Budget
from tests.engine import server
from tests.engine.asking import ask, said, server_says
from tests.lab.support import COUNTER, ended, events_of, new_file
from tests.session.sending import durable, failures, reply_text, send
from tests.support import conversation_of, has_loopback, session_on, talk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jitchat.memory import Memory
    from jitchat.store.store import ColdStore

CONTEXT, LONGEST = 1_024, 6
WHATS = ("ferry", "crane", "lamp", "buoy", "boat")
FOLDER = Path(os.environ.get("JITCHAT_WEIGHTS", "not-fetched"))
"""A folder that `jitchat models fetch smollm2` fetched into."""
SURE = Options(temperature=0.0, seed=1, max_tokens=LONGEST)

pytestmark = [
    pytest.mark.local,
    pytest.mark.skipif(bool(server.MISSING), reason=f"needs {server.MISSING}"),
    pytest.mark.skipif(not has_loopback(), reason="needs the loopback interface"),
    pytest.mark.skipif(
        weights.find("smollm2", FOLDER) is None,
        reason="needs SmolLM2 where $JITCHAT_WEIGHTS says",
    ),
]


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    file = read_model_file(weights.find("smollm2", FOLDER))
    made = Engine(plan_engine(file, Machine(8 << 30, 1), CONTEXT))
    yield made
    made.close()


@pytest.fixture
def endpoint(engine: Engine) -> Endpoint:
    base_url, key = engine.server()
    return Endpoint("local", base_url, "smollm2", key, read_seconds=20.0)


def provider(engine: Engine, learnt: ModelLessons | None = None) -> LocalProvider:
    endpoint = Endpoint("local", "http://127.0.0.1/v1", "smollm2", read_seconds=20.0)
    return LocalProvider(endpoint, protocol_named("openai"), engine, learnt)


def session_with(store: ColdStore, engine: Engine, limit: int = CONTEXT, **more) -> Session:
    options = SessionOptions(budget=Budget(limit, 64), request=SURE, **more)
    turns = talk("The boat is red.", "Noted.", "It lies at the pier.", "Noted, too.")
    made = provider(engine, more.get("learnt"))
    return session_on(store, conversation_of(store, turns), made, options=options)


def test_its_head_tells_its_context_and_the_memory_that_a_token_takes(engine: Engine):
    file = read_model_file(engine.plan.model)
    assert (file.size, file.trained_context) == (98_362_432, 8_192)
    assert file.token_bytes == 30 * 3 * (64 + 64) * 2


@pytest.mark.parametrize("mode", Mode)
async def test_what_it_reports_of_a_window_is_what_it_counts_of_it(
    store: ColdStore, engine: Engine, endpoint: Endpoint, mode: Mode
):
    session = session_with(store, engine)
    events = await send(session, "What colour is the boat?", mode)
    await session.aclose()

    assert not failures(events)
    (window,) = (event.window for event in events if isinstance(event, WindowBuilt))
    usage = [event.usage for event in events if isinstance(event, UsageReported)][-1]
    assert usage.input_tokens == await count_exactly(endpoint, "openai", window.messages())
    assert 0 < usage.output_tokens <= LONGEST
    assert durable(store).windows[-1][2:4] == (usage.input_tokens, usage.output_tokens)
    assert reply_text(events) == durable(store).turns[-1][2]


async def test_at_temperature_0_it_says_the_same_twice(engine: Engine):
    """Once what it has read before is the same, too: the first request reads all of it."""
    answers = [await ask(provider(engine), said("Count to ten."), SURE) for _ in range(3)]
    assert answers[0].error is None
    assert answers[1].text == answers[2].text != ""
    assert answers[1].finished == answers[2].finished
    assert answers[2].finished.is_by_length
    assert answers[2].usage.output_tokens == LONGEST


async def test_a_schema_is_what_its_answer_has(endpoint: Endpoint):
    colours = ["red", "green", "blue"]
    schema = {
        "type": "object",
        "properties": {"colour": {"enum": colours}, "sure": {"type": "boolean"}},
        "required": ["colour", "sure"],
        "additionalProperties": False,
    }
    answer = await server_says(
        server.Engine(endpoint.base_url.removesuffix("/v1"), CONTEXT, 0),
        "/v1/chat/completions",
        {
            "messages": [{"role": "user", "content": "Which colour has the sky?"}],
            "response_format": {"type": "json_schema", "json_schema": {"schema": schema}},
            "temperature": 0.0,
            "max_tokens": 100,
        },
        endpoint.key,
    )
    (choice,) = answer["choices"]
    told = json.loads(choice["message"]["content"])
    assert choice["finish_reason"] == "stop"
    assert told["colour"] in colours
    assert told["sure"] in (True, False)


@pytest.mark.long("whole")
async def test_as_a_picker_it_answers_ids_that_were_offered(engine: Engine):
    """Asked without a schema, it answers in prose."""
    lines = {n: f"#{n} user: the {what} is at the pier\n" for n, what in enumerate(WHATS, start=3)}
    picker = SmallModel(provider(engine), COUNTER, 60.0)
    request = picker_request("Where is the ferry?", lines)

    heard = await picker.ask(request, picker_schema(lines))
    prose = await picker.ask(request)

    assert picker.taught.takes_schema
    assert parse_ids(heard.whole(), lines) <= lines.keys()
    with pytest.raises(NotAnAnswer):
        parse_ids(prose.whole(), lines)


async def test_a_window_that_is_too_large_is_refused_and_its_size_is_learnt(
    store: ColdStore, engine: Engine
):
    learnt = ModelLessons(store.database, "http://127.0.0.1/v1", "smollm2")
    session, draft = session_with(store, engine, 8_192, learnt=learnt), "pier " * 2_000
    events = await send(session, draft)
    await session.aclose()

    (failed,) = failures(events)
    assert failed.draft == draft
    assert "1,024" in failed.error.what
    assert learnt.limit() == CONTEXT


async def test_its_own_count_is_in_the_refusal(engine: Engine, endpoint: Endpoint):
    window = said("pier " * 2_000)
    asked = await ask(provider(engine), window, SURE)
    assert isinstance(asked.error, ContextOverflow)
    assert asked.error.needed == await count_exactly(endpoint, "openai", window)


async def test_a_cancelled_answer_frees_it_for_the_next(store: ColdStore, engine: Engine):
    session = session_with(store, engine)
    session.options = replace(session.options, request=replace(SURE, max_tokens=900))
    async with aclosing(session.send("Tell a long story of the boat.", Mode.FULL)) as events:
        async for event in events:
            if isinstance(event, ReplyDelta):
                break
    assert durable(store).turns[-1][3] == "cancelled"
    await session.aclose()
    after = await ask(provider(engine), said("Where is it?"), replace(SURE, max_tokens=2))
    assert after.error is None
    assert after.usage.output_tokens <= 2


@pytest.mark.long("whole")
async def test_a_cell_of_the_lab_is_asked_and_graded(tmp_path: Path, engine: Engine):
    experiment = Experiment((100,), (0.5,), (Kind.DIRECT,), (Mode.FULL,))
    file = new_file(tmp_path, experiment, CONTEXT)
    options = SessionOptions(budget=Budget(CONTEXT, 64), request=SURE)

    def open_session(memory: Memory) -> Session:
        return Session(memory, provider(engine), COUNTER, options)

    (cell,) = ended(await events_of(Lab(file, open_session, NoEmbedder(), COUNTER)))
    file.close()
    assert cell.result.verdict in (Verdict.RIGHT, Verdict.WRONG)
    assert cell.result.usage.input_tokens > 100
    assert 0 < cell.result.usage.output_tokens <= LONGEST
