"""All that a session sends to a server that records it: each body is its stored pieces."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from jitchat import session as session_module
from jitchat.events import WindowBuilt
from jitchat.memory import Memory
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.http.retry import Clock
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import Endpoint
from jitchat.recorder import sent_request_for
from jitchat.replay import window_of
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.small_models.small_model import SmallModel
from jitchat.small_models.summariser import improve_title
from jitchat.statements import Observation, Source
from jitchat.store.models import ModelLessons
from jitchat.store.store import NEW_TITLE
from jitchat.tools.offering import Asking, OfferRules
from jitchat.tools.toolbox import Toolbox
from jitchat.values import HANDLE_LARGE_RESULTS, REQUEST_CONTEXT, Mode, Reach
from jitchat.window import reasons
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter
from jitchat.window.tool_prices import style_of
from jitchat.window.window import Kind
from tests.providers.streams import no_wait
from tests.session.sending import failures, send
from tests.support import conversation_of, observe, talk
from tests.tools.support import ScriptedTools
from tests.writing.checks import listed
from tests.writing.readers import differences, given_in
from tests.writing.worlds import MODELS, PROTOCOLS, SERVER

if TYPE_CHECKING:
    from jitchat.events import Event
    from jitchat.store.store import ColdStore
    from jitchat.window.window import ContextWindow

LOG = "".join(f"request {number} of the harbour took {number % 90} ms\n" for number in range(900))
THOUGHT = "The crane, then the log."
SIGNATURE = "EqQBCgIYAhIM+/="


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answers."""

    text: str = "Understood."
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    """Names and arguments."""
    reasoning: int | None = None
    """Tokens of its reasoning, as reported."""


def called(*names: str, **arguments: Any) -> Answer:
    return Answer("I look.", tuple((name, arguments) for name in names), 40)


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    message: str


NO_TOOLS = Refusal(400, "m does not support tools")
NO_SYSTEM = Refusal(400, "System role not supported")
NO_ECHO = Refusal(400, "Corrupted thought signature.")
BUSY = Refusal(503, "busy")
TOO_LARGE = Refusal(400, "This model's maximum context length is 1800 tokens.")


@dataclass
class Server:
    """Answers by a script, in one document, and records what it was sent."""

    protocol: str
    script: list[Answer | Refusal]
    bodies: list[bytes] = field(default_factory=list)
    answered: list[bytes] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(request.content)
        step = self.script.pop(0) if self.script else Answer()
        if isinstance(step, Refusal):
            error = {"message": step.message, "type": "invalid_request_error"}
            return httpx.Response(step.status, json={"error": error})
        self.answered.append(request.content)
        return httpx.Response(200, json=_DOCUMENTS[self.protocol](step))


def _openai(answer: Answer) -> dict[str, Any]:
    calls = [
        {"id": f"c{place}", "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
        for place, (n, a) in enumerate(answer.calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if calls:
        message |= {"tool_calls": calls, "reasoning_content": THOUGHT}
    usage: dict[str, Any] = {"prompt_tokens": 90, "completion_tokens": 60}
    if answer.reasoning:
        usage["completion_tokens_details"] = {"reasoning_tokens": answer.reasoning}
    reason = "tool_calls" if calls else "stop"
    return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}


def _responses(answer: Answer) -> dict[str, Any]:
    said = {"type": "output_text", "text": answer.text, "annotations": []}
    output: list[dict[str, Any]] = [
        {"id": "m1", "type": "message", "role": "assistant", "status": "completed"}
        | {"content": [said]},
        *(
            {"id": f"f{place}", "type": "function_call", "call_id": f"c{place}", "name": name}
            | {"arguments": json.dumps(arguments), "status": "completed"}
            for place, (name, arguments) in enumerate(answer.calls)
        ),
    ]
    if answer.calls:
        summary = [{"type": "summary_text", "text": THOUGHT}]
        thought = {"id": "r1", "type": "reasoning", "summary": summary}
        output.insert(0, thought | {"encrypted_content": SIGNATURE})
    usage: dict[str, Any] = {"input_tokens": 90, "output_tokens": 60}
    if answer.reasoning:
        usage["output_tokens_details"] = {"reasoning_tokens": answer.reasoning}
    return {"object": "response", "status": "completed", "output": output, "usage": usage}


def _anthropic(answer: Answer) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": answer.text}]
    if answer.calls:
        content.insert(0, {"type": "thinking", "thinking": THOUGHT, "signature": SIGNATURE})
    content += [
        {"type": "tool_use", "id": f"c{place}", "name": name, "input": arguments}
        for place, (name, arguments) in enumerate(answer.calls)
    ]
    usage: dict[str, Any] = {"input_tokens": 90, "output_tokens": 60}
    if answer.reasoning:
        usage["output_tokens_details"] = {"thinking_tokens": answer.reasoning}
    reason = "tool_use" if answer.calls else "end_turn"
    return {"type": "message", "content": content, "stop_reason": reason, "usage": usage}


def _gemini(answer: Answer) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": answer.text}]
    parts += [{"functionCall": {"name": name, "args": given}} for name, given in answer.calls]
    if answer.calls:
        parts[1]["thoughtSignature"] = SIGNATURE
    usage = {"promptTokenCount": 90, "candidatesTokenCount": 60}
    if answer.reasoning:
        usage["thoughtsTokenCount"] = answer.reasoning
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": usage}


def _ollama(answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.calls:
        calls = [{"function": {"name": name, "arguments": given}} for name, given in answer.calls]
        message |= {"tool_calls": calls, "thinking": THOUGHT}
    counts = {"prompt_eval_count": 90, "eval_count": 60}
    return {"message": message, "done": True, "done_reason": "stop"} | counts


_DOCUMENTS = {
    "openai": _openai,
    "responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "ollama": _ollama,
}


def session_with(
    store: ColdStore,
    server: Server,
    *,
    limit: int = 64_000,
    size: int = 8_000,
    picks: bool = False,
    longer: int = 1,
) -> Session:
    endpoint = Endpoint(SERVER, "http://models.test/v1", MODELS.get(server.protocol, "m"), "sk-1")
    transport = httpx.MockTransport(server)
    clock = Clock(sleep=no_wait)
    provider = HttpProvider(endpoint, protocol_named(server.protocol), transport, clock=clock)
    counter = EstimateCounter(style_of(server.protocol))
    options = SessionOptions(
        Budget(limit, size=size),
        toolbox=Toolbox((ScriptedTools({"look": "a lamp", "read": LOG, "count": ""}),)),
        offers=OfferRules(Asking.ON, offers_all=True),
        learnt=ModelLessons(store.database, SERVER, endpoint.model),
        picker=SmallModel(provider, counter, 5.0) if picks else None,
    )
    about = " of the harbour talk about cranes" * longer
    texts = [f"turn {number}{about}" for number in range(1, 61)]
    memory = Memory(store, conversation_of(store, talk(*texts)))
    made = Session(memory, provider, counter, options)
    list(memory.index.catch_up())
    return made


def windows_of(session: Session) -> dict[str, ContextWindow]:
    """Return the stored windows by the hash of the body in which each was sent."""
    database = session.memory.store.database
    with database.read() as connection:
        numbers = [row[0] for row in connection.execute("SELECT id FROM windows ORDER BY id")]
    found = {}
    for number in numbers:
        sent = sent_request_for(session.memory, number)
        if sent is not None:
            window = window_of(database, number)
            found[sent.sha256] = window
            wire = session.wire(window, sent)
            assert wire is not None
            assert wire.sha256 == sent.sha256
    return found


def require_recorded(session: Session, server: Server, *, others: int = 0) -> None:
    """Require that each answered body is a stored window, and that the others are read whole."""
    windows, unknown = windows_of(session), 0
    for body in server.answered:
        window = windows.get(sha256(body).hexdigest())
        unknown += window is None
        if window is not None:
            assert differences(server.protocol, window.pieces, body) == []
            assert list(listed(window)) == []
    assert unknown == others
    for body in server.bodies:
        assert given_in(server.protocol, json.loads(body))


def require_charged_for_the_last(session: Session, events: list[Event]) -> None:
    """Require that the window that was shown last is the one with the usage and the reply."""
    refused, answered = session.memory.archive.sends(session.memory.conversation.id)[-2:]
    assert (refused.usage, refused.cost, refused.reply) == (None, 0.0, None)
    assert answered.usage is not None
    assert answered.reply == session.memory.turns[-1].position
    last = built(events)[-1]
    assert (answered.used, answered.digest) == (last.used, last.digest)


def built(events: list[Event]) -> list[ContextWindow]:
    return [event.window for event in events if isinstance(event, WindowBuilt)]


EACH_PROTOCOL = pytest.mark.parametrize("protocol_name", PROTOCOLS)


@EACH_PROTOCOL
async def test_steps_with_reasoning_large_and_blank_results(store, protocol_name):
    chosen = {"results": [{"id": "#63", "choice": "compact", "instruction": "which request"}]}
    script = [
        called("read", "count", q="crane"),
        called(HANDLE_LARGE_RESULTS, **chosen),
        called(REQUEST_CONTEXT, query="harbour crane"),
        Answer("Done."),
        Answer("Yes."),
    ]
    server = Server(protocol_name, script)
    session = session_with(store, server)
    events = await send(session, "What does the log say?", Mode.JIT)
    assert not failures(events)
    assert len(server.answered) == 4
    assert not failures(await send(session, "And now?", Mode.FULL))
    require_recorded(session, server)
    last = built(events)[-1]
    texts = [given.value for given in given_in(protocol_name, json.loads(server.answered[3]))]
    assert (THOUGHT in texts) is (protocol_name != "gemini")
    assert not last.exact


@EACH_PROTOCOL
async def test_reported_reasoning_is_what_opaque_parts_cost(store, protocol_name):
    server = Server(protocol_name, [called("look"), Answer("Done.")])
    session = session_with(store, server)
    window = built(await send(session, "Look.", Mode.JIT))[-1]
    echo = next(segment.use.echo for segment in window.segments if segment.use.echo)
    assert echo.tokens == (None if protocol_name == "ollama" else 40)
    opaque = [piece.tokens for piece in window.pieces if piece.part == "opaque"]
    words = "".join(piece.text for piece in window.pieces if piece.part == "reasoning")
    assert sum(opaque) == (40 - session.counter.count(words) if opaque else 0)


@EACH_PROTOCOL
async def test_tools_that_are_refused_at_the_start(store, protocol_name):
    server = Server(protocol_name, [NO_TOOLS, Answer("Then not."), Answer("No.")])
    session = session_with(store, server)
    events = await send(session, "Look.", Mode.JIT)
    assert not failures(events)
    first, second = built(events)
    assert first.tools
    assert not second.tools
    assert {row.name for row in second.others if row.kind is Kind.TOOLS} >= {
        tool.name for tool in first.tools
    }
    require_charged_for_the_last(session, events)
    events = await send(session, "And now?", Mode.JIT)
    assert not failures(events)
    assert [window.tools for window in built(events)] == [()]
    require_recorded(session, server)


@EACH_PROTOCOL
async def test_tools_that_are_refused_after_a_message_that_called_them(store, protocol_name):
    script = [called("read", "look"), Answer("Done."), NO_TOOLS, Answer("It is quoted.")]
    server = Server(protocol_name, script)
    session = session_with(store, server)
    assert not failures(await send(session, "Read the log.", Mode.JIT))
    events = await send(session, "What does the log say of the harbour?", Mode.RECENCY)
    first, second = built(events)
    assert "preview" in {each.form for each in first.segments} & {
        each.form for each in second.segments
    }
    require_charged_for_the_last(session, events)
    require_recorded(session, server)


@EACH_PROTOCOL
async def test_without_refused_tools_the_window_says_how_to_read_calls_and_what_full_is(
    store, protocol_name
):
    script = [called("read", "look"), Answer("Done."), NO_TOOLS, Answer("It is quoted.")]
    session = session_with(store, Server(protocol_name, script))
    assert not failures(await send(session, "Read the log.", Mode.JIT))
    refused, sent = built(await send(session, "What does the log say?", Mode.FULL))
    reading = [each for each in sent.segments if each.reason == reasons.READING]
    assert len(reading) == 1
    assert sent.full_tokens - refused.full_tokens == sent.used - refused.used


@EACH_PROTOCOL
async def test_a_window_that_does_not_fit_once_rewritten_is_planned_again(
    store, protocol_name, monkeypatch
):
    monkeypatch.setattr(session_module, "rewritten", lambda *_: None)
    server = Server(protocol_name, [NO_TOOLS, Answer("Then not."), Answer("No.")])
    session = session_with(store, server)
    events = await send(session, "Look.", Mode.JIT)
    assert not failures(events)
    assert [bool(window.tools) for window in built(events)] == [True, False]
    require_charged_for_the_last(session, events)
    require_recorded(session, server)


@EACH_PROTOCOL
async def test_tools_that_are_refused_once_they_were_called(store, protocol_name):
    script = [called("look", "count"), NO_TOOLS, Answer("A lamp."), Answer("Yes.")]
    server = Server(protocol_name, script)
    session = session_with(store, server)
    events = await send(session, "Look.", Mode.JIT)
    assert not failures(events)
    assert len(built(events)) == 3
    require_charged_for_the_last(session, events)
    last = given_in(protocol_name, json.loads(server.answered[1]))
    assert {given.part.value for given in last} <= {"text"}
    assert "a lamp" in "".join(str(given.value) for given in last)
    assert not failures(await send(session, "And now?", Mode.FULL))
    require_recorded(session, server)


@EACH_PROTOCOL
@pytest.mark.parametrize("refusal", [NO_SYSTEM, NO_ECHO, BUSY, TOO_LARGE])
async def test_other_refusals_and_retries_in_mid_turn(store, protocol_name, refusal):
    script = [called("look"), refusal, Answer("A lamp."), Answer("Yes.")]
    server = Server(protocol_name, script)
    session = session_with(store, server)
    events = await send(session, "Look.", Mode.JIT)
    has_no_echo = refusal is NO_ECHO and protocol_name in ("openai", "ollama")
    assert bool(failures(events)) is (refusal is TOO_LARGE or has_no_echo)
    if refusal is NO_SYSTEM or (refusal is NO_ECHO and not has_no_echo):
        require_charged_for_the_last(session, events)
    require_recorded(session, server)
    assert not failures(await send(session, "And now?", Mode.RECENCY))
    require_recorded(session, server)


@EACH_PROTOCOL
async def test_a_window_that_is_too_large_and_a_smaller_one(store, protocol_name):
    server = Server(protocol_name, [TOO_LARGE, Answer("Shorter.")])
    session = session_with(store, server, longer=8)
    events = await send(session, "What was said about cranes?", Mode.JIT)
    assert not failures(events)
    assert len(built(events)) == 2
    require_charged_for_the_last(session, events)
    require_recorded(session, server)


@EACH_PROTOCOL
async def test_pickers_and_titles_are_read_whole(store, protocol_name):
    server = Server(
        protocol_name, [Answer('{"ids": [12]}'), Answer("Yes."), Answer('{"titles": ["Cranes"]}')]
    )
    session = session_with(store, server, picks=True, size=900, longer=4)
    events = await send(session, "What was said of turn 12 and the cranes?", Mode.JIT)
    assert not failures(events)
    assert session.options.picker is not None
    assert len(server.answered) == 2
    other = store.create(NEW_TITLE)
    store.append(other.id, talk("Which crane is green?", "The third."))
    memory = Memory(store, store.conversation(other.id))
    assert await improve_title(memory, session.options.picker)
    require_recorded(session, server, others=2)


@EACH_PROTOCOL
async def test_a_window_of_observations(store, protocol_name):
    server = Server(protocol_name, [Answer("Yes."), Answer("No.")])
    session = session_with(store, server, limit=4_000, size=1_500, longer=3)
    observe(session.memory, 30, Observation("The crane is green.", Source(2, 2)))
    assert not failures(await send(session, "And the cranes?", Mode.OBSERVE))
    assert "The crane is green." in str(given_in(protocol_name, json.loads(server.answered[0])))
    assert not failures(await send(session, "And now?", Mode.OBSERVE))
    require_recorded(session, server)


@pytest.mark.parametrize("asking", list(Asking))
@pytest.mark.parametrize("exchanges", [2, 60])
@pytest.mark.parametrize("reach", [Reach.CONVERSATION, Reach.ALL])
def test_every_mode_says_of_full_what_full_sends_if_tools_are_offered(
    store, asking, exchanges, reach
):
    session = session_with(store, Server("openai", []))
    memory = Memory(store, conversation_of(store, talk(*(f"crane {n}" for n in range(exchanges)))))
    offers = OfferRules(asking, offers_all=True)
    options = replace(session.options, offers=offers, reach=reach)
    session = Session(memory, session.provider, session.counter, options)
    full = session.preview("Which crane?", Mode.FULL)
    for mode in Mode:
        assert session.preview("Which crane?", mode).full_tokens == full.used
